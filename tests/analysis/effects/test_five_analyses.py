"""The five analyses by phenomenon."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from analysis.aggregation.ratings import transform_ratings
from analysis.effects.contrasts import welch_contrast
from analysis.effects.five_analyses import ANALYSES, convergence_rates, five_analyses, outcome

SIDES = {"good": "acceptable", "bad": "unacceptable"}


def vector_rows(vector):
    rows = pd.DataFrame(vector["input"], columns=["participant", "item", "cell", "value"])
    return rows.assign(expected=rows["cell"].map(SIDES), phenomenon="agreement", task="likert")


def choices(shares, *, per=1, phenomenon="islands"):
    """One row per choice: ``shares`` lists how many of ``per`` each participant got right."""
    rows = [(f"P{p}", f"i{i}", float(i < right)) for p, right in enumerate(shares) for i in range(per)]
    frame = pd.DataFrame(rows, columns=["participant", "item", "value"])
    return frame.assign(phenomenon=phenomenon, task="forced_choice")


def by_analysis(analyses):
    return analyses.table.set_index("analysis")


def test_vector_five_analyses(shared_vectors):
    vector = shared_vectors["five_analyses"]
    expected, analyses = vector["expected"], five_analyses(vector_rows(vector), transform="raw")
    rows, effect = by_analysis(analyses), analyses.effects.iloc[0]
    assert list(rows.index) == list(ANALYSES) and set(rows["outcome"]) == {"converges"}
    assert rows.loc["direction", "estimate"] == pytest.approx(expected["mean_difference"])
    assert rows.loc["two_tailed", "statistic"] == pytest.approx(expected["t_participants"], abs=2e-5)
    assert rows.loc["two_tailed", "df"] == expected["df"]
    assert rows.loc["two_tailed", "p"] == pytest.approx(expected["p_two"], rel=1e-5)
    assert rows.loc["one_tailed", "p"] == pytest.approx(expected["p_one"], rel=1e-5)
    assert rows.loc["mixed_model", "statistic"] == pytest.approx(expected["lmm_t"], rel=1e-6)
    assert rows.loc["mixed_model", "df"] == pytest.approx(expected["lmm_df_satterthwaite"], rel=1e-6)
    assert (effect["ci_low"], effect["ci_high"]) == pytest.approx(tuple(expected["ci95"]), abs=1e-8)
    assert effect["d_z"] == pytest.approx(expected["cohen_dz"], abs=1e-8)
    assert effect["d_pooled"] == pytest.approx(expected["cohen_d_pooled"], abs=1e-8)
    assert effect["t_items"] == pytest.approx(expected["t_items"], abs=2e-5)
    assert effect["df_items"] == expected["df_items"]
    assert (effect["n_participants"], effect["n_items"], effect["n"]) == (12, 8, 96)


def test_the_other_direction_is_reversed_in_every_analysis(shared_vectors):
    rows = vector_rows(shared_vectors["five_analyses"]).assign(value=lambda frame: -frame["value"])
    analyses = five_analyses(rows, transform="raw")
    assert set(analyses.table["outcome"]) == {"reversed"}
    assert (analyses.rates["rate"] == 0).all()


def test_the_document_is_json_and_names_its_conventions(shared_vectors):
    rows = vector_rows(shared_vectors["five_analyses"])
    document = five_analyses(pd.concat([rows, choices([1, 1, 0, 1])]), transform="raw").document()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert {row["task"] for row in document["rates"]} == {"likert", "forced_choice"}
    assert "Satterthwaite" in document["conventions"]["mixed_model"]


def test_noise_is_null_and_a_missing_side_is_not_estimable():
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(
        [(p, i, "acceptable" if (p + i) % 2 else "unacceptable") for p in range(12) for i in range(8)],
        columns=["participant", "item", "expected"],
    ).assign(value=rng.normal(size=96), phenomenon="a", task="likert")
    one_sided = rows[rows["expected"] == "acceptable"].assign(phenomenon="b")
    table = five_analyses(pd.concat([rows, one_sided]), transform="raw").table
    null = table[table["phenomenon"] == "a"].set_index("analysis")["outcome"]
    assert (null.drop("direction") == "null").all()
    assert set(table.loc[table["phenomenon"] == "b", "outcome"]) == {"not_estimable"}


def test_people_who_judged_one_side_each_are_compared_by_welch():
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"participant": np.repeat(np.arange(40), 4), "item": np.tile(np.arange(4), 40)})
    good = rows["participant"] % 2 == 0
    rows["expected"] = np.where(good, "acceptable", "unacceptable")
    rows["value"] = good + rng.normal(0, 0.5, len(rows))
    table = by_analysis(five_analyses(rows.assign(phenomenon="a", task="likert"), transform="raw"))
    assert table.loc["two_tailed", "method"].startswith("Welch")
    assert table.loc["bayes_factor", "outcome"] == "converges"


def test_the_bayes_factor_of_two_groups_has_both_their_sizes():
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"participant": np.arange(40), "item": "i", "phenomenon": "a", "task": "likert"})
    good = np.arange(40) < 25
    rows["expected"] = np.where(good, "acceptable", "unacceptable")
    rows["value"] = 0.7 * good + rng.normal(size=40)
    table = by_analysis(five_analyses(rows, transform="raw"))
    t = table.loc["two_tailed", "statistic"]
    size = 25 * 15 / 40

    def integrand(d):
        return stats.nct.pdf(t, 38, d * size**0.5) * stats.cauchy.pdf(d, 0, 2**0.5 / 2)

    expected = integrate.quad(integrand, -np.inf, np.inf)[0] / stats.t.pdf(t, 38)
    assert table.loc["bayes_factor", "statistic"] == pytest.approx(expected, rel=1e-6)


def test_two_people_who_judged_both_sides_do_not_outweigh_forty_who_judged_one():
    rng = np.random.default_rng(5)
    rows = pd.DataFrame({"participant": np.arange(40), "item": "i", "phenomenon": "a", "task": "likert"})
    rows["expected"] = np.where(rows["participant"] % 2 == 0, "acceptable", "unacceptable")
    rows["value"] = rng.normal(size=40) + 2 * (rows["expected"] == "acceptable")
    both_sides = rows[:2].assign(expected=["unacceptable", "acceptable"])
    table = by_analysis(five_analyses(pd.concat([rows, both_sides], ignore_index=True), transform="raw"))
    assert table.loc["two_tailed", "method"].startswith("Welch")
    assert table.loc["two_tailed", "df"] > 30


def test_one_choice_per_participant_is_tested_exactly():
    table = by_analysis(five_analyses(choices([1] * 12 + [0] * 3)))
    assert table.loc["two_tailed", "p"] == pytest.approx(0.03515625)
    assert table.loc["one_tailed", "p"] == pytest.approx(0.03515625 / 2)
    assert table.loc["bayes_factor", "statistic"] == pytest.approx(4.5011, abs=1e-3)
    assert table.loc["mixed_model", ["outcome", "status"]].tolist() == ["not_estimable", "too_few"]


def test_several_choices_are_tested_by_participants(shared_vectors):
    vector = shared_vectors["fc_glmm"]
    rows = pd.DataFrame(vector["input"], columns=["participant", "item", "value"])
    table = by_analysis(five_analyses(rows.assign(phenomenon="a", task="forced_choice")))
    expected = vector["expected"]
    assert table.loc["two_tailed", "statistic"] == pytest.approx(expected["participant_share_t"], abs=1e-4)
    assert table.loc["two_tailed", "p"] == pytest.approx(expected["participant_share_p"], abs=1e-6)
    assert table.loc["direction", "estimate"] == pytest.approx(expected["k"] / expected["n"] - 0.5)


def test_perfect_accuracy_leaves_no_gap_in_the_table():
    table = by_analysis(five_analyses(choices([3] * 10, per=3)))
    assert table.loc["two_tailed", "p"] == pytest.approx(2 / 1024)
    assert table.loc["bayes_factor", "outcome"] == "converges"


def test_holm_is_shown_beside_raw_p_within_one_analysis():
    rows = pd.concat([choices([1] * 12 + [0] * 3, phenomenon="a"), choices([1] * 14 + [0], phenomenon="b")])
    table = five_analyses(rows).table.query("analysis == 'two_tailed'").set_index("phenomenon")
    assert table.loc["b", "p_holm"] == pytest.approx(2 * table.loc["b", "p"])
    assert table.loc["a", "p_holm"] == table.loc["a", "p"]


def test_rates_have_wilson_intervals_that_a_finite_population_narrows():
    rows = pd.DataFrame({"outcome": ["converges"] * 141 + ["null"] * 7 + ["not_estimable"] * 2})
    rows = rows.assign(task="likert", analysis="two_tailed")
    plain, finite = convergence_rates(rows).iloc[0], convergence_rates(rows, population=1743).iloc[0]
    assert (plain["estimable"], plain["rate"]) == (148, pytest.approx(141 / 148))
    assert plain["ci_low"] < finite["ci_low"] < plain["rate"] < finite["ci_high"] < plain["ci_high"]


def test_a_bayes_factor_without_value_is_not_estimable():
    result = {"estimate": 0.1, "statistic": None, "p": None}
    assert outcome("bayes_factor", result) == "not_estimable"
    assert outcome("direction", {"estimate": 0.0, "statistic": None, "p": None}) == "null"


def ssa_rows(shared_data):
    """Give the published Likert data with z-scores, one row per judgment and pair."""
    raw = pd.read_csv(shared_data("ssa2013-likert/LI.ls.results.csv"), encoding="mac_roman", skiprows=5)
    raw = raw.rename(columns={"judgment": "value", "item": "sentence_id"})
    raw["z"] = transform_ratings(raw, transform="z")
    assert (raw["z"] - raw["zscores"]).abs().max() < 1e-8
    pairs = pd.read_csv(shared_data("ssa2013-likert/LI.conditions.csv"))
    sides = [
        pairs[name].map(lambda text: re.sub(r"\.\d+$", "", text)).to_frame("condition").assign(
            expected=word, phenomenon=[f"pair {n:03}" for n in range(len(pairs))]
        )
        for name, word in (("good", "acceptable"), ("bad", "unacceptable"))
    ]  # fmt: skip
    rows = raw.drop(columns="value").merge(pd.concat(sides), on="condition")
    return rows.assign(value=rows["z"], item=rows["sentence_id"].str[-2:], task="likert")


def test_ssa_2013_likert_pairs_hold_as_published(shared_data):
    rows = ssa_rows(shared_data)
    analyses = five_analyses(rows, transform="raw")
    rates = analyses.rates.set_index("analysis")
    assert rates.loc["direction", ["converges", "estimable"]].tolist() == [145, 150]
    welch = [
        welch_contrast(*(part.loc[part["expected"] == word, "value"] for word in SIDES.values()))
        for _, part in rows.groupby("phenomenon")
    ]
    assert sum(contrast.p < 0.05 and contrast.mean_difference > 0 for contrast in welch) == 135
    assert sum(contrast.p < 0.05 and contrast.mean_difference < 0 for contrast in welch) == 2
    assert (rates["rate"].drop("direction") > 0.88).all() and (rates["not_estimable"] == 0).all()
    assert (rates["reversed"].drop("direction") <= 4).all()


def test_choices_are_tested_over_participants_and_items_in_the_headline():
    rng = np.random.default_rng(4)
    items = np.array([2.5, 2.0, 1.5, -0.5])[np.tile(np.arange(4), 20)]
    rows = pd.DataFrame({"participant": np.repeat(np.arange(20), 4), "item": np.tile(np.arange(4), 20)})
    rows["value"] = (rng.random(80) < 1 / (1 + np.exp(-items))).astype(float)
    analyses = five_analyses(rows.assign(phenomenon="a", task="forced_choice"))
    table, effect = by_analysis(analyses), analyses.effects.iloc[0]
    mixed = table.loc["mixed_model"]
    # balanced, items vary and participants do not: by hand the t of the four items' shares
    shares = rows.groupby("item")["value"].mean() - 0.5
    by_hand = stats.ttest_1samp(shares, 0)
    assert (mixed["statistic"], mixed["p"]) == pytest.approx((by_hand.statistic, by_hand.pvalue), rel=1e-3)
    assert table.loc["two_tailed", "p"] < 0.001 < effect["logit_p"] < mixed["p"]
    assert mixed["ci_low"] < shares.mean() < mixed["ci_high"]


def test_degrees_of_freedom_do_not_exceed_the_groups_of_a_factor_without_variance():
    # every item has two of three participants right, every participant two of three items
    rows = pd.DataFrame([(p, i, float((p + i) % 3 != 0)) for p in range(6) for i in range(3)])
    rows.columns = ["participant", "item", "value"]
    table = by_analysis(five_analyses(rows.assign(phenomenon="a", task="forced_choice")))
    assert (table.loc["mixed_model", "status"], table.loc["mixed_model", "df"]) == ("singular", 2)


def test_effect_sizes_of_unequal_numbers_of_trials_are_not_compared():
    few, many = (
        choices([1, 2, 2, 1, 0], per=2, phenomenon="a"),
        choices([4, 3, 4, 2, 1], per=4, phenomenon="b"),
    )
    uneven = five_analyses(pd.concat([few, many]))
    assert uneven.effects["d_z"].isna().all() and "2 to 4 trials" in uneven.conventions["d_z"]
    assert five_analyses(pd.concat([few, few.assign(phenomenon="b")])).effects["d_z"].notna().all()
