"""A design becomes stored lists."""

from collections import Counter

import pytest

from analysis.errors import BadInput
from experiments.lists.build import make_lists, order_rules
from experiments.models import Design, PlannedTrial
from experiments.studies.lifecycle import freeze
from tests import cast

pytestmark = pytest.mark.django_db
CATCH = [
    {"options": [{"text": f"The {n} sleeps."}, {"text": f"Sleeps {n} the."}], "correct": 0}
    for n in ("dog", "cat", "cow")
]


def study(task="forced_choice", *, n_items=6, catch=(), practice=(), **design):
    materials = cast.material_set(n_items=n_items, paradigms=("agreement", "island"))
    experiment = cast.draft(materials=materials, task=task, catch_trials=list(catch), practice=list(practice))
    if task == "likert":
        experiment.parameters = {}
    Design.objects.create(experiment=experiment, **design)
    return experiment


def test_forced_choice_lists_are_stored_with_balanced_sides():
    experiment = study(n_lists=4, catch=CATCH, practice=CATCH[:1])
    lists = freeze(experiment).lists.all()
    assert [presentation_list.label for presentation_list in lists] == ["1", "2", "3", "4"]
    for presentation_list in lists:
        trials = list(presentation_list.planned_trials.all())
        assert presentation_list.n_trials == len(trials) == 16
        assert trials[0].kind == "practice" and trials[0].payload == {
            "good": "The dog sleeps.",
            "bad": "Sleeps dog the.",
        }
        assert Counter(t.kind for t in trials) == {"practice": 1, "target": 12, "catch": 3}
        assert sum(t.expected_first for t in trials if t.kind == "target") == 6
        assert {t.item for t in trials if t.kind == "target"} == set(experiment.materials.items.all())
    first = Counter(
        PlannedTrial.objects.filter(kind="target", expected_first=True).values_list("pair", flat=True)
    )
    assert set(first.values()) == {2} and len(first) == 12


def test_rating_lists_show_each_item_in_one_condition():
    experiment = study("likert", n_lists=2)
    lists = freeze(experiment).lists.all()
    showings = Counter()
    for presentation_list in lists:
        sentences = [
            trial.sentence for trial in presentation_list.planned_trials.select_related("sentence__item")
        ]
        assert len({sentence.item_id for sentence in sentences}) == 12
        assert Counter(sentence.condition for sentence in sentences) == {"good": 6, "bad": 6}
        showings.update(sentence.pk for sentence in sentences)
    assert set(showings.values()) == {1} and len(showings) == 24


def test_sample_design_takes_k_items_of_each_paradigm():
    lists = freeze(study(kind="sample", n_lists=4, items_per_paradigm=3)).lists.all()
    assert [presentation_list.n_trials for presentation_list in lists] == [6, 6, 6, 6]
    uses = Counter(PlannedTrial.objects.values_list("pair", flat=True))
    assert set(uses.values()) == {2} and len(uses) == 12


def test_complete_design_shows_every_sentence():
    lists = freeze(study("yes_no", kind="all", n_lists=2)).lists.all()
    assert [presentation_list.n_trials for presentation_list in lists] == [24, 24]


def test_lists_are_made_once():
    version = freeze(study(n_lists=2))
    assert make_lists(version) == make_lists(version)
    assert PlannedTrial.objects.count() == 24


def test_same_seed_makes_the_same_lists():
    experiment = study(n_lists=2, seed=5)
    first = list(freeze(experiment).lists.first().planned_trials.values_list("pair", "expected_first"))
    experiment.title = "Another title"
    experiment.save()
    second = freeze(experiment)
    assert second.number == 2
    assert list(second.lists.first().planned_trials.values_list("pair", "expected_first")) == first


def test_discarded_pairs_are_left_out():
    experiment = study(n_lists=2)
    experiment.materials.pairs.filter(key__startswith="island").update(discard=True)
    assert freeze(experiment).lists.first().n_trials == 6


def test_trials_are_cut_into_blocks():
    version = freeze(study(n_lists=2, trials_per_block=5, practice=CATCH))
    blocks = Counter(version.lists.first().planned_trials.values_list("block", flat=True))
    assert blocks == {1: 8, 2: 5, 3: 2}


@pytest.mark.parametrize(
    ("task", "entry", "message"),
    [
        (
            "forced_choice",
            {"options": [{"text": "The cow sleeps."}], "correct": 0},
            "two different sentences",
        ),
        ("forced_choice", {**CATCH[0], "correct": None}, "no right answer"),
        ("forced_choice", {**CATCH[0], "correct": 2}, "'correct' 2"),
        ("likert", {"correct": 7}, "no sentence"),
        ("likert", "The cow sleeps.", "not a JSON object"),
    ],
)
def test_catch_trial_that_cannot_be_shown_is_named(task, entry, message):
    with pytest.raises(BadInput, match=f"catch trial 1 .*{message}"):
        freeze(study(task, catch=[entry], n_lists=2))


def test_right_answer_may_be_written_second():
    experiment = study(catch=[{**CATCH[0], "correct": 1}])
    assert planned_payloads(experiment) == [{"good": "Sleeps dog the.", "bad": "The dog sleeps."}]


def test_right_rating_becomes_a_range():
    experiment = study("likert", catch=[{"text": "The cow sleeps.", "correct": 7}], n_lists=2)
    assert planned_payloads(experiment) == [{"sentence": "The cow sleeps.", "correct": [7, 7]}]


def planned_payloads(experiment):
    trials = freeze(experiment).lists.first().planned_trials.filter(kind="catch")
    return [trial.payload for trial in trials]


def test_unbalanceable_number_of_lists_is_refused_with_a_suitable_one():
    with pytest.raises(BadInput, match="multiple of 2"):
        freeze(study(n_lists=3))


def test_constraints_are_read_and_refused_by_name():
    rules = order_rules({"no_adjacent": ["paradigm"], "min_distance": {"item": 3}})
    assert rules.apart == {"paradigm": 2, "item": 3}
    with pytest.raises(BadInput, match="'no_adjecent'"):
        order_rules({"no_adjecent": ["paradigm"]})
    with pytest.raises(BadInput, match="'colour'"):
        order_rules({"no_adjacent": ["colour"]})


def test_study_without_materials_is_refused():
    experiment = study()
    experiment.materials = None
    with pytest.raises(BadInput, match="no materials"):
        freeze(experiment)
