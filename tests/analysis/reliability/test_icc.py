"""Intraclass correlation, complete and with gaps."""

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

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
def test_values_and_tests_are_those_of_the_mean_squares(seed):
    """McGraw & Wong (1996), table 4, from sums over the table; the vector has the intervals."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(6, 1)) + rng.normal(size=(6, 3))
    n, k = x.shape
    row, column = x.mean(axis=1, keepdims=True), x.mean(axis=0, keepdims=True)
    units, raters = k * row.var(ddof=1), n * column.var(ddof=1)
    error = ((x - row - column + x.mean()) ** 2).sum() / ((n - 1) * (k - 1))
    within = ((x - row) ** 2).sum() / (n * (k - 1))
    bias = (raters - error) / n
    expected = {
        "ICC(1,1)": (units - within) / (units + (k - 1) * within),
        "ICC(A,1)": (units - error) / (units + (k - 1) * error + k * bias),
        "ICC(C,1)": (units - error) / (units + (k - 1) * error),
        "ICC(1,k)": (units - within) / units,
        "ICC(A,k)": (units - error) / (units + bias),
        "ICC(C,k)": (units - error) / units,
    }
    forms = intraclass_correlation(table(x)).table.set_index("form")
    for form in FORMS:
        noise, df2 = (within, n * (k - 1)) if "1," in form else (error, (n - 1) * (k - 1))
        f = units / noise
        found = list(forms.loc[form, ["value", "statistic", "df1", "df2", "p"]])
        assert found == pytest.approx([expected[form], f, n - 1, df2, stats.f.sf(f, n - 1, df2)], abs=1e-9)
        if form != "ICC(A,k)" or forms.loc["ICC(A,1)", "ci_low"] > -1 / (k - 1):
            assert forms.loc[form, "ci_low"] < expected[form] < forms.loc[form, "ci_high"]


def test_an_interval_across_the_pole_of_the_step_to_k_ratings_is_not_given():
    rows = table(np.random.default_rng(1).normal(size=(3, 4)))
    theirs = pingouin.intraclass_corr(rows, "sentence_id", "participant", "value").set_index("Type")
    low, high = theirs.loc["ICC(A,k)", "CI95"]
    assert low > high and theirs.loc["ICC(A,1)", "CI95"][0] < -1 / 3
    forms = intraclass_correlation(rows).table.set_index("form")
    assert forms.loc["ICC(A,k)", ["ci_low", "ci_high"]].isna().all()
    assert forms.drop("ICC(A,k)").notna().all(axis=None)
    assert forms.loc["ICC(A,k)", "value"] == pytest.approx(theirs.loc["ICC(A,k)", "ICC"])


def test_pingouin_loses_units_with_a_missing_cell_so_incomplete_tables_are_ours(shared_vectors):
    vector = shared_vectors["icc_missing"]
    rows = table(vector["input"])
    with pytest.warns(Warning):
        theirs = pingouin.intraclass_corr(rows, "sentence_id", "participant", "value", nan_policy="omit")
    listwise = dict(zip(theirs["Type"], theirs["ICC"], strict=True))["ICC(C,1)"]
    assert listwise == pytest.approx(0.141026, abs=1e-6)
    assert intraclass_correlation(rows)["ICC(C,1)"] == pytest.approx(0.705878, abs=1e-4)


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


def test_repeated_judgments_of_a_participant_are_one():
    once = table([[1, 2, 3], [4, 6, 5], [7, 8, 10]])
    halves = [once.assign(value=once["value"] + shift) for shift in (0.5, -0.5)]
    alone, repeated = (intraclass_correlation(rows) for rows in (once, pd.concat(halves)))
    pd.testing.assert_frame_equal(alone.table, repeated.table)


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
