"""Score a frame of sentences by several measures at once."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.columns import require_columns
from analysis.errors import NotEnoughData
from analysis.scoring.base import FLAG_EMPTY, Progress, Scorer, Scores, flag_counts
from analysis.scoring.measures import measure


@dataclass(frozen=True)
class ScoredSentences:
    """One row per sentence (``sentence_id`` and one column per measure), and what is to be known of it.

    ``counts`` holds what every measure is made of, so that another one needs no scoring: as a file it is a
    model of its own, ``csv:FILE``.
    """

    frame: pd.DataFrame
    summary: dict[str, Any]
    counts: pd.DataFrame = field(default_factory=pd.DataFrame)


def score_sentences(
    scorer: Scorer,
    sentences: pd.DataFrame,
    *,
    methods: Sequence[str] = ("lp",),
    name: str = "",
    progress: Progress | None = None,
) -> ScoredSentences:
    """Score sentences once and derive every measure asked for.

    Parameters
    ----------
    scorer : Scorer
        The model.
    sentences : DataFrame
        Needs ``sentence_id`` and ``sentence``.
    methods : sequence of str
        Measures: ``lp``, ``meanlp``, ``penlp``, ``sllnlp``, ``charlp``, ``bytelp``, ``normlp``,
        ``slor``.
    name : str
        What the model is called; columns are called ``name:method``. By default the file's name.
    progress : callable, optional
        Told how many sentences are done.

    Returns
    -------
    ScoredSentences
        Scores (NaN where undefined), a summary (specification, sentences, unknown words, missing scores), and
        the log probabilities and lengths that the measures are made of.

    Raises
    ------
    MissingColumns, NotEnoughData, UnknownName, BadInput
        If the frame has no sentences, or a measure is unknown or needs what the model does not give.

    Examples
    --------
    A table of scores is a model too: ``score_sentences(scorer("csv:scores.csv"), sentences)``.
    """
    require_columns(sentences, "sentence_id", "sentence")
    if not len(sentences):
        raise NotEnoughData("there are no sentences to score.")
    label = name or model_name(scorer.spec.uri)
    names = sentences["sentence_id"].astype(str).tolist()
    found = scorer.score(
        sentences["sentence"].astype(str).tolist(),
        ids=names,
        progress=progress,
    )
    counts = count_frame(names, sentences["sentence"].astype(str).tolist(), found)
    columns = {f"{label}:{method.lower()}": measure_counts(method, counts) for method in methods}
    frame = pd.DataFrame({"sentence_id": names, **columns})
    return ScoredSentences(frame, _summary(scorer, found, frame, model=label), counts)


def count_frame(sentence_ids: Sequence[str], sentences: Sequence[str], found: Scores) -> pd.DataFrame:
    """Lay down what measures are made of.

    Parameters
    ----------
    sentence_ids, sentences : sequences of str
        Names and texts.
    found : Scores
        Of these sentences.

    Returns
    -------
    DataFrame, one row per sentence
        ``sentence_id``, ``logprob``, ``n_tokens``, ``n_words``, ``n_chars`` (code points), ``n_bytes``
        (UTF-8), ``n_unk``, and ``unigram_logprob`` where the model gives it.
    """
    frame = pd.DataFrame({
        "sentence_id": list(sentence_ids),
        "logprob": found.logprob,
        "n_tokens": found.n_tokens,
        "n_words": found.n_words,
        "n_chars": found.n_chars,
        "n_bytes": np.array([len(one.encode("utf-8", "surrogatepass")) for one in sentences], dtype=np.int64),
        "n_unk": found.n_unk,
    })  # fmt: skip
    return frame if found.unigram_logprob is None else frame.assign(unigram_logprob=found.unigram_logprob)


def measure_counts(method: str, counts: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Derive a measure from log probabilities and lengths; nothing is scored.

    Parameters
    ----------
    method : str
        A measure, in any case.
    counts : DataFrame
        From :func:`count_frame`.

    Returns
    -------
    ndarray of float

    Raises
    ------
    UnknownName, BadInput
        If there is no such measure, or it needs what is not there.

    Examples
    --------
    >>> counts = pd.DataFrame({"logprob": [-30.0], "n_tokens": [10], "n_chars": [60], "n_bytes": [60]})
    >>> measure_counts("meanlp", counts).tolist()
    [-3.0]
    """
    return measure(
        method,
        counts["logprob"].to_numpy(),
        n_tokens=counts["n_tokens"].to_numpy(),
        unigram_logprob=counts["unigram_logprob"].to_numpy() if "unigram_logprob" in counts else None,
        n_chars=counts["n_chars"].to_numpy(),
        n_bytes=counts["n_bytes"].to_numpy(),
    )


def model_name(uri: str) -> str:
    """Give a model a short name from its address.

    Parameters
    ----------
    uri : str
        Address without options.

    Returns
    -------
    str
        The last part of the target without the suffixes of its kind.

    Examples
    --------
    >>> model_name("arpa:models/trigram.arpa.gz")
    'trigram'
    """
    name = uri.partition(":")[2].rpartition("/")[2]
    for suffix in (".gz", ".arpa", ".csv", ".tsv", ".jsonl", ".parquet"):
        name = name.removesuffix(suffix)
    return name or uri


def _summary(scorer: Scorer, found: Scores, frame: pd.DataFrame, *, model: str) -> dict[str, Any]:
    scores = frame.columns[1:]
    source = getattr(scorer, "source", None)
    return {
        "model": model,
        "spec_id": scorer.spec.spec_id,
        "spec": asdict(scorer.spec),
        "columns": [str(column) for column in scores],
        "sentences": len(frame),
        "tokens": int(found.n_tokens.sum()),
        "unknown_tokens": int(found.n_unk.sum()),
        "sentences_with_unknown_tokens": int((found.n_unk > 0).sum()),
        "empty_sentences": int(np.count_nonzero(found.flags & FLAG_EMPTY)),
        "flags": flag_counts(found.flags),
        "path": getattr(scorer, "why", ""),
        "warnings": list(getattr(scorer, "warnings", [])),
        "missing": {str(column): int(frame[column].isna().sum()) for column in scores},
        "missing_sentence_ids": [
            str(name) for name in frame.loc[frame[scores].isna().any(axis=1), "sentence_id"]
        ],
        "length": "tokens without boundary marks",
        "base": "natural logarithm",
        **({"source": source} if source else {}),
    }
