"""Each participant's order of the trials, drawn from the session's seed under the design's rules."""

from itertools import pairwise

import pytest

from analysis.errors import BadInput
from experiments.models import Design, PlannedTrial
from experiments.studies.lifecycle import open_study
from judgments.models import Session, Trial
from judgments.sessions import trials as session_trials
from tests import cast

pytestmark = pytest.mark.django_db
EXTRAS = [{"text": f"Extra {number}.", "correct": 7} for number in range(4)]
PAIRS = [{"options": [{"text": f"Good {n}."}, {"text": f"Bad {n}."}], "correct": 0} for n in range(4)]


def study(task, **design):
    """Two lists of eight items of two paradigms, two practice and two catch trials, blocks of five."""
    extras = PAIRS if task == "forced_choice" else EXTRAS
    experiment = cast.draft(
        task=task,
        materials=cast.material_set("order", n_items=4, paradigms=("ba", "bei")),
        practice=extras[:2],
        catch_trials=extras[2:],
    )
    Design.objects.create(experiment=experiment, n_lists=2, trials_per_block=5, seed=3, **design)
    return open_study(experiment, cast.ada())


def sessions(experiment, n=16):
    for number in range(n):
        cast.begin(experiment, f"p{number}")
    return Session.objects.order_by("pk")


def identity(trial):
    return trial.pair_id or trial.sentence_id or str(trial.correct)


@pytest.mark.parametrize("task", ["forced_choice", "likert"])
def test_each_participant_has_an_order_of_their_own_with_the_trials_of_the_list(task):
    orders = {}
    for session in sessions(study(task)):
        trials = list(session.trials.select_related("item__paradigm"))
        planned = list(PlannedTrial.objects.filter(list=session.list).order_by("position"))
        assert [(t.position, t.block) for t in trials] == [(t.position, t.block) for t in planned]
        assert [t.kind for t in trials[:2]] == ["practice"] * 2
        sides = {(t.pair_id, t.sentence_id, t.expected_first) for t in trials if t.kind == "target"}
        assert sides == {(t.pair_id, t.sentence_id, t.expected_first) for t in planned if t.kind == "target"}
        main = [t.kind for t in trials[2:]]
        catch = [place for place, kind in enumerate(main) if kind == "catch"]
        assert len(catch) == 2 and 0 < catch[0] <= 4 < catch[1]
        paradigms = [t.item.paradigm.name for t in trials if t.kind == "target"]
        assert all(one != other for one, other in pairwise(paradigms))  # the default rule
        orders.setdefault(session.list_id, []).append(tuple(map(identity, trials[2:])))
    assert len(orders) == 2
    assert all(len(set(drawn)) > len(drawn) / 2 for drawn in orders.values())


def test_an_order_is_restored_from_the_seed():
    for session in sessions(study("likert"), n=4):
        templates = session_trials.session_order(Session.objects.get(pk=session.pk))
        stored = session.trials.values_list("sentence_id", "kind")
        assert [(t.columns["sentence_id"], t.columns["kind"]) for t in templates] == list(stored)
        session.seed += 1
        other = session_trials.session_order(session)
        assert [t.columns["sentence_id"] for t in other] != [t.columns["sentence_id"] for t in templates]


def test_rules_of_the_design_hold_in_every_order():
    rules = {"longest_run": {"condition": 1}}
    experiment = study("likert", constraints=rules)
    for session in sessions(experiment):
        conditions = session.trials.filter(kind="target").values_list("sentence__condition", flat=True)
        assert all(one != other for one, other in pairwise(conditions))


def test_participants_of_a_list_may_share_its_order():
    for session in sessions(study("likert", order="list"), n=6):
        planned = PlannedTrial.objects.filter(list=session.list).order_by("position")
        columns = ("position", "kind", "sentence_id")
        assert list(session.trials.values_list(*columns)) == list(planned.values_list(*columns))


def test_where_no_order_is_found_a_participant_has_that_of_the_list(monkeypatch):
    def refuse(*args, **options):
        raise BadInput("no order of 8 trials found.", remedy="Relax this rule.")

    experiment = study("likert")
    monkeypatch.setattr(session_trials, "reorder_trials", refuse)
    session = cast.begin(experiment)
    planned = PlannedTrial.objects.filter(list=session.list).order_by("position")
    assert list(Trial.objects.values_list("sentence_id", flat=True)) == list(
        planned.values_list("sentence_id", flat=True)
    )
