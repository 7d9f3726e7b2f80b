"""Made-up sessions are flagged, sessions of people and of simulated participants are not."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from analysis.quality.report import signal_table
from judgments.frames.measurements import evidence_frame
from judgments.models import Judgment, Session
from judgments.simulation.http_client import InProcess
from judgments.simulation.participant import Persona
from judgments.simulation.walkthrough import visit
from tests import cast
from tests.judgments.deliveries import row, send
from tests.judgments.screens import walk

pytestmark = pytest.mark.django_db
COHERENCE = ["impossible_time", "before_onset", "one_delivery", "engine_facts"]
FACTS = {
    "engine": "1.1.1",
    "task_version": 1,
    "clock_step_ms": 0.1,
    "viewport": "390x844",
    "focus_lost_ms": 0,
    "page_hidden_ms": 0,
    "trusted": True,
}


def a_study(**fields):
    return cast.study("agreement", materials=cast.material_set(n_items=8), instructions="", **fields)


def rows_of(session, **fields):
    trials = session.trials.select_related("session__experiment").order_by("position")
    return [row(trial, **fields) for trial in trials]


def flags(study):
    table = signal_table(evidence_frame(study), names=COHERENCE)
    return dict(zip(table["signal"], table["reason"], strict=True))


def test_a_whole_plan_sent_at_once_with_made_up_times_is_flagged_by_every_signal():
    study = a_study()
    session = cast.begin(study)
    assert send(session, *rows_of(session, rt_ms=60_000, input_type="keyboard")).json()["complete"]
    signals = flags(study)
    assert set(signals) == {"impossible_time", "one_delivery", "engine_facts"}
    assert signals["impossible_time"].startswith(
        "response times add up to 8.0 min, but the session lasted 0.0"
    )
    assert signals["one_delivery"].startswith("8 of 8 answers arrived in one moment")
    assert signals["engine_facts"].startswith("8 of 8 answers lack")


def test_copied_facts_and_times_that_overlap_are_flagged():
    study = a_study()
    session = cast.begin(study)
    now = datetime.now(UTC).isoformat()
    for sent in rows_of(session, rt_ms=20_000, input_type="keyboard", answered_at=now, timing=FACTS):
        assert send(session, sent, sent_at=now).status_code == 200
    Judgment.objects.update(received_at=datetime.now(UTC) + timedelta(minutes=30))
    signals = flags(study)
    assert set(signals) == {"before_onset", "one_delivery"}
    assert signals["before_onset"].startswith("8 of 8 answers were given before")


def answers_over_time(session, *, delivered_together, clock_error=timedelta()):
    """Store answers of a person, one every three seconds, received one by one or at the end."""
    start = session.started_at
    for number, trial in enumerate(session.trials.select_related("session__experiment"), start=1):
        answered_at = start + timedelta(seconds=3 * number)
        receipt = (
            start + timedelta(seconds=60) if delivered_together else answered_at + timedelta(seconds=0.2)
        )
        sent = {"rt_ms": 2600, "answered_at": (answered_at + clock_error).isoformat(), "timing": FACTS}
        assert (
            send(session, row(trial, **sent), sent_at=(answered_at + clock_error).isoformat()).status_code
            == 200
        )
        judgment = trial.judgment
        judgment.received_at = receipt
        judgment.timing["clock_offset_ms"] = (receipt - answered_at - clock_error).total_seconds() * 1000
        judgment.save()


def test_a_person_is_not_flagged_whatever_their_clock_shows():
    study = a_study()
    for name, error in (("pia", timedelta()), ("quentin", timedelta(days=-3)), ("rosa", timedelta(hours=9))):
        answers_over_time(cast.begin(study, name), delivered_together=False, clock_error=error)
    assert flags(study) == {}


def test_a_session_without_a_network_is_flagged_for_its_one_delivery_only():
    study = a_study()
    answers_over_time(cast.begin(study), delivered_together=True)
    (reason,) = flags(study).values()
    assert "a session without a network until its end does so too" in reason


def test_plain_forms_and_simulated_participants_are_not_flagged():
    study = a_study()
    client = Client()
    address = walk.consent(client, "/take/agreement/")
    for _ in range(8):
        walk.answer(client, address)
    visit(InProcess(), study, Persona("simulated"), through="api")
    assert Session.objects.filter(status="complete").count() == 2
    assert flags(study) == {}


def test_a_program_cannot_claim_what_the_server_measures():
    study = a_study()
    session = cast.begin(study)
    claimed = {"no_rt": True, "by_form": True, "server_ms": 5}
    assert send(session, *rows_of(session, rt_ms=900, timing=claimed)).status_code == 200
    timing = session.trials.first().judgment.timing
    assert not timing.keys() & {"no_rt", "by_form"} and timing.get("server_ms") != 5
    assert "engine_facts" in flags(study)
