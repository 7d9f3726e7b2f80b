"""Answers that screen out, the field that people do not see, and the way back at the end."""

import pytest

from judgments.models import Session, SessionEvent
from tests import cast
from tests.judgments.screens import walk

pytestmark = pytest.mark.django_db
DUTCH = {"name": "dutch", "label": "Do you speak Dutch?", "type": "yes_no", "screen_out": ["no"]}
AGE = {"name": "age", "label": "How old are you?", "type": "number"}


def answered(client, question, **sent):
    cast.study("agreement", questionnaire=[question])
    address = walk.consent(client, "/take/agreement/")
    html = client.get(address).content.decode()
    client.post(walk.action(html), sent)
    return address, html


def test_a_screening_answer_ends_the_session_kindly_and_frees_its_place(client):
    address, html = answered(client, DUTCH, dutch="no")
    assert "If the study does not fit you, it ends here, kindly." in html
    assert "You did nothing wrong" in client.get(address).content.decode()
    session = Session.objects.get()
    assert session.status == Session.Status.SCREENED_OUT
    assert session.participant.background == {"dutch": "no"}
    assert SessionEvent.objects.get(kind="screened_out").details == {"question": "dutch"}


def test_other_answers_go_on(client):
    address, _ = answered(client, DUTCH, dutch="yes")
    assert "Read each sentence" in client.get(address).content.decode()


def test_a_study_without_screening_promises_it(client):
    _, html = answered(client, AGE, age="30")
    assert "it changes neither your pay nor whether you may take part" in html


def test_a_study_with_quotas_does_not_promise_that_no_answer_ends_the_session(client):
    cast.study("agreement", questionnaire=[AGE], quotas=[{"question": "age", "answer": "18-29", "limit": 20}])
    html = client.get(walk.consent(client, "/take/agreement/")).content.decode()
    assert "If the study does not fit you, it ends here, kindly." in html
    assert "nor whether you may take part" not in html


def test_the_hidden_field_is_out_of_reach_and_filling_it_only_leaves_a_note(client):
    address, html = answered(client, AGE, age="30", further_notes="buy now")
    field = next(field for field in walk.fields(html) if field.get("name") == "further_notes")
    assert field["tabindex"] == "-1" and field["autocomplete"] == "off"
    assert 'aria-hidden="true"' in html
    event = SessionEvent.objects.get(kind="honeypot")
    assert event.details == {"length": 7}
    assert Session.objects.get().status == Session.Status.ACTIVE


def test_the_end_has_a_button_back_and_the_code_beside_it(client):
    study = cast.study(
        "agreement",
        completion="redirect",
        completion_url="https://panel.example.org/done?cc={code}&id={participant}",
        completion_code="ABC 1",
    )
    session = cast.sit(study, external_id="me&you")
    page = client.get(f"/s/{session.token}/").content.decode()
    assert 'href="https://panel.example.org/done?cc=ABC%201&amp;id=me%26you"' in page
    assert "noreferrer" in page and "ABC 1" in page
    assert session.token not in page.split('href="https://')[1].split('"')[0]


def test_without_a_way_back_there_is_the_code_only(client):
    session = cast.sit(cast.study("agreement"))
    page = client.get(f"/s/{session.token}/").content.decode()
    assert session.completion_code in page and "go back" not in page
