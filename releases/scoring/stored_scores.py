"""Stored scores of runs: by name, for simulated participants, and what their measures are made of."""

from collections.abc import Sequence

import pandas as pd

from analysis.scoring.measures import MEASURES
from experiments.models import Experiment, Sentence
from releases.models import ScoringRun, SentenceScore, model_names
from releases.scoring.score_cache import COLUMNS, cached_rows, sentence_sha


def names(study: Experiment) -> list[str]:
    """Return the names of the finished runs of a study, oldest first."""
    return model_names(_runs(study))


def scores(study: Experiment, name: str) -> dict[str, float]:
    """Return the scores of a run by its name, as a mapping from sentence ids."""
    runs = _runs(study)
    run = dict(zip(model_names(runs), runs, strict=True))[name]
    return dict(SentenceScore.objects.filter(run=run).values_list("sentence__key", "score"))


def _runs(study: Experiment) -> list[ScoringRun]:
    return list(ScoringRun.objects.of_study(study).done().order_by("pk"))


def count_table(runs: Sequence[ScoringRun]) -> pd.DataFrame:
    """Return log probability, tokens and unigram log probability of the sentences of runs, as they have them.

    ``model`` is the name of the run among these. Unigrams of sentences scored after a context are not cached;
    the words of an uploaded table without tokens are not the model's.
    """
    columns = ["model", "sentence_id", "logprob", "n_tokens", "unigram_logprob"]
    rows = [
        (label, key, logprob, n_tokens if has_tokens else None, unigrams.get(key))
        for label, run in zip(model_names(runs), runs, strict=True)
        if run.method in MEASURES
        for has_tokens, unigrams in [(_has_tokens(run), _cached_unigrams(run))]
        for key, logprob, n_tokens in SentenceScore.objects.filter(run=run).values_list(
            "sentence__key", "logprob", "n_tokens"
        )
    ]
    numbers = dict.fromkeys(columns[2:], float)
    return pd.DataFrame(rows, columns=columns).astype(numbers)


def _has_tokens(run: ScoringRun) -> bool:
    return not run.model.startswith("csv:") or run.spec.get("tokens") == "model"


def _cached_unigrams(run: ScoringRun) -> dict[str, float | None]:
    if run.scorer is None or run.spec.get("in_context"):
        return {}
    place = COLUMNS.index("unigram_logprob")
    shas = {
        sentence.key: sentence_sha(sentence.words)
        for sentence in Sentence.objects.filter(scores__run=run).only("key", "text", "attributes")
    }
    rows = cached_rows(run.scorer, list(shas.values()))
    return {key: rows[sha][place] for key, sha in shas.items() if sha in rows}
