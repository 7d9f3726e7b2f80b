"""Intraclass correlation, complete and with gaps."""

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import MissingColumns
from analysis.reliability.icc import FORMS, intraclass_correlation


def table(matrix):
    """Turn units × raters into one row per judgment."""
    rows = [(unit, f"R{rater}", value) for unit, row in enumerate(matrix) for rater, value in enumerate(row)]
    return pd.DataFrame(rows, columns=["sentence_id", "participant", "value"]).astype({"value": float})


def test_vector_icc(shared_vectors):
    vector = shared_vectors["icc"]
    correlation, expected = intraclass_correlation(table(vector["input"])), vector["expected"]
    assert (correlation.status, correlation.method, correlation.n_units, correlation.n_raters) == (
        "ok",
        "anova",
        6,
        4,
    )
    for form in FORMS:
        assert correlation[form] == pytest.approx(expected[form], abs=vector["tolerance"])
    rows = correlation.table.set_index("form")
    ends = (rows.loc["ICC(C,1)", "ci_low"], rows.loc["ICC(C,1)", "ci_high"])
    assert ends == pytest.approx(expected["ci95_ICC(C,1)"], abs=1e-6)
    assert rows.loc["ICC(1,1)", "statistic"] == pytest.approx(expected["F_one_way"])
    assert rows.loc["ICC(A,1)", "statistic"] == pytest.approx(expected["F_two_way"])


def test_vector_icc_missing_takes_variance_components(shared_vectors):
    vector = shared_vectors["icc_missing"]
    correlation, expected = intraclass_correlation(table(vector["input"])), vector["expected"]
    assert (correlation.status, correlation.method) == ("ok", "reml")
    for form in ("ICC(A,1)", "ICC(C,1)", "ICC(1,1)"):
        assert correlation[form] == pytest.approx(expected[f"reml_{form}"], abs=vector["tolerance"])
    assert correlation.variances["unit"] == pytest.approx(expected["reml_var_target"], abs=5e-5)
    assert correlation.variances["rater"] == pytest.approx(expected["reml_var_rater"], abs=5e-5)


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_values_and_tests_equal_those_of_pingouin_and_intervals_those_that_it_rounds(seed):
    matrix = np.random.default_rng(seed).normal(size=(6, 1)) + np.random.default_rng(seed + 1).normal(
        size=(6, 3)
    )
    rows = table(matrix)
    forms = intraclass_correlation(rows).table.set_index("form")
    other = pingouin.intraclass_corr(rows, "sentence_id", "participant", "value").set_index("Type")
    for form in FORMS:
        ours = list(forms.loc[form, ["value", "statistic", "df1", "df2", "p"]])
        assert ours == pytest.approx(list(other.loc[form, ["ICC", "F", "df1", "df2", "pval"]]), abs=1e-12)
        ends = [forms.loc[form, "ci_low"], forms.loc[form, "ci_high"]]
        assert ends == pytest.approx(list(other.loc[form, "CI95"]), abs=0.0051)


def test_both_ways_agree_on_a_complete_table():
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(40, 1)) + rng.normal(size=(1, 8)) + rng.normal(size=(40, 8))
    complete = intraclass_correlation(table(matrix))
    matrix[0, 0] = np.nan
    sparse = intraclass_correlation(table(matrix))
    assert (complete.method, sparse.method) == ("anova", "reml")
    for form in FORMS:
        assert sparse[form] == pytest.approx(complete[form], abs=0.02)
    assert sparse.ratings_per_unit == pytest.approx(8, abs=0.03)


def test_a_list_design_keeps_every_sentence():
    rng = np.random.default_rng(3)
    sentences, raters = rng.normal(size=60), rng.normal(0, 0.5, size=30)
    rows = pd.DataFrame(
        [(s, r, sentences[s] + raters[r] + rng.normal()) for r in range(30) for s in range(r % 3, 60, 3)],
        columns=["item", "participant", "value"],
    )
    correlation = intraclass_correlation(rows, unit="item")
    assert (correlation.n_units, correlation.method) == (60, "reml")
    assert correlation.ratings_per_unit == pytest.approx(10)
    assert correlation["ICC(A,1)"] == pytest.approx(1 / (1 + 0.25 + 1), abs=0.12)
    assert correlation["ICC(C,k)"] > 0.85


def test_repeated_judgments_are_not_averaged_away():
    rows = pd.concat([table([[1, 2, 3], [4, 6, 5], [7, 8, 10]])] * 2)
    assert intraclass_correlation(rows).method == "reml"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("matrix", "status"),
    [
        ([[np.nan, np.nan]], "no_data"),
        ([[1, 2]], "too_few"),
        ([[1], [2]], "too_few"),
        ([[3, 3], [3, 3]], "no_variation"),
    ],
)
def test_what_is_undefined_has_a_status(matrix, status):
    correlation = intraclass_correlation(table(matrix))
    assert (correlation.status, correlation["ICC(A,1)"]) == (status, None)


def test_other_trials_and_missing_columns():
    rows = table([[1, 2], [4, 6], [7, 9]])
    extra = pd.concat([rows, rows.assign(kind="practice", value=5.0)])
    assert intraclass_correlation(extra)["ICC(C,1)"] == intraclass_correlation(rows)["ICC(C,1)"]
    with pytest.raises(MissingColumns, match="item"):
        intraclass_correlation(rows, unit="item")
