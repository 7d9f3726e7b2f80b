"""A session over HTTP: the plan once, answers any number of times, each stored once; every bad input."""

import json
from datetime import timedelta
from threading import Thread

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from experiments.models import Experiment
from judgments.models import Judgment, Session, SessionEvent
from judgments.sessions.erase import erase
from judgments.sessions.withdraw import leave
from tests.cast import answer_to, begin, freeze, material_set, sit, study

pytestmark = pytest.mark.django_db
PRACTICE = {
    "kind": "practice",
    "payload": {"good": "He goes.", "bad": "He go.", "feedback": "He needs goes."},
}
CATCH = {"kind": "catch", "payload": {"good": "It is.", "bad": "Is is it."}}


def address(session, end="judgments"):
    return f"/api/v1/sessions/{session.token}/{end}/"


def send(session, *rows, client=None, **more):
    body = json.dumps({"judgments": list(rows), **more})
    return (client or Client()).post(address(session), body, content_type="application/json")


def row(trial, **fields):
    return {"trial": trial.public_id, "response": answer_to(trial), **fields}


def plan(session):
    return Client().get(address(session, "plan"))


def test_the_plan_has_every_sentence_and_tells_no_condition_and_no_expected_answer():
    session = begin(study(extras=(PRACTICE, CATCH), n_lists=1))
    answer = plan(session)
    found = answer.json()
    assert answer["Cache-Control"] == "no-store"
    assert [one["position"] for one in found["trials"]] == [1, 2, 3, 4, 5, 6]
    assert [one["is_practice"] for one in found["trials"]] == [True, False, False, False, False, False]
    assert set(found["trials"][1]) == set(found["trials"][5])  # a catch trial looks like any other
    trial = session.trials.get(position=2)
    assert [one["text"] for one in found["trials"][1]["options"]] == [
        one["text"] for one in trial.shown["options"]
    ]
    text = answer.content.decode()
    for secret in ("expected", "condition", "correct", "paradigm", "subject_verb", "-good", "He needs goes"):
        assert secret not in text.replace('"right"', "")
    assert found["next"] == f"/s/{session.token}/"


@pytest.mark.parametrize("task", ["likert", "yes_no", "magnitude_estimation"])
def test_the_plan_of_a_rating_has_the_parts_of_its_screens_once(task):
    found = plan(begin(study(task=task))).json()
    assert found["task"]["parts"] and "parts" not in found["trials"][1]
    assert found["trials"][0]["sentence"]["language"] == "en"
    assert found["trials"][0]["options"] == []


def test_the_plan_says_what_is_answered_already():
    session = sit(study(), n=2)
    assert [one["is_answered"] for one in plan(session).json()["trials"]] == [True, True, False, False]


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


def test_sent_twice_it_is_stored_once_and_acknowledged_twice():
    session = begin(study())
    sent = row(session.trials.first(), events=[{"kind": "blur"}])
    assert send(session, sent).json() == send(session, sent).json()
    assert (Judgment.objects.count(), SessionEvent.objects.count()) == (1, 1)


def test_twice_in_one_delivery_is_once():
    session = begin(study())
    trial = session.trials.first()
    other = row(trial, response=answer_to(trial, choose_expected=False))
    found = send(session, row(trial), row(trial), other).json()
    assert found["acknowledged"] == found["kept_first"] == [trial.public_id]
    assert Judgment.objects.get().value == 1.0


def test_a_different_second_answer_leaves_the_first_and_one_event():
    session = begin(study())
    trial = session.trials.first()
    send(session, row(trial))
    other = answer_to(trial, choose_expected=False)
    for _ in range(2):
        found = send(session, row(trial, response=other)).json()
        assert (found["acknowledged"], found["kept_first"]) == ([trial.public_id], [trial.public_id])
    assert Judgment.objects.get().value == 1.0
    event = SessionEvent.objects.get()
    assert (event.kind, event.details) == ("conflict", {"response": other})


def test_answers_may_come_in_any_order():
    session = begin(study())
    first, second, third, fourth = session.trials.all()
    assert send(session, row(third)).json()["position"] == 0
    assert send(session, row(second), row(first)).json()["position"] == 3
    last = send(session, row(fourth)).json()
    assert (last["position"], last["complete"]) == (4, True)


def test_only_the_server_completes_and_only_with_every_row():
    session = begin(study())
    *others, last = session.trials.all()
    assert send(session, *map(row, others)).json()["complete"] is False
    assert Session.objects.get().completion_code == ""
    assert send(session, row(last)).json()["complete"] is True
    kept = Session.objects.get()
    assert kept.status == "complete" and len(kept.completion_code) == 8
    again = send(session, row(last)).json()
    assert again["complete"] is True and again["acknowledged"] == [last.public_id]


def test_practice_is_answered_with_its_feedback_and_nothing_else_is():
    session = begin(study(extras=(PRACTICE, CATCH), n_lists=1))
    practice, target, *_, catch = session.trials.all()
    found = send(session, row(practice), row(target), row(catch)).json()
    said = {"is_correct": True, "text": "He needs goes.", "nodes": [["He needs goes."]]}
    assert found["feedback"] == {practice.public_id: said}


def test_one_bad_row_is_refused_and_the_others_are_kept():
    experiment = study()
    session, other = begin(experiment, "pia"), begin(experiment, "quentin")
    first, second, third, _ = session.trials.all()
    foreign = other.trials.first()
    found = send(session, row(first), row(foreign), row(second, response="x"), 7, row(third)).json()
    assert found["acknowledged"] == [first.public_id, third.public_id]
    codes = {one["trial"]: one["code"] for one in found["refused"]}
    assert codes == {"": "bad_row", foreign.public_id: "unknown_trial", second.public_id: "bad_response"}
    assert found["position"] == 1
    assert Judgment.objects.count() == 2


@pytest.mark.parametrize("response", ["0", "8", "3.5", "", "seven", "-1", "٣", "1" * 500])
def test_a_point_outside_the_scale_is_refused(response):
    session = begin(study(task="likert"))
    found = send(session, row(session.trials.first(), response=response)).json()
    assert [one["code"] for one in found["refused"]] == ["bad_response"]
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("response", [None, 3.5, True, [1], {"a": 1}, "1" * 1001, 10**400])
def test_a_response_that_is_no_text_is_a_bad_row(response):
    session = begin(study(task="likert"))
    found = send(session, row(session.trials.first(), response=response)).json()
    assert [one["code"] for one in found["refused"]] == ["bad_row"]


def test_a_whole_number_will_do_for_a_point():
    session = begin(study(task="likert"))
    assert send(session, row(session.trials.first(), response=4)).json()["acknowledged"]
    assert (Judgment.objects.get().response, Judgment.objects.get().value) == ("4", 4.0)


@pytest.mark.parametrize("response", ["0", "-5", "1e3", "1,000.5", "nan", "9" * 30, "x"])
def test_what_is_no_positive_number_is_refused(response):
    session = begin(study(task="magnitude_estimation"))
    found = send(session, row(session.trials.first(), response=response)).json()
    assert [one["code"] for one in found["refused"]] == ["bad_response"]


def test_a_number_is_kept_as_it_was_typed():
    session = begin(study(task="magnitude_estimation"))
    send(session, row(session.trials.first(), response=" 62,50 "))
    assert (Judgment.objects.get().response, Judgment.objects.get().value) == (" 62,50 ", 62.5)


@pytest.mark.parametrize("token", ["forged", "x" * 500, "%00", "%F0%9F%98%80"])
@pytest.mark.parametrize("end", ["plan", "judgments"])
def test_an_unknown_token_is_404(token, end):
    body = json.dumps({"judgments": [{"trial": "a", "response": "b"}]})
    where = f"/api/v1/sessions/{token}/{end}/"
    client = Client()
    answer = client.get(where) if end == "plan" else client.post(where, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (404, "session_unknown")


def test_a_session_left_alone_beyond_the_limit_is_404_and_its_page_says_so_kindly():
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


def test_who_lost_the_place_is_told_and_nothing_is_stored():
    session = begin(study())
    Session.objects.update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    Experiment.objects.update(status=Experiment.Status.CLOSED)
    answer = send(session, row(session.trials.first()))
    assert (answer.status_code, answer.json()["code"]) == (409, "no_place")
    assert not Judgment.objects.exists()


def test_ten_megabytes_are_too_large():
    session = begin(study())
    big = "x" * 10_000_000
    answer = send(session, row(session.trials.first(), timing={"note": big}))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert not Judgment.objects.exists()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid_json"),
        (b"{", "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b"9" * 10_000, "invalid_json"),
        (b"[]", "invalid"),
        (b"null", "invalid"),
        (b'{"judgments": {}}', "invalid"),
        (b'{"judgments": []}', "wrong_number"),
        (json.dumps({"judgments": [{}] * 201}).encode(), "wrong_number"),
    ],
)
def test_a_body_that_is_no_delivery_is_400(body, code):
    session = begin(study())
    answer = Client().post(address(session), body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_a_form_or_another_method_is_told_what_the_address_takes():
    session = begin(study())
    assert Client().post(address(session), {"response": "x"}).json()["code"] == "invalid_json"
    for method, end in (("get", "judgments"), ("put", "judgments"), ("post", "plan"), ("delete", "plan")):
        answer = getattr(Client(), method)(address(session, end))
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
        assert answer["Allow"] == ("POST" if end == "judgments" else "GET")


def test_a_clock_that_goes_backwards_is_flagged_and_the_answer_is_kept():
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
    assert [(one.kind, one.details) for one in SessionEvent.objects.all()] == [("paste", {"n": 2})]


@pytest.mark.parametrize("trial", [None, 5, "", "a b", "\u0000", "x" * 25])
def test_a_row_without_a_trial_is_a_bad_row(trial):
    session = begin(study())
    found = send(session, {"trial": trial, "response": "x"}, row(session.trials.first())).json()
    assert [one["code"] for one in found["refused"]] == ["bad_row"]
    assert len(found["acknowledged"]) == 1


def test_a_database_that_does_not_answer_is_503_so_that_the_browser_tries_again(monkeypatch):
    session = begin(study())

    def broken(*args, **kwargs):
        raise OperationalError("database is locked")

    monkeypatch.setattr("judgments.api.session_views.deliver", broken)
    answer = send(session, row(session.trials.first()))
    assert (answer.status_code, answer.json()["code"]) == (503, "try_again")


def test_no_cookie_and_no_csrf_key_are_needed():
    session = begin(study())
    client = Client(enforce_csrf_checks=True)
    answer = send(session, row(session.trials.first()), client=client)
    assert answer.status_code == 200 and not answer.cookies


def test_each_delivery_renews_the_lease_and_notes_where_the_participant_is():
    session = begin(study(n_blocks=2))
    soon = timezone.now() + timedelta(minutes=1)
    Session.objects.update(lease_expires_at=soon)
    send(session, *map(row, session.trials.filter(block=2)))
    session.refresh_from_db()
    assert session.lease_expires_at > soon + timedelta(minutes=20)
    assert session.screen == "block-2"


def test_answers_without_javascript_say_so():
    session = begin(study(instructions=""))
    trial = session.trials.first()
    Client().post(f"/s/{session.token}/trials/{trial.public_id}/", {"response": answer_to(trial)})
    judgment = Judgment.objects.get()
    assert judgment.timing["no_rt"] is True and judgment.rt_ms is None and judgment.input_type == "form"


def test_who_was_away_reads_the_instructions_first():
    session = sit(study(), n=2)
    Session.objects.update(last_seen_at=timezone.now() - timedelta(minutes=11))
    assert "Welcome back" in Client().get(f"/s/{session.token}/").content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("n", [1, 20])
def test_three_queries_whatever_the_number_of_answers(n):
    session = begin(study(materials=material_set("big", n_items=60), n_lists=1))
    rows = list(map(row, session.trials.select_related("session__experiment")))
    send(session, rows[0])
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert send(session, *rows[1 : n + 1]).json()["position"] == n + 1
    queries = [one["sql"] for one in captured if not one["sql"].startswith(("BEGIN", "COMMIT"))]
    assert len(queries) <= 3, queries


@pytest.mark.django_db(transaction=True)
def test_the_same_answer_sent_at_once_is_one_row_and_every_sender_hears_so():
    session = begin(study())
    sent, heard = row(session.trials.first()), []

    def go():
        heard.append(send(session, sent).json()["acknowledged"])
        connection.close()

    threads = [Thread(target=go) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == [[sent["trial"]]] * 6
    assert Judgment.objects.count() == 1


def test_a_later_version_of_the_study_does_not_change_a_running_session():
    experiment = study(task="likert")
    session = begin(experiment)
    experiment.parameters = {"points": 3}
    experiment.save(update_fields=["parameters"])
    freeze(experiment)
    assert len(plan(session).json()["task"]["parts"]["points"]) == 7
    assert send(session, row(session.trials.first(), response="7")).json()["acknowledged"]


def test_both_addresses_stand_in_the_openapi_document():
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    assert "requestBody" in paths["/api/v1/sessions/{token}/judgments/"]["post"]
    codes = set(paths["/api/v1/sessions/{token}/judgments/"]["post"]["responses"])
    assert codes >= {"200", "400", "404", "405", "409", "413", "503"}
    assert set(paths["/api/v1/sessions/{token}/plan/"]["get"]["responses"]) >= {"200", "404", "409"}


def test_the_last_acknowledgement_brings_the_page_that_the_sessions_address_shows():
    session = begin(study(n_lists=1, debrief="It was about <b>agreement</b> & more."))
    *trials, last = session.trials.all()
    for trial in trials:
        assert "page" not in send(session, row(trial)).json()
    said = send(session, row(last)).json()
    shown = Client().get(f"/s/{session.token}/").content.decode()
    code = Session.objects.get().completion_code
    assert said["complete"] is True and said["page"] == shown
    assert code and shown.count(code) == 1 and session.token in shown


def test_several_last_answers_at_once_bring_it_too():
    session = begin(study(n_lists=1))
    said = send(session, *map(row, session.trials.all())).json()
    assert said["complete"] is True and Session.objects.get().completion_code in said["page"]


def test_where_a_redirect_ends_the_study_the_page_is_asked_for():
    session = begin(study(n_lists=1, completion="redirect", completion_url="https://panel.example/done"))
    said = send(session, *map(row, session.trials.all())).json()
    assert said["complete"] is True and "page" not in said
    assert "panel.example" in Client().get(f"/s/{session.token}/").content.decode()
