"""From stimuli to whole lists by one specification and a seed."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from experiments.design import DesignSpec, OrderRules, Stimulus, planned_lists
from experiments.design.plan import Extras

PAIRS = [
    Stimulus(f"{p}{i}", f"{p}{i}", paradigm=p) for p in ("npi", "island", "agreement") for i in range(12)
]
EXTRAS = Extras(
    fillers=[Stimulus(f"f{i}", f"f{i}") for i in range(4)],
    catch=[Stimulus(f"c{i}", f"c{i}") for i in range(3)],
    practice=[Stimulus("p0", "p0"), Stimulus("p1", "p1")],
)


@given(st.integers(0, 30))
def test_whole_list_is_placed_balanced_and_repeatable(seed):
    spec = DesignSpec(forced_choice=True, per_paradigm=4, rules=OrderRules(apart={"paradigm": 2}), seed=seed)
    lists = planned_lists(PAIRS, spec, extras=EXTRAS)
    assert lists == planned_lists(PAIRS[::-1], spec, extras=EXTRAS)
    assert len(lists) == 6
    for trials in lists:
        assert [trial.position for trial in trials] == list(range(1, 22))
        assert Counter(t.kind for t in trials) == {"practice": 2, "target": 12, "filler": 4, "catch": 3}
        assert sum(bool(t.expected_first) for t in trials if t.kind == "target") == 6
        main = [t.paradigm for t in trials if t.kind in ("target", "filler")]
        assert all(a != b or not a for a, b in zip(main, main[1:], strict=False))
    first = Counter(t.key for trials in lists for t in trials if t.kind == "target" and t.expected_first)
    assert set(first.values()) == {1} and len(first) == len(PAIRS)


def test_rating_lists_show_one_condition_of_each_item():
    cells = [Stimulus(f"{i}{c}", str(i), c, "p") for i in range(8) for c in ("good", "bad")]
    lists = planned_lists(cells, DesignSpec(seed=3), extras=EXTRAS)
    assert len(lists) == 2
    assert all(t.expected_first is None for trials in lists for t in trials)
    assert {t.key for trials in lists for t in trials if t.kind == "target"} == {cell.key for cell in cells}
