"""Every address of the site, for tests of what each answers."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver


def routes() -> Iterator[tuple[str, str]]:
    """Name and route of every address but the administration's."""
    yield from ((name, route) for name, route, _ in views())


def views() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Name, route and view of every address but the administration's."""
    yield from (row for row in _patterns(get_resolver(), "") if not row[1].startswith("admin"))


def _patterns(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, str, Callable[..., Any]]]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern).lstrip("^").removesuffix("$").removesuffix("\\Z")
        if isinstance(pattern, URLPattern):
            yield pattern.name or "", route, pattern.callback
        else:
            yield from _patterns(pattern, route)


def path_of(route: str, values: Mapping[str, str]) -> str:
    """The path of a route; parameters without a value stand for any."""
    path = route
    while "<" in path:
        before, _, remainder = path.partition("<")
        parameter, _, after = remainder.partition(">")
        converter, _, word = parameter.rpartition(":")
        default = {"int": "1", "uuid": "00000000-0000-0000-0000-000000000000"}.get(converter, "x")
        path = f"{before}{values.get(word, default)}{after}"
    return f"/{path}"
