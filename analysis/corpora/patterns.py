"""Patterns over one sentence: words, dependencies, order, what must be absent, how many."""

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from analysis.corpora.conditions import ANY, Condition, has_label, read_condition
from analysis.corpora.conllu import Sentence
from analysis.errors import BadInput

KEYS = ("name", "words", "path", "order", "without", "count")
COMPARISONS = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
Bound = Mapping[str, int]
ANYTHING = Condition()


@dataclass(frozen=True)
class Edge:
    """A dependency of one named word on another."""

    head: str
    dependent: str
    labels: frozenset[str]
    is_far: bool = False

    def holds(self, sentence: Sentence, at: Bound) -> bool:
        """Whether the two words are so related."""
        dependent, head = at[self.dependent], at[self.head]
        if self.is_far:
            return sentence.is_under(dependent, head)
        word = sentence.words[dependent - 1]
        return word.head == head and has_label(word.deprel, self.labels)


@dataclass(frozen=True)
class Order:
    """One named word before another, at most so many words later."""

    first: str
    second: str
    within: int | None = None

    def holds(self, sentence: Sentence, at: Bound) -> bool:
        """Whether the words stand in this order."""
        distance = at[self.second] - at[self.first]
        return distance > 0 and (self.within is None or distance <= self.within)


@dataclass(frozen=True)
class Count:
    """How many different words fill a name."""

    word: str
    comparison: str
    number: int


@dataclass(frozen=True)
class Pattern:
    """What is looked for in a sentence.

    Parameters
    ----------
    name : str
        For reports.
    words : mapping of str to Condition
        The named words; different names are different words.
    edges, orders : tuple
        What holds between them.
    without : tuple of Pattern
        None of these may be found around the same words.
    count : Count, optional
        Over all places of the sentence; without it one place is enough.
    """

    name: str
    words: Mapping[str, Condition]
    edges: tuple[Edge, ...] = ()
    orders: tuple[Order, ...] = ()
    without: tuple["Pattern", ...] = ()
    count: Count | None = None

    def is_in(self, sentence: Sentence) -> bool:
        """Whether the sentence has what is looked for.

        Examples
        --------
        >>> from analysis.corpora.conllu import parse_conllu
        >>> first = "1\\tBirds\\tbird\\tNOUN\\t_\\t_\\t2\\tnsubj\\t_\\t_"
        >>> rows = [first, "2\\tsing\\tsing\\tVERB\\t_\\t_\\t0\\troot\\t_\\t_"]
        >>> given = {"words": {"verb": {"upos": "VERB"}, "subject": {}}, "path": "verb >nsubj subject"}
        >>> read_pattern(given, {}).is_in(next(parse_conllu(rows)))
        True
        """
        if self.count is None:
            return next(self.places(sentence), None) is not None
        filled = {place[self.count.word] for place in self.places(sentence)}
        return bool(COMPARISONS[self.count.comparison](len(filled), self.count.number))

    def places(self, sentence: Sentence, at: Bound | None = None) -> Iterator[dict[str, int]]:
        """Give every way to fill the names with words of the sentence.

        Parameters
        ----------
        sentence : Sentence
            Where to look.
        at : mapping of str to int, optional
            Names that are filled already.

        Yields
        ------
        dict
            Position (from 1) of every name.
        """
        positions = range(1, len(sentence.words) + 1)
        fitting: dict[str, Sequence[int]] = {}
        for name, condition in sorted(self.words.items(), key=lambda item: item[1] == ANYTHING):
            fitting[name] = (
                positions
                if condition == ANYTHING
                else [position for position in positions if condition.holds(sentence, position)]
            )
            if not fitting[name]:
                return
        for place in self._filled(sentence, fitting, dict(at or {})):
            if not any(next(other.places(sentence, place), None) for other in self.without):
                yield place

    def _filled(
        self, sentence: Sentence, fitting: Mapping[str, Sequence[int]], at: dict[str, int]
    ) -> Iterator[dict[str, int]]:
        name, candidates = self._next(sentence, fitting, at)
        if name is None:
            ties: tuple[Edge | Order, ...] = (*self.edges, *self.orders)
            if all(tie.holds(sentence, at) for tie in ties):
                yield dict(at)
            return
        for position in candidates:
            if position not in at.values():
                at[name] = position
                if self._agree(sentence, name, at):
                    yield from self._filled(sentence, fitting, at)
                del at[name]

    def _next(
        self, sentence: Sentence, fitting: Mapping[str, Sequence[int]], at: Bound
    ) -> tuple[str | None, Sequence[int]]:
        """Choose the name to fill: the head of a word already found has one candidate, others few."""
        for edge in self.edges:
            if edge.dependent in at and edge.head not in at and not edge.is_far:
                head = sentence.words[at[edge.dependent] - 1].head
                return edge.head, [head] if head in fitting[edge.head] else []
        free = [name for name in fitting if name not in at]
        if not free:
            return None, []
        name = min(free, key=lambda name: len(fitting[name]))
        return name, fitting[name]

    def _agree(self, sentence: Sentence, name: str, at: Bound) -> bool:
        for edge in self.edges:
            ends = (edge.head, edge.dependent)
            if name in ends and ends[0] in at and ends[1] in at and not edge.holds(sentence, at):
                return False
        for order in self.orders:
            ends = (order.first, order.second)
            if name in ends and ends[0] in at and ends[1] in at and not order.holds(sentence, at):
                return False
        return True


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
