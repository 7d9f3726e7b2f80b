"""A contrast of two conditions of the user's choice, where none is acceptable or unacceptable."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.effects.report import effects_report
from analysis.errors import BadInput, UnknownName


@pytest.fixture(scope="module")
def ratings():
    rng = np.random.default_rng(4)
    effect = {"plausible": 1.0, "implausible": 0.0, "other": 3.0}
    rows = [
        (f"p{p}", f"i{i}", name, "near" if i % 2 else "far", effect[name] + rng.normal() + p / 4)
        for p in range(12)
        for i in range(6)
        for name in effect
    ]
    return pd.DataFrame(rows, columns=["participant", "item", "condition", "distance", "value"]).assign(
        task="likert", expected=""
    )


def test_the_first_condition_less_the_second_is_tested_with_z_over_all_conditions(ratings):
    assert effects_report(ratings)["analyses"] == []
    report = effects_report(ratings, conditions="plausible, implausible")
    z = ratings.assign(value=ratings.groupby("participant")["value"].transform(stats.zscore, ddof=1))
    means = z.pivot_table(index="participant", columns="condition", values="value")
    expected = stats.ttest_rel(means["plausible"], means["implausible"])
    [row] = [row for row in report["analyses"] if row["analysis"] == "two_tailed"]
    assert row["statistic"] == pytest.approx(expected.statistic, abs=1e-9)
    assert row["estimate"] == pytest.approx((means["plausible"] - means["implausible"]).mean(), abs=1e-9)
    assert report["conditions"] == ["plausible", "implausible"]


def test_levels_of_a_factor_are_contrasted_too(ratings):
    factors = {"distance": ("near", "far")}
    report = effects_report(ratings, conditions="near,far", factors=factors, transform="raw")
    means = ratings.groupby(["participant", "distance"])["value"].mean().unstack()
    assert report["effects"][0]["mean_difference"] == pytest.approx((means["near"] - means["far"]).mean())


def test_names_that_are_no_two_conditions_are_refused(ratings):
    for names, error in (
        ("plausible", BadInput),
        ("plausible,plausible", BadInput),
        ("near,far", UnknownName),
    ):
        with pytest.raises(error):
            effects_report(ratings, conditions=names)
    with pytest.raises(BadInput, match="members of pairs"):
        effects_report(ratings.assign(task="forced_choice", value=1.0), conditions="plausible,implausible")
