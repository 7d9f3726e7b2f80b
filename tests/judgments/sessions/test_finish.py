"""Completion, only when every trial has its judgment."""

import pytest

from judgments.sessions.completion import ALPHABET, NotFinished, finish
from judgments.sessions.removal import leave
from tests.cast import begin, sit, study

pytestmark = pytest.mark.django_db


def test_no_session_completes_before_the_last_answer():
    session = sit(study(), n=3)
    with pytest.raises(NotFinished):
        finish(session)
    session.refresh_from_db()
    assert (session.status, session.completion_code) == ("active", "")


def test_each_session_gets_a_code_of_its_own_that_stays():
    experiment = study()
    pia, quentin = sit(experiment, "pia"), sit(experiment, "quentin")
    assert pia.completion_code != quentin.completion_code
    assert len(pia.completion_code) == 8 and set(pia.completion_code) <= set(ALPHABET)
    code, at = pia.completion_code, pia.completed_at
    finish(pia)
    assert (pia.completion_code, pia.completed_at) == (code, at)


def test_a_study_may_have_one_code_for_all():
    assert sit(study(completion_code="C1234")).completion_code == "C1234"


def test_who_left_does_not_complete():
    session = sit(study(), n=3)
    assert leave(session)
    assert finish(session).status == "withdrawn"
    assert not leave(session)


def test_leaving_frees_the_list():
    experiment = study(n_lists=2)
    departed = begin(experiment, "pia")
    leave(departed)
    begin(experiment, "quentin")
    begin(experiment, "rosa")
    lists = [
        presentation_list.sessions.exclude(pk=departed.pk).count()
        for presentation_list in experiment.lists.all()
    ]
    assert lists == [1, 1]
