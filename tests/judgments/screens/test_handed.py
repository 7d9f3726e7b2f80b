"""Answers that a form brings: the same delivery as over the API, and a page that goes on."""

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from experiments.models import Experiment
from judgments.models import Judgment, Session, SessionEvent
from judgments.sessions.removal import leave
from tests.cast import answer_to, begin, material_set, sit, study

pytestmark = pytest.mark.django_db


def row(trial, **fields):
    return {"trial": trial.public_id, "response": answer_to(trial), "rt_ms": 1234, **fields}


def hand(session, *rows, **more):
    sent = json.dumps({"judgments": list(rows), "sent_at": timezone.now().isoformat(), **more})
    return Client().post(f"/s/{session.token}/handed/", {"sent": sent})


def brought(answer, name):
    """A document that the page brings to the engine."""
    match = re.search(rf'<script id="{name}" type="application/json">(.*?)</script>', answer.content.decode())
    return json.loads(match[1]) if match else None


def test_some_answers_are_stored_and_the_page_returns_the_plan_and_their_ids():
    session = begin(study(n_lists=1))
    first, second, *_ = session.trials.all()
    answer = hand(session, row(first, timing={"focus_lost_ms": 12}), row(second, response="nothing"))
    assert answer.status_code == 200 and "no-store" in answer["Cache-Control"]
    assert brought(answer, "receipt") == {
        "acknowledged": [first.public_id],
        "refused": [second.public_id],
        "is_complete": False,
    }
    plan = brought(answer, "plan")
    assert [trial["is_answered"] for trial in plan["trials"]] == [True, False, False, False]
    stored = Judgment.objects.get()
    assert (stored.trial, stored.rt_ms) == (first, 1234)
    assert stored.timing["by_form"] is True and stored.timing["focus_lost_ms"] == 12
    assert "clock_offset_ms" in stored.timing


def test_a_problem_of_the_storage_comes_with_the_form():
    session = begin(study(n_lists=1))
    problem = {"what": "worker", "reason": "TimeoutError"}
    hand(session, row(session.trials.first()), events=[{"kind": "storage", "details": problem}])
    assert SessionEvent.objects.get(kind="storage").details == problem


def test_the_last_answers_complete_the_session_and_sent_again_lead_to_the_end():
    session = begin(study(n_lists=1))
    rows = [row(trial) for trial in session.trials.all()]
    answer = hand(session, *rows)
    receipt = brought(answer, "receipt")
    assert receipt["is_complete"] and len(receipt["acknowledged"]) == 4 and brought(answer, "plan") is None
    session.refresh_from_db()
    assert session.status == "complete" and session.completion_code
    repeated = hand(session, *rows)
    assert (repeated.status_code, repeated["Location"]) == (302, f"/s/{session.token}/")
    assert Judgment.objects.count() == 4 and not SessionEvent.objects.exists()


def test_stored_answers_are_kept_and_a_different_one_becomes_an_event():
    session = sit(study(n_lists=1), n=2)
    first, second, third, _ = session.trials.all()
    other = answer_to(second, choose_expected=False)
    answer = hand(session, row(first), row(second, response=other), row(third))
    assert len(brought(answer, "receipt")["acknowledged"]) == 3
    assert Judgment.objects.count() == 3 and Judgment.objects.get(trial=second).response == answer_to(second)
    assert SessionEvent.objects.get(kind="conflict").trial == second


def test_nothing_to_take_along_brings_the_plan():
    session = sit(study(n_lists=1), n=1)
    answer = hand(session)
    assert brought(answer, "receipt") == {"acknowledged": [], "refused": [], "is_complete": False}
    assert len(brought(answer, "plan")["trials"]) == 4


def test_more_than_one_form_holds_is_left_for_the_next():
    session = begin(study(n_lists=1, materials=material_set(n_items=201)))
    answer = hand(session, *map(row, session.trials.all()))
    assert len(brought(answer, "receipt")["acknowledged"]) == 200 == Judgment.objects.count()
    assert [trial["is_answered"] for trial in brought(answer, "plan")["trials"]].count(False) == 1


@pytest.mark.parametrize(
    "sent", ["", "{", "[]", "[" * 100_000, '{"judgments": 1}', '{"judgments": {}}', "null", '"text"']
)
def test_an_invalid_delivery_is_reported_and_links_back(sent):
    session = begin(study(n_lists=1))
    answer = Client().post(f"/s/{session.token}/handed/", {"sent": sent})
    assert answer.status_code == 400 and b"did not come through" in answer.content
    assert Client().get(f"/s/{session.token}/handed/")["Location"] == f"/s/{session.token}/"
    assert not Judgment.objects.exists()


@pytest.mark.parametrize(
    "bad", [None, 1, "x", {}, {"trial": 5}, {"trial": "<b>"}, {"trial": "x", "response": {}}]
)
def test_a_bad_row_spoils_no_good_one(bad):
    session = begin(study(n_lists=1))
    trial = session.trials.first()
    answer = hand(session, bad, row(trial))
    assert brought(answer, "receipt")["acknowledged"] == [trial.public_id]
    assert Judgment.objects.count() == 1


def test_an_unknown_token_and_trials_of_another_session_store_nothing():
    session = begin(study(n_lists=1))
    other = begin(session.experiment, "quentin")
    assert Client().post("/s/nobody/handed/", {"sent": "{}"}).status_code == 404
    answer = hand(session, *map(row, other.trials.all()))
    assert len(brought(answer, "receipt")["refused"]) == 4
    assert not Judgment.objects.exists()


def test_a_session_that_is_over_takes_nothing():
    session = begin(study(n_lists=1))
    leave(session)
    answer = hand(session, row(session.trials.first()))
    assert answer["Location"] == f"/s/{session.token}/" and answer["Session-State"] == "over"
    assert not Judgment.objects.exists()


def test_participants_whose_session_expired_or_lost_its_place_are_informed():
    session = sit(study(n_lists=1), n=1)
    second = session.trials.all()[1]
    Session.objects.update(last_seen_at=timezone.now() - timedelta(days=8))
    assert b"This session has expired" in hand(session, row(second)).content
    Session.objects.update(last_seen_at=timezone.now(), lease_expires_at=timezone.now() - timedelta(hours=1))
    Experiment.objects.update(status="closed")
    assert b"your place is no longer free" in hand(session, row(second)).content
    assert Judgment.objects.count() == 1
