"""Questions and a free comment beside the completion code."""

import csv
import io
import json

import pytest

from experiments.pages.settings import SettingsForm
from judgments.models import SessionEvent
from judgments.sessions.removal import erase
from tests import cast

pytestmark = pytest.mark.django_db
QUESTIONS = [
    {"name": "unclear", "label": "Was anything unclear?", "type": "choice", "choices": ["No", "Yes"]}
]


def complete(**fields):
    study = cast.study("agreement", **fields)
    session = cast.sit(study)
    return study, session, f"/s/{session.token}/"


def test_answers_are_stored_and_the_code_stays_on_the_page(client):
    study, session, address = complete(closing_questions=QUESTIONS, closing_comment=True)
    page = client.get(address).content.decode()
    assert "Was anything unclear?" in page and "Please do not write your name" in page
    sent = {"unclear": "Yes", "closing_comment": "=nice \U0001f642"}
    answer = client.post(f"{address}closing/", sent)
    assert answer.status_code == 200 and session.completion_code in answer.content.decode()
    assert "Your answers were sent" in answer.content.decode()
    assert SessionEvent.objects.get(kind="closing").details == sent
    client.force_login(cast.ada())
    file = client.get("/studies/agreement/participants.csv")
    (row,) = csv.DictReader(io.StringIO(b"".join(file.streaming_content).decode()))
    assert json.loads(row["closing_answers"]) == sent
    erase(session.participant, reason="asked")
    assert not SessionEvent.objects.filter(kind="closing").exists()


def test_closing_questions_are_asked_only_where_configured_and_stored_at_the_end_only(client):
    study, session, address = complete()
    assert "closing" not in client.get(address).content.decode()
    running = cast.begin(study, "quentin")
    assert client.post(f"/s/{running.token}/closing/", {"closing_comment": "x"}).status_code == 302
    assert client.post(f"{address}closing/", {"unclear": "Perhaps"}).status_code == 200
    assert not SessionEvent.objects.filter(kind="closing").exists()


def test_an_impossible_answer_is_asked_again_with_the_code_in_view(client):
    _, session, address = complete(closing_questions=QUESTIONS)
    answer = client.post(f"{address}closing/", {"unclear": "Perhaps"})
    assert answer.status_code == 422 and session.completion_code in answer.content.decode()
    assert not SessionEvent.objects.filter(kind="closing").exists()


def test_questions_at_the_end_are_written_in_lines_and_never_required():
    study = cast.draft("agreement", closing_questions=QUESTIONS)
    form = SettingsForm(instance=study, user=cast.ada())
    assert form["closing_questions"].initial == "Was anything unclear? | choice: No; Yes"
