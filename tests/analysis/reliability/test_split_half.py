"""Split-half reliability of unit means, and the noise ceiling."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.comparison.ceilings.human import human_ceiling
from analysis.comparison.ceilings.noise import correlation_ceilings
from analysis.errors import BadInput
from analysis.reliability.halves import noise_ceiling, spearman_brown
from analysis.reliability.icc import intraclass_correlation
from analysis.reliability.split_half import half_correlation, split_half, split_half_by_size


def table(matrix):
    """Turn participants × items into one row per judgment."""
    rows = [(f"P{p}", item, value) for p, row in enumerate(matrix) for item, value in enumerate(row)]
    return pd.DataFrame(rows, columns=["participant", "item", "value"]).dropna()


def simulated(people=40, items=60, *, seed=1, noise=1.0, lists=1):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=items)
    rows = [
        (f"P{p}", f"L{p % lists}", i, truth[i] + rng.normal(0, noise))
        for p in range(people)
        for i in range(p % lists, items, lists)
    ]
    return pd.DataFrame(rows, columns=["participant", "list", "item", "value"])


def test_vector_split_half(shared_vectors):
    vector = shared_vectors["split_half"]
    rows, expected = table(vector["input"]), vector["expected"]
    odd = rows["participant"].isin(["P0", "P2", "P4"])
    r = half_correlation(rows, odd, unit="item")
    assert r == pytest.approx(expected["odd_even_r"], abs=1e-9)
    assert spearman_brown(r) == pytest.approx(expected["odd_even_sb"], abs=1e-9)
    halves = split_half(rows, unit="item", splits="all")
    assert (halves.splits, halves.n_participants, halves.n_units) == (10, 6, 8)
    assert halves.r == pytest.approx(expected["all_splits_mean_r"], abs=1e-9)
    assert halves.spearman_brown == pytest.approx(expected["all_splits_mean_sb"], abs=1e-9)
    assert halves.spearman_brown_of_mean_r == pytest.approx(expected["sb_of_mean_r"], abs=1e-9)
    alpha = intraclass_correlation(rows, unit="item")["ICC(C,k)"]
    assert alpha == pytest.approx(expected["icc_c_k"], abs=1e-6)


def test_random_splits_come_near_all_splits_and_repeat_with_their_seed(shared_vectors):
    rows = table(shared_vectors["split_half"]["input"])
    every, some = split_half(rows, unit="item", splits="all"), split_half(rows, unit="item", seed=4)
    assert some.spearman_brown == pytest.approx(every.spearman_brown, abs=4 * every.sd / 1000**0.5)
    assert some == split_half(rows, unit="item", seed=4) != split_half(rows, unit="item", seed=5)


def test_known_reliability_is_recovered():
    halves = split_half(simulated(noise=2.0), unit="item", splits=200)
    assert halves.spearman_brown == pytest.approx(1 / (1 + 4 / 40), abs=0.05)
    assert halves.ceiling.model == pytest.approx(halves.spearman_brown**0.5)


def test_halves_are_balanced_within_lists():
    rows = simulated(lists=4, people=8, items=40)
    assert split_half(rows, unit="item", splits=50).n_lists == 4
    unnamed = split_half(rows.drop(columns="list"), unit="item", splits=50)
    assert unnamed.n_lists == 4 and unnamed.r is not None
    # with two people a list, each half holds one: no unit is ever left out
    alone = rows[rows["participant"].isin(["P0", "P4"])]
    assert split_half(alone, unit="item", splits=20).sd < 1e-9


def test_few_and_sparse_or_many_and_full_give_the_same(monkeypatch):
    rows = simulated(lists=3, people=12)
    halves = split_half(rows, unit="item", splits=30, seed=2)
    monkeypatch.setattr("analysis.reliability.split_half._BLOCK", 100)
    blocks = split_half(rows, unit="item", splits=30, seed=2)
    assert blocks.n_units == halves.n_units and blocks.r == pytest.approx(halves.r, abs=0.05)


@settings(max_examples=20)
@given(st.floats(-5, 5), st.floats(0.1, 9), st.integers(0, 99))
def test_it_does_not_depend_on_unit_or_order(shift, unit, seed):
    rows = simulated(people=6, items=8)
    moved = rows.assign(value=shift + unit * rows["value"]).sample(frac=1, random_state=seed)
    original, other = (split_half(each, unit="item", splits="all") for each in (rows, moved))
    assert other.r == pytest.approx(original.r, abs=1e-9)


@pytest.mark.filterwarnings("error")
def test_what_is_undefined_has_a_status():
    rows = simulated(people=4, items=5)
    assert split_half(rows.iloc[:0], unit="item").status == "no_data"
    assert split_half(rows[rows["participant"] == "P0"], unit="item").status == "too_few"
    assert split_half(rows.assign(value=3.0), unit="item").status == "no_variation"
    assert split_half(rows.assign(value=3.0), unit="item").ceiling.model is None
    with pytest.raises(BadInput, match="one list"):
        split_half(simulated(lists=2), unit="item", splits="all")


def test_ceilings_of_nothing_are_nothing():
    assert noise_ceiling(None).sample is None and noise_ceiling(-0.2).model is None
    assert noise_ceiling(None).disattenuate(0.5) is None


def test_people_with_a_list_each_are_halved_anew_every_time():
    rng = np.random.default_rng(4)
    rows = pd.DataFrame(
        [(p, i, i + 3 * rng.normal()) for p in range(30) for i in range(8) if (p + i) % 30 != 7],
        columns=["participant", "item", "value"],
    ).assign(list=lambda frame: frame["participant"].astype(str))
    alone = split_half(rows, unit="item", splits=100)
    together = split_half(rows.assign(list="all"), unit="item", splits=100)
    assert alone.sd > 0.01 and alone.n_lists == 1
    assert alone.spearman_brown == pytest.approx(together.spearman_brown, abs=1e-9)


def test_blimp_halves_have_the_computed_reliability(shared_data):
    rows = blimp_choices(pd.read_csv(shared_data("blimp/human_responses.csv")))
    right = rows.groupby(["paradigm", "item"])["value"].mean().gt(0.5).groupby("paradigm").sum()
    rows = rows[rows["paradigm"].isin(right[right >= 4].index)]
    mixed = rows.assign(list="all")  # halves of everybody, whatever they were shown
    by_item, by_paradigm = (split_half(mixed, unit=unit, splits=300) for unit in ("item", "paradigm"))
    assert by_item.n_units == 335 and by_paradigm.n_units == 67
    assert by_item.r == pytest.approx(0.606, abs=0.006)
    assert by_item.spearman_brown == pytest.approx(0.754, abs=0.006)
    assert by_paradigm.spearman_brown == pytest.approx(0.862, abs=0.006)
    assert by_paradigm.ceiling.model == pytest.approx(0.928, abs=0.004)
    # halves of each group that judged the same pairs have ten judgments of each: slightly more reliable
    group = rows.groupby("item")["participant"].agg(lambda ids: " ".join(sorted(map(str, set(ids)))))
    named = rows.assign(list=rows["item"].map(group))
    assert split_half(named, unit="item", splits=100).spearman_brown == pytest.approx(0.757, abs=0.006)
    # without names those who took part in several groups are pooled
    assert split_half(rows, unit="item", splits=100).spearman_brown == pytest.approx(0.762, abs=0.006)


def test_missing_answers_and_the_order_of_rows_make_no_lists():
    rng, truth = np.random.default_rng(1), np.random.default_rng(2).normal(size=30)
    names = [(f"p{p:02}", f"s{s:02}") for p in range(24) for s in range(30)]
    rows = pd.DataFrame(names, columns=["participant", "sentence_id"])
    rows["value"] = np.tile(truth, 24) + rng.normal(scale=2, size=len(rows))
    pairs = pd.DataFrame({"pair_id": range(15), "good_id": [f"s{2 * n:02}" for n in range(15)]})
    pairs["bad_id"] = [f"s{2 * n + 1:02}" for n in range(15)]
    place = rows.assign(key=rng.random(len(rows))).groupby("participant")["key"].rank()
    for missing in (0, 1, 5):
        judged = rows[place > missing]
        numbers = []
        for seed, order in ((0, 0), (0, 1), (1, 0), (2, 0)):
            shuffled = judged.sample(frac=1, random_state=order)
            ceilings = correlation_ceilings(shuffled, pairs, rng=np.random.default_rng(seed))
            human = human_ceiling(shuffled, pairs, rng=np.random.default_rng(seed))
            numbers.append((ceilings["deltas"]["reliability"], human.adc_half[0.5]))
        assert numbers[0] == pytest.approx(numbers[1], abs=1e-9)
        assert len(set(numbers)) > 2
        assert np.ptp(np.array(numbers), axis=0).max() < 0.04


def blimp_choices(raw):
    """Read BLiMP's kept judgments: one row per forced choice."""
    raw = raw[raw["AssignmentStatus"] == "Approved"]
    parts = []
    for k in range(1, 6):
        cell = raw[f"Input.item_{k}_condition"].str.extract(r"^(?P<paradigm>.*)ans(?P<good>[12])$")
        chosen = raw[f"Answer.Choice{k}"].str.extract(r"^([12])\.")[0]
        parts.append(
            pd.DataFrame(
                {
                    "participant": raw["anonCode"],
                    "paradigm": cell["paradigm"],
                    "item": raw[f"Input.field_{k}_1"] + " | " + raw[f"Input.field_{k}_2"],
                    "value": (chosen == cell["good"]).where(chosen.notna()).astype(float),
                }
            )
        )
    rows = pd.concat(parts, ignore_index=True)
    return rows[~rows["paradigm"].isin(["attnchk", "subject_island"]) & rows["value"].notna()]


def test_people_who_sat_several_lists_are_halved_within_each():
    """Six raters a list: the reliability of their means is V / (V + 1.44 / 6)."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(48, 20))
    rows = [
        (f"p{person}", f"l{number}", f"{number}-{item}", truth[number, item] + 1.2 * rng.normal())
        for number in range(48)
        for person in rng.permutation(40)[:6]
        for item in range(20)
    ]
    frame = pd.DataFrame(rows, columns=["participant", "list", "sentence_id", "value"])
    halves = split_half(frame, splits=100)
    assert (halves.n_participants, halves.n_lists) == (40, 48)
    assert halves.spearman_brown == pytest.approx(truth.var() / (truth.var() + 1.44 / 6), abs=0.01)
    (last,) = split_half_by_size(frame, sizes=[40], draws=50).to_dict("records")
    assert last["spearman_brown"] == pytest.approx(halves.spearman_brown, abs=0.005)


def test_participants_who_judged_a_unit_in_two_lists_stay_in_one_half():
    rng = np.random.default_rng(1)
    opinions = {(p, i): rng.normal() for p in range(20) for i in range(30)}
    rows = [
        (p, f"round {r}", i, opinions[p, i] + 0.01 * rng.normal())
        for p in range(20) for r in (1, 2) for i in range(30)
    ]  # fmt: skip
    halves = split_half(
        pd.DataFrame(rows, columns=["participant", "list", "sentence_id", "value"]), splits=100
    )
    assert halves.spearman_brown < 0.5
