"""Score a frame of sentences by several measures at once."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.columns import require_columns
from analysis.errors import NotEnoughData
from analysis.scoring.base import FLAG_EMPTY, FLAGS, Progress, Scorer, Scores
from analysis.scoring.measures import measure


@dataclass(frozen=True)
class ScoredSentences:
    """One row per sentence (``sentence_id`` and one column per measure), and what is to be known of it."""

    frame: pd.DataFrame
    summary: dict[str, Any]


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
        Measures: ``lp``, ``meanlp``, ``penlp``, ``sllnlp``, ``charlp``, ``normlp``, ``slor``.
    name : str
        What the model is called; columns are called ``name:method``. By default the file's name.
    progress : callable, optional
        Told how many sentences are done.

    Returns
    -------
    ScoredSentences
        Scores (NaN where undefined) and a summary: specification, sentences, unknown words, missing scores.

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
    found = scorer.score(
        sentences["sentence"].astype(str).tolist(),
        ids=sentences["sentence_id"].astype(str).tolist(),
        progress=progress,
    )
    columns = {
        f"{label}:{method.lower()}": measure(
            method,
            found.logprob,
            n_tokens=found.n_tokens,
            unigram_logprob=found.unigram_logprob,
            n_chars=found.n_chars,
        )
        for method in methods
    }
    frame = pd.DataFrame({"sentence_id": sentences["sentence_id"].astype(str).to_numpy(), **columns})
    return ScoredSentences(frame, _summary(scorer, found, frame, model=label))


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
        "flags": {
            name: n for name, flag in FLAGS.items() if (n := int(np.count_nonzero(found.flags & flag)))
        },
        "path": getattr(scorer, "why", ""),
        "warnings": list(getattr(scorer, "warnings", [])),
        "missing": {str(column): int(frame[column].isna().sum()) for column in scores},
        "missing_sentence_ids": [
            str(name) for name in frame.loc[frame[scores].isna().any(axis=1), "sentence_id"]
        ],
        "length": "tokens without boundary marks",
        "base": "natural logarithm",
    }
