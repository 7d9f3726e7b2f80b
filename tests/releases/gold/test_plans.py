"""Plans are versions: written once, found by name, refused when changed behind our back."""

import pytest

from analysis.errors import BadInput, UnknownName
from releases.gold.plans import find_plan, write_plan
from releases.models import ExclusionPlan
from tests import cast
from tests.releases.study import judged_study

pytestmark = pytest.mark.django_db
CATCH = {"name": "catch", "scope": "session", "rule": "catch_failed"}
NATIVE = {"name": "native", "scope": "participant", "rule": "not_native"}


def test_change_makes_the_next_version_and_the_same_again_does_not():
    study = cast.study()
    first = write_plan(study, "Careful", steps=[CATCH], user=cast.ada())
    assert write_plan(study, "careful", steps=[CATCH]) == first
    second = write_plan(study, "careful", steps=[CATCH, NATIVE])
    assert (first.version, second.version) == (1, 2)
    assert find_plan(study, "careful").version == 2
    assert [step.name for step in find_plan(study, "careful@1").steps] == ["catch"]


def test_plan_before_the_first_answer_is_marked():
    assert write_plan(cast.study(), "early", steps=[CATCH]).locked_before_first_response
    assert not write_plan(judged_study("judged"), "late", steps=[CATCH]).locked_before_first_response


def test_built_in_steps_need_no_plan_and_cannot_lend_their_names():
    study = cast.study()
    assert [step.rule for step in find_plan(study, "rejected,catch_failed").steps] == [
        "rejected",
        "catch_failed",
    ]
    with pytest.raises(BadInput, match="cannot name a plan"):
        write_plan(study, "flagged", steps=[CATCH])


def test_unknown_plan_is_answered_with_near_ones():
    study = cast.study()
    write_plan(study, "careful", steps=[CATCH])
    with pytest.raises(UnknownName, match="careful"):
        find_plan(study, "carefull")
    with pytest.raises(UnknownName):
        find_plan(study, "careful@7")


def test_plan_that_scores_analysed_items_is_refused():
    circular = {**CATCH, "parameters": {"kinds": ["target"]}}
    with pytest.raises(BadInput, match="agreement it is meant to measure"):
        write_plan(cast.study(), "circular", steps=[circular])


def test_plan_changed_behind_our_back_is_refused():
    study = cast.study()
    row = write_plan(study, "careful", steps=[CATCH])
    ExclusionPlan.objects.filter(pk=row.pk).update(steps=[NATIVE])
    with pytest.raises(BadInput, match="changed after it was hashed"):
        find_plan(study, "careful")
