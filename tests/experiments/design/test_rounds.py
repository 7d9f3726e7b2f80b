"""Further rounds: other lists, new items first, each by its own seed."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadInput
from experiments.design import DesignSpec, Extras, OrderRules, Stimulus, planned_lists, planned_rounds
from experiments.design.proof import claims
from experiments.design.rounds import RoundSpec

NAMES = ("ba", "bei", "classifier", "coverb")


def pairs(n_items, names=NAMES):
    return [Stimulus(f"{p}{i}", f"{p}{i}", paradigm=p) for p in names for i in range(n_items)]


def target_keys(lists):
    return {trial.key for trials in lists for trial in trials if trial.kind == "target"}


def single(per_paradigm, seed=1):
    return RoundSpec(
        DesignSpec(forced_choice=True, per_paradigm=per_paradigm, one_paradigm=True, n_blocks=1, seed=seed)
    )


def sample(per_paradigm, *, items="new", seed=2, without=()):
    spec = DesignSpec(forced_choice=True, per_paradigm=per_paradigm, n_blocks=1, seed=seed)
    return RoundSpec(spec, items=items, without=without)


def test_climp_validates_in_two_rounds():
    first, second = planned_rounds(pairs(120), [single(100), sample(15, without=["coverb"])])
    assert len(first) == 8 and all(len(trials) == 100 for trials in first)
    assert all(len({trial.paradigm for trial in trials}) == 1 for trials in first)
    assert len(second) == 2 and all(len(trials) == 45 for trials in second)
    assert {trial.paradigm for trials in second for trial in trials} == {"ba", "bei", "classifier"}
    assert not target_keys(first) & target_keys(second)
    assert all(claim.holds for lists in (first, second) for claim in claims(lists))


@given(
    n_items=st.integers(4, 20), first=st.integers(1, 20), second=st.integers(1, 20), seed=st.integers(0, 50)
)
def test_new_items_come_before_those_shown_earlier(n_items, first, second, seed):
    first, second = min(first, n_items), min(second, n_items)
    first_round, second_round = planned_rounds(
        pairs(n_items), [sample(first, items="any"), sample(second, seed=seed)]
    )
    repeated = Counter(trial.paradigm for trial in second_round[0] if trial.key in target_keys(first_round))
    fewest = max(0, second - (n_items - first))
    assert [repeated[name] for name in NAMES] == [fewest] * len(NAMES)


@given(st.integers(0, 50))
def test_a_round_of_the_same_items_shows_no_others(seed):
    first, two = planned_rounds(pairs(12), [single(6), sample(4, items="same", seed=seed)])
    assert target_keys(two) < target_keys(first)


@given(st.integers(0, 50))
def test_a_later_round_leaves_the_lists_of_earlier_ones_as_they_are(seed):
    alone = planned_rounds(pairs(8), [sample(3, items="any", seed=seed)])
    two_rounds = planned_rounds(pairs(8)[::-1], [sample(3, items="any", seed=seed), sample(2)])
    assert two_rounds[0] == alone[0] == planned_lists(pairs(8), sample(3, items="any", seed=seed).spec)
    assert two_rounds[1] == planned_rounds(pairs(8), [sample(3, items="any", seed=seed), sample(2)])[1]


def test_whole_schemes_leave_out_what_was_shown():
    scheme = RoundSpec(DesignSpec(forced_choice=True, seed=3), items="new")
    first, two = planned_rounds(pairs(6), [sample(4, items="any"), scheme])
    assert target_keys(first) | target_keys(two) == {pair.key for pair in pairs(6)} and not target_keys(
        first
    ) & target_keys(two)


def test_sets_of_a_later_round_are_of_other_sentences():
    sentences = [Stimulus(str(i), str(i)) for i in range(16)]
    spec = DesignSpec(set_size=4, showings=2, seed=1)
    rounds = planned_rounds(sentences[:8], [RoundSpec(spec), RoundSpec(spec, items="same")])
    members = [
        {key for trials in lists for trial in trials for key in trial.key.split(",")} for lists in rounds
    ]
    assert members[0] == members[1] == {str(i) for i in range(8)}


def test_an_unknown_paradigm_is_named_with_its_round():
    with pytest.raises(BadInput, match="round 2: there is no paradigm 'bai' to exclude. There are: ba, "):
        planned_rounds(pairs(4), [single(2), sample(2, without=["bai"])])


def test_a_round_that_cannot_be_filled_is_named():
    with pytest.raises(BadInput, match="round 2: paradigm 'ba' has 2 items, but 3 per list are requested"):
        planned_rounds(pairs(4), [single(2), sample(3, items="same")])
    with pytest.raises(BadInput, match="round 2: no items are left to show"):
        planned_rounds(pairs(4), [single(2), sample(1, without=NAMES)])


ANCHORS = [Stimulus(str(n), f"anchor:{n}") for n in range(5)]
FILLERS = [Stimulus(f"f{n}", f"filler:{n}") for n in range(40)]


@given(st.integers(0, 50), st.booleans())
def test_every_list_begins_with_the_same_anchors(seed, in_order):
    extras = Extras(anchors=ANCHORS, practice=[Stimulus("p", "p")], catch=[Stimulus("c", "c")])
    spec = DesignSpec(forced_choice=True, per_paradigm=2, anchors_in_order=in_order, seed=seed)
    lists = planned_lists(pairs(12), spec, extras=extras)
    for trials in lists:
        assert [trial.kind for trial in trials[:6]] == ["practice", *["anchor"] * 5]
        keys = [trial.key for trial in trials if trial.kind == "anchor"]
        assert sorted(keys) == [anchor.key for anchor in ANCHORS]
        assert not in_order or keys == sorted(keys)
    if not in_order:
        orders = {tuple(trial.key for trial in trials if trial.kind == "anchor") for trials in lists}
        assert len(orders) > 1  # 12 lists, 120 orders
    proof = {claim.text: claim for claim in claims(lists)}[
        "Every list begins, after practice, with the same anchors"
    ]
    assert proof.holds and proof.numbers == "anchors: 5"


@given(ratio=st.sampled_from([0.0, 0.5, 1.0, 2.0]), between=st.integers(0, 2), seed=st.integers(0, 30))
def test_fillers_are_between_targets_in_their_ratio(ratio, between, seed):
    spec = DesignSpec(
        forced_choice=True,
        per_paradigm=2,
        filler_ratio=ratio,
        rules=OrderRules(apart={"target": between + 1} if between else {}),
        seed=seed,
    )
    if ratio < between and (8 - 1) * between > 8 * ratio:
        with pytest.raises(
            BadInput, match=f"fillers are too few to put {between} between any two of 8 targets"
        ):
            planned_lists(pairs(4), spec, extras=Extras(fillers=FILLERS))
        return
    for trials in planned_lists(pairs(4), spec, extras=Extras(fillers=FILLERS)):
        kinds = Counter(trial.kind for trial in trials)
        assert kinds["target"] == 8 and kinds["filler"] == 8 * ratio
        places = [trial.position for trial in trials if trial.kind == "target"]
        assert all(b - a > between for a, b in zip(places, places[1:], strict=False))
        assert {trial.key for trial in trials if trial.kind == "filler"} == {
            filler.key for filler in FILLERS[: kinds["filler"]]
        }
