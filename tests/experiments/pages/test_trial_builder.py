"""Practice and catch trials, built one by one: what is stored is what lines would store."""

import pytest

from tests import cast

pytestmark = pytest.mark.django_db
PAGE = "/studies/agreement/trials/"
CONTEXT = "A: Who left?\nB: Nobody."


def sent(page, do="save", **changes):
    """What a browser sends from the page."""
    trials = page.context["trials"]
    values = {field.html_name: field.value() for trial in trials for field in trial}
    values = {name: value for name, value in values.items() if value not in (None, False)}
    return {**values, "n": len(trials), "version": page.context["version"], "do": do, **changes}


def test_a_sentence_with_its_answer_is_added_moved_and_stored(ada):
    study = cast.draft("agreement", task="likert", parameters={"points": 7})
    page = ada.get(f"{PAGE}catch_trials/")
    first = {"t0-right": "Please choose 2.", "t0-answer": "2", "t0-instruction": "on"}
    page = ada.post(f"{PAGE}catch_trials/", sent(page, "add", **first))
    assert "As participants read it" in page.content.decode() and not study.catch_trials
    second = {"t1-right": "The cat sleep.", "t1-answer": "1-3", "t1-context": CONTEXT}
    page = ada.post(f"{PAGE}catch_trials/", sent(page, "add", **second))
    page = ada.post(f"{PAGE}catch_trials/", sent(page, "up-1"))
    ada.post(f"{PAGE}catch_trials/", sent(page))
    study.refresh_from_db()
    assert study.catch_trials == [
        {"text": "The cat sleep.", "correct": [1, 3], "context": CONTEXT},
        {"text": "Please choose 2.", "correct": 2, "check": "instruction"},
    ]
    assert study.audit.get(action="settings changed").details["fields"] == "catch_trials"
    page = ada.get(f"{PAGE}catch_trials/")
    ada.post(f"{PAGE}catch_trials/", sent(page, "save"))
    assert study.audit.filter(action="settings changed").count() == 1


def test_a_pair_keeps_what_the_form_does_not_show(ada):
    row = {
        "options": [{"text": "He **sleep**."}, {"text": "He **sleeps**."}],
        "correct": 1,
        "markup": "inline",
        "language": "en",
        "feedback": "One of them.",
    }
    study = cast.draft("agreement", practice=[row])
    page = ada.get(f"{PAGE}practice/")
    assert page.context["trials"][0]["right"].value() == "He **sleeps**."
    ada.post(f"{PAGE}practice/", sent(page))
    study.refresh_from_db()
    assert study.practice == [row]
    ada.post(f"{PAGE}practice/", sent(page, **{"t0-other": "He **slept**."}))
    study.refresh_from_db()
    assert study.practice[0]["options"] == [{"text": "He **sleeps**."}, {"text": "He **slept**."}]
    assert study.practice[0]["markup"] == "inline"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t0-right": "A | B", "t0-answer": "1"}, "A vertical bar"),
        ({"t0-right": "The cat sleep.", "t0-answer": "9"}, "impossible to give"),
        ({"t0-right": "The cat sleep."}, "has no right answer"),
        ({"t0-right": "The cat sleep.", "t0-answer": "good"}, "right answer"),
    ],
)
def test_what_no_participant_can_answer_is_refused_and_stays_in_the_form(ada, changes, message):
    study = cast.draft("agreement", task="likert", parameters={"points": 7})
    page = ada.post(f"{PAGE}catch_trials/", sent(ada.get(f"{PAGE}catch_trials/"), **changes))
    text = page.content.decode()
    assert message in text and changes["t0-right"] in text
    study.refresh_from_db()
    assert study.catch_trials == []


def test_another_editors_change_is_not_overwritten_unseen(ada):
    study = cast.draft("agreement", task="likert", parameters={"points": 7})
    page = ada.get(f"{PAGE}catch_trials/")
    study.catch_trials = [{"text": "The dog bark.", "correct": 1}]
    study.save()
    mine = {"t0-right": "The cat sleep.", "t0-answer": "1"}
    answer = ada.post(f"{PAGE}catch_trials/", sent(page, **mine))
    assert answer.status_code == 409 and "Another user changed" in answer.content.decode()
    study.refresh_from_db()
    assert study.catch_trials == [{"text": "The dog bark.", "correct": 1}]


def test_readers_see_the_trials_only(client):
    cast.draft("agreement", catch_trials=[])
    client.force_login(cast.ben())
    assert b"Add a trial" not in client.get(f"{PAGE}practice/").content
    assert client.post(f"{PAGE}practice/", {"do": "save", "n": "0"}).status_code == 403
    assert client.get(f"{PAGE}questionnaire/").status_code == 404
