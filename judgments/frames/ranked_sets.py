"""Judgments of sets (best–worst) as one row for each compared sentence."""

from collections import Counter

import pandas as pd

from experiments.models import Experiment
from judgments.models import Trial

MEANING = {1.0: "best", -1.0: "worst", 0.0: ""}
FROM_MATERIALS = ("item", "condition", "expected", "paradigm", "phenomenon")


def row_per_sentence(frame: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    """Distribute the answer to each set over its sentences: 1 the best, −1 the worst, 0 the others.

    ``frame`` has a row per trial, with the response as it was sent: the best option's id and the worst's.
    """
    options_of, n_planned = _options(experiment)
    sets = [options_of.get(str(trial), []) for trial in frame["trial"]]
    spread = frame.loc[frame.index.repeat([len(options) for options in sets])].reset_index(drop=True)
    values = [
        _value(option["id"], str(response))
        for options, response in zip(sets, frame["response"], strict=True)
        for option in options
    ]
    keys = [option["sentence_id"] for options in sets for option in options]
    columns_of = _material_columns(experiment)
    materials = pd.DataFrame([columns_of.get(key, dict.fromkeys(FROM_MATERIALS, "")) for key in keys])
    levels = experiment.materials.levels if experiment.materials else {}
    return spread.assign(
        sentence_id=pd.Categorical(keys),
        value=pd.Series(values, dtype="float64"),
        response=pd.Categorical([MEANING[value] for value in values]),
        n_planned=spread["session"].astype(str).map(n_planned).astype("int64"),
        scale_low=-1.0,
        scale_high=1.0,
        **{
            name: pd.Categorical(materials[name]) if len(materials) else pd.Categorical([])
            for name in FROM_MATERIALS
        },
        **{
            factor: pd.Categorical(
                [columns_of.get(key, {}).get(factor) for key in keys], categories=names, ordered=True
            )
            for factor, names in levels.items()
        },
    )


def _options(experiment: Experiment) -> tuple[dict[str, list[dict[str, str]]], Counter[str]]:
    """Options of every trial, and the number of rows of each session when it is complete."""
    trials = Trial.objects.filter(session__experiment=experiment).values_list("pk", "session_id", "shown")
    options, n_rows = {}, Counter[str]()
    for pk, session, screen in trials.iterator():
        options[str(pk)] = screen.get("options", [])
        n_rows[str(session)] += len(options[str(pk)])
    return options, n_rows


def _value(option_id: str, response: str) -> float:
    best, _, worst = response.partition(" ")
    return float(option_id == best) - float(option_id == worst)


def _material_columns(experiment: Experiment) -> dict[str, dict[str, str]]:
    """Columns that the materials give each sentence, by its key, and its factors."""
    if experiment.materials is None:
        return {}
    rows = experiment.materials.sentences.values_list(
        "key",
        "item__key",
        "condition",
        "expected",
        "item__paradigm__name",
        "item__paradigm__phenomenon__name",
        "factors",
    )
    return {
        key: {**dict(zip(FROM_MATERIALS, (cell or "" for cell in cells), strict=True)), **factors}
        for key, *cells, factors in rows
    }
