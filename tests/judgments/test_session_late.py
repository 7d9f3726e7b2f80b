"""Answers that come when the session, its place or its study is no longer what it was."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from experiments.models import Experiment
from judgments.models import Judgment, Session
from judgments.sessions.removal import erase, leave
from tests.cast import begin, freeze, sit, study
from tests.judgments.deliveries import plan, row, send

pytestmark = pytest.mark.django_db


def test_a_session_idle_beyond_the_limit_is_404_with_a_kind_page():
    session = begin(study(instructions=""))
    Session.objects.update(last_seen_at=timezone.now() - timedelta(days=8))
    answer = send(session, row(session.trials.first()))
    assert (answer.status_code, answer.json()["code"]) == (404, "session_expired")
    assert plan(session).status_code == 404
    page = Client().get(f"/s/{session.token}/")
    assert "This session has expired" in page.content.decode()


def test_the_limit_and_the_gap_are_the_studys_own_where_it_has_them():
    experiment = study(n_lists=1)
    version = experiment.current_version()
    version.snapshot |= {"resume_limit_days": 30, "resume_gap_minutes": 2}
    version.sha256 = "0" * 64
    version.save()
    session = begin(experiment)
    Session.objects.update(last_seen_at=timezone.now() - timedelta(days=8))
    assert plan(session).json()["resume_gap_s"] == 120


def test_a_session_that_was_left_stores_nothing_more_but_knows_what_it_has():
    session = begin(study())
    first, second, *_ = session.trials.all()
    send(session, row(first))
    leave(session)
    answer = send(session, row(second))
    assert (answer.status_code, answer.json()["code"]) == (409, "session_over")
    assert answer.json()["next"] == f"/s/{session.token}/"
    assert send(session, row(first)).status_code == 200
    assert plan(session).json()["code"] == "session_over"
    assert Judgment.objects.count() == 1


@pytest.mark.parametrize("n", [1, 2])
def test_a_session_whose_answers_were_deleted_is_over(n):
    session = begin(study())
    trials = list(session.trials.all()[:n])
    erase(session.participant, reason="asked for")
    answer = send(session, *(row(trial) for trial in trials))
    assert (answer.status_code, answer.json()["code"]) == (409, "session_over")
    assert answer.json()["next"] == f"/s/{session.token}/" and not Judgment.objects.exists()


def test_a_running_session_may_finish_after_the_study_is_closed():
    experiment = study()
    session = begin(experiment)
    experiment.status = "closed"
    experiment.save(update_fields=["status"])
    assert send(session, *map(row, session.trials.all())).json()["complete"] is True


def test_answers_from_a_long_dead_spot_are_stored_though_the_study_filled_up_meanwhile():
    experiment = study(max_participants=1)
    session = begin(experiment)
    Session.objects.update(lease_expires_at=timezone.now() - timedelta(minutes=40), status="abandoned")
    begin(experiment, "quentin")
    answer = send(session, *map(row, session.trials.all()))
    assert answer.json()["complete"] is True and Judgment.objects.count() == session.trials.count()


def test_a_session_without_its_place_is_refused_and_stores_nothing():
    session = begin(study())
    Session.objects.update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    Experiment.objects.update(status=Experiment.Status.CLOSED)
    answer = send(session, row(session.trials.first()))
    assert (answer.status_code, answer.json()["code"]) == (409, "no_place")
    assert not Judgment.objects.exists()


def test_each_delivery_renews_the_lease_and_notes_where_the_participant_is():
    session = begin(study(n_blocks=2))
    soon = timezone.now() + timedelta(minutes=1)
    Session.objects.update(lease_expires_at=soon)
    send(session, *map(row, session.trials.filter(block=2)))
    session.refresh_from_db()
    assert session.lease_expires_at > soon + timedelta(minutes=20)
    assert session.screen == "block-2"


def test_who_was_away_reads_the_instructions_first():
    session = sit(study(), n=2)
    Session.objects.update(last_seen_at=timezone.now() - timedelta(minutes=11))
    assert "Welcome back" in Client().get(f"/s/{session.token}/").content.decode()


def test_a_later_version_of_the_study_does_not_change_a_running_session():
    experiment = study(task="likert")
    session = begin(experiment)
    experiment.parameters = {"points": 3}
    experiment.save(update_fields=["parameters"])
    freeze(experiment)
    assert len(plan(session).json()["task"]["parts"]["points"]) == 7
    assert send(session, row(session.trials.first(), response="7")).json()["acknowledged"]
