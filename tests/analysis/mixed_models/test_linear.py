"""The linear mixed model with crossed random effects."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import BadInput, MissingColumns
from analysis.mixed_models.linear import CROSSED, Random, likelihood_ratio, mixed_model

SLOPES = (*CROSSED, Random("participant", "condition"))


def study(
    people=24, items=12, *, seed=1, effect=1.0, sd_person=0.6, sd_item=0.4, sd_slope=0.0, trials=0, noise=0.7
):
    """Simulate a Latin square: each person rates each item in one condition."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        [(p, i, (p + i) % 2) for p in range(people) for i in rng.permutation(items)[: trials or items]],
        columns=["participant", "item", "condition"],
    )
    person, item = rng.normal(0, sd_person, people), rng.normal(0, sd_item, items)
    slope = rng.normal(effect, sd_slope, people)
    rows["value"] = (
        person[rows["participant"]]
        + item[rows["item"]]
        + slope[rows["participant"]] * rows["condition"]
        + rng.normal(0, noise, len(rows))
    )
    return rows


def statsmodels_fit(rows, *, slopes=False):
    """Fit the same model with crossed variance components of one dummy group."""
    parts = {"p": "0 + C(participant)", "i": "0 + C(item)"}
    if slopes:
        parts["s"] = "0 + C(participant):condition"
    model = smf.mixedlm("value ~ condition", rows.assign(one=1), groups="one", vc_formula=parts)
    return model.fit(reml=True)


@pytest.mark.parametrize("noise", [1e-1, 1e-2, 1e-3])
def test_people_far_apart_and_little_noise_are_fitted(noise):
    rng = np.random.default_rng(0)
    grid = pd.MultiIndex.from_product(
        [range(12), range(6), range(2)], names=["participant", "item", "condition"]
    )
    rows = grid.to_frame(index=False)
    person, item = rng.normal(size=12), rng.normal(0, 0.5, 6)
    errors = noise * rng.normal(size=len(rows))
    rows["value"] = noise * rows["condition"] + person[rows["participant"]] + item[rows["item"]] + errors
    fit = mixed_model(rows)
    dummies = pd.get_dummies(rows.astype({"participant": str, "item": str}), dtype=float)
    design = dummies.drop(columns=["value", "item_0"]).to_numpy()
    residuals = rows["value"] - design @ np.linalg.lstsq(design, rows["value"])[0]
    freedom = len(rows) - design.shape[1]
    assert fit.status == "ok"
    assert fit.variances["residual"] == pytest.approx(residuals @ residuals / freedom, rel=1e-4)
    assert fit["condition"].df == pytest.approx(freedom, rel=1e-4)


def test_a_flat_optimum_is_no_fit():
    rows = pd.DataFrame({"participant": [0, 0, 1, 1], "item": [0, 1, 0, 1], "condition": [0, 1, 1, 0]})
    for seed in range(40):
        fit = mixed_model(rows.assign(value=np.random.default_rng(seed).integers(1, 8, 4)))
        assert not fit.usable or fit["condition"].p is not None


def test_vector_equals_lme4_to_six_digits(shared_vectors):
    vector = shared_vectors["five_analyses"]
    expected = vector["expected"]
    rows = pd.DataFrame(vector["input"], columns=["participant", "item", "cell", "value"])
    rows["condition"] = (rows["cell"] == "good").astype(float)
    fit = mixed_model(rows)
    effect = fit["condition"]
    assert fit.status == "ok"
    assert effect.estimate == pytest.approx(expected["lmm_beta"], abs=1e-9)
    assert effect.se == pytest.approx(expected["lmm_se"], rel=1e-6)
    assert effect.statistic == pytest.approx(expected["lmm_t"], rel=1e-6)
    assert effect.df == pytest.approx(expected["lmm_df_satterthwaite"], rel=1e-6)
    assert effect.p == pytest.approx(expected["lmm_p"], rel=1e-5)
    assert fit.variances["participant"] == pytest.approx(expected["lmm_var_participant"], rel=1e-5)
    assert fit.variances["item"] == pytest.approx(expected["lmm_var_item"], rel=1e-5)
    assert fit.variances["residual"] == pytest.approx(expected["lmm_var_residual"], rel=1e-6)
    assert fit.criterion == pytest.approx(expected["reml_criterion"], rel=1e-8)
    ratio = likelihood_ratio(rows)
    assert ratio["statistic"] == pytest.approx(expected["lrt_chi2_ml"], rel=1e-6)
    assert ratio["df"] == 1


@pytest.mark.parametrize("slopes", [False, True])
def test_unbalanced_fits_equal_statsmodels_where_that_is_right(slopes):
    rows = study(14, 10, sd_slope=0.8, trials=7)
    fit = mixed_model(rows, random=SLOPES if slopes else CROSSED)
    other = statsmodels_fit(rows, slopes=slopes)
    assert fit["condition"].estimate == pytest.approx(other.params["condition"], abs=2e-4)
    assert fit["condition"].se == pytest.approx(other.bse["condition"], rel=2e-3)
    assert fit.criterion == pytest.approx(-2 * other.llf, abs=1e-4)
    assert fit.variances["residual"] == pytest.approx(other.scale, rel=2e-3)


def test_slopes_of_items_eliminated_or_not_give_the_same_fit():
    rows = study(12, 30, sd_slope=0.8)
    swapped = rows.rename(columns={"participant": "item", "item": "participant"})
    slopes = [Random("participant", "condition"), Random("item", "condition")]
    original = mixed_model(rows, random=[*CROSSED, *slopes])
    other = mixed_model(swapped, random=[*CROSSED, *slopes])
    assert original.criterion == pytest.approx(other.criterion, abs=1e-7)
    assert original["condition"].df == pytest.approx(other["condition"].df, rel=1e-4)
    assert original.variances["participant:condition"] == pytest.approx(
        other.variances["item:condition"], rel=1e-4
    )


@pytest.mark.parametrize("random", [CROSSED, (*SLOPES, Random("item", "condition"))])
def test_every_way_through_the_algebra_gives_the_same_fit(monkeypatch, random):
    rows = study(30, 12, sd_slope=0.5).sample(
        frac=0.7, random_state=1
    )  # people differ in their number of rows
    fits = []
    for cells, share in ((20_000_000, 0.05), (0, 0.05), (0, 2.0)):  # grouped, dense, sparse
        monkeypatch.setattr("analysis.mixed_models.cross_products._CLASS_CELLS", cells)
        monkeypatch.setattr("analysis.mixed_models.cross_products._DENSE_SHARE", share)
        fits.append(mixed_model(rows, random=random))
    for other in fits[1:]:
        assert other.criterion == pytest.approx(fits[0].criterion, abs=1e-8)
        assert other["condition"].se == pytest.approx(fits[0]["condition"].se, rel=1e-6)
        assert other["condition"].df == pytest.approx(fits[0]["condition"].df, rel=1e-4)
    if len(random) == 2:
        expected = statsmodels_fit(rows)
        assert fits[0]["condition"].estimate == pytest.approx(expected.params["condition"], abs=2e-4)
        assert fits[0].criterion == pytest.approx(-2 * expected.llf, abs=1e-4)


def test_known_variances_are_recovered():
    fit = mixed_model(study(300, 80, seed=3, effect=0.5, sd_slope=0.3), random=SLOPES)
    assert fit["condition"].ci_low < 0.5 < fit["condition"].ci_high
    sds = {name: variance**0.5 for name, variance in fit.variances.items()}
    expected = {"participant": 0.6, "item": 0.4, "participant:condition": 0.3, "residual": 0.7}
    assert sds == pytest.approx(expected, rel=0.15)


def test_a_variance_of_zero_is_named_and_the_rest_is_the_smaller_model():
    rows = study(20, 8, sd_item=0.0, seed=5)
    rows["value"] -= rows.groupby("item")["value"].transform("mean")  # items are alike by force
    fit = mixed_model(rows)
    smaller = mixed_model(rows, random=CROSSED[:1])
    assert (fit.status, fit.zero_terms, fit.variances["item"]) == ("singular", ("item",), 0)
    assert fit["condition"].se == pytest.approx(smaller["condition"].se, rel=1e-6)
    assert fit["condition"].df == pytest.approx(smaller["condition"].df, rel=1e-6)


def test_without_any_random_variance_it_is_least_squares():
    rng = np.random.default_rng(0)
    rows = study(10, 6)
    rows["value"] = rng.normal(size=len(rows))
    for name in ("participant", "item"):
        rows["value"] -= rows.groupby(name)["value"].transform("mean")
    fit = mixed_model(rows)
    plain = smf.ols("value ~ condition", rows).fit()
    assert fit.status == "singular" and set(fit.zero_terms) == {"participant", "item"}
    assert fit["condition"].se == pytest.approx(plain.bse["condition"], rel=1e-7)
    assert fit["condition"].df == pytest.approx(plain.df_resid, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda rows: rows.iloc[:0], "no_data"),
        (lambda rows: rows.assign(value=np.nan), "no_data"),
        (lambda rows: rows.assign(item="the only one"), "too_few"),
        (lambda rows: rows.assign(participant=range(len(rows))), "too_few"),
        (lambda rows: rows.assign(value=4.0), "no_variation"),
        (lambda rows: rows.assign(condition=1), "no_variation"),
        (lambda rows: rows.assign(value=rows["condition"] * 2.0), "no_variation"),
    ],
)
def test_what_cannot_be_fitted_has_a_status_and_no_numbers(change, status):
    fit = mixed_model(change(study(6, 4)))
    assert (fit.status, fit.usable, fit["condition"].estimate) == (status, False, None)
    assert likelihood_ratio(change(study(6, 4)))["p"] is None or status == "no_variation"


def test_columns_and_codes_are_checked():
    with pytest.raises(MissingColumns, match="item"):
        mixed_model(study(4, 4).drop(columns="item"))
    with pytest.raises(BadInput, match="condition"):
        mixed_model(study(4, 4).assign(condition="good"))
    with pytest.raises(BadInput, match="twice"):
        mixed_model(study(4, 4), random=[*CROSSED, *CROSSED])


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.floats(-50, 50), st.floats(0.01, 100))
def test_the_test_does_not_depend_on_the_unit_or_on_the_order_of_rows(seed, shift, unit):
    rows = study(10, 8, seed=seed % 7)
    moved = rows.assign(value=shift + unit * rows["value"]).sample(frac=1, random_state=seed)
    original, other = mixed_model(rows), mixed_model(moved)
    assert other["condition"].statistic == pytest.approx(original["condition"].statistic, rel=1e-5)
    assert other["condition"].df == pytest.approx(original["condition"].df, rel=1e-3)
    assert other.variances["item"] == pytest.approx(original.variances["item"] * unit**2, rel=1e-3, abs=1e-7)


def test_missing_rows_leave_and_are_counted():
    rows = study(10, 8)
    rows.loc[[0, 5], "value"] = np.nan
    assert mixed_model(rows).n == len(rows) - 2
