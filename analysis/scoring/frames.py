"""Score a frame of sentences by several measures at once."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..columns import require_columns
from ..errors import NotEnoughData
from ..notebooks import NotebookResult
from ..text import BOLD
from .base import FLAG_EMPTY, Progress, Scorer, Scores, flag_counts
from .measures import measure
from .words.contexts import IN_CONTEXT, in_context
from .words.sentence_check import check_sentences


@dataclass(frozen=True, repr=False)
class ScoredSentences(NotebookResult):
    """Scores with one row per sentence (``sentence_id`` and one column per measure), and a summary.

    ``counts`` contains the inputs of all measures: written to a file, it can be opened as a model,
    ``csv:FILE``, to compute further measures without scoring again. ``scores`` are those of the model, with
    single tokens where these were requested.
    """

    frame: pd.DataFrame
    summary: dict[str, Any]
    counts: pd.DataFrame = field(default_factory=pd.DataFrame)
    scores: Scores | None = None


def score_sentences(
    scorer: Scorer,
    sentences: pd.DataFrame,
    *,
    methods: Sequence[str] = ("lp",),
    name: str = "",
    tokens: bool = False,
    pairs: Sequence[tuple[str, str]] = (),
    progress: Progress | None = None,
) -> ScoredSentences:
    """Score sentences once and derive every requested measure.

    Parameters
    ----------
    scorer : Scorer
        Model, for example from :func:`obelus.scoring.scorer`.
    sentences : DataFrame, one row per sentence
        Needs ``sentence_id`` and ``sentence``; ``context``, where present, is put before the sentence and
        not scored.
    methods : sequence of str
        Measures: ``lp``, ``meanlp``, ``penlp``, ``sllnlp``, ``charlp``, ``bytelp``, ``normlp``,
        ``slor``.
    name : str
        Name of the model; result columns are called ``name:method``. By default the name of its file.
    tokens : bool
        Whether single tokens are returned with ``scores``, for
        :func:`obelus.scoring.words.surprisals.surprisal_table`.
    pairs : sequence of pairs of str
        ``sentence_id`` of the members of each pair: pairs of two sentences with the same tokens are reported.
    progress : callable, optional
        Called with the number of sentences scored so far.

    Returns
    -------
    ScoredSentences
        Scores (NaN where undefined), a summary (specification, sentences, unknown words, missing scores, and
        the check of what the model reads of the sentences), and the log probabilities and lengths from which
        the measures are computed.

    Raises
    ------
    MissingColumns, NotEnoughData, UnknownName, BadInput
        If the frame has no sentences, or a measure is unknown or not supported by the model.

    Examples
    --------
    A table of scores is a model too: ``score_sentences(scorer("csv:scores.csv"), sentences)``.
    """
    require_columns(sentences, "sentence_id", "sentence")
    if not len(sentences):
        raise NotEnoughData("there are no sentences to score.")
    label = name or model_name(scorer.spec.uri)
    names = sentences["sentence_id"].astype(str).tolist()
    texts = sentences["sentence"].astype(str).tolist()
    contexts = context_column(sentences)
    scorer, questions = in_context(scorer, texts, contexts, ids=names)
    has_contexts = IN_CONTEXT in scorer.capabilities
    check = check_sentences(scorer, names, texts, contexts=contexts if has_contexts else (), pairs=pairs)
    scores = scorer.score(questions, ids=names, tokens=tokens, progress=progress)
    counts = count_frame(names, texts, scores)
    columns = {f"{label}:{method.lower()}": measure_counts(method, counts) for method in methods}
    frame = pd.DataFrame({"sentence_id": names, **columns})
    summary = _summary(scorer, scores, frame, model=label) | {"check": check}
    return ScoredSentences(frame, summary, counts, scores)


def context_column(sentences: pd.DataFrame) -> list[str]:
    """Return the context of each sentence, empty where there is none, with the words of ``**bold**`` only.

    Examples
    --------
    >>> context_column(pd.DataFrame({"sentence": ["We left.", "Go!"], "context": ["It **rained**.", None]}))
    ['It rained.', '']
    """
    if "context" not in sentences:
        return [""] * len(sentences)
    contexts = sentences["context"].astype(object).where(sentences["context"].notna(), "").astype(str)
    return [BOLD.sub(r"\1", context) for context in contexts]


def count_frame(sentence_ids: Sequence[str], sentences: Sequence[str], scores: Scores) -> pd.DataFrame:
    """Build the table of log probabilities and lengths that measures are computed from."""
    frame = pd.DataFrame({
        "sentence_id": list(sentence_ids),
        "logprob": scores.logprob,
        "n_tokens": scores.n_tokens,
        "n_words": scores.n_words,
        "n_chars": scores.n_chars,
        "n_bytes": np.array([len(text.encode("utf-8", "surrogatepass")) for text in sentences], np.int64),
        "n_unk": scores.n_unk,
    })  # fmt: skip
    optional = {"unigram_logprob": scores.unigram_logprob, "logprob_se": scores.standard_error}
    return frame.assign(**{name: values for name, values in optional.items() if values is not None})


def measure_counts(method: str, counts: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Compute a measure from the table of :func:`count_frame`, without scoring.

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
    """Return a short name for a model from its URI.

    Examples
    --------
    >>> model_name("arpa:models/trigram.arpa.gz")
    'trigram'
    """
    name = uri.partition(":")[2].rpartition("/")[2]
    for suffix in (".gz", ".arpa", ".csv", ".tsv", ".jsonl", ".parquet"):
        name = name.removesuffix(suffix)
    return name or uri


def _summary(scorer: Scorer, scores: Scores, frame: pd.DataFrame, *, model: str) -> dict[str, Any]:
    columns = frame.columns[1:]
    source = getattr(scorer, "source", None)
    return {
        "model": model,
        "spec_id": scorer.spec.spec_id,
        "spec": asdict(scorer.spec),
        "columns": [str(column) for column in columns],
        "sentences": len(frame),
        "tokens": int(scores.n_tokens.sum()),
        "unknown_tokens": int(scores.n_unk.sum()),
        "sentences_with_unknown_tokens": int((scores.n_unk > 0).sum()),
        "empty_sentences": int(np.count_nonzero(scores.flags & FLAG_EMPTY)),
        "flags": flag_counts(scores.flags),
        "path": getattr(scorer, "why", ""),
        "warnings": list(getattr(scorer, "warnings", [])),
        "missing": {str(column): int(frame[column].isna().sum()) for column in columns},
        "missing_sentence_ids": [
            str(name) for name in frame.loc[frame[columns].isna().any(axis=1), "sentence_id"]
        ],
        "length": "tokens without boundary marks",
        "base": "natural logarithm",
        **({"source": source} if source else {}),
    }
