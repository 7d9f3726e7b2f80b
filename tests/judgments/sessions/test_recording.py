"""One judgment, once."""

from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.models import Experiment
from experiments.tasks.base import BadResponse
from judgments.models import Judgment, Session, SessionEvent
from judgments.sessions.leases import SessionOver
from judgments.sessions.places import StudyClosed
from tests.cast import UnknownTrial, answer_to, begin, record, sit, study

pytestmark = pytest.mark.django_db


def test_the_answer_is_kept_with_what_it_chose_and_both_ends_of_the_scale():
    session = begin(study(n_lists=1))
    trial = session.trials.get(position=2)
    receipt = record(session, trial.public_id, answer_to(trial, choose_expected=False))
    judgment = Judgment.objects.get()
    assert receipt.is_new and receipt.judgment == judgment
    assert (judgment.value, judgment.scale_low, judgment.scale_high) == (0.0, 0.0, 1.0)
    assert judgment.chosen == trial.pair.bad
    assert (judgment.input_type, judgment.rt_ms, judgment.is_correct) == ("form", None, None)
    assert judgment.received_at is not None


def test_repeated_delivery_returns_the_first():
    session = begin(study())
    trial = session.trials.first()
    first = record(session, trial.public_id, answer_to(trial))
    repeated = record(session, trial.public_id, answer_to(trial))
    assert (repeated.judgment, repeated.is_new) == (first.judgment, False)
    assert not SessionEvent.objects.exists()


def test_a_different_second_answer_becomes_an_event_and_the_first_is_kept():
    session = begin(study())
    trial = session.trials.first()
    record(session, trial.public_id, answer_to(trial))
    other = answer_to(trial, choose_expected=False)
    assert record(session, trial.public_id, other).judgment.value == 1.0
    event = SessionEvent.objects.get()
    assert (event.kind, event.trial, event.details) == ("conflict", trial, {"response": other})


def test_a_trial_of_another_session_is_unknown():
    experiment = study()
    pias, other = begin(experiment, "pia"), begin(experiment, "quentin")
    trial = other.trials.first()
    with pytest.raises(UnknownTrial):
        record(pias, trial.public_id, answer_to(trial))


def test_an_option_of_another_trial_is_refused():
    session = begin(study())
    first, second = session.trials.all()[:2]
    with pytest.raises(BadResponse):
        record(session, first.public_id, answer_to(second))
    assert not Judgment.objects.exists()


def test_each_answer_renews_the_lease():
    session = begin(study())
    soon = timezone.now() + timedelta(minutes=1)
    Session.objects.update(lease_expires_at=soon)
    trial = session.trials.first()
    record(session, trial.public_id, answer_to(trial))
    session.refresh_from_db()
    assert session.lease_expires_at > soon + timedelta(minutes=20)


def test_an_answer_after_the_lease_takes_the_place_back_though_the_study_filled_up():
    experiment = study(max_participants=1)
    session = begin(experiment, "pia")
    trial = session.trials.first()
    Session.objects.update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    begin(experiment, "quentin")
    assert record(session, trial.public_id, answer_to(trial)).is_new
    session.refresh_from_db()
    assert session.status == Session.Status.ACTIVE
    assert session.events.get().kind == "resumed"
    with pytest.raises(StudyClosed):  # for newcomers the limit holds
        begin(experiment, "rosa")


@pytest.mark.parametrize("status", [Experiment.Status.CLOSED, Experiment.Status.PAUSED])
def test_an_answer_after_the_lease_is_refused_in_a_closed_study(status):
    experiment = study()
    session = begin(experiment, "pia")
    trial = session.trials.first()
    Session.objects.update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    Experiment.objects.update(status=status)
    with pytest.raises(StudyClosed):
        record(session, trial.public_id, answer_to(trial))
    assert not Judgment.objects.exists()


def test_a_complete_session_answers_repeats_only():
    session = sit(study())
    trial = session.trials.first()
    assert not record(session, trial.public_id, answer_to(trial)).is_new
    Judgment.objects.filter(trial=trial).delete()
    with pytest.raises(SessionOver):
        record(session, trial.public_id, answer_to(trial))


def test_catch_trials_record_whether_they_were_answered_as_intended():
    extras = ({"kind": "catch", "payload": {"good": "It is.", "bad": "Is is it."}},)
    experiment = study(extras=extras, n_lists=1)
    for name, attentive in (("pia", True), ("quentin", False)):
        session = begin(experiment, name)
        trial = session.trials.get(kind="catch")
        answer = answer_to(trial, choose_expected=attentive)
        assert record(session, trial.public_id, answer).judgment.is_correct is attentive
