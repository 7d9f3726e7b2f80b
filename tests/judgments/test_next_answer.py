"""The usual delivery is one statement, and stores exactly what the careful way stores."""

from datetime import timedelta

import pytest
from django.db import connection
from django.forms.models import model_to_dict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from experiments.models import Experiment
from judgments.models import Judgment, Session, SessionEvent, Trial
from judgments.sessions import next_answer, sittings
from judgments.sessions.withdraw import leave
from tests.cast import answer_to, begin, pair, study
from tests.judgments.deliveries import send

pytestmark = pytest.mark.django_db
CATCH = {"kind": "catch", "payload": {"good": "It is.", "bad": "Is is it."}}
TASKS = ["forced_choice", "likert", "yes_no", "magnitude_estimation", "slider"]


def other_process(monkeypatch):
    """From here on, requests reach a process that has seen none of the sessions."""
    fresh = sittings.Sittings(1000)
    for module in (next_answer, sittings):
        monkeypatch.setattr(module, "sittings", fresh)
    return fresh


@pytest.fixture(autouse=True)
def another_process(monkeypatch):
    other_process(monkeypatch)


def longer(**fields):
    """A study of eight items, and its first session."""
    made = study(n_lists=0, target_judgments=0, **fields)
    paradigm = made.materials.paradigms.first()
    for number in range(4):
        pair(paradigm, f"more-{number}", good=f"The cat sees {number}.", bad=f"The cat see {number}.")
    made.delete()
    return begin(study(materials=paradigm.material_set, n_lists=1, extras=(CATCH,), **fields))


def row(trial, **fields):
    return {"trial": trial.public_id, "response": answer_to(trial), "rt_ms": 812, **fields}


def queries_of(session, *rows):
    with CaptureQueriesContext(
        connection,
    ) as made:
        answer = send(session, *rows)
    return answer, made.captured_queries


def test_from_the_second_answer_on_one_statement_stores_each():
    session = longer()
    trials = list(session.trials.all())
    send(session, row(trials[0]))
    for trial in trials[1:-1]:
        answer, queries = queries_of(session, row(trial))
        assert [one["sql"].split()[0] for one in queries] in (["INSERT"], [])  # a prepared one is not logged
        said = answer.json()
        assert said["acknowledged"] == [trial.public_id] and said["position"] == trial.position
        assert (said["complete"], said["next"]) == (False, f"/s/{session.token}/")
    assert send(session, row(trials[-1])).json()["complete"] is True
    session.refresh_from_db()
    assert (session.status, Judgment.objects.count()) == ("complete", len(trials))


@pytest.mark.parametrize("task", TASKS)
def test_what_is_stored_is_what_a_delivery_of_all_at_once_stores(task):
    one_by_one = longer(task=task)
    at_once = begin(one_by_one.experiment, "quentin")
    timing = {"focus_lost_ms": 12, "engine": "1.0.0"}
    for trial in one_by_one.trials.all():
        assert send(one_by_one, row(trial, timing=timing, input_type="touch")).status_code == 200
    send(at_once, *(row(trial, timing=timing, input_type="touch") for trial in at_once.trials.all()))
    kept = [
        [
            {
                **model_to_dict(one, exclude=["id", "trial", "response", "chosen", "value"]),
                "by": one.trial.position,
            }
            for one in Judgment.objects.filter(trial__session=session).order_by("trial__position")
        ]
        for session in (one_by_one, at_once)
    ]
    assert len(kept[0]) >= 8
    assert [{**one, "received_at": None} for one in kept[0]] == [
        {**one, "received_at": None} for one in kept[1]
    ]
    for judgment in Judgment.objects.filter(trial__session=one_by_one, trial__pair__isnull=False):
        assert judgment.value == 1 and judgment.chosen_id == judgment.trial.pair.good_id


def test_the_same_answer_again_is_acknowledged_and_another_one_is_noted():
    session = longer()
    first, second, *_ = session.trials.all()
    send(session, row(first))
    for _ in range(2):
        assert send(session, row(second)).json()["acknowledged"] == [second.public_id]
    other = answer_to(second, choose_expected=False)
    assert send(session, row(second, response=other)).json()["kept_first"] == [second.public_id]
    assert Judgment.objects.filter(trial=second).count() == 1
    assert SessionEvent.objects.filter(session=session, kind="conflict").count() == 1


def test_an_answer_of_another_process_in_between_is_seen(monkeypatch):
    session = longer()
    trials = list(session.trials.all())
    send(session, row(trials[0]))
    here = next_answer.sittings
    other_process(monkeypatch)
    send(session, row(trials[1]))
    for module in (next_answer, sittings):
        monkeypatch.setattr(module, "sittings", here)
    answer, queries = queries_of(session, row(trials[2]))
    assert len(queries) <= 1 and answer.json()["position"] == 3


def test_an_answer_that_leaves_a_gap_tells_where_the_gap_is():
    session = longer()
    trials = list(session.trials.all())
    send(session, row(trials[0]))
    assert send(session, row(trials[3])).json()["position"] == 1
    assert send(session, row(trials[1])).json()["position"] == 2
    assert send(session, row(trials[2])).json()["position"] == 4


def test_a_session_that_ended_elsewhere_stores_nothing_more():
    session = longer()
    first, second, *_ = session.trials.all()
    send(session, row(first))
    leave(session)
    answer = send(session, row(second))
    assert (answer.status_code, answer.json()["code"]) == (409, "session_over")
    assert not Judgment.objects.filter(trial=second).exists()


def test_a_lease_that_is_no_longer_fresh_is_renewed():
    session = longer()
    first, second, *_ = session.trials.all()
    send(session, row(first))
    soon = timezone.now() + timedelta(minutes=1)
    Session.objects.filter(pk=session.pk).update(lease_expires_at=soon)
    send(session, row(second))
    session.refresh_from_db()
    assert session.lease_expires_at > soon + timedelta(minutes=5)


def test_a_place_that_is_gone_is_not_taken_by_an_answer():
    session = longer()
    first, second, *_ = session.trials.all()
    send(session, row(first))
    Session.objects.filter(pk=session.pk).update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    Experiment.objects.update(status=Experiment.Status.CLOSED)
    answer = send(session, row(second))
    assert (answer.status_code, answer.json()["code"]) == (409, "no_place")


def test_a_showing_by_the_server_in_between_is_measured():
    session = longer()
    first, second, *_ = session.trials.all()
    send(session, row(first))
    Trial.objects.filter(pk=second.pk).update(shown_at=timezone.now() - timedelta(seconds=3))
    send(session, row(second))
    assert 2_900 < Judgment.objects.get(trial=second).timing["server_ms"] < 60_000


def test_the_last_sessions_are_kept_and_the_oldest_forgotten():
    kept = sittings.Sittings(10)
    for token in "abc":
        trials = {f"{token}{number}": () for number in range(4)}
        kept.keep(token, sittings.Sitting(None, timedelta(), trials, [], 0, "", None, float("inf")))
    assert kept.get("a") is None and kept.get("c") is not None and kept.n_trials == 8


def test_a_plan_that_was_fetched_makes_the_first_answer_cheap():
    session = longer()
    Client().get(f"/api/v1/sessions/{session.token}/plan/")
    first = row(session.trials.first())
    with CaptureQueriesContext(connection) as made:
        said = send(session, first).json()
    assert said["position"] == 1
    asked = [one["sql"].lstrip() for one in made.captured_queries]
    assert not [sql for sql in asked if sql.startswith(("WITH s AS", "SELECT"))]
    session.refresh_from_db()
    assert session.screen == "block-1" and session.lease_expires_at > timezone.now()


def test_the_last_answer_completes_the_session_once_and_gives_it_its_code():
    session = longer()
    trials = list(session.trials.all())
    for trial in trials[:-1]:
        send(session, row(trial))
    for _ in range(2):
        said = send(session, row(trials[-1])).json()
        assert (said["complete"], said["position"]) == (True, len(trials))
    session.refresh_from_db()
    assert session.status == "complete" and len(session.completion_code) == 8 and session.completed_at
