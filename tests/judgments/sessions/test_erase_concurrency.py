"""Answers on their way while somebody takes them back: none of them stays."""

import pytest
from django.db import IntegrityError, connection

from judgments.models import Judgment, Participant, Session, Tombstone, Trial
from judgments.recruitment.payments import approve_many
from judgments.sessions.leases import SessionOver
from judgments.sessions.payload import SentAnswer
from judgments.sessions.recording import record_answers
from judgments.sessions.removal import BY_PARTICIPANT, erase
from tests import cast
from tests.judgments.sessions.test_concurrency import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _needs_a_shared_database():
    if connection.vendor == "sqlite" and connection.is_in_memory_db():
        pytest.skip("threads need a database they share: set DATABASE_URL=postgres://… to run this test")


def sending(token, row):
    try:
        record_answers(token, [row])
    except (SessionOver, IntegrityError):
        return "over"
    return "stored"


def test_nothing_stays_of_answers_that_come_in_while_they_are_taken_back():
    study = cast.study("agreement", materials=cast.material_set("many", n_items=24))
    session = cast.begin(study)
    trials = list(session.trials.select_related("session__experiment"))
    rows = [SentAnswer(trial.public_id, cast.answer_to(trial)) for trial in trials]
    person = Participant.objects.get()
    works = [lambda row=row: sending(session.token, row) for row in rows[:12]]
    at_once([*works, lambda: erase(person, reason=BY_PARTICIPANT)])
    assert not Judgment.objects.exists() and not Trial.objects.exists()
    assert Session.objects.get().status == Session.Status.WITHDRAWN
    assert Tombstone.objects.count() == 1


def test_two_approvals_of_everything_at_once_pay_each_session_once():
    study = cast.study("agreement", reward_minor=100)
    for number in range(5):
        cast.sit(study, f"p{number}")
    counts = at_once([lambda: approve_many(study, Session.objects.all(), by=cast.ada())] * 4)
    assert sum(counts) == 5
