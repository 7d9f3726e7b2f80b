"""Conditions on one word: form, lemma, part of speech, features, relation, phrases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..errors import BadInput
from .conllu import Sentence, Word, features

COLUMNS = ("form", "lemma", "upos", "xpos", "deprel")
KEYS = (*COLUMNS, "word", "phrase", "feats", "not")
ANY = "*"


@dataclass(frozen=True)
class Condition:
    """A condition on one word; all parts must hold.

    Parameters
    ----------
    columns : tuple of (name, values)
        Allowed values of ``form``, ``lemma``, ``upos``, ``xpos``, ``deprel``.
    words : frozenset of str, optional
        The form or the lemma is one of these.
    phrases : mapping of str to tuple of tuple of str, optional
        One of these runs of forms, sorted by their first form, begins at the word.
    feats : tuple of (name, values)
        A value of each feature; ``*`` is any value.
    unlike : Condition, optional
        What the word must not be.

    See Also
    --------
    read_condition : makes one from a filter's file.
    """

    columns: tuple[tuple[str, frozenset[str]], ...] = ()
    words: frozenset[str] | None = None
    phrases: Mapping[str, tuple[tuple[str, ...], ...]] | None = None
    feats: tuple[tuple[str, frozenset[str]], ...] = ()
    unlike: "Condition | None" = None

    def holds(self, sentence: Sentence, position: int) -> bool:
        """Return whether the word at a position (from 1) meets the condition."""
        word = sentence.words[position - 1]
        for column, values in self.columns:
            value = getattr(word, column)
            if value not in values and (column != "deprel" or not has_label(value, values)):
                return False
        if self.words is not None and word.form not in self.words and word.lemma not in self.words:
            return False
        if self.feats and not self._has_features(word):
            return False
        if self.phrases is not None and not self._begins_phrase(sentence, position):
            return False
        return self.unlike is None or not self.unlike.holds(sentence, position)

    def _begins_phrase(self, sentence: Sentence, position: int) -> bool:
        for phrase in (self.phrases or {}).get(sentence.words[position - 1].form, ()):
            forms = sentence.words[position - 1 : position - 1 + len(phrase)]
            if tuple(word.form for word in forms) == phrase:
                return True
        return False

    def _has_features(self, word: Word) -> bool:
        word_features = features(word.feats)
        return all(
            name in word_features and (ANY in values or bool(values & word_features[name]))
            for name, values in self.feats
        )


def has_label(deprel: str, labels: frozenset[str]) -> bool:
    """Whether a relation is one of the labels.

    Examples
    --------
    >>> has_label("nsubj:pass", frozenset({"nsubj"})), has_label("nsubj:pass", frozenset({"nsubj!"}))
    (True, False)
    """
    return deprel in labels or deprel.partition(":")[0] in labels or f"{deprel}!" in labels or ANY in labels


def read_condition(table: Mapping[str, Any], lists: Mapping[str, frozenset[str]]) -> Condition:
    """Parse a condition from the table of one word in a filter file.

    Examples
    --------
    >>> read_condition({"word": "@npi", "upos": "ADV"}, {"npi": frozenset({"ever"})}).words
    frozenset({'ever'})
    """
    if not isinstance(table, Mapping):
        raise BadInput(
            f"{table!r} is not a table.", remedy='Write for example { upos = "NOUN" }, or {} for any word.'
        )
    for key in table:
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            remedy = f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(KEYS)}."
            raise BadInput(f"unknown key {key!r}.", remedy=remedy)
    return Condition(
        columns=tuple(
            (name, _values(table[name], lists, lower=name in ("form", "lemma")))
            for name in COLUMNS
            if name in table
        ),
        words=_values(table["word"], lists, lower=True) if "word" in table else None,
        phrases=_by_first(_values(table["phrase"], lists, lower=True)) if "phrase" in table else None,
        feats=_features(table.get("feats", {}), lists),
        unlike=read_condition(table["not"], lists) if "not" in table else None,
    )


def _features(table: Any, lists: Mapping[str, frozenset[str]]) -> tuple[tuple[str, frozenset[str]], ...]:
    if not isinstance(table, Mapping):
        raise BadInput(f"feats is {table!r}.", remedy='Write a table: feats = { Number = "Sing" }.')
    return tuple((name, _values(values, lists, lower=False)) for name, values in table.items())


def _values(entry: Any, lists: Mapping[str, frozenset[str]], *, lower: bool) -> frozenset[str]:
    values: set[str] = set()
    some: Sequence[Any] = [entry] if isinstance(entry, str) else entry
    if not isinstance(some, list) or not all(isinstance(value, str) and value.strip() for value in some):
        raise BadInput(f"{entry!r} is neither a text nor a list of texts.")
    for value in some:
        if not value.startswith("@"):
            values.add(value.lower() if lower else value)
        elif value[1:] in lists:
            values |= lists[value[1:]]
        else:
            raise BadInput(f"there is no list {value!r}.", remedy=f"Lists are: {', '.join(lists) or 'none'}.")
    return frozenset(values)


def _by_first(phrases: frozenset[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    runs = sorted(tuple(phrase.split()) for phrase in phrases)
    return {run[0]: tuple(other for other in runs if other[0] == run[0]) for run in runs}
