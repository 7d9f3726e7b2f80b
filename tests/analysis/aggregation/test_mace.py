"""Competence of annotators by MACE."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.mace import mace

COLUMNS = ["item", "participant", "value"]
REFERENCE = Path(__file__).parents[2] / "reference" / "mace.json"


def simulated(items, competence, guesses, *, seed=1):
    """Answers by the model itself; ``guesses``: probability of 1 in answers that are not judged."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=items)
    rows = [
        (f"i{i:03}", f"P{p}", int(truth[i] if rng.random() < knows else rng.random() < guesses[p]))
        for i in range(items)
        for p, knows in enumerate(competence)
    ]
    return pd.DataFrame(rows, columns=COLUMNS), truth


def test_labels_and_competence_equal_crowd_kit():
    reference = json.loads(REFERENCE.read_text())
    fit = mace(pd.DataFrame(reference["answers"], columns=COLUMNS), min_median=1)
    assert fit.status == "ok"
    p = fit.items.set_index("item")
    for item, row in reference["probabilities"].items():
        for label, value in row.items():
            assert p.loc[item, f"p_{label}"] == pytest.approx(value, abs=1e-5), (item, label)
    people = fit.annotators.set_index("participant")
    for person, value in reference["guesses"].items():
        assert people.loc[person, "guesses"] == pytest.approx(value, abs=1e-3), person


def test_true_competence_guessing_and_labels_are_recovered():
    competence, guesses = (0.9, 0.8, 0.6, 0.1, 0.05), (0.5, 0.5, 0.5, 0.95, 0.05)
    rows, truth = simulated(600, competence, guesses)
    fit = mace(rows)
    assert fit.annotators["competence"].tolist() == pytest.approx(competence, abs=0.08)
    assert fit.annotators["guess_1"].tolist()[3:] == pytest.approx(guesses[3:], abs=0.08)
    assert ((fit.items["label"] == "1") == truth).mean() > 0.93


def test_result_does_not_depend_on_order_or_names_of_labels():
    rows, _ = simulated(60, (0.9, 0.7, 0.5, 0.1), (0.5, 0.4, 0.6, 0.9))
    fit = mace(rows)
    other = mace(rows.sample(frac=1, random_state=3).assign(value=lambda frame: 1 - frame["value"]))
    for name in ("competence", "guesses"):
        assert other.annotators[name].tolist() == pytest.approx(fit.annotators[name].tolist(), abs=1e-6)
    assert other.items["p_0"].tolist() == pytest.approx(fit.items["p_1"].tolist(), abs=1e-6)


def test_statuses_say_why_nothing_is_estimated():
    rows, _ = simulated(30, (0.9, 0.8), (0.5, 0.5))
    for data, status in (
        (rows.iloc[:0], "no_data"),
        (rows.assign(value=1), "no_variation"),
        (rows[rows["item"] < "i010"], "too_few"),
    ):
        assert mace(data).status == status and mace(data).items.empty
    assert mace(rows, max_steps=1).status == "not_converged"
