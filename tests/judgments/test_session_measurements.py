"""What was measured with an answer: stored as it came, left out and flagged where it cannot be true."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from judgments.models import Judgment, SessionEvent
from tests.cast import answer_to, begin, study
from tests.judgments.deliveries import row, send

pytestmark = pytest.mark.django_db


def test_an_answer_is_stored_with_all_that_was_measured():
    session = begin(study(n_lists=1))
    trial = session.trials.get(position=1)
    now = timezone.now().isoformat()
    timing = {"focus_lost_ms": 12, "coarse_clock": False, "early_ms": [90, 120], "engine": "1.0.0"}
    events = [{"kind": "early_answer", "details": {"ms": 90}}]
    sent = row(trial, rt_ms=1234.4, input_type="touch", answered_at=now, timing=timing, events=events)
    answer = send(session, sent, sent_at=now)
    assert answer.status_code == 200
    assert answer.json() == {
        "acknowledged": [trial.public_id],
        "kept_first": [],
        "refused": [],
        "feedback": {},
        "position": 1,
        "complete": False,
        "next": f"/s/{session.token}/",
    }
    judgment = Judgment.objects.get()
    assert (judgment.value, judgment.rt_ms, judgment.input_type) == (1.0, 1234, "touch")
    assert judgment.timing.items() >= timing.items()
    assert "clock_offset_ms" in judgment.timing and "no_rt" not in judgment.timing
    assert judgment.answered_at is not None and judgment.chosen == trial.pair.good
    event = SessionEvent.objects.get()
    assert (event.kind, event.trial, event.details) == ("early_answer", trial, {"ms": 90})


def test_a_clock_running_backwards_is_flagged_and_the_answer_is_kept():
    session = begin(study())
    now = timezone.now()
    later = (now + timedelta(hours=2)).isoformat()
    sent = row(session.trials.first(), rt_ms=-40, answered_at=later)
    assert send(session, sent, sent_at=now.isoformat()).json()["acknowledged"]
    judgment = Judgment.objects.get()
    assert judgment.rt_ms is None
    assert judgment.timing["clock_backwards"] and judgment.timing["odd_rt"]


@pytest.mark.parametrize("rt", ["12", float("inf"), float("nan"), 1e300, True, [], 2**31])
def test_an_impossible_response_time_is_left_out_and_flagged(rt):
    session = begin(study())
    assert send(session, row(session.trials.first(), rt_ms=rt)).json()["acknowledged"]
    judgment = Judgment.objects.get()
    assert judgment.rt_ms is None and judgment.timing["odd_rt"]


@pytest.mark.parametrize(
    "at", ["yesterday", "0001-01-01T00:00:00+14:00", "2026-13-01T00:00:00Z", 7, "2026-01-01"]
)
def test_an_impossible_time_of_day_is_left_out_and_flagged(at):
    session = begin(study())
    assert send(session, row(session.trials.first(), answered_at=at), sent_at=at).json()["acknowledged"]
    judgment = Judgment.objects.get()
    assert judgment.answered_at is None and judgment.timing["odd_clock"]


def test_measurements_are_cleaned_and_never_cost_an_answer():
    session = begin(study())
    timing = {
        "kept": 1,
        "nul": "a\u0000b",
        "half": "\ud800",
        "deep": {"a": 1},
        "Wrong Name": 1,
        "endless": float("nan"),
        "huge": 10**20,
        "long": "x" * 300,
        "list": [1, "x"],
    }
    events = [
        {"kind": "paste\u0000"},
        {"kind": 7},
        "x",
        {"kind": "paste", "details": {"n": 2, "t": "\u0000"}},
    ]
    sent = row(session.trials.first(), timing=timing, events=events, input_type="telepathy")
    assert send(session, sent).json()["acknowledged"]
    judgment = Judgment.objects.get()
    assert {name for name in judgment.timing if name != "server_ms"} == {"kept"}
    assert judgment.input_type == ""
    assert [(session_event.kind, session_event.details) for session_event in SessionEvent.objects.all()] == [
        ("paste", {"n": 2})
    ]


def test_answers_without_javascript_are_marked():
    session = begin(study(instructions=""))
    trial = session.trials.first()
    Client().post(f"/s/{session.token}/trials/{trial.public_id}/", {"response": answer_to(trial)})
    judgment = Judgment.objects.get()
    assert judgment.timing["no_rt"] is True and judgment.rt_ms is None and judgment.input_type == "form"
