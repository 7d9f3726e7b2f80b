"""Pairs, participants and models on one scale: what is right, who takes the test, and what is lacking."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from analysis.aggregation.item_response import estimate_abilities, fit_item_response
from analysis.comparison.in_depth.abilities import REASONS, ability_scale
from analysis.comparison.pairs import pair_table
from analysis.figures.charts.models.wright_map import wright_figure, wright_frame

N_PAIRS = 12


@pytest.fixture
def study():
    """Choices of 240 participants between the members of 12 pairs, the last of which is never wrong."""
    rng = np.random.default_rng(6)
    ability, difficulty = rng.normal(size=240), np.linspace(-2.5, 0.5, N_PAIRS)
    right = (rng.random((240, N_PAIRS)) < expit(1.2 * (ability[:, None] - difficulty))).astype(float)
    right[:, -1] = 1
    pairs = pd.DataFrame({
        "pair_id": [f"p{i:02}" for i in range(N_PAIRS)], "good_id": [f"g{i}" for i in range(N_PAIRS)],
        "bad_id": [f"b{i}" for i in range(N_PAIRS)],
    })  # fmt: skip
    judgments = pd.DataFrame([
        {"participant": f"u{u:03}", "pair_id": f"p{i:02}", "task": "forced_choice", "value": right[u, i],
         "sentence_id": f"g{i}" if right[u, i] else f"b{i}"}
        for u in range(240) for i in range(N_PAIRS)
    ])  # fmt: skip
    scores = pd.DataFrame({
        "sentence_id": [*pairs["good_id"], *pairs["bad_id"]],
        "perfect": [1.0] * N_PAIRS + [0.0] * N_PAIRS,
        "half": [1.0, 0.0] * (N_PAIRS // 2) + [0.5] * N_PAIRS,
    })  # fmt: skip
    return right, judgments, pair_table(None, pairs, scores)


def test_participants_define_the_scale_and_models_take_the_test(study):
    right, judgments, table = study
    scale = ability_scale(table, judgments)
    fit = fit_item_response(right[:, :-1])
    assert [row["difficulty"] for row in scale["items"]] == pytest.approx(list(fit.difficulty))
    assert (scale["participants"], scale["pairs"], scale["constant"]) == (240, N_PAIRS - 1, 1)
    perfect, half = scale["models"]
    expected, error = estimate_abilities(np.array([[1.0] * (N_PAIRS - 1)]), fit)
    assert perfect["ability"] == pytest.approx(expected[0]) and perfect["se"] == pytest.approx(error[0])
    assert half["right"] == N_PAIRS // 2 and half["ability"] < perfect["ability"]
    people = np.array([row["ability"] for row in scale["people"]])
    assert half["above"] == (people < half["ability"]).mean()
    two = scale["two_parameter"]
    assert two["df"] == N_PAIRS - 2 and 0 < two["p"] < 1 and len(two["items"]) == N_PAIRS - 1
    frame = wright_frame(scale)
    assert frame["kind"].value_counts().to_dict() == {"participants": 240, "pairs": N_PAIRS - 1, "models": 2}
    assert wright_figure(frame).to_dict()["layer"]


def test_ratings_and_yes_no_answers_of_both_members_give_the_same_scale(study):
    right, judgments, table = study
    choices = ability_scale(table, judgments)
    rows = [
        {"participant": row.participant, "sentence_id": sentence, "value": value}
        for row in judgments.itertuples()
        for sentence, value in (
            (f"g{int(row.pair_id[1:])}", 4 + row.value), (f"b{int(row.pair_id[1:])}", 4.0 + (row.value == 0))
        )
    ]  # fmt: skip
    rated = ability_scale(table, pd.DataFrame(rows).assign(task="likert"))
    assert [row["difficulty"] for row in rated["items"]] == pytest.approx(
        [row["difficulty"] for row in choices["items"]]
    )
    answers = pd.DataFrame(rows).assign(task="yes_no", value=lambda frame: frame["value"] - 4)
    assert ability_scale(table, answers)["constant"] == 1


def test_what_is_lacking_is_the_status(study):
    _, judgments, table = study
    few = judgments[judgments["participant"] < "u009"]
    one_member = judgments.assign(task="likert", sentence_id="g1")
    some = judgments[judgments["participant"] < "u050"]
    statuses = [ability_scale(table, rows)["status"] for rows in (None, one_member, few)]
    assert statuses == ["no_judgments", "no_choices", "too_few"] and set(statuses) <= set(REASONS)
    assert ability_scale(table, some)["two_parameter"]["status"] == "too_few_for_slopes"
    twice = pd.concat([judgments, judgments])
    assert ability_scale(table, twice)["items"] == ability_scale(table, judgments)["items"]
