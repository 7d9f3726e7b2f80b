"""A session over HTTP: the plan once, any number of answers, each stored once, the end beside the last."""

from threading import Thread

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from drf_spectacular.generators import SchemaGenerator

from judgments.models import Judgment, Session, SessionEvent
from tests.cast import answer_to, begin, material_set, sit, study
from tests.judgments.deliveries import plan, row, send

pytestmark = pytest.mark.django_db
PRACTICE = {
    "kind": "practice",
    "payload": {"good": "He goes.", "bad": "He go.", "feedback": "He needs goes."},
}
CATCH = {"kind": "catch", "payload": {"good": "It is.", "bad": "Is is it."}}


def test_the_plan_has_every_sentence_and_reveals_no_condition_and_no_expected_answer():
    session = begin(study(extras=(PRACTICE, CATCH), n_lists=1))
    answer = plan(session)
    document = answer.json()
    assert answer["Cache-Control"] == "no-store"
    assert [trial["position"] for trial in document["trials"]] == [1, 2, 3, 4, 5, 6]
    assert [trial["is_practice"] for trial in document["trials"]] == [True, False, False, False, False, False]
    assert set(document["trials"][1]) == set(document["trials"][5])  # a catch trial looks like any other
    trial = session.trials.get(position=2)
    assert [option["text"] for option in document["trials"][1]["options"]] == [
        option["text"] for option in trial.shown["options"]
    ]
    text = answer.content.decode()
    for secret in ("expected", "condition", "correct", "paradigm", "subject_verb", "-good", "He needs goes"):
        assert secret not in text.replace('"right"', "")
    assert document["next"] == f"/s/{session.token}/"


@pytest.mark.parametrize("task", ["likert", "yes_no", "magnitude_estimation"])
def test_the_plan_of_a_rating_has_the_parts_of_its_screens_once(task):
    document = plan(begin(study(task=task))).json()
    assert document["task"]["parts"] and "parts" not in document["trials"][1]
    assert document["trials"][0]["sentence"]["language"] == "en"
    assert document["trials"][0]["options"] == []


def test_the_plan_states_what_is_answered_already():
    session = sit(study(), n=2)
    assert [trial["is_answered"] for trial in plan(session).json()["trials"]] == [True, True, False, False]


def test_sent_twice_it_is_stored_once_and_acknowledged_twice():
    session = begin(study())
    sent = row(session.trials.first(), events=[{"kind": "blur"}])
    assert send(session, sent).json() == send(session, sent).json()
    assert (Judgment.objects.count(), SessionEvent.objects.count()) == (1, 1)


def test_twice_in_one_delivery_is_once():
    session = begin(study())
    trial = session.trials.first()
    other = row(trial, response=answer_to(trial, choose_expected=False))
    document = send(session, row(trial), row(trial), other).json()
    assert document["acknowledged"] == document["kept_first"] == [trial.public_id]
    assert Judgment.objects.get().value == 1.0


def test_a_different_second_answer_leaves_the_first_and_one_event():
    session = begin(study())
    trial = session.trials.first()
    send(session, row(trial))
    other = answer_to(trial, choose_expected=False)
    for _ in range(2):
        document = send(session, row(trial, response=other)).json()
        assert (document["acknowledged"], document["kept_first"]) == ([trial.public_id], [trial.public_id])
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
    *earlier, last = session.trials.all()
    assert send(session, *map(row, earlier)).json()["complete"] is False
    assert Session.objects.get().completion_code == ""
    assert send(session, row(last)).json()["complete"] is True
    completed = Session.objects.get()
    assert completed.status == "complete" and len(completed.completion_code) == 8
    repeated = send(session, row(last)).json()
    assert repeated["complete"] is True and repeated["acknowledged"] == [last.public_id]


def test_practice_is_answered_with_its_feedback_and_nothing_else_is():
    session = begin(study(extras=(PRACTICE, CATCH), n_lists=1))
    practice, target, *_, catch = session.trials.all()
    document = send(session, row(practice), row(target), row(catch)).json()
    feedback = {"is_correct": True, "text": "He needs goes.", "nodes": [["He needs goes."]]}
    assert document["feedback"] == {practice.public_id: feedback}


def test_no_cookie_and_no_csrf_key_are_needed():
    session = begin(study())
    client = Client(enforce_csrf_checks=True)
    answer = send(session, row(session.trials.first()), client=client)
    assert answer.status_code == 200 and not answer.cookies


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("n", [1, 20])
def test_four_queries_whatever_the_number_of_answers(n):
    session = begin(study(materials=material_set("big", n_items=60), n_lists=1))
    rows = list(map(row, session.trials.select_related("session__experiment")))
    send(session, rows[0])
    with CaptureQueriesContext(connection) as captured:
        assert send(session, *rows[1 : n + 1]).json()["position"] == n + 1
    queries = [query["sql"] for query in captured if not query["sql"].startswith(("BEGIN", "COMMIT"))]
    assert len(queries) <= 4, queries


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


def test_both_addresses_are_in_the_openapi_document():
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
    receipt = send(session, row(last)).json()
    page = Client().get(f"/s/{session.token}/").content.decode()
    code = Session.objects.get().completion_code
    assert receipt["complete"] is True and receipt["page"] == page
    assert code and page.count(code) == 1 and session.token in page


def test_several_last_answers_at_once_bring_it_too():
    session = begin(study(n_lists=1))
    receipt = send(session, *map(row, session.trials.all())).json()
    assert receipt["complete"] is True and Session.objects.get().completion_code in receipt["page"]


def test_where_a_redirect_ends_the_study_the_page_is_asked_for():
    session = begin(study(n_lists=1, completion="redirect", completion_url="https://panel.example/done"))
    receipt = send(session, *map(row, session.trials.all())).json()
    assert receipt["complete"] is True and "page" not in receipt
    assert "panel.example" in Client().get(f"/s/{session.token}/").content.decode()


def test_problems_of_the_storage_without_an_answer_are_events_once_also_after_the_last_answer():
    session = sit(study())
    deletion = {"kind": "storage", "details": {"what": "copy", "reason": "TimeoutError", "text": "left out"}}
    bad = [{"kind": "storage", "details": {"what": "a b"}}, {"kind": "conflict", "details": {}}]
    for _ in range(2):
        assert send(session, events=[deletion, *bad]).status_code == 200
    (event,) = SessionEvent.objects.filter(session=session)
    assert (event.kind, event.trial) == ("storage", None)
    assert event.details == {"what": "copy", "reason": "TimeoutError"}
    assert send(session, events=bad).status_code == 400  # nothing to store
    for letter in "abcdefghijklmnopqrstuvwxyz":
        send(session, events=[{"kind": "storage", "details": {"what": letter, "reason": "x"}}])
    assert SessionEvent.objects.count() == 20
