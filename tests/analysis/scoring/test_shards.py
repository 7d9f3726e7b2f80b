"""Shards hold every distinct sentence once, paradigms together, neighbours sharing beginnings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadInput
from analysis.scoring.shards import SLACK, shard_places

ROWS = st.lists(st.tuples(st.text("ab", max_size=3), st.sampled_from("xyz")), max_size=60)


@given(ROWS, st.integers(1, 12))
def test_every_distinct_sentence_is_in_one_shard(rows, size):
    texts, groups = [text for text, _ in rows], [group for _, group in rows]
    shards = shard_places(texts, groups, size=size)
    shard_texts = [texts[place] for places in shards for place in places]
    assert sorted(shard_texts) == sorted(set(texts))
    assert all(1 <= len(places) <= SLACK * size for places in shards)


def test_paradigm_stays_whole_and_sorted():
    texts = [f"The dog {n} barks." for n in range(9, 0, -1)] + [f"A cat {n} sleeps." for n in range(4)]
    shards = shard_places(texts, ["dogs"] * 9 + ["cats"] * 4, size=8)
    assert [len(places) for places in shards] == [4, 9]
    assert [texts[place] for place in shards[1]] == sorted(texts[:9])


def test_large_paradigm_is_cut_evenly_and_small_ones_share_a_shard():
    texts = [f"{n:03}" for n in range(30)]
    shards = shard_places(texts, ["a"] * 25 + ["b"] * 2 + ["c"] * 3, size=10)
    assert [len(places) for places in shards] == [8, 9, 10, 3]


def test_shard_of_nothing_is_refused():
    with pytest.raises(BadInput, match="at least one"):
        shard_places(["a"], [""], size=0)
