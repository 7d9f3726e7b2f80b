"""Match patterns of words, dependencies, order and counts against one sentence."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .conditions import Condition, has_label
from .conllu import Sentence

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
        """Return whether the two words have this relation."""
        dependent, head = at[self.dependent], at[self.head]
        if self.is_far:
            return sentence.is_under(dependent, head)
        word = sentence.words[dependent - 1]
        return word.head == head and has_label(word.deprel, self.labels)


@dataclass(frozen=True)
class Order:
    """One named word before another, within a maximum distance in words."""

    first: str
    second: str
    within: int | None = None

    def holds(self, sentence: Sentence, at: Bound) -> bool:
        """Return whether the words have this order."""
        distance = at[self.second] - at[self.first]
        return distance > 0 and (self.within is None or distance <= self.within)


@dataclass(frozen=True)
class Count:
    """A condition on the number of different words that match a name."""

    word: str
    comparison: str
    number: int


@dataclass(frozen=True)
class Pattern:
    """A pattern of words in a sentence.

    Parameters
    ----------
    name : str
        For reports.
    words : mapping of str to Condition
        The named words; different names are different words.
    edges, orders : tuple
        What holds between them.
    without : tuple of Pattern
        Patterns that must not match around the same words.
    count : Count, optional
        Condition over all matches in the sentence; without it one match is enough.
    """

    name: str
    words: Mapping[str, Condition]
    edges: tuple[Edge, ...] = ()
    orders: tuple[Order, ...] = ()
    without: tuple["Pattern", ...] = ()
    count: Count | None = None

    def is_in(self, sentence: Sentence) -> bool:
        """Return whether the sentence matches the pattern.

        Examples
        --------
        >>> from obelus.corpora.conllu import parse_conllu
        >>> from obelus.corpora.notation import read_pattern
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
        """Yield every assignment of words of the sentence to the names."""
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
        for place in self._fill_slots(sentence, fitting, dict(at or {})):
            if not any(next(other.places(sentence, place), None) for other in self.without):
                yield place

    def _fill_slots(
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
                    yield from self._fill_slots(sentence, fitting, at)
                del at[name]

    def _next(
        self, sentence: Sentence, fitting: Mapping[str, Sequence[int]], at: Bound
    ) -> tuple[str | None, Sequence[int]]:
        """Choose the next name to match: the head of a matched word has one candidate, others few."""
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
