"""Corpora of one size: exact, seeded, drawn from one order; filters leave kept sentences as they are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.corpora import choose, downsample, find_filter, parse_conllu, shipped, survey
from analysis.corpora.filtering import report
from analysis.errors import BadInput, NotEnoughData
from tests.analysis.corpora.examples import examples, rows

SENTENCES = [next(parse_conllu(rows(written))) for _, _, written in examples()]
CORPORA = st.lists(st.tuples(st.integers(1, 40), st.booleans()), min_size=2, max_size=60).filter(
    lambda drawn: any(kept for _, kept in drawn)
)


def corpora(drawn):
    lengths = np.array([length for length, _ in drawn])
    kept = {"full": np.ones(len(drawn), dtype=bool), "filtered": np.array([kept for _, kept in drawn])}
    return lengths, kept


@given(CORPORA, st.integers(0, 2**32))
def test_by_sentences_all_corpora_have_exactly_the_size_of_the_smallest(drawn, seed):
    lengths, kept = corpora(drawn)
    left = downsample(lengths, kept, unit="sentences", rng=np.random.default_rng(seed))
    assert {int(flags.sum()) for flags in left.values()} == {int(kept["filtered"].sum())}
    assert all(not (left[name] & ~kept[name]).any() for name in kept)


@given(CORPORA, st.integers(0, 2**32))
def test_by_tokens_no_corpus_is_larger_and_a_gap_cannot_be_filled_by_a_sentence_more(drawn, seed):
    lengths, kept = corpora(drawn)
    left = downsample(lengths, kept, unit="tokens", rng=np.random.default_rng(seed))
    size = int(lengths[kept["filtered"]].sum())
    assert int(lengths[left["filtered"]].sum()) == size
    gap = size - int(lengths[left["full"]].sum())
    assert gap >= 0
    assert gap == 0 or (lengths[~left["full"]] > gap).all()


@given(st.lists(st.integers(1, 12), min_size=300, max_size=400), st.integers(0, 2**32))
@settings(max_examples=30)
def test_by_tokens_a_corpus_of_some_size_is_exact(drawn, seed):
    rng = np.random.default_rng(seed)
    lengths = np.array([*drawn, *range(1, 13)])
    kept = {"full": np.ones(len(lengths), dtype=bool), "filtered": rng.random(len(lengths)) < 0.8}
    left = downsample(lengths, kept, unit="tokens", rng=rng)
    assert lengths[left["full"]].sum() == lengths[left["filtered"]].sum() == lengths[kept["filtered"]].sum()


def test_a_gap_is_filled_by_a_change_of_one_sentence():
    lengths = np.array([3, 3, 4, 4])
    kept = {"full": np.ones(4, dtype=bool), "filtered": np.array([True, False, True, False])}
    for seed in range(20):
        left = downsample(lengths, kept, unit="tokens", rng=np.random.default_rng(seed))
        assert int(lengths[left["full"]].sum()) == 7


@given(CORPORA, st.sampled_from(["sentences", "tokens"]))
def test_the_same_seed_gives_the_same_sentences(drawn, unit):
    lengths, kept = corpora(drawn)
    first, again = (downsample(lengths, kept, unit=unit, rng=np.random.default_rng(7)) for _ in range(2))
    assert all((first[name] == again[name]).all() for name in kept)


def test_another_seed_gives_other_sentences_and_every_sentence_has_its_chance():
    kept = {"full": np.ones(50, dtype=bool), "filtered": np.arange(50) < 25}
    drawn = [
        downsample(np.full(50, 9), kept, unit="sentences", rng=np.random.default_rng(seed))["full"]
        for seed in range(200)
    ]
    often = np.sum(drawn, axis=0)
    assert often.min() > 60 and often.max() < 140  # 100 expected, SD 7


def test_corpora_share_as_many_sentences_as_they_can():
    kept = {"full": np.ones(1000, dtype=bool), "a": np.arange(1000) >= 10, "b": np.arange(1000) >= 200}
    left = downsample(np.full(1000, 9), kept, unit="sentences", rng=np.random.default_rng(0))
    assert int((left["full"] & left["a"]).sum()) >= 790


def test_a_size_beyond_the_smallest_corpus_is_refused_with_its_name():
    kept = {"full": np.ones(4, dtype=bool), "passive": np.array([True, False, False, False])}
    with pytest.raises(NotEnoughData, match="the corpus 'passive' has 1 sentences, 2 are required"):
        downsample([1] * 4, kept, unit="sentences", rng=np.random.default_rng(0), size=2)
    with pytest.raises(BadInput, match="unknown unit 'lines'"):
        downsample([1] * 4, kept, unit="lines", rng=np.random.default_rng(0))


@given(st.permutations(SENTENCES), st.sampled_from(shipped()))
@settings(max_examples=40, deadline=None)
def test_a_filter_decides_by_the_sentence_alone(order, name):
    one = find_filter(name)
    reasons = survey(order, [one]).reasons[name]
    assert {
        sentence.lines for sentence, reason in zip(order, reasons, strict=True) if reason < 0
    } == {sentence.lines for sentence in SENTENCES if one.removes(sentence) is None}  # fmt: skip


def test_the_report_counts_what_goes():
    filters = [find_filter("passive"), find_filter("det-noun")]
    found = survey(SENTENCES, filters)
    counts = report(found, choose(found), filters)
    gone = [one for one in SENTENCES if filters[0].removes(one)]
    passive = counts["filters"][0]
    assert counts["sentences"] == len(SENTENCES)
    assert counts["tokens"] == sum(len(one.words) for one in SENTENCES)
    assert passive["sentences_removed"] == len(gone) == sum(row["sentences"] for row in passive["patterns"])
    assert passive["tokens_removed"] == sum(len(one.words) for one in gone)
    assert [row["corpus"] for row in counts["corpora"]] == ["full", "passive", "det-noun"]
    assert counts["corpora"][1]["sentences"] == len(SENTENCES) - len(gone)


def test_what_cannot_be_compared_is_refused():
    passive = find_filter("passive")
    with pytest.raises(BadInput, match="'passive' is given twice"):
        survey(SENTENCES, [passive, passive])
    with pytest.raises(NotEnoughData, match="no sentences"):
        survey([], [passive])
    gone = [one for one in SENTENCES if passive.removes(one)]
    with pytest.raises(NotEnoughData, match="'passive' removes every sentence"):
        choose(survey(gone, [passive]))
