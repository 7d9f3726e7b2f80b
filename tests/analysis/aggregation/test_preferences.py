"""Bradley–Terry strengths."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from analysis.aggregation.preferences import bradley_terry, pair_wins
from analysis.errors import BadInput


def wins_of(games):
    """Turn [left, right, wins left, wins right] into wins."""
    rows = [
        (a, b, n)
        for left, right, n_left, n_right in games
        for a, b, n in ((left, right, n_left), (right, left, n_right))
    ]
    return pd.DataFrame(rows, columns=["winner", "loser", "n"])


def test_vector_bradley_terry(shared_vectors):
    vector = shared_vectors["bradley_terry"]
    table = bradley_terry(wins_of(vector["input"])).table.set_index("option")
    for option, share in vector["expected"]["share"].items():
        assert table.loc[option, "share"] == pytest.approx(share, abs=1e-9)
    for option, strength in vector["expected"]["log_strength_centred"].items():
        assert table.loc[option, "log_strength"] == pytest.approx(strength, abs=1e-8)


def test_vector_bradley_terry_unbeaten(shared_vectors):
    vector = shared_vectors["bradley_terry_unbeaten"]
    fit = bradley_terry(wins_of(vector["input"]))
    assert fit.status == vector["expected"]["status"] and fit.table.empty
    with_prior = bradley_terry(wins_of(vector["input"]), prior=0.5)
    assert with_prior.status == "ok" and "0.5 added" in with_prior.method


def test_options_never_compared_are_not_ranked():
    games = wins_of([["A", "B", 2, 1], ["C", "D", 1, 2]])
    assert bradley_terry(games).status == "not_connected_or_separated"
    assert bradley_terry(games, prior=0.5).status == "not_connected_or_separated"


def test_errors_equal_a_logistic_regression():
    games = [["A", "B", 7, 4], ["A", "C", 9, 3], ["B", "C", 6, 5]]
    design = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]])[:, 1:]  # against A
    counts = np.array([game[2:] for game in games])
    other = sm.GLM(counts, design, family=sm.families.Binomial()).fit()
    table = bradley_terry(wins_of(games)).table
    logs = table["log_strength"].to_numpy()
    assert (logs[1:] - logs[0]).tolist() == pytest.approx(other.params.tolist(), abs=1e-8)
    covariance = np.zeros((3, 3))
    covariance[1:, 1:] = other.cov_params()
    centre = np.eye(3) - 1 / 3
    expected = np.sqrt(np.diag(centre @ covariance @ centre.T))
    assert table["se"].tolist() == pytest.approx(expected.tolist(), rel=1e-6)


@given(st.lists(st.integers(1, 9), min_size=12, max_size=12), st.permutations(range(12)))
def test_order_and_splitting_of_rows_do_not_matter(counts, order):
    pairs = [(a, b) for a in "abcd" for b in "abcd" if a != b]
    wins = pd.DataFrame(
        [(*pair, n) for pair, n in zip(pairs, counts, strict=True)], columns=["winner", "loser", "n"]
    )
    single = wins.iloc[order].loc[lambda frame: frame.index.repeat(frame["n"])].drop(columns="n")
    table, other = bradley_terry(wins).table, bradley_terry(single).table
    assert other["share"].tolist() == pytest.approx(table["share"].tolist(), abs=1e-9)
    assert table["share"].sum() == pytest.approx(1) and table["log_strength"].sum() == pytest.approx(
        0, abs=1e-9
    )


def test_forced_choices_become_wins():
    judgments = pd.DataFrame({"pair_id": ["p", "p", "p", "q"], "value": [1, 0, 1, np.nan]})
    pairs = pd.DataFrame({"pair_id": ["p", "q"], "good_id": ["g", "g"], "bad_id": ["b", "c"]})
    assert sorted(pair_wins(judgments, pairs).values.tolist()) == [["b", "g", 1], ["g", "b", 2]]


def test_impossible_rows_are_named():
    with pytest.raises(BadInput, match="row 1.*itself"):
        bradley_terry(pd.DataFrame({"winner": ["a"], "loser": ["a"]}))
    with pytest.raises(BadInput, match="negative"):
        bradley_terry(pd.DataFrame({"winner": ["a"], "loser": ["b"], "n": [-1]}))
    assert bradley_terry(pd.DataFrame({"winner": [], "loser": []})).status == "no_data"
