"""Fast counting of groups agrees with plain definitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from analysis import rows
from analysis.reliability.chance_corrected import krippendorff_alpha
from analysis.rows import average_repeats, joint_codes, joint_counts, repeats, rows_where
from analysis.scales import zscore_by_participant

pairs = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        arrays.arrays(np.int64, n, elements=st.integers(0, 400)),
        arrays.arrays(np.int64, n, elements=st.sampled_from([0, 1, 2, 900])),
    )
)
small = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*(arrays.arrays(np.int64, n, elements=st.integers(0, 3)) for _ in range(2)))
)
answers = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([1.0, 2.0, 4.0, 7.0])), min_size=4, max_size=60
)


@given(pairs | small)
def test_pairs_are_numbered_in_order_and_counted(columns):
    first, second = columns
    plain = pd.Series(1, index=pd.MultiIndex.from_arrays(columns)).groupby(level=[0, 1]).sum()
    codes, firsts, seconds = joint_codes(first, second)
    assert list(zip(firsts, seconds, strict=True)) == list(plain.index)
    assert (firsts[codes] == first).all() and (seconds[codes] == second).all()
    counts, *groups = joint_counts(first, second)
    assert counts.tolist() == plain.tolist()
    assert [group.tolist() for group in groups] == [firsts.tolist(), seconds.tolist()]


@given(answers)
def test_alpha_is_one_less_observed_over_expected_disagreement_of_all_pairs(rows):
    frame = pd.DataFrame(rows, columns=["unit", "value"])
    frame = frame[frame.groupby("unit")["unit"].transform("size") > 1]
    for level, distance in (("nominal", lambda a, b: a != b), ("interval", lambda a, b: (a - b) ** 2)):
        alpha = krippendorff_alpha(frame, level=level)
        if frame["value"].nunique() < 2:
            assert alpha.value is None
            continue
        value = frame["value"].to_numpy()
        every = distance(value[:, None], value[None, :]).sum() / (len(value) * (len(value) - 1))
        within = sum(
            distance(part[:, None], part[None, :]).sum() / (len(part) - 1)
            for part in (group.to_numpy() for _, group in frame.groupby("unit")["value"])
        )
        assert abs(alpha.value - (1 - within / len(value) / every)) < 1e-9


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 7)), min_size=1, max_size=40))
def test_z_is_the_plain_group_by(rows):
    frame = pd.DataFrame(rows, columns=["participant", "value"])
    groups = frame.groupby("participant")["value"]
    plain = (frame["value"] - groups.transform("mean")) / groups.transform("std")
    plain = plain.where((groups.transform("size") >= 4) & (groups.transform("nunique") > 1))
    pd.testing.assert_series_equal(zscore_by_participant(frame), plain, check_names=False)


def test_all_rows_are_a_frame_of_their_own():
    frame = pd.DataFrame({"value": [1.0, 2.0]})
    same = rows_where(frame, np.array([True, True]))
    same["value"] = 9.0
    same.loc[0, "value"] = 8.0
    assert frame["value"].tolist() == [1.0, 2.0]
    assert rows_where(frame, np.array([False, True]))["value"].tolist() == [2.0]


@given(pairs | small, st.sampled_from([1, 7, 2**20]), st.booleans())
def test_repeats_are_found_in_blocks_of_any_size_and_rows_of_any_order(columns, cells, is_sorted):
    groups, members = columns
    members = (np.sort(members) if is_sorted else members) - 1  # -1 is a missing participant
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_BLOCK_CELLS", cells)
        again, stand = repeats(groups, members, n_groups=401)
        values = np.arange(len(groups), dtype=np.float64)
        values[::3] = np.nan
        plain = pd.DataFrame({"group": groups, "member": members, "value": values}).dropna()
        is_repeat = average_repeats([values], groups, members, n_groups=401)
    table = pd.DataFrame({"group": groups, "member": members})
    assert len(again) == len(set(again)) == table.duplicated().sum()
    assert not set(again) & set(stand)
    assert table.iloc[again].to_numpy().tolist() == table.iloc[stand].to_numpy().tolist()
    assert (
        is_repeat.tolist()
        == plain.duplicated(["group", "member"]).reindex(table.index, fill_value=False).tolist()
    )
    means = plain.groupby(["group", "member"])["value"].mean()
    merged = table.assign(value=values).dropna().set_index(["group", "member"])["value"]
    pd.testing.assert_series_equal(merged.sort_index(), means.sort_index())


def test_repeats_of_no_rows_are_none():
    none = np.empty(0, dtype=np.int64)
    assert [part.tolist() for part in repeats(none, none, n_groups=0)] == [[], []]
