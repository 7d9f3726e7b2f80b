"""The manual's table of actions: every page that changes something, and calls that exist."""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from config.api_schema import DocumentGenerator
from tests.routes import views

ROOT = Path(__file__).parent.parent
OTHERS = (
    "api/v1/",
    "accounts/",
    "hooks/",
    "s/",
    "take/",
    "health/",
    "metrics",
    "shared/",
)  # no researchers' pages
CALL = re.compile(r"`([A-Z, ]+) ([^`]+)`")


def table() -> list[list[str]]:
    """Rows of the table: action, page, call, scope."""
    text = (ROOT / "docs/reference/api.md").read_text().partition("## Actions of the pages")[2]
    lines = text.partition("\n## ")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")][
        1:
    ]


def parts(view: Any, seen: set[int]) -> Iterator[Any]:
    """A view with everything that its decorators hold."""
    if id(view) in seen:
        return
    seen.add(id(view))
    yield view
    function = getattr(view, "__func__", view)
    for cell in getattr(function, "__closure__", None) or ():
        if callable(cell.cell_contents) or isinstance(cell.cell_contents, list):
            yield from parts(cell.cell_contents, seen)
    for name in ("__wrapped__", "func"):
        if hasattr(function, name):
            yield from parts(getattr(function, name), seen)


def takes_posts(view: Callable[..., Any]) -> bool:
    """Whether a view or one of its decorators reads or requires a POST."""
    for part in parts(view, set()):
        if isinstance(part, list) and "POST" in part:  # of require_http_methods
            return True
        code = getattr(getattr(part, "__func__", part), "__code__", None)
        if code is not None and "POST" in inspect.getsource(code):
            return True
    return False


def test_every_page_that_changes_something_is_in_the_table():
    pages = {address for row in table() for address in re.findall("`([^`]+)`", row[1])}
    prefixes = tuple(page.removesuffix("…") for page in pages if page.endswith("…"))
    changing = {
        re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", route)
        for _, route, view in views()
        if not route.startswith(OTHERS) and takes_posts(view)
    }
    assert len(changing) > 100
    assert {page for page in changing - pages if not page.startswith(prefixes)} == set()
    routes = {re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", route) for _, route, _ in views()}
    assert {page for page in pages - routes if not page.endswith("…")} == set()


def test_every_call_of_the_table_exists_and_every_gap_is_named():
    paths = DocumentGenerator().get_schema(request=None, public=True)["paths"]
    for action, _, call, scope in table():
        calls = CALL.findall(call)
        assert bool(calls) != call.startswith(("not yet", "page only: ")), action
        assert bool(calls) == bool(scope), action
        for methods, address in calls:
            item = paths["/api/v1/" + address.replace("<", "{").replace(">", "}")]
            assert {method.lower() for method in methods.split(", ")} <= item.keys(), (action, address)
