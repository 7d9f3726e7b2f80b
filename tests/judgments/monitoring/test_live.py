"""A study as it runs."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.quality.report import signal_table
from experiments.models import Campaign
from experiments.operation.job_runner import run
from experiments.page_cache import cache
from judgments.flags import raise_flag
from judgments.frames.measurements import evidence_frame
from judgments.models import Judgment, Session, Signal
from judgments.monitoring.live import count_live, hourly_pay, position_bias
from judgments.quality_check import request_check
from judgments.sessions.removal import erase, leave
from releases import jobs
from tests import cast

pytestmark = pytest.mark.django_db
QUESTIONS = [{"name": "age", "label": "How old are you?", "type": "number"}]


@pytest.fixture(autouse=True)
def fresh_numbers():
    """No numbers of another test."""
    cache.clear()


def test_page_shows_people_lists_and_where_they_leave(client):
    study = cast.study("agreement", n_lists=2, target_judgments=10, questionnaire=QUESTIONS)
    cast.sit(study, "pia")
    cast.sit(study, "quentin", n=1)
    leave(cast.begin(study, "rosa"))
    client.force_login(cast.ben())
    page = client.get("/studies/agreement/live/").content.decode()
    assert "1 <small>of 10 needed" in page and "no reward is set" in page and "no limit" in page
    text = re.sub(r"<[^>]+>|\s+", " ", page)
    assert re.search(r"Consent\s+3\s+0", text)
    assert re.search(r"Background questions\s+3\s+1\s+33.3 %", text)
    assert re.search(r"Trials, block 1\s+2\s+0", text) and re.search(r"Done\s+1", text)


def test_sessions_without_the_engine_and_with_problems_of_the_device_are_counted_and_can_be_excluded(client):
    study = cast.study("agreement", n_lists=1, instructions="")
    agent = "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Version/18.4 Mobile/15E148 Safari/604.1"
    plain = cast.begin(study, "pia")
    for trial in plain.trials.all():
        option = trial.shown["options"][0]["id"]
        data = {"response": option, "no_engine": "TimeoutError: too slow\0"}
        client.post(f"/s/{plain.token}/trials/{trial.public_id}/", data, headers={"User-Agent": agent})
    event = plain.events.get(kind="no_engine")
    assert event.details == {"reason": "TimeoutError: too slow", "browser": "WebKit 18"}
    measured = cast.begin(study, "quentin")
    rows = []
    for trial in measured.trials.all():
        events = [
            {"kind": "storage", "details": {"what": "indexeddb", "reason": "TimeoutError"}},
            {"kind": "missing_glyphs", "details": {"n": 2}},
        ]
        timing = {"engine": "1", "missing_glyphs": 2, "coarse_painting": True}
        option = trial.shown["options"][0]["id"]
        rows.append(
            {"trial": trial.public_id, "response": option, "rt_ms": 900, "timing": timing, "events": events}
        )
    address = f"/api/v1/sessions/{measured.token}/judgments/"
    client.post(address, {"judgments": rows}, content_type="application/json")
    counts = dict(count_live(study).device_problems)
    assert set(counts.values()) == {1} and len(counts) == 3
    frame = signal_table(evidence_frame(study))
    found = {(session, name) for session, name in zip(frame["session"], frame["signal"], strict=True)}
    assert (str(plain.pk), "plain_form") in found
    assert {(str(measured.pk), name) for name in ("storage", "missing_glyphs", "coarse_time")} <= found
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/live/part/").content.decode()
    assert "the trial engine did not start" in page and "missing from the device" in page


def test_a_participant_who_leaves_the_plain_form_without_an_answer_is_counted(client):
    study = cast.study("agreement", n_lists=1, instructions="")
    session = cast.begin(study, "pia")
    page = client.get(f"/s/{session.token}/").content.decode()
    for picture in re.findall(r'<noscript>.*<img src="([^"]+)"', page) * 2:
        reply = client.get(picture, headers={"User-Agent": "Mozilla/5.0 Firefox/140.0"})
        assert reply.status_code == 204 and "no-store" in reply["Cache-Control"]
    assert session.events.get().details == {"reason": "no_script", "browser": "Firefox 140"}
    assert dict(count_live(study).device_problems) == {"Plain form shown: the trial engine did not start": 1}
    leave(session)
    session.events.all().delete()
    client.get(f"/s/{session.token}/plain-form/?reason=not_loaded")
    assert not session.events.filter(kind="no_engine").exists()


def test_a_study_with_enough_participants_does_not_claim_to_admit_more(client):
    study = cast.study("agreement", n_lists=2, target_judgments=2)
    client.force_login(cast.ada())
    assert "The study takes participants" in client.get("/studies/agreement/live/").content.decode()
    for name in ("pia", "quentin"):
        cast.sit(study, name)
    cache.clear()
    assert "the target is reached" in client.get("/studies/agreement/live/part/").content.decode()
    page = client.get("/studies/agreement/live/").content.decode()
    assert "new participants see a message" in page
    assert "The study takes participants" not in page
    assert "new participants see a message" in client.get("/studies/agreement/").content.decode()
    assert "The target number of sessions is reached" in client.get("/").content.decode()


def test_participants_who_withdrew_after_completion_are_shown_beside_those_who_completed(client):
    study = cast.study("agreement")
    erase(cast.sit(study, "pia").participant, reason="asked")
    cast.sit(study, "quentin")
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/live/").content.decode()
    text = re.sub(r"<[^>]+>|\s+", " ", page)
    assert re.search(r"Done\s+2\s+1\s+50.0 %", text) and "withdrew their answers afterwards" in text


def test_bars_add_up_to_the_sessions_of_each_list():
    study = cast.study("agreement", n_lists=2, target_judgments=4)
    cast.sit(study, "pia")
    cast.sit(study, "quentin", n=1)
    counts = count_live(study)
    assert [bar.n_total for bar in counts.bars] == [1, 1]
    assert sorted((bar.complete, bar.live) for bar in counts.bars) == [(0.0, 50.0), (50.0, 0.0)]


def test_silent_people_count_as_left_on_the_screen_they_were_at():
    study = cast.study("agreement", n_blocks=2)
    silent = cast.sit(study, "pia", n=1)
    Session.objects.filter(pk=silent.pk).update(lease_expires_at=timezone.now() - timedelta(hours=1))
    stages = {stage.label: (stage.n_reached, stage.n_left) for stage in count_live(study).stages}
    assert stages["Instructions"] == (1, 0)
    assert stages["Trials, block 1"] == (1, 1) and stages["Trials, block 2"] == (0, 0)


def test_pay_comes_from_the_recruitment_with_a_reason_when_there_is_none():
    study = cast.study("agreement")
    assert hourly_pay(study, 240).reason == "no reward is set"
    Campaign.objects.create(experiment=study, name="prolific", reward_minor=76, currency="GBP")
    assert hourly_pay(study, 240).per_hour == "11.40 GBP"
    assert hourly_pay(study, None).reason == "no complete session yet"


def test_position_bias_is_counted_by_person_and_shown_with_its_interval():
    study = cast.study("agreement", n_lists=2)
    assert position_bias(study) is None
    for name in ("pia", "quentin", "rosa"):
        cast.sit(study, name)
    bias = position_bias(study)
    assert (bias.share, bias.n, bias.n_people) == (0.5, 12, 3)
    Judgment.objects.filter(trial__expected_first=False).update(value=0)
    biased = position_bias(study)
    assert biased.share == 1 and biased.is_sure


def test_ratings_have_no_sides_to_prefer(client):
    cast.study("agreement", task="likert")
    client.force_login(cast.ada())
    assert "First-shown" not in client.get("/studies/agreement/live/").content.decode()


def test_flags_by_hand_and_by_signal_are_counted_once_per_person():
    study = cast.study("agreement")
    session = cast.sit(study, "pia")
    Signal.objects.create(session=session, name="impossible_speed", version=1, value=1.0, reason="Too fast.")
    raise_flag(session.participant, "Answers in a rhythm", by=cast.ada())
    counts = count_live(study)
    assert counts.n_flagged == 1
    assert counts.flags == [("impossible speed", 1), ("excluded manually", 1)]
    Signal.objects.update(name="speed")
    assert count_live(study).flags[0] == ("faster than reading", 1)


def test_missing_flags_are_not_shown_as_zero_before_signals_are_computed(client):
    study = cast.study("agreement")
    client.force_login(cast.ben())

    def flags_text():
        cache.clear()
        page = client.get("/studies/agreement/live/part/").content.decode()
        return re.sub(r"<[^>]+>|\s+", " ", page.split("Flagged participants")[1].split("</dd>")[0])

    assert " 0 " in flags_text()
    cast.sit(study, "pia")
    assert "signals not computed yet" in flags_text() and " 0 " not in flags_text()
    assert request_check(study).kind == jobs.CHECK
    run(request_check(study).pk)
    assert " 0 " in flags_text() and "yet" not in flags_text()
    cast.sit(study, "quentin")
    assert "1 session not checked yet" in flags_text()


def test_part_is_the_numbers_alone_and_never_kept(client):
    cast.study("agreement")
    client.force_login(cast.ben())
    answer = client.get("/studies/agreement/live/part/")
    text = answer.content.decode()
    assert "<html" not in text and "data-live=" in text and "no-store" in answer["Cache-Control"]
    client.force_login(cast.cleo())
    assert client.get("/studies/agreement/live/part/").status_code == 404
    assert client.get("/studies/agreement/live/").status_code == 404


def test_pilots_are_not_in_the_numbers():
    study = cast.study("agreement", status="pilot")
    cast.sit(study, "pia")
    counts = count_live(study)
    assert counts.numbers.n_complete == 0 and counts.bias is None and counts.bars[0].n_total == 0


def test_number_of_queries_does_not_grow_with_people(django_assert_max_num_queries):
    study = cast.study("agreement", n_lists=2)
    for number in range(6):
        cast.sit(study, f"person-{number}")
    with django_assert_max_num_queries(21):
        count_live(study)


def test_figures_side_by_side_are_drawn_for_half_of_the_page(client):
    study = cast.study("agreement")
    cast.sit(study, "pia")
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/live/part/").content.decode()
    assert "figures/arrivals.svg?width=half" in page and "width=narrow" in page and "width=wide" not in page
