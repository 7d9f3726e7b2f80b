"""Filter a parsed corpus into one corpus per filter and report what each filter removed."""

import hashlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput, NotEnoughData
from .conllu import Sentence
from .filters import FULL, Filter
from .sampling import Flags, downsample

KEPT = -1  # code of a kept sentence; others are the index of the pattern that removes it
EXAMPLES = 5  # removed sentences quoted per filter in the report
Progress = Callable[[int], None]


@dataclass(frozen=True)
class Survey:
    """Result of the filters for every sentence of a corpus.

    Parameters
    ----------
    lengths : array of int
        Tokens (syntactic words) of every sentence.
    reasons : dict of str to array of int
        By filter: the number of the first pattern found in each sentence, or -1 where it is kept.
    examples : dict of str to list of str
        By filter: the first sentences that go.
    """

    lengths: npt.NDArray[np.int32]
    reasons: dict[str, npt.NDArray[np.int16]]
    examples: dict[str, list[str]]

    def retained_sentences(self) -> dict[str, Flags]:
        """Sentences of the full corpus and of each filtered one."""
        everything = np.ones(len(self.lengths), dtype=np.bool_)
        return {FULL: everything, **{name: reason == KEPT for name, reason in self.reasons.items()}}


def survey(
    sentences: Iterable[Sentence], filters: Sequence[Filter], *, progress: Progress | None = None
) -> Survey:
    """Apply every filter to every sentence.

    ``progress`` is called with the number of sentences so far, every 500 sentences.
    """
    names = [rule.name for rule in filters]
    if not names or len(set(names)) < len(names):
        repeated = next((name for name in names if names.count(name) > 1), None)
        raise BadInput(f"the filter {repeated!r} is given twice." if repeated else "no filter is given.")
    lengths = array("i")  # four and two bytes: a corpus may have millions of sentences
    reasons = {name: array("h") for name in names}
    examples: dict[str, list[str]] = {name: [] for name in names}
    for number, sentence in enumerate(sentences, start=1):
        lengths.append(len(sentence.words))
        for rule in filters:
            reason = rule.removes(sentence)
            reasons[rule.name].append(KEPT if reason is None else rule.patterns.index(reason))
            if reason is not None and len(examples[rule.name]) < EXAMPLES:
                examples[rule.name].append(sentence.text)
        if progress and number % 500 == 0:
            progress(number)
    if not lengths:
        raise NotEnoughData("the corpus has no sentences.")
    return Survey(
        np.array(lengths, dtype=np.int32),
        {name: np.array(some, dtype=np.int16) for name, some in reasons.items()},
        examples,
    )


def choose(
    surveyed: Survey, *, unit: str | None = None, seed: int = 0, size: int | None = None
) -> dict[str, Flags]:
    """Select the sentences of each corpus."""
    is_kept = surveyed.retained_sentences()
    for name, flags in is_kept.items():
        if not flags.any():
            raise NotEnoughData(f"the filter {name!r} removes every sentence.", remedy="Ask it for more.")
    if unit is None:
        if size is not None:
            raise BadInput("a size without a unit.", remedy="Give --downsample sentences or tokens with it.")
        return is_kept
    return downsample(surveyed.lengths, is_kept, unit=unit, rng=np.random.default_rng(seed), size=size)


def report(surveyed: Survey, chosen: dict[str, Flags], filters: Sequence[Filter]) -> dict[str, Any]:
    """Count removed and remaining sentences and tokens.

    Notes
    -----
    ``sentences``, ``tokens`` of the corpus; ``filters``: rows of ``filter``, ``title``, ``source``,
    ``sha256``, ``paradigms``, ``sentences_removed``, ``sentences_removed_percent``, ``tokens_removed``,
    ``tokens_removed_percent``, ``patterns`` (sentences by the first pattern found), ``examples``;
    ``corpora``: rows of ``corpus``, ``sentences``, ``tokens``, ``tokens_percent_of_full`` (as in table 1
    of the paper, of what is written), ``sentences_shared_with_full``.
    """
    lengths, total = surveyed.lengths, int(surveyed.lengths.sum())
    rows = []
    for rule in filters:
        reasons = surveyed.reasons[rule.name]
        removed = reasons != KEPT
        tokens = int(lengths[removed].sum())
        rows.append({
            "filter": rule.name, "title": rule.title, "source": rule.source, "sha256": rule.sha256,
            "paradigms": list(rule.paradigms),
            "sentences_removed": int(removed.sum()),
            "sentences_removed_percent": 100 * int(removed.sum()) / len(lengths),
            "tokens_removed": tokens, "tokens_removed_percent": 100 * tokens / total,
            "patterns": [
                {"pattern": pattern.name, "sentences": int((reasons == number).sum())}
                for number, pattern in enumerate(rule.patterns)
            ],
            "examples": surveyed.examples[rule.name],
        })  # fmt: skip
    n_full = int(lengths[chosen[FULL]].sum())
    corpora = [
        {
            "corpus": name,
            "sentences": int(flags.sum()),
            "tokens": int(lengths[flags].sum()),
            "tokens_percent_of_full": 100 * int(lengths[flags].sum()) / n_full,
            "sentences_shared_with_full": int((flags & chosen[FULL]).sum()),
        }
        for name, flags in chosen.items()
    ]
    return {"sentences": len(lengths), "tokens": total, "filters": rows, "corpora": corpora}


def checksum(path: str | Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with Path(path).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
