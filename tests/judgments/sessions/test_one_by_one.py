"""Answers sent one by one, as the engine sends them."""

import re
import sys
from datetime import timedelta

import pytest
from django.db import DataError, connection
from django.forms.models import model_to_dict
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from experiments.models import Experiment
from judgments.models import Judgment, Session, SessionEvent, Trial
from judgments.sessions.removal import leave
from tests.cast import answer_to, begin, pair, study
from tests.judgments.deliveries import send

pytestmark = pytest.mark.django_db
CATCH = {"kind": "catch", "payload": {"good": "It is.", "bad": "Is is it."}}
TASKS = ["forced_choice", "likert", "yes_no", "magnitude_estimation", "slider"]


def longer(**fields):
    """A study of eight items, and its first session."""
    experiment = study(n_lists=0, target_judgments=0, **fields)
    paradigm = experiment.materials.paradigms.first()
    for number in range(4):
        pair(paradigm, f"more-{number}", good=f"The cat sees {number}.", bad=f"The cat see {number}.")
    experiment.delete()
    return begin(study(materials=paradigm.material_set, n_lists=1, extras=(CATCH,), **fields))


def row(trial, **fields):
    return {"trial": trial.public_id, "response": answer_to(trial), "rt_ms": 812, **fields}


def queries_of(session, *rows):
    with CaptureQueriesContext(connection) as captured:
        answer = send(session, *rows)
    return answer, captured.captured_queries


def test_from_the_second_answer_on_three_queries_and_one_insert_each():
    session = longer()
    trials = list(session.trials.all())
    send(session, row(trials[0]))
    for trial in trials[1:-1]:
        answer, queries = queries_of(session, row(trial))
        words = [query["sql"].split()[0] for query in queries]
        assert words == ["SELECT", "SELECT", "SAVEPOINT", "INSERT", "RELEASE", "SELECT"]
        receipt = answer.json()
        assert receipt["acknowledged"] == [trial.public_id] and receipt["position"] == trial.position
        assert (receipt["complete"], receipt["next"]) == (False, f"/s/{session.token}/")
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
    stored = [
        [
            {
                **model_to_dict(judgment, exclude=["id", "trial", "response", "chosen", "value"]),
                "by": judgment.trial.position,
            }
            for judgment in Judgment.objects.filter(trial__session=session).order_by("trial__position")
        ]
        for session in (one_by_one, at_once)
    ]
    assert len(stored[0]) >= 8
    assert [{**fields, "received_at": None} for fields in stored[0]] == [
        {**fields, "received_at": None} for fields in stored[1]
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


def test_an_answer_that_leaves_a_gap_returns_the_position_of_the_gap():
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


def test_no_lease_is_renewed_without_its_answer(monkeypatch):
    session = longer()
    first, second, *_ = session.trials.all()
    send(session, row(first))
    soon = timezone.now() + timedelta(minutes=1)
    Session.objects.filter(pk=session.pk).update(lease_expires_at=soon)

    def fail(*_, **__):
        raise DataError

    monkeypatch.setattr(type(Judgment.objects), "bulk_create", fail)
    with pytest.raises(DataError):
        send(session, row(second))
    session.refresh_from_db()
    assert session.lease_expires_at == soon and not Judgment.objects.filter(trial=second).exists()


def test_an_answer_does_not_take_back_a_lost_place():
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


def test_the_last_answer_completes_the_session_once_and_gives_it_its_code():
    session = longer()
    trials = list(session.trials.all())
    for trial in trials[:-1]:
        send(session, row(trial))
    for _ in range(2):
        receipt = send(session, row(trials[-1])).json()
        assert (receipt["complete"], receipt["position"]) == (True, len(trials))
    session.refresh_from_db()
    assert session.status == "complete" and len(session.completion_code) == 8 and session.completed_at


TRACED = ("analysis", "config", "experiments", "judgments", "releases")
NOT_COUNTED = re.compile(
    r"judgments\.models\b|experiments\.models\b|config\.http\.|.*\bmiddleware$|.*\berror_responses$"
    r"|experiments\.operation\.counters$"  # counts for the metrics, of all requests
)


def modules_run(work):
    """Project modules of which a function runs; models and middleware apart, which other requests run too."""
    names = set()

    def profile(frame, event, _):
        name = frame.f_globals.get("__name__", "") if event == "call" else ""
        if name.partition(".")[0] in TRACED and not NOT_COUNTED.match(name):
            names.add(name)

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return names


def test_an_answer_passes_at_most_nine_modules_from_its_address_to_the_stored_row():
    session = longer()
    first, second, third, *_ = session.trials.all()
    for trial in (first, second):
        send(session, row(trial))
    sent = row(third)
    modules = modules_run(lambda: send(session, sent))
    assert Judgment.objects.filter(trial=third).exists()
    modules = {name for name in modules if not name.startswith("tests")}
    assert "judgments.sessions.recording" in modules and len(modules) <= 9, sorted(modules)
