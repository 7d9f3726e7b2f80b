"""One participant's session, from consent to code, as plain forms."""

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.models import Experiment
from judgments.models import Judgment, Session
from tests.cast import ANSWERS, begin, material_set, sit, study
from tests.judgments.screens.walk import action, answer, choices, consent, fields, hidden, onward

pytestmark = pytest.mark.django_db
TASKS = ["forced_choice", "likert", "yes_no", "magnitude_estimation"]
QUESTIONS = [
    {"name": "age", "label": "Your age", "type": "number", "required": True, "min": 18},
    {"name": "native", "label": "English from birth?", "type": "yes_no", "role": "native_language"},
    {"name": "where", "label": "Where?", "type": "choice", "choices": ["Town", "Country"]},
    {"name": "others", "label": "Other languages", "type": "multi_choice", "choices": ["fr", "de"]},
    {"name": "note", "label": "Anything else?", "type": "text"},
]


def text(client, address: str) -> str:
    return client.get(address).content.decode()


def at_trial(client, **fields) -> str:
    """Address of a session that shows its first trial."""
    study(**fields)
    session = consent(client, "/take/agreement/")
    onward(client, session)
    return session


@pytest.mark.parametrize("task", TASKS)
def test_a_whole_session_of_each_task(client, task):
    payload = (
        {"good": "He goes.", "bad": "He go."}
        if task == "forced_choice"
        else {"sentence": "He goes.", "correct": [1, 7], "feedback": "It is fine."}
    )
    study(task=task, n_blocks=2, questionnaire=QUESTIONS, extras=({"kind": "practice", "payload": payload},))
    session = consent(client, "/take/agreement/")
    assert "changes neither your pay" in text(client, session)
    background = {"age": "33", "native": "yes", "where": "-", "others": ["fr", "de"], "note": "🙂 ok"}
    assert client.post(f"{session}questions/", background).status_code == 302
    onward(client, session)
    assert "Practice" in text(client, session)
    answer(client, session, ANSWERS.get(task, ""))
    onward(client, session)
    assert "That was the practice" in text(client, session)
    onward(client, session)
    for n in range(4):
        if n == 2:
            assert "Block 1 of 2 is done" in text(client, session)
            onward(client, session)
        assert f"Block {1 + n // 2} of 2" in text(client, session)
        answer(client, session, ANSWERS.get(task, ""))
    row = Session.objects.get()
    assert row.status == "complete" and row.completion_code in text(client, session)
    assert "We study agreement." in text(client, session)
    assert Judgment.objects.filter(input_type="form", rt_ms=None, timing__server_ms__gte=0).count() == 5
    assert row.participant.is_native is True
    assert row.participant.background == {"age": 33, "native": "yes", "others": ["fr", "de"], "note": "🙂 ok"}


def test_the_end_page_can_be_opened_again(client):
    session = sit(study())
    for _ in range(2):
        assert session.completion_code in text(client, f"/s/{session.token}/")


def test_the_end_pages_of_two_people_differ_by_code_and_token_only(client):
    experiment = study(completion_code="", debrief="About <b>it</b> & more.")
    sessions = [sit(experiment, name) for name in ("ada", "ben")]
    Session.objects.filter(pk=sessions[1].pk).update(completion_code="R&D <7>")
    pages = [text(client, f"/s/{session.token}/") for session in sessions]
    assert "<output>R&amp;D &lt;7&gt;</output>" in pages[1]
    first, second = (
        page.replace(session.token, "T").replace(code, "C")
        for page, session, code in zip(
            pages, sessions, (sessions[0].completion_code, "R&amp;D &lt;7&gt;"), strict=True
        )
    )
    assert first == second and "About <b>it</b> &amp; more." in first
    assert client.get(f"/s/{sessions[0].token}/")["Cache-Control"].startswith("max-age=0, no-cache, no-store")


def test_the_page_of_a_trial_reveals_only_the_sentences(client):
    session = at_trial(client, n_lists=1)
    html = text(client, session)
    assert "The keys 1 are here." in html and "The keys 1 is here." in html
    trial = Session.objects.get().trials.first()
    (plan,) = re.findall(r'<script id="plan" type="application/json">(.*?)</script>', html, re.DOTALL)
    html_without_words = html.replace(plan, json.dumps({**json.loads(plan), "words": {}}))
    for secret in ("good", "bad", "expected", "subject_verb", "accept", "target"):
        # At the start of a word, because ids are random letters.
        assert re.search(rf"\b{secret}", html_without_words) is None
    assert f'"{trial.pk}"' not in html_without_words
    assert f'data-task="forced_choice" data-trial="{trial.public_id}"' in " ".join(html.split())


def test_second_submit_keeps_first_judgment(client):
    session = at_trial(client)
    html = text(client, session)
    first, second = choices(html)
    for response in (first, first, second):
        assert client.post(action(html), {"response": response}).status_code == 302
    judgment = Judgment.objects.get()
    assert judgment.response == first
    assert judgment.trial.session.events.get().details == {"response": second}


@pytest.mark.parametrize(
    ("task", "forged", "words"),
    [
        ("forced_choice", "", "choose one of the two"),
        ("forced_choice", "xyz", "does not belong to this screen"),
        ("likert", "8", "from 1 to 7"),
        ("yes_no", "perhaps", "one of the two answers"),
        ("magnitude_estimation", "-5", "one number in digits"),
        ("magnitude_estimation", "0", "above 0"),
        ("magnitude_estimation", "1e999", "one number in digits"),
    ],
)
def test_a_wrong_answer_is_explained_and_not_kept(client, task, forged, words):
    session = at_trial(client, task=task)
    response = client.post(action(text(client, session)), {"response": forged})
    assert response.status_code == 422
    assert words in response.content.decode()
    assert not Judgment.objects.exists()
    if task == "magnitude_estimation":
        assert (
            next(field for field in fields(response.content.decode()) if field.get("id") == "number")["value"]
            == forged
        )


def test_the_reference_and_its_number_stay_in_view(client):
    session = at_trial(client, task="magnitude_estimation")
    html = text(client, session)
    wrong = client.post(action(html), {"response": "many"}).content.decode()
    for page in (html, wrong):
        assert "The key to the doors are here." in page
        assert ">100</span>" in page


def test_forged_trial_and_token_are_kind_404s(client):
    session = at_trial(client)
    assert client.post(f"{session}trials/forged/", {"response": "x"}).status_code == 404
    for path in ("/s/forged/", "/s/forged/trials/x/", "/s/forged/leave/"):
        assert client.post(path).status_code == 404
    assert "no study at this address" in text(client, "/s/forged/")


def test_looking_at_a_sessions_addresses_changes_nothing(client):
    session = at_trial(client)
    before = Session.objects.values().get()
    for path in ("", "questions/", "continue/", "leave/", "trials/x/"):
        client.get(session + path)
        client.head(session + path)
    assert Session.objects.values().get() == before
    assert not Judgment.objects.exists()


def test_back_and_reload_show_the_trial_that_is_due(client):
    session = at_trial(client)
    first = text(client, session)
    assert text(client, session) == first
    answer(client, session)
    assert action(text(client, session)) != action(first)
    assert client.get(action(first))["Location"] == session


def test_a_closed_study_lets_those_in_a_session_finish(client):
    session = at_trial(client)
    Experiment.objects.update(status="closed")
    for _ in range(4):
        answer(client, session)
    assert Session.objects.get().status == "complete"


def test_a_late_answer_to_a_study_that_filled_up_is_kept_and_the_session_continues(client):
    session = at_trial(client, max_participants=1)
    html = text(client, session)
    Session.objects.update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    begin(Experiment.objects.get(), "quentin")
    client.post(action(html), {"response": choices(html)[0]})
    assert "2 of 4" in text(client, session)


def test_a_late_answer_to_a_study_that_was_closed_is_a_kind_page(client):
    session = at_trial(client)
    html = text(client, session)
    Session.objects.update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    Experiment.objects.update(status=Experiment.Status.CLOSED)
    response = client.post(action(html), {"response": choices(html)[0]})
    assert "your place is no longer free" in response.content.decode()


def test_who_comes_back_after_a_while_is_welcomed_and_continues(client):
    session = at_trial(client)
    answer(client, session)
    Session.objects.update(lease_expires_at=timezone.now() - timedelta(minutes=1), status="abandoned")
    assert "Welcome back" in text(client, session)
    onward(client, session)
    assert "2 of 4" in text(client, session)


def test_stopping_asks_once_and_ends_kindly(client):
    session = at_trial(client)
    assert "Stop and leave" in text(client, session)
    assert "without giving a reason" in text(client, f"{session}leave/")
    assert client.post(f"{session}leave/")["Location"] == session
    assert "You have left the study" in text(client, session)
    assert Session.objects.get().status == "withdrawn"


def test_a_required_question_is_asked_again_with_what_was_typed(client):
    study(questionnaire=QUESTIONS)
    session = consent(client, "/take/agreement/")
    response = client.post(f"{session}questions/", {"age": "12", "note": "hello"})
    assert response.status_code == 422
    html = response.content.decode()
    assert "greater than or equal to 18" in html and 'value="hello"' in html
    assert Session.objects.get().participant.background == {}


@pytest.mark.parametrize(
    ("language", "words", "box"),
    [
        ("en", "Please give a number from 18 to 99.", "Please look once more"),
        ("de", "Bitte geben Sie eine Zahl von 18 bis 99 an.", "Bitte schauen Sie noch einmal"),
    ],
)
def test_a_number_outside_the_limits_is_refused_with_them(client, language, words, box):
    study(questionnaire=[{**QUESTIONS[0], "max": 99}], language=language)
    session = consent(client, "/take/agreement/")
    for age in ("7", "100"):
        html = client.post(f"{session}questions/", {"age": age}).content.decode()
        assert words in html and box in html


@pytest.mark.parametrize(("answer", "is_native"), [("yes", True), ("no", False), ("-", None), ("", None)])
def test_the_native_language_question_sets_native(client, answer, is_native):
    study(questionnaire=QUESTIONS)
    session = consent(client, "/take/agreement/")
    client.post(f"{session}questions/", {"age": "40", "native": answer})
    assert Session.objects.get().participant.is_native is is_native


NASTY = "<b>It's</b> “x” & \u202bשלום\u202c  two  spaces ǀʰ 🙂"


@pytest.mark.parametrize(("language", "direction"), [("he", "rtl"), ("en", "ltr"), ("ku-Arab", "rtl")])
def test_sentences_are_shown_exactly_as_stored_with_language_and_direction(client, language, direction):
    materials = material_set("agreement", language=language, texts=(NASTY, "{n}"))
    session = at_trial(client, materials=materials, task="likert", n_lists=1)
    html = text(client, session)
    marks = f'lang="{language}" dir="{direction}" translate="no"'
    assert f'<span class="sentence" {marks}>&lt;b&gt;It&#x27;s&lt;/b&gt;' in html
    assert "&lt;b&gt;It&#x27;s&lt;/b&gt; “x” &amp; \u202bשלום\u202c  two  spaces ǀʰ 🙂</span>" in html


def test_texts_of_the_version_a_session_began_with_stay(client):
    session = at_trial(client)
    for _ in range(4):
        answer(client, session)
    Experiment.objects.update(debrief="Another text.")
    assert "We study agreement." in text(client, session)


def test_a_mark_that_is_not_this_screens_moves_nothing(client):
    study(instructions="Read.")
    session = consent(client, "/take/agreement/")
    client.post(f"{session}continue/", {"mark": "ready-1"})
    assert hidden(text(client, session), "mark") == "instructions"
