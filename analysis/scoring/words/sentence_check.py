"""Check of what a model reads of the sentences of a study, before they are scored."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

SHOWN = 3  # examples of a finding
LONGEST = 60  # characters of an example


@dataclass(frozen=True)
class Readings:
    """What a scorer reads of sentences, one entry per sentence.

    ``tokens`` identify what is scored, ``restored`` is their text (None without a decoder), ``unknown`` are
    the pieces of the sentence that are unknown tokens, ``normalised`` is the sentence after normalization.
    ``is_library_other`` is set where the library of the model would read other tokens than its file has.
    """

    tokens: Sequence[Hashable]
    restored: Sequence[str] | None
    unknown: Sequence[Sequence[str]]
    normalised: Sequence[str]
    is_library_other: Sequence[bool] = field(default_factory=list)


@runtime_checkable
class ReadsSentences(Protocol):
    """A scorer that shows without scoring what it reads of sentences."""

    def read_sentences(self, sentences: Sequence[str]) -> Readings | None:
        """Return what is read of each sentence; None where a server tokenizes."""
        ...


class Finding(NamedTuple):
    """A finding of the check: its name, the sentence or pair counts, examples, and whether it is grave."""

    name: str
    n: int
    of: int
    examples: list[str]

    @property
    def is_grave(self) -> bool:
        """Whether scores mean no judgment of the model."""
        return self.name == PAIRS and self.n > 0

    @property
    def text(self) -> str:
        """The finding in words, with its examples."""
        return TEXTS[self.name].format(n=f"{self.n:,}", of=f"{self.of:,}") + (
            f": {'; '.join(self.examples)}" if self.examples else ""
        )


PAIRS = "same_pairs"
TEXTS = {
    PAIRS: "{n} of {of} pairs have two sentences of the same tokens: a tie that is no judgment of the model",
    "same_sentences": "{n} of {of} sentences have the tokens of another one",
    "unknown": "{n} of {of} sentences have unknown tokens",
    "changed": "{n} of {of} sentences have characters that the tokenizer changes",
    "other_text": "{n} of {of} sentences are not restored from their tokens",
    "other_spaces": "{n} of {of} sentences are restored with other white space only",
    "library": "{n} of {of} sentences have other tokens by tokenizer.json than by the library's class",
}
NOTHING = "no sentence is changed, has unknown tokens or those of another one"


def check_sentences(
    scorer: object,
    sentence_ids: Sequence[str],
    sentences: Sequence[str],
    *,
    contexts: Sequence[str] = (),
    pairs: Iterable[tuple[str, str]] = (),
) -> dict[str, Any] | None:
    """Check what a model reads of sentences; None for models that do not show it.

    ``contexts`` are the texts before sentences, which tell sentences of the same tokens apart. ``pairs`` are
    the ids of their members; those that are not among the sentences are left out.
    """
    while scorer is not None and not isinstance(scorer, ReadsSentences):
        scorer = getattr(scorer, "model", None)  # behind a cache or a context
    readings = scorer.read_sentences(sentences) if scorer is not None else None
    if readings is None:
        return None
    keys = list(zip(readings.tokens, contexts or [""] * len(sentences), strict=True))
    by_id = dict(zip(sentence_ids, range(len(sentences)), strict=True))
    members = [(by_id[first], by_id[second]) for first, second in pairs if first in by_id and second in by_id]
    findings = [
        *([_same_pairs(sentences, keys, members)] if members else []),
        _same_sentences(sentences, keys),
        _unknown(readings.unknown),
        _character_changes(sentences, readings.normalised),
        *_round_trip_findings(sentences, readings),
        *_library(sentences, readings.is_library_other),
    ]
    return {"sentences": len(sentences), "findings": [finding._asdict() for finding in findings]}


def check_findings(check: Mapping[str, Any] | None) -> list[Finding]:
    """Return the findings of a stored check that concern a sentence or pair."""
    rows = (check or {}).get("findings", [])
    findings = [Finding(row["name"], row["n"], row["of"], row["examples"]) for row in rows]
    return [finding for finding in findings if finding.n]


def check_text(check: Mapping[str, Any] | None) -> str:
    """Describe a stored check without its examples, for the conventions of a score."""
    if check is None:
        return ""
    return "; ".join(finding._replace(examples=[]).text for finding in check_findings(check)) or NOTHING


def _same_pairs(
    sentences: Sequence[str], keys: Sequence[Hashable], members: Sequence[tuple[int, int]]
) -> Finding:
    same = [(first, second) for first, second in members if keys[first] == keys[second]]
    examples = [f"{_quote(sentences[first])} = {_quote(sentences[second])}" for first, second in same[:SHOWN]]
    return Finding(PAIRS, len(same), len(members), examples)


def _same_sentences(sentences: Sequence[str], keys: Sequence[Hashable]) -> Finding:
    groups: dict[Hashable, dict[str, int]] = {}
    for sentence, key in zip(sentences, keys, strict=True):
        group = groups.setdefault(key, {})
        group[sentence] = group.get(sentence, 0) + 1
    same = [group for group in groups.values() if len(group) > 1]
    examples = [" = ".join(map(_quote, list(group)[:2])) for group in same[:SHOWN]]
    return Finding("same_sentences", sum(sum(group.values()) for group in same), len(sentences), examples)


def _unknown(unknown: Sequence[Sequence[str]]) -> Finding:
    pieces = Counter(piece for row in unknown for piece in row)
    examples = [_quote(piece) for piece, _ in pieces.most_common(SHOWN)]
    return Finding("unknown", sum(bool(row) for row in unknown), len(unknown), examples)


def _character_changes(sentences: Sequence[str], normalised: Sequence[str]) -> Finding:
    """Compare without white space, which tokenizers mark in different ways."""
    n, lost = 0, Counter[str]()
    for sentence, text in zip(sentences, normalised, strict=True):
        before, after = _without_spaces(sentence), _without_spaces(text)
        n += before != after
        if before != after:
            lost.update(sorted(set(before) - set(after)))
    examples = [f"{character} lost in {times:,}" for character, times in lost.most_common(SHOWN)]
    return Finding("changed", n, len(sentences), examples)


def _round_trip_findings(sentences: Sequence[str], readings: Readings) -> list[Finding]:
    """Compare sentences with the text of their tokens; changes of characters are reported by themselves."""
    if readings.restored is None:
        return []
    rows = list(zip(sentences, readings.restored, readings.normalised, strict=True))
    letters = [
        (sentence, text)
        for sentence, text, changed in rows
        if _without_spaces(text) not in (_without_spaces(sentence), _without_spaces(changed))
    ]
    n_spaces = sum(
        sentence.strip() != text.strip() and _without_spaces(sentence) == _without_spaces(text)
        for sentence, text, _ in rows
    )
    examples = [f"{_quote(sentence)} → {_quote(text.strip())}" for sentence, text in letters[:SHOWN]]
    return [
        Finding("other_text", len(letters), len(sentences), examples),
        Finding("other_spaces", n_spaces, len(sentences), []),
    ]


def _library(sentences: Sequence[str], is_other: Sequence[bool]) -> list[Finding]:
    if not is_other:
        return []
    texts = [sentence for sentence, other in zip(sentences, is_other, strict=True) if other]
    return [Finding("library", len(texts), len(sentences), [_quote(text) for text in texts[:SHOWN]])]


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _quote(text: str) -> str:
    return f"“{text[:LONGEST]}{'…' if text[LONGEST:] else ''}”"
