"""Parse the patterns of filter files: words, paths, orders and counts."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from ..errors import BadInput
from .conditions import ANY, Condition, read_condition
from .patterns import Count, Edge, Order, Pattern

KEYS = ("name", "words", "path", "order", "without", "count")


def read_pattern(
    table: Mapping[str, Any], lists: Mapping[str, frozenset[str]], *, outer_names: tuple[str, ...] = ()
) -> Pattern:
    """Parse a pattern from one table of a filter file.

    Notes
    -----
    A path is ``head >label dependent``, as long as needed: ``verb >nsubj subject >nmod modifier``. Labels of
    alternatives are separated by ``/``; ``>*`` is any relation, ``>>`` one or more steps of any. An order is
    ``a < b`` (somewhere before) or ``a <1 b`` (directly before; ``<3``: at most three words later). A count
    is ``word >= 2``.
    """
    _check_keys(table)
    word_tables = table.get("words", {})
    if not isinstance(word_tables, Mapping) or not (word_tables or outer_names):
        raise BadInput(
            "the pattern defines no words.", remedy='Write a table of words: words.verb = { upos = "VERB" }.'
        )
    words: dict[str, Condition] = {}
    for name, conditions in word_tables.items():
        if name in outer_names:
            raise BadInput(f"{name!r} is defined twice.", remedy="Choose another name inside without.")
        with error_context(f"word {name!r}"):
            words[name] = read_condition(conditions, lists)
    names = (*outer_names, *words)
    exclusions = table.get("without", [])
    if not isinstance(exclusions, list):
        raise BadInput("without is not a list of tables.", remedy="Write [[remove.without]].")
    with error_context("without"):
        absent = tuple(read_pattern(other, lists, outer_names=names) for other in exclusions)
    edges = tuple(edge for path in _texts(table, "path") for edge in _edges(path, names))
    return Pattern(
        name=str(table.get("name", "")),
        words={name: _dependent(condition, name, edges) for name, condition in words.items()},
        edges=edges,
        orders=tuple(order for text in _texts(table, "order") for order in _orders(text, names)),
        without=absent,
        count=_count(table["count"], tuple(words)) if "count" in table else None,
    )


@contextmanager
def error_context(place: str) -> Iterator[None]:
    """Prefix error messages with the part of the filter in which they occur."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{place}: {error.message}", file=error.file, remedy=error.remedy) from error


def _check_keys(table: Any) -> None:
    if not isinstance(table, Mapping):
        raise BadInput(f"{table!r} is not a table.")
    for key in table:
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            remedy = f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(KEYS)}."
            raise BadInput(f"unknown key {key!r}.", remedy=remedy)


def _texts(table: Mapping[str, Any], key: str) -> list[str]:
    entries = table.get(key, [])
    texts = [entries] if isinstance(entries, str) else entries
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadInput(f"{key} is neither a text nor a list of texts.")
    return texts


def _edges(path: str, names: tuple[str, ...]) -> list[Edge]:
    parts = path.split()
    if (
        len(parts) < 3
        or len(parts) % 2 == 0
        or not all(re.fullmatch(r">(>|\S+)", part) for part in parts[1::2])
    ):
        raise BadInput(
            f"the path {path!r} is not understood.", remedy="Write head >label dependent >label dependent."
        )
    edges = []
    for head, step, dependent in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
        _check_names((head, dependent), names)
        labels = frozenset(step[1:].split("/"))
        edges.append(Edge(head, dependent, labels, is_far=step == ">>"))
    return edges


def _dependent(condition: Condition, name: str, edges: tuple[Edge, ...]) -> Condition:
    """Add the relation that a path requires to a word's condition, so that fewer words are tried."""
    label_sets = [edge.labels for edge in edges if edge.dependent == name and not edge.is_far]
    required = tuple(("deprel", labels) for labels in label_sets if ANY not in labels)
    return replace(condition, columns=(*condition.columns, *required))


def _orders(text: str, names: tuple[str, ...]) -> list[Order]:
    parts = text.split()
    if (
        len(parts) < 3
        or len(parts) % 2 == 0
        or not all(re.fullmatch(r"<([1-9]\d*)?", part) for part in parts[1::2])
    ):
        raise BadInput(
            f"the order {text!r} is not understood.", remedy="Write first < second, or first <1 second."
        )
    orders = []
    for first, step, second in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
        _check_names((first, second), names)
        orders.append(Order(first, second, int(step[1:]) if step[1:] else None))
    return orders


def _count(text: Any, names: tuple[str, ...]) -> Count:
    match = re.fullmatch(r"\s*(\S+)\s*(>=|<=|==|>|<)\s*(\d+)\s*", text) if isinstance(text, str) else None
    if not match:
        raise BadInput(f"the count {text!r} is not understood.", remedy="Write for example modifier >= 2.")
    _check_names((match[1],), names)
    return Count(match[1], match[2], int(match[3]))


def _check_names(referenced: tuple[str, ...], names: tuple[str, ...]) -> None:
    for name in referenced:
        if name not in names:
            raise BadInput(
                f"no word is named {name!r}.",
                remedy=f"Named are: {', '.join(names)}. Add {name} = {{}} to words.",
            )
