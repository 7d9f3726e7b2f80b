"""The notation of patterns in filters' files: paths, orders, counts, and what is said of mistakes."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from analysis.corpora.conditions import ANY, Condition, read_condition
from analysis.corpora.patterns import Count, Edge, Order, Pattern
from analysis.errors import BadInput

KEYS = ("name", "words", "path", "order", "without", "count")


def read_pattern(
    given: Mapping[str, Any], lists: Mapping[str, frozenset[str]], *, known: tuple[str, ...] = ()
) -> Pattern:
    """Make a pattern of one table of a filter's file.

    Parameters
    ----------
    given : mapping
        ``words`` (a table of named words), and any of ``name``, ``path``, ``order``, ``without``, ``count``.
    lists : mapping
        Word lists of the file.
    known : tuple of str
        Names of the pattern around this one.

    Returns
    -------
    Pattern
        Ready to be looked for.

    Raises
    ------
    BadInput
        Saying what of it is not understood.

    Notes
    -----
    A path is ``head >label dependent``, as long as needed: ``verb >nsubj subject >nmod modifier``. Labels of
    choice stand with ``/`` between; ``>*`` is any relation, ``>>`` one or more steps of any. An order is
    ``a < b`` (somewhere before) or ``a <1 b`` (directly before; ``<3``: at most three words later). A count
    is ``word >= 2``.
    """
    _check_keys(given)
    told = given.get("words", {})
    if not isinstance(told, Mapping) or not (told or known):
        raise BadInput(
            "no words are named.", remedy='Write a table of words: words.verb = { upos = "VERB" }.'
        )
    words: dict[str, Condition] = {}
    for name, asked in told.items():
        if name in known:
            raise BadInput(f"{name!r} is named twice.", remedy="Choose another name inside without.")
        with explained(f"word {name!r}"):
            words[name] = read_condition(asked, lists)
    names = (*known, *words)
    others = given.get("without", [])
    if not isinstance(others, list):
        raise BadInput("without is no list of tables.", remedy="Write [[remove.without]].")
    with explained("without"):
        absent = tuple(read_pattern(other, lists, known=names) for other in others)
    edges = tuple(edge for path in _texts(given, "path") for edge in _edges(path, names))
    return Pattern(
        name=str(given.get("name", "")),
        words={name: _dependent(condition, name, edges) for name, condition in words.items()},
        edges=edges,
        orders=tuple(order for text in _texts(given, "order") for order in _orders(text, names)),
        without=absent,
        count=_count(given["count"], tuple(words)) if "count" in given else None,
    )


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Say in which part of a filter something is wrong.

    Parameters
    ----------
    place : str
        The part, as it is put before the message.

    Raises
    ------
    BadInput
        What went wrong inside, with its place.
    """
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{place}: {error.message}", file=error.file, remedy=error.remedy) from error


def _check_keys(given: Any) -> None:
    if not isinstance(given, Mapping):
        raise BadInput(f"{given!r} is no table.")
    for key in given:
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            said = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(KEYS)}."
            raise BadInput(f"nothing is known of {key!r}.", remedy=said)


def _texts(given: Mapping[str, Any], key: str) -> list[str]:
    told = given.get(key, [])
    texts = [told] if isinstance(told, str) else told
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
    """Ask a word at once for the relation that a path wants of it: few words are tried then."""
    wanted = [edge.labels for edge in edges if edge.dependent == name and not edge.is_far]
    asked = tuple(("deprel", labels) for labels in wanted if ANY not in labels)
    return replace(condition, columns=(*condition.columns, *asked))


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
    found = re.fullmatch(r"\s*(\S+)\s*(>=|<=|==|>|<)\s*(\d+)\s*", text) if isinstance(text, str) else None
    if not found:
        raise BadInput(f"the count {text!r} is not understood.", remedy="Write for example modifier >= 2.")
    _check_names((found[1],), names)
    return Count(found[1], found[2], int(found[3]))


def _check_names(used: tuple[str, ...], names: tuple[str, ...]) -> None:
    for name in used:
        if name not in names:
            raise BadInput(
                f"no word is named {name!r}.",
                remedy=f"Named are: {', '.join(names)}. Add {name} = {{}} to words.",
            )
