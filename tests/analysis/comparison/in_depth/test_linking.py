"""Linking functions: weights, held-out correlations and intervals beside R, and what cannot be fitted."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.in_depth.linking import LINKS, jackknife_covariance, linking_functions
from analysis.comparison.in_depth.models import roster
from analysis.comparison.pairs import pair_table

REFERENCE = Path(__file__).parents[3] / "reference"


@pytest.fixture
def frames():
    """Human scores, pairs and measures of R's data."""
    data = pd.read_csv(REFERENCE / "linking.csv").astype({"sentence": str})
    good, bad = data[data["good"] == 1], data[data["good"] == 0]
    pairs = pd.DataFrame({
        "pair_id": good["item"].to_numpy(), "good_id": good["sentence"].to_numpy(),
        "bad_id": bad["sentence"].to_numpy(), "phenomenon": good["phenomenon"].astype(str).to_numpy(),
    })  # fmt: skip
    human = data.rename(columns={"sentence": "sentence_id", "human": "score"})[["sentence_id", "score"]]
    scores = pd.DataFrame({
        "sentence_id": data["sentence"], "m:lp": data["logprob"],
        "m:meanlp": data["logprob"] / data["tokens"],
        "m:slor": (data["logprob"] - data["unigram"]) / data["tokens"],
    })  # fmt: skip
    return data, human, pairs, scores


def linked(human, pairs, scores, counts=None):
    table = pair_table(human, pairs, scores)
    rows = linking_functions(table, roster(table.models), counts)
    return {(row["model"], row["function"]): row for row in rows}


def test_fits_equal_those_of_r(frames):
    data, human, pairs, scores = frames
    rows = linked(human, pairs, scores)
    reference = json.loads((REFERENCE / "linking.json").read_text())
    assert rows["m", "slor"]["r_cross_validated"] == rows["m", "slor"]["r"]
    assert rows["m", "slor"]["r"] == pytest.approx(reference["slor"])
    lengths = data.rename(columns={"tokens": "n_tokens", "unigram": "unigram_logprob"})
    for fit in reference["fits"]:
        row, weights = rows["m", fit["name"]], fit["weights"]
        assert row["r"] == pytest.approx(fit["r"])
        assert row["r_cross_validated"] == pytest.approx(fit["held_out_r"])
        fitted = {"beta": -weights[2] / weights[1], "gamma": weights[-1] / weights[1]}
        for name in LINKS[fit["name"]].fits:
            assert row[name] == pytest.approx(fitted[name])
            assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
        design = np.column_stack([np.ones(len(data)), LINKS[fit["name"]].columns(lengths)])
        covariance = jackknife_covariance(design, data["human"].to_numpy(), data["phenomenon"])
        assert covariance == pytest.approx(np.array(fit["covariance"]), rel=1e-6)
    full = rows["m", "morcela"]
    assert full["n"] == 80 and full["items"] == 40 and full["status"] == "ok"
    assert full["gain"] == pytest.approx(full["r_cross_validated"] - reference["slor"])
    assert full["gain_low"] < full["gain"] < full["gain_high"]


def test_given_counts_serve_a_model_that_has_log_probabilities_alone(frames):
    data, human, pairs, scores = frames
    counts = pd.DataFrame({
        "model": "m:lp", "sentence_id": data["sentence"], "logprob": data["logprob"],
        "n_tokens": data["tokens"], "unigram_logprob": data["unigram"],
    })  # fmt: skip
    alone = scores[["sentence_id", "m:lp"]]
    derived = linked(human, pairs, scores)
    for key, row in linked(human, pairs, alone, counts).items():
        assert [row["beta"], row["r_cross_validated"]] == pytest.approx(
            [derived[key]["beta"], derived[key]["r_cross_validated"]]
        )


def test_what_is_lacking_is_the_status(frames):
    _, human, pairs, scores = frames
    alone = scores[["sentence_id", "m:lp"]]
    rows = linked(human, pairs, alone)
    assert rows["m", "lp"]["status"] == "ok"
    assert {rows["m", name]["status"] for name in ("meanlp", "slor", "morcela")} == {"no_length"}
    rows = linked(human, pairs, scores.drop(columns="m:slor"))
    assert rows["m", "penlp"]["status"] == "ok" and rows["m", "morcela"]["status"] == "no_unigram"
    rows = linked(human, pairs, alone.assign(**{"m:lp": -alone["m:lp"]}))
    assert {row["status"] for row in rows.values()} == {"no_logprob"}
    assert linked(None, pairs, scores)["m", "morcela"]["status"] == "no_data"
    few = pairs.assign(phenomenon=np.arange(len(pairs)) % 4)
    row = linked(human, few, scores)["m", "morcela"]
    assert row["status"] == "too_few" and row["beta"] is not None and row["beta_low"] is None
    noise = human.assign(score=np.random.default_rng(3).normal(size=len(human)))
    row = linked(noise, pairs, scores)["m", "morcela"]
    assert row["status"] == "not_estimable" and row["beta_low"] is None


def test_two_revisions_of_one_name_are_two_models(frames):
    _, human, pairs, scores = frames
    table = pair_table(human, pairs, scores.rename(columns={"m:lp": "first", "m:meanlp": "second"}))
    models = roster(table.models).assign(name="m", method=["lp", "lp", "slor"])
    assert {row["model"] for row in linking_functions(table, models)} == {"first", "second", "m:slor"}
