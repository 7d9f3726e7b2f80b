"""Corpora of one size: exact, seeded, drawn from one order; filters leave kept sentences as they are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.corpora import choose, downsample, filter_names, find_filter, parse_conllu, survey
from analysis.corpora.filtering import report
from analysis.errors import BadInput, NotEnoughData
from tests.analysis.corpora.examples import examples, rows

SENTENCES = [next(parse_conllu(rows(written))) for _, _, written in examples()]
CORPORA = st.lists(st.tuples(st.integers(1, 40), st.booleans()), min_size=2, max_size=60).filter(
    lambda pairs: any(is_kept for _, is_kept in pairs)
)


def corpora(lengths_and_flags):
    lengths = np.array([length for length, _ in lengths_and_flags])
    corpus_flags = {
        "full": np.ones(len(lengths_and_flags), dtype=bool),
        "filtered": np.array([is_kept for _, is_kept in lengths_and_flags]),
    }
    return lengths, corpus_flags


@given(CORPORA, st.integers(0, 2**32))
def test_by_sentences_all_corpora_have_exactly_the_size_of_the_smallest(lengths_and_flags, seed):
    lengths, corpus_flags = corpora(lengths_and_flags)
    sampled = downsample(lengths, corpus_flags, unit="sentences", rng=np.random.default_rng(seed))
    assert {int(flags.sum()) for flags in sampled.values()} == {int(corpus_flags["filtered"].sum())}
    assert all(not (sampled[name] & ~corpus_flags[name]).any() for name in corpus_flags)


@given(CORPORA, st.integers(0, 2**32))
def test_by_tokens_no_corpus_is_larger_and_a_gap_cannot_be_filled_by_a_sentence_more(lengths_and_flags, seed):
    lengths, corpus_flags = corpora(lengths_and_flags)
    sampled = downsample(lengths, corpus_flags, unit="tokens", rng=np.random.default_rng(seed))
    size = int(lengths[corpus_flags["filtered"]].sum())
    assert int(lengths[sampled["filtered"]].sum()) == size
    gap = size - int(lengths[sampled["full"]].sum())
    assert gap >= 0
    assert gap == 0 or (lengths[~sampled["full"]] > gap).all()


@given(st.lists(st.integers(1, 12), min_size=300, max_size=400), st.integers(0, 2**32))
@settings(max_examples=30)
def test_by_tokens_a_corpus_of_some_size_is_exact(more_lengths, seed):
    rng = np.random.default_rng(seed)
    lengths = np.array([*more_lengths, *range(1, 13)])
    corpus_flags = {"full": np.ones(len(lengths), dtype=bool), "filtered": rng.random(len(lengths)) < 0.8}
    sampled = downsample(lengths, corpus_flags, unit="tokens", rng=rng)
    assert (
        lengths[sampled["full"]].sum()
        == lengths[sampled["filtered"]].sum()
        == lengths[corpus_flags["filtered"]].sum()
    )


def test_a_gap_is_filled_by_a_change_of_one_sentence():
    lengths = np.array([3, 3, 4, 4])
    corpus_flags = {"full": np.ones(4, dtype=bool), "filtered": np.array([True, False, True, False])}
    for seed in range(20):
        sampled = downsample(lengths, corpus_flags, unit="tokens", rng=np.random.default_rng(seed))
        assert int(lengths[sampled["full"]].sum()) == 7


@given(CORPORA, st.sampled_from(["sentences", "tokens"]))
def test_the_same_seed_gives_the_same_sentences(lengths_and_flags, unit):
    lengths, corpus_flags = corpora(lengths_and_flags)
    first, repeated = (
        downsample(lengths, corpus_flags, unit=unit, rng=np.random.default_rng(7)) for _ in range(2)
    )
    assert all((first[name] == repeated[name]).all() for name in corpus_flags)


def test_another_seed_gives_other_sentences_and_every_sentence_has_its_chance():
    corpus_flags = {"full": np.ones(50, dtype=bool), "filtered": np.arange(50) < 25}
    samples = [
        downsample(np.full(50, 9), corpus_flags, unit="sentences", rng=np.random.default_rng(seed))["full"]
        for seed in range(200)
    ]
    often = np.sum(samples, axis=0)
    assert often.min() > 60 and often.max() < 140  # 100 expected, SD 7


def test_corpora_share_as_many_sentences_as_they_can():
    corpus_flags = {
        "full": np.ones(1000, dtype=bool),
        "a": np.arange(1000) >= 10,
        "b": np.arange(1000) >= 200,
    }
    sampled = downsample(np.full(1000, 9), corpus_flags, unit="sentences", rng=np.random.default_rng(0))
    assert int((sampled["full"] & sampled["a"]).sum()) >= 790


def test_a_size_beyond_the_smallest_corpus_is_refused_with_its_name():
    corpus_flags = {"full": np.ones(4, dtype=bool), "passive": np.array([True, False, False, False])}
    with pytest.raises(NotEnoughData, match="the corpus 'passive' has 1 sentences, 2 are required"):
        downsample([1] * 4, corpus_flags, unit="sentences", rng=np.random.default_rng(0), size=2)
    with pytest.raises(BadInput, match="unknown unit 'lines'"):
        downsample([1] * 4, corpus_flags, unit="lines", rng=np.random.default_rng(0))


@given(st.permutations(SENTENCES), st.sampled_from(filter_names()))
@settings(max_examples=40, deadline=None)
def test_a_filter_decides_by_the_sentence_alone(order, name):
    pattern_filter = find_filter(name)
    reasons = survey(order, [pattern_filter]).reasons[name]
    assert {
        sentence.lines for sentence, reason in zip(order, reasons, strict=True) if reason < 0
    } == {sentence.lines for sentence in SENTENCES if pattern_filter.removes(sentence) is None}  # fmt: skip


def test_the_report_counts_what_is_removed():
    filters = [find_filter("passive"), find_filter("det-noun")]
    surveyed = survey(SENTENCES, filters)
    counts = report(surveyed, choose(surveyed), filters)
    removed = [sentence for sentence in SENTENCES if filters[0].removes(sentence)]
    passive = counts["filters"][0]
    assert counts["sentences"] == len(SENTENCES)
    assert counts["tokens"] == sum(len(sentence.words) for sentence in SENTENCES)
    assert (
        passive["sentences_removed"] == len(removed) == sum(row["sentences"] for row in passive["patterns"])
    )
    assert passive["tokens_removed"] == sum(len(sentence.words) for sentence in removed)
    assert [row["corpus"] for row in counts["corpora"]] == ["full", "passive", "det-noun"]
    assert counts["corpora"][1]["sentences"] == len(SENTENCES) - len(removed)


def test_what_cannot_be_compared_is_refused():
    passive = find_filter("passive")
    with pytest.raises(BadInput, match="'passive' is given twice"):
        survey(SENTENCES, [passive, passive])
    with pytest.raises(NotEnoughData, match="no sentences"):
        survey([], [passive])
    removed = [sentence for sentence in SENTENCES if passive.removes(sentence)]
    with pytest.raises(NotEnoughData, match="'passive' removes every sentence"):
        choose(survey(removed, [passive]))
