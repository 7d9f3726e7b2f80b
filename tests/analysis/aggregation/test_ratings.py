"""The document behind ``ratings --json``."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.ratings import item_means, likert_distribution, ratings_report, transform_ratings
from analysis.effects.conditions import condition_report
from analysis.errors import BadInput, NotEnoughData, UnknownName
from analysis.report.methods import unusable_estimates_sentences
from analysis.report.sections.ratings import ratings_section

KEYS = {"item", "condition", "sentence_id", "n", "mean", "sd", "se", "mean_raw", "status"}


def likert(people=("A", "B", "C"), task="likert"):
    """Three people rate four items; C uses one point only."""
    values = {"A": [1, 4, 7, 4], "B": [2, 3, 4, 3], "C": [5, 5, 5, 5]}
    rows = [(person, f"i{n}", value) for person in people for n, value in enumerate(values[person])]
    frame = pd.DataFrame(rows, columns=["participant", "item", "value"])
    return frame.assign(task=task, condition="good", sentence_id=frame["item"] + "s")


def test_document_has_every_key_of_the_contract():
    report = ratings_report(likert(), experiment="Islands")
    assert {"experiment", "transform", "ddof", "scope", "items", "participants"} <= set(report)
    assert (report["experiment"], report["transform"], report["ddof"]) == ("Islands", "z", 1)
    assert all(set(row) >= KEYS for row in report["items"])
    assert set(report["participants"][0]) == {"participant", "n", "mean", "sd", "status"}
    json.dumps(report, allow_nan=False)


def test_means_by_hand_leave_out_constant_raters():
    report = ratings_report(likert())
    first = report["items"][0]
    assert first["n"] == 2 and first["mean"] == pytest.approx(-(1.5**0.5))
    assert first["sd"] == pytest.approx(0) and first["mean_raw"] == 1.5
    assert [row["status"] for row in report["participants"]] == ["ok", "ok", "constant"]


def test_raw_means_count_every_participant():
    first = ratings_report(likert(), transform="raw")["items"][0]
    assert (first["n"], first["mean"]) == (3, pytest.approx(8 / 3))
    assert first["se"] == pytest.approx(np.std([1, 2, 5], ddof=1) / 3**0.5)


def test_one_rating_has_a_mean_and_no_error():
    first = ratings_report(likert(["A"]))["items"][0]
    assert (first["n"], first["sd"], first["se"], first["status"]) == (1, None, None, "too_few")


@pytest.mark.filterwarnings("error")
def test_items_without_usable_ratings_are_listed():
    first = ratings_report(likert(["C"]))["items"][0]
    assert (first["n"], first["mean"], first["status"]) == (0, None, "no_data")
    assert ratings_report(likert()[:0])["items"] == []


def test_fillers_enter_the_scale_and_not_the_items():
    frame = likert(["A"])
    filler = frame[:2].assign(kind="filler", item=["f1", "f2"], value=[1, 7])
    report = ratings_report(pd.concat([frame.assign(kind="target"), filler], ignore_index=True))
    assert [row["item"] for row in report["items"]] == ["i0", "i1", "i2", "i3"]
    assert report["items"][0]["mean"] == pytest.approx(-1.118033989)
    assert report["participants"][0]["n"] == 6


def test_magnitudes_can_be_logged_and_zeros_are_left_out():
    frame = likert(["A", "B"], task="magnitude_estimation").assign(modulus=100)
    frame.loc[0, "value"] = 0
    report = ratings_report(frame, transform="z-log")
    assert report["items"][0]["n"] == 1 and report["participants"][0]["status"] == "too_few"


def test_zeros_are_counted_and_kept_in_z_unless_they_are_left_out_by_choice():
    frame = likert(["A", "B"], task="magnitude_estimation").assign(modulus=100)
    frame.loc[0, "value"] = 0
    with_zeros, left_out = ratings_report(frame), ratings_report(frame, zeros="leave-out")
    assert [row["n"] for row in with_zeros["items"]] == [2, 2, 2, 2]
    assert [row["n"] for row in left_out["items"]][0] == 1
    assert with_zeros["magnitudes"] == {
        "zeros": 1, "zero_participants": 1, "negative": 0, "zeros_are": "kept", "left_out": 0,
    }  # fmt: skip
    assert left_out["magnitudes"]["left_out"] == 1
    assert ratings_report(frame, transform="z-log")["magnitudes"]["zeros_are"] == "left out"
    assert ratings_report(likert())["magnitudes"] is None
    with pytest.raises(UnknownName, match="drop"):
        ratings_report(frame, zeros="drop")


def test_logs_of_likert_ratings_and_unknown_transforms_are_refused():
    with pytest.raises(BadInput, match="likert"):
        ratings_report(likert(), transform="z-log")
    with pytest.raises(UnknownName, match="z-log"):
        ratings_report(likert(), transform="zlog")


def test_forced_choices_have_no_ratings():
    with pytest.raises(NotEnoughData, match="agreement"):
        ratings_report(likert(task="forced_choice"))


@pytest.mark.parametrize("transform", ["robust-z", "rank-normal"])
def test_other_transforms_keep_the_order_of_items(transform):
    values = transform_ratings(likert(["A"]), transform=transform)
    assert values[0] < values[1] < values[2] or values.isna().all()


def test_histogram_counts_points_without_answers():
    distribution = likert_distribution(likert().assign(scale_low=1, scale_high=7))
    first = distribution.iloc[0]
    assert first[["1", "2", "3", "4", "5", "6", "7"]].tolist() == [1, 1, 0, 0, 1, 0, 0]
    assert first["median"] == 2


def test_histograms_refuse_fractions():
    with pytest.raises(BadInput, match="scale point"):
        likert_distribution(likert().assign(value=0.5))


def test_ssa_item_means_are_means_of_the_released_zscores(shared_data):
    path = shared_data("ssa2013-likert/LI.ls.results.csv")
    frame = pd.read_csv(path, encoding="mac_roman", skiprows=5).rename(columns={"judgment": "value"})
    report = ratings_report(frame.assign(task="likert"))
    means = pd.DataFrame(report["items"]).set_index("item").sort_index()
    expected = frame.groupby("item")["zscores"].agg(["count", "mean", "std"])
    assert len(means) == len(expected) == 2384
    assert (means["n"] == expected["count"]).all()
    assert (means["mean"] - expected["mean"]).abs().max() < 1e-9
    assert (means["sd"] - expected["std"]).abs().max() < 1e-9


def test_means_without_a_typo_are_free_of_what_it_did_to_its_participant():
    clean = [40.0, 90, 110, 60, 80, 120, 100, 70]
    rows = pd.DataFrame(
        [
            (p, f"s{n}", "good" if n % 2 else "bad", value + p)
            for p in range(3)
            for n, value in enumerate(clean)
        ],
        columns=["participant", "sentence_id", "condition", "value"],
    ).assign(item="i", task="magnitude_estimation")
    rows.loc[0, "value"] = 40_000.0
    magnitudes = condition_report(rows)["magnitudes"]
    expected = transform_ratings(rows.drop(index=0), transform="z").groupby(rows["condition"]).mean()
    assert magnitudes["outliers"] == 1
    for row in magnitudes["means_without"]:
        assert row["mean_without"] == pytest.approx(expected[row["condition"]])
        assert row["mean"] != pytest.approx(row["mean_without"], abs=0.03)


def test_an_interval_is_around_its_mean_where_some_lack_a_condition():
    rng = np.random.default_rng(9)
    rows = pd.DataFrame(
        [
            (p, c, 4 + 2 * (c == "x") + 2 * (p > 5) * (c == "y") + rng.normal())
            for p in range(12)
            for c in "xy"
        ],
        columns=["participant", "condition", "value"],
    ).assign(item="i", task="likert")
    incomplete = rows[(rows["condition"] != "x") | (rows["participant"] > 5)]
    for row in condition_report(incomplete, transform="raw")["conditions"]:
        assert (row["ci_low"] + row["ci_high"]) / 2 == pytest.approx(row["mean"])
        assert row["n_within"] == 6


def test_conditions_are_listed_in_natural_order():
    rows = pd.DataFrame({"item": ["i", "j", "k"], "condition": ["c10", "c2", "c1"], "value": [3, 2, 1]})
    report = condition_report(rows.assign(participant="p", task="likert"))
    assert [row["condition"] for row in report["conditions"]] == ["c1", "c2", "c10"]


def test_conditions_of_a_factorial_design_are_listed_in_the_order_of_its_levels():
    cells = [(s, d) for s in ("island", "non-island", None) for d in ("long", "short")]
    rows = pd.DataFrame(cells, columns=["structure", "distance"])
    rows = rows.assign(
        condition=rows["structure"].fillna("extra") + ":" + rows["distance"], value=[3, 4, 5] * 2
    )
    for factor, levels in {"structure": ["non-island", "island"], "distance": ["short", "long"]}.items():
        rows[factor] = pd.Categorical(rows[factor], levels, ordered=True)
    report = condition_report(rows.assign(participant="p", item="i", task="likert"))
    in_order = ["non-island:short", "non-island:long", "island:short", "island:long"]
    assert [row["condition"] for row in report["conditions"]] == [*in_order, "extra:short", "extra:long"]


def test_the_report_names_estimates_of_zero():
    rows = pd.DataFrame({"item": ["i", "j", "k"], "condition": "c", "value": [0, 200, -1]})
    conditions = condition_report(rows.assign(participant="p", task="magnitude_estimation"))
    sentences = unusable_estimates_sentences({"conditions": conditions})
    assert sentences[0].startswith("1 estimate of zero (1 participant) entered raw numbers and z; ")
    assert sentences[1] == "1 negative estimate was left out."
    assert unusable_estimates_sentences({"conditions": {"magnitudes": None}}) == []


@pytest.mark.parametrize("value", [1e300, -1e300, 2e100])
def test_values_whose_squares_overflow_are_refused_by_row(value):
    rows = pd.DataFrame({"participant": ["a"] * 4, "item": list("wxyz"), "value": [5.0, value, 3.0, 4.0]})
    with pytest.raises(BadInput, match=r"row 2, column 'value': the value is beyond 1e\+100\. Correct"):
        ratings_report(rows.assign(task="magnitude_estimation"))


def test_item_means_keep_conditions_apart_where_another_column_has_one_name():
    rows = pd.DataFrame({"paradigm": "p", "item": ["i", "i", "j"], "condition": ["good", "bad", "bad"]})
    rows = rows.assign(sentence_id="s", value=[6.0, 2.0, 1.0])
    means = item_means(rows, rows["value"])[["item", "condition", "sentence_id", "mean"]]
    assert sorted(means.itertuples(index=False, name=None)) == [
        ("i", "bad", "s", 2.0), ("i", "good", "s", 6.0), ("j", "bad", "s", 1.0),
    ]  # fmt: skip


def two_scales():
    """Six participants rate eight sentences on seven points and on a slider from 0 to 100."""
    rng = np.random.default_rng(5)
    rows = [
        (f"p{person}", f"i{item}", f"s{item}", "ab"[item % 2], task, low, high, rng.integers(low, high + 1))
        for person in range(6)
        for task, low, high in (("likert", 1, 7), ("slider", 0, 100))
        for item in range(8)
    ]
    names = ["participant", "item", "sentence_id", "condition", "task", "scale_low", "scale_high", "value"]
    return pd.DataFrame(rows, columns=names)


@pytest.mark.parametrize("scale", [["task", "scale_high"], ["scale_high"]])
def test_two_scales_are_standardized_and_averaged_apart(scale):
    frame = two_scales()
    frame = frame if "task" in scale else frame.assign(task="likert")
    own = frame.groupby(["participant", *scale])["value"]
    z = (frame["value"] - own.transform("mean")) / own.transform("std")
    assert transform_ratings(frame).to_numpy() == pytest.approx(z.to_numpy(), abs=1e-12)
    report = ratings_report(frame)
    assert len(report["scales"]) == 2 and {row["scale"] for row in report["items"]} == set(report["scales"])
    by_hand = frame.assign(z=z).groupby(["item", *scale])[["z", "value"]].mean()
    found = sorted((row["mean"], row["mean_raw"]) for row in report["items"])
    assert np.allclose(found, sorted(by_hand.itertuples(index=False, name=None)))
    assert [row["n"] for row in report["participants"]] == [8] * 12
    assert item_means(frame, z)["mean_raw"].isna().all()
    by_condition = {row["condition"]: row["mean_raw"] for row in condition_report(frame)["conditions"]}
    assert len(by_condition) == 4 and min(by_condition.values()) < 7 < max(by_condition.values())


def test_raw_points_of_two_scales_are_not_pooled():
    with pytest.raises(BadInput, match="2 scales .*1–7.*0–100"):
        transform_ratings(two_scales(), transform="raw")
    assert len(ratings_report(two_scales(), transform="raw")["items"]) == 16


def magnitudes(outlier=None):
    """Eight participants estimate eight pairs; the first one's first estimate may be a typing error."""
    rng = np.random.default_rng(8)
    rows = [
        (f"p{person}", f"i{item}", side, 100 * np.exp(0.5 * (side == "acceptable") + rng.normal(0, 0.2)))
        for person in range(8)
        for item in range(8)
        for side in ("acceptable", "unacceptable")
    ]
    frame = pd.DataFrame(rows, columns=["participant", "item", "expected", "value"])
    frame = frame.assign(task="magnitude_estimation", modulus=100.0, phenomenon="islands", condition="")
    if outlier is not None:
        frame.loc[1, "value"] = outlier
    return frame


def test_an_outlier_moves_z_and_hardly_the_versions_beside_it():
    rows = [condition_report(magnitudes(outlier))["magnitudes"]["contrasts"] for outlier in (None, 20_000)]
    clean, typed = ({row["transform"]: row for row in part} for part in rows)
    assert set(clean) == {"z", "z-log", "robust-z"} and set(typed) == {*clean, "z-without-outliers"}
    moved = {name: abs(typed[name]["difference"] / clean[name]["difference"] - 1) for name in clean}
    # the outlier shrinks the others' z; robust z keep it as far out as it is
    assert moved["robust-z"] > moved["z"] > 0.1 and moved["z-log"] < moved["z"]
    assert typed["z-without-outliers"]["difference"] == pytest.approx(clean["z"]["difference"], rel=0.05)
    # plain pandas
    frame = magnitudes(20_000)
    z = frame.groupby("participant")["value"].transform(lambda x: (x - x.mean()) / x.std())
    sides = frame.assign(z=z).pivot_table(index="participant", columns="expected", values="z")
    difference = sides["acceptable"] - sides["unacceptable"]
    assert typed["z"]["difference"] == pytest.approx(difference.mean())
    assert typed["z"]["d_z"] == pytest.approx(difference.mean() / difference.std())
    # without named conditions both sides are told apart
    assert {row["condition"] for row in condition_report(frame)["conditions"]} == {
        "acceptable",
        "unacceptable",
    }
    section, _ = ratings_section(
        {"task": "magnitude_estimation", "conditions": condition_report(frame)}, figures=[]
    )
    shown = str(section)
    assert "Outliers: 1 estimate beyond 3.5" in shown and "z of logarithms" in shown


def test_the_count_beside_a_mean_is_that_of_its_ratings():
    report = condition_report(likert())
    assert [(row["n"], row["n_scored"]) for row in report["conditions"]] == [(12, 8)]
    section, _ = ratings_section({"task": "likert", "conditions": report}, figures=[])
    assert "(n 8)" in str(section)
