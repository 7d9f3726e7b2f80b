"""Judgments of sets, for :mod:`judgments.frames`: a row for each sentence that was compared."""

from collections import Counter

import pandas as pd

from experiments.models import Experiment
from judgments.models import Trial

MEANING = {1.0: "best", -1.0: "worst", 0.0: ""}
FROM_MATERIALS = ("item", "condition", "expected", "paradigm", "phenomenon")


def row_per_sentence(frame: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    """Spread the answer to each set over its sentences: 1 the best, −1 the worst, 0 the others.

    ``frame`` has a row per trial, with the response as it was sent: the best option's id and the worst's.
    """
    shown, n_planned = _shown(experiment)
    options = [shown.get(str(trial), []) for trial in frame["trial"]]
    spread = frame.loc[frame.index.repeat([len(one) for one in options])].reset_index(drop=True)
    marked = [
        _value(option["id"], str(response))
        for one, response in zip(options, frame["response"], strict=True)
        for option in one
    ]
    keys = [option["sentence_id"] for one in options for option in one]
    facts = _facts(experiment)
    told = pd.DataFrame([facts.get(key, dict.fromkeys(FROM_MATERIALS, "")) for key in keys])
    return spread.assign(
        sentence_id=pd.Categorical(keys),
        value=pd.Series(marked, dtype="float64"),
        response=pd.Categorical([MEANING[value] for value in marked]),
        n_planned=spread["session"].astype(str).map(n_planned).astype("int64"),
        scale_low=-1.0,
        scale_high=1.0,
        **{name: pd.Categorical(told[name]) if len(told) else pd.Categorical([]) for name in FROM_MATERIALS},
    )


def _shown(experiment: Experiment) -> tuple[dict[str, list[dict[str, str]]], Counter[str]]:
    """Options of every trial, and the rows that each session will have when it is complete."""
    trials = Trial.objects.filter(session__experiment=experiment).values_list("pk", "session_id", "shown")
    shown, n_rows = {}, Counter[str]()
    for pk, session, one in trials.iterator():
        shown[str(pk)] = one.get("options", [])
        n_rows[str(session)] += len(shown[str(pk)])
    return shown, n_rows


def _value(option_id: str, response: str) -> float:
    best, _, worst = response.partition(" ")
    return float(option_id == best) - float(option_id == worst)


def _facts(experiment: Experiment) -> dict[str, dict[str, str]]:
    """What the materials say of each sentence, by its key."""
    if experiment.materials is None:
        return {}
    rows = experiment.materials.sentences.values_list(
        "key",
        "item__key",
        "condition",
        "expected",
        "item__paradigm__name",
        "item__paradigm__phenomenon__name",
    )
    return {key: dict(zip(FROM_MATERIALS, (one or "" for one in rest), strict=True)) for key, *rest in rows}
