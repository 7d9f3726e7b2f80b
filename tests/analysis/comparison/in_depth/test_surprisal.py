"""Ratings modelled by surprisal: the estimates of lme4, what is left out, and what cannot be computed."""

import json
from pathlib import Path

import pandas as pd
import pytest

from analysis.comparison.in_depth.models import roster
from analysis.comparison.in_depth.surprisal import REASONS, surprisal_models, surprisal_term
from analysis.comparison.pairs import pair_table

REFERENCE = Path(__file__).parents[3] / "reference"
NAMES = {"(Intercept)": "intercept", "place": "order"}


@pytest.fixture
def frames():
    """Judgments, pairs and measures of R's data."""
    data = pd.read_csv(REFERENCE / "surprisal.csv").astype({"sentence": str})
    judgments = data.rename(columns={"sentence": "sentence_id"})
    judgments = judgments[["participant", "position", "sentence_id", "item", "value"]].assign(task="slider")
    items = sorted(data["item"].unique())
    pairs = pd.DataFrame({
        "pair_id": items, "good_id": [f"{i}a" for i in items], "bad_id": [f"{i}b" for i in items]
    })  # fmt: skip
    of = data.drop_duplicates("sentence")
    scores = pd.DataFrame({
        "sentence_id": of["sentence"], "m:lp": of["logprob"], "m:meanlp": of["logprob"] / of["tokens"],
        "m:slor": (of["logprob"] - of["unigram"]) / of["tokens"],
    })  # fmt: skip
    return judgments, pairs, scores


def fitted(judgments, pairs, scores):
    table = pair_table(None, pairs, scores)
    return surprisal_models(table, roster(table.models), judgments)


def test_estimates_equal_those_of_lme4(frames):
    (row,) = fitted(*frames)
    reference = json.loads((REFERENCE / "surprisal.json").read_text())
    terms = {term["term"]: term for term in row["terms"]}
    for place, name in enumerate(reference["terms"]):
        term = terms[NAMES.get(name, name)]
        for key, within in {"estimate": 1e-5, "se": 1e-5, "df": 1e-3, "p": 1e-4}.items():
            assert term[key] == pytest.approx(reference[key][place], rel=within, abs=1e-6), (name, key)
    assert row["vif"] == pytest.approx(reference["vif"])
    assert row["status"] == "singular" and row["left_out"] == []  # z: participants have one mean
    assert (row["n"], row["participants"], row["items"], row["sentences"]) == (720, 30, 24, 48)
    assert row["p_holm"] == surprisal_term(row)["p"]


def test_the_order_of_rows_and_repeated_answers_change_nothing(frames):
    judgments, pairs, scores = frames
    before = surprisal_term(fitted(*frames)[0])["estimate"]
    shuffled = judgments.sample(frac=1, random_state=3)
    assert surprisal_term(fitted(shuffled, pairs, scores)[0])["estimate"] == pytest.approx(before)
    twice = pd.concat([judgments, judgments])
    assert fitted(twice, pairs, scores)[0]["n"] == 720


def test_covariates_that_are_not_known_are_left_out_and_named(frames):
    judgments, pairs, scores = frames
    (row,) = fitted(judgments.drop(columns="position"), pairs, scores.drop(columns="m:slor"))
    assert row["left_out"] == ["frequency", "order"] and "length" in row["formula"]
    items = fitted(judgments.drop(columns="item"), pairs, scores)[0]["items"]
    assert items == 24  # families of pairs


def test_what_is_lacking_is_the_status(frames):
    judgments, pairs, scores = frames
    statuses = [
        fitted(None, pairs, scores)[0]["status"],
        fitted(judgments.assign(task="yes_no"), pairs, scores)[0]["status"],
        fitted(judgments, pairs, scores[["sentence_id", "m:lp"]])[0]["status"],
        fitted(judgments, pairs, scores.assign(**{"m:lp": 3.0}))[0]["status"],
        fitted(judgments.assign(sentence_id="x"), pairs, scores)[0]["status"],
        fitted(judgments[judgments["participant"] == 1], pairs, scores)[0]["status"],
    ]
    expected = ["no_ratings", "no_ratings", "no_length", "no_logprob", "no_data", "too_few"]
    assert statuses == expected and set(expected) <= set(REASONS)
