"""The questions about the instructions: two attempts, then on or kindly out; nothing tells the answer."""

import pytest

from judgments.models import Session, SessionEvent
from judgments.sessions.pretrial import correct_choice
from judgments.simulation.http_client import InProcess
from judgments.simulation.participant import Persona
from judgments.simulation.walkthrough import visit
from tests import cast
from tests.judgments.screens import walk

pytestmark = pytest.mark.django_db
QUIZ = [
    {"question": "What counts?", "right": "how it sounds", "wrong": ["is it true", "is it long"]},
    {"question": "May you stop?", "right": "yes", "wrong": ["no"], "hint": "At any time."},
]


def begin_quiz(client, **fields):
    """A session that has read the instructions."""
    study = cast.study("agreement", quiz=QUIZ, **fields)
    address = walk.consent(client, "/take/agreement/")
    walk.onward(client, address)
    return study, Session.objects.get(), address


def attempt(client, address, session, *, right=True, number=None):
    html = client.get(address).content.decode()
    session.refresh_from_db()
    sent = {}
    for question in range(len(QUIZ)):
        place = correct_choice(session, question)
        sent[f"answer_{question + 1}"] = place if right else "2" if place == "1" else "1"
    return client.post(walk.action(html), {**sent, "attempt": number or walk.hidden(html, "attempt")})


def test_passing_the_quiz_continues_to_the_trials_and_records_the_attempt(client):
    _, session, address = begin_quiz(client)
    page = client.get(address).content.decode()
    assert "What counts?" in page and "At any time." not in page
    attempt(client, address, session)
    assert "response" in client.get(address).content.decode()
    assert SessionEvent.objects.get(kind="quiz").details == {"attempt": 1, "wrong": []}


def test_the_second_attempt_shows_the_instructions_and_the_hint_again(client):
    study, session, address = begin_quiz(client)
    attempt(client, address, session, right=False)
    page = client.get(address).content.decode()
    assert study.instructions in page and "At any time." in page
    attempt(client, address, session)
    assert walk.choices(client.get(address).content.decode())


def test_after_two_failures_the_study_continues_and_records_them(client):
    _, session, address = begin_quiz(client)
    for _ in range(2):
        attempt(client, address, session, right=False)
    assert walk.choices(client.get(address).content.decode())
    assert [event.details["wrong"] for event in SessionEvent.objects.filter(kind="quiz")] == [[1, 2], [1, 2]]


def test_after_two_failures_the_study_screens_out_where_configured(client):
    _, session, address = begin_quiz(client, quiz_failure="screen_out", screen_out_code="PARTIAL")
    for _ in range(2):
        attempt(client, address, session, right=False)
    page = client.get(address).content.decode()
    assert "You did nothing wrong" in page and "PARTIAL" in page
    session.refresh_from_db()
    assert session.status == Session.Status.SCREENED_OUT


def test_the_same_attempt_sent_twice_counts_once(client):
    _, session, address = begin_quiz(client)
    attempt(client, address, session, right=False)
    attempt(client, address, session, right=False, number="1")
    assert SessionEvent.objects.filter(kind="quiz").count() == 1


def test_an_unanswered_question_is_asked_again_and_is_no_attempt(client):
    _, _, address = begin_quiz(client)
    html = client.get(address).content.decode()
    page = client.post(walk.action(html), {"attempt": "1", "answer_1": "1"})
    assert page.status_code == 422 and "Please answer this question." in page.content.decode()
    assert not SessionEvent.objects.filter(kind="quiz").exists()


def test_the_page_reveals_nothing_about_the_right_answer(client):
    _, session, address = begin_quiz(client)
    html = client.get(address).content.decode()
    values = [field["value"] for field in walk.fields(html) if field.get("name") == "answer_1"]
    assert values == ["1", "2", "3"]


def test_synthetic_people_pass_the_quiz_on_their_way():
    study = cast.study("agreement", quiz=QUIZ)
    session = visit(InProcess(), study, Persona("one"))
    assert session.status == Session.Status.COMPLETE
    assert SessionEvent.objects.get(kind="quiz").details["wrong"] == []
