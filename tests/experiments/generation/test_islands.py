"""A 2 × 2 island design."""

from experiments.design import DesignSpec, Stimulus, planned_lists
from experiments.generation import whether_island_design


def test_every_item_has_its_four_conditions_and_one_is_unacceptable():
    design = whether_island_design(16, seed=1)
    assert design.groupby("item")["condition"].nunique().eq(4).all() and len(design) == 64
    assert set(design.loc[design["expected"] == "unacceptable", "condition"]) == {"long_whether"}
    assert design["sentence"].is_unique
    assert design.equals(whether_island_design(16, seed=1))


def test_design_makes_four_balanced_lists():
    rows = whether_island_design(8).itertuples()
    cells = [Stimulus(r.sentence_id, r.item, r.condition, r.paradigm) for r in rows]
    lists = planned_lists(cells, DesignSpec())
    assert len(lists) == 4 and all(len(trials) == 8 for trials in lists)
