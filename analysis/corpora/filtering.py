"""A corpus and its filters become corpora of their own, with a report of what each filter removed."""

import hashlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.corpora.conllu import Sentence
from analysis.corpora.filters import FULL, Filter
from analysis.corpora.sampling import Flags, downsample
from analysis.errors import BadInput, NotEnoughData

KEPT = -1
EXAMPLES = 5
Told = Callable[[int], None]


@dataclass(frozen=True)
class Survey:
    """What the filters say of every sentence of a corpus.

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

    def kept(self) -> dict[str, Flags]:
        """Sentences of the full corpus and of each filtered one."""
        everything = np.ones(len(self.lengths), dtype=np.bool_)
        return {FULL: everything, **{name: reason == KEPT for name, reason in self.reasons.items()}}


def survey(sentences: Iterable[Sentence], filters: Sequence[Filter], *, told: Told | None = None) -> Survey:
    """Ask every filter about every sentence.

    Parameters
    ----------
    sentences : iterable of Sentence
        Read once, one after the other.
    filters : sequence of Filter
        With different names.
    told : callable, optional
        Called with the number of sentences so far, now and then.

    Returns
    -------
    Survey
        Four bytes a sentence and two a filter: the sentences themselves are not held.

    Raises
    ------
    BadInput
        If two filters have one name, there is none, or there is no sentence.
    """
    names = [one.name for one in filters]
    if not names or len(set(names)) < len(names):
        again = next((name for name in names if names.count(name) > 1), None)
        raise BadInput(f"the filter {again!r} is given twice." if again else "no filter is given.")
    lengths = array("i")  # four and two bytes: a corpus may have millions of sentences
    reasons = {name: array("h") for name in names}
    examples: dict[str, list[str]] = {name: [] for name in names}
    for number, sentence in enumerate(sentences, start=1):
        lengths.append(len(sentence.words))
        for one in filters:
            found = one.removes(sentence)
            reasons[one.name].append(KEPT if found is None else one.patterns.index(found))
            if found is not None and len(examples[one.name]) < EXAMPLES:
                examples[one.name].append(sentence.text)
        if told and number % 500 == 0:
            told(number)
    if not lengths:
        raise NotEnoughData("the corpus has no sentences.")
    return Survey(
        np.array(lengths, dtype=np.int32),
        {name: np.array(some, dtype=np.int16) for name, some in reasons.items()},
        examples,
    )


def choose(
    found: Survey, *, unit: str | None = None, seed: int = 0, size: int | None = None
) -> dict[str, Flags]:
    """Say which sentences each corpus gets.

    Parameters
    ----------
    found : Survey
        From :func:`survey`.
    unit : {"sentences", "tokens"}, optional
        What is made equal; without it nothing is left out beyond the filters.
    seed, size : int, optional
        Of the choice; see :func:`analysis.corpora.sampling.downsample`.

    Returns
    -------
    dict of str to array of bool
        For ``full`` and every filter.

    Raises
    ------
    NotEnoughData
        If a filter leaves nothing, or less than ``size``.
    """
    kept = found.kept()
    for name, flags in kept.items():
        if not flags.any():
            raise NotEnoughData(f"the filter {name!r} removes every sentence.", remedy="Ask it for more.")
    if unit is None:
        if size is not None:
            raise BadInput("a size without a unit.", remedy="Give --downsample sentences or tokens with it.")
        return kept
    return downsample(found.lengths, kept, unit=unit, rng=np.random.default_rng(seed), size=size)


def report(found: Survey, chosen: dict[str, Flags], filters: Sequence[Filter]) -> dict[str, Any]:
    """Count what went and what is left.

    Parameters
    ----------
    found, chosen
        From :func:`survey` and :func:`choose`.
    filters : sequence of Filter
        The same.

    Returns
    -------
    dict
        ``sentences``, ``tokens`` of the corpus; ``filters``: rows of ``filter``, ``title``, ``source``,
        ``sha256``, ``paradigms``, ``sentences_removed``, ``sentences_removed_percent``, ``tokens_removed``,
        ``tokens_removed_percent``, ``patterns`` (sentences by the first pattern found), ``examples``;
        ``corpora``: rows of ``corpus``, ``sentences``, ``tokens``, ``tokens_percent_of_full`` (as in table 1
        of the paper, of what is written), ``sentences_shared_with_full``.
    """
    lengths, total = found.lengths, int(found.lengths.sum())
    rows = []
    for one in filters:
        reasons = found.reasons[one.name]
        gone = reasons != KEPT
        tokens = int(lengths[gone].sum())
        rows.append({
            "filter": one.name, "title": one.title, "source": one.source, "sha256": one.sha256,
            "paradigms": list(one.paradigms),
            "sentences_removed": int(gone.sum()),
            "sentences_removed_percent": 100 * int(gone.sum()) / len(lengths),
            "tokens_removed": tokens, "tokens_removed_percent": 100 * tokens / total,
            "patterns": [
                {"pattern": pattern.name, "sentences": int((reasons == number).sum())}
                for number, pattern in enumerate(one.patterns)
            ],
            "examples": found.examples[one.name],
        })  # fmt: skip
    whole = int(lengths[chosen[FULL]].sum())
    corpora = [
        {
            "corpus": name,
            "sentences": int(flags.sum()),
            "tokens": int(lengths[flags].sum()),
            "tokens_percent_of_full": 100 * int(lengths[flags].sum()) / whole,
            "sentences_shared_with_full": int((flags & chosen[FULL]).sum()),
        }
        for name, flags in chosen.items()
    ]
    return {"sentences": len(lengths), "tokens": total, "filters": rows, "corpora": corpora}


def checksum(path: str | Path) -> str:
    """SHA-256 of a file, in hexadecimal digits.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    str
    """
    with Path(path).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
