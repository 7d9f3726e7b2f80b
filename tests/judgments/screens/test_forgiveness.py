"""Forgiveness: a refusal taken back, a code for a part, computers that several people share."""

import csv
import io

import pytest
from django.test import Client

from experiments.models import Experiment
from judgments.models import Consent, Judgment, Participant, Session
from tests.cast import ada, sit, study
from tests.judgments.screens.walk import answer, consent, fields, hidden

pytestmark = pytest.mark.django_db
LINK = "/take/agreement/"
FEW = {"instructions": "", "n_lists": 1}


def page_at(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def refuse(client: Client, link: str = LINK) -> str:
    form = {"arrival": hidden(page_at(client, link), "arrival"), "consent": "no"}
    return client.post(link, form).content.decode()


@pytest.mark.parametrize("comes_back_later", [False, True])
@pytest.mark.parametrize("link", [LINK, f"{LINK}?source=poster"])
def test_a_mistaken_refusal_is_taken_back(client, comes_back_later, link):
    study()
    html = refuse(client, link)
    if comes_back_later:
        html = page_at(client, link)
    assert "You do not take part" in html and Session.objects.get().status == "refused"
    form = {field["name"]: field["value"] for field in fields(html) if "name" in field}
    assert form["consent"] == "reconsider"
    response = client.post(link, form)
    assert response["Location"] == link
    assert (Participant.objects.count(), Session.objects.count(), Consent.objects.count()) == (0, 0, 0)
    assert consent(client, link) == f"/s/{Session.objects.get().token}/"
    assert Consent.objects.get().given


def test_a_refusal_is_taken_back_where_cookies_are_dropped(client):
    study()
    html = refuse(client)
    key = hidden(html, "arrival")
    Client().post(LINK, {"arrival": key, "consent": "reconsider"})
    assert Client().post(LINK, {"arrival": key, "consent": "yes"}).status_code == 302


def test_taking_back_a_refusal_deletes_no_session_with_consent(client):
    study()
    key = hidden(page_at(client, LINK), "arrival")
    client.post(LINK, {"arrival": key, "consent": "yes"})
    Client().post(LINK, {"arrival": key, "consent": "reconsider"})
    assert Session.objects.get().status == "active"


def test_who_stops_after_an_answer_gets_the_code_for_a_part(client):
    study(partial_code="PART-7", **FEW)
    session = consent(client, LINK)
    assert "no completion code" in page_at(client, f"{session}leave/")
    answer(client, session)
    assert "You get a code for the part" in page_at(client, f"{session}leave/")
    client.post(f"{session}leave/")
    assert "PART-7" in page_at(client, session)
    assert Session.objects.get().completion_code == "PART-7"
    assert "your code stays valid" in page_at(client, f"{session}withdraw/")
    client.post(f"{session}withdraw/")
    assert "PART-7" in page_at(client, session) and not Judgment.objects.exists()


def test_who_stops_before_the_first_answer_gets_no_code(client):
    study(partial_code="PART-7", **FEW)
    session = consent(client, LINK)
    client.post(f"{session}leave/")
    assert "PART-7" not in page_at(client, session) and Session.objects.get().completion_code == ""


def test_without_a_code_for_a_part_stopping_shows_none(client):
    study(**FEW)
    session = consent(client, LINK)
    answer(client, session)
    client.post(f"{session}leave/")
    assert "code" not in page_at(client, session).partition("<main")[2].lower()


def finish(client: Client, session: str) -> str:
    """Answer every trial; give the code."""
    for _ in range(Session.objects.get(token=session.split("/")[2]).trials.count()):
        answer(client, session)
    code = Session.objects.get(token=session.split("/")[2]).completion_code
    assert code and code in page_at(client, session)
    return code


def test_on_a_shared_computer_the_next_person_starts_afresh_and_sees_no_code(client):
    study(lab_mode=True, **FEW)
    first = consent(client, LINK)
    code = finish(client, first)
    assert code not in page_at(client, LINK)  # the question, not the person before
    second = consent(client, LINK)
    assert second != first
    for address in (first, f"{first}withdraw/", f"{first}leave/"):
        assert code not in page_at(client, address) and "This session is over" in page_at(client, address)
    client.post(f"{first}withdraw/")
    assert Session.objects.get(completion_code=code).status == "complete"
    assert {session.device for session in Session.objects.all()} == {""}


def test_a_button_hands_the_computer_to_the_next_person(client):
    study(lab_mode=True, **FEW)
    first = consent(client, LINK)
    assert client.post(f"{first}next/")["Location"] == first  # not before the end
    code = finish(client, first)
    assert f'action="{first}next/"' in page_at(client, first)
    assert client.post(f"{first}next/")["Location"] == LINK
    assert code not in page_at(client, first)


def test_an_unfinished_session_is_not_continued_by_the_next_person(client):
    study(lab_mode=True, **FEW)
    first = consent(client, LINK)
    assert hidden(page_at(client, LINK), "arrival")
    assert consent(client, LINK) != first
    assert page_at(client, first).count("<form") == 1  # a reload by the same person still works


def test_a_refusal_on_a_shared_computer_does_not_affect_the_next_participant(client):
    study(lab_mode=True, **FEW)
    refuse(client)
    assert consent(client, LINK)


@pytest.mark.parametrize(("link", "typed"), [(LINK, "Seat 7"), (f"{LINK}?label=Seat 7", "")])
def test_a_lab_may_label_its_sessions(client, link, typed):
    study(lab_mode=True, **FEW)
    html = page_at(client, link)
    client.post(link, {"arrival": hidden(html, "arrival"), "consent": "yes", "label": typed})
    team = Client()
    team.force_login(ada())
    assert "label Seat 7" in team.get("/studies/agreement/participants/").content.decode()
    page = team.get("/studies/agreement/participants/?who=Seat 7").content.decode()
    assert Participant.objects.get().pseudonym in page
    response = team.get("/studies/agreement/participants.csv")
    rows = csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode()))
    assert [row["label"] for row in rows] == ["Seat 7"]


def test_other_studies_ask_for_no_label_and_keep_their_cookies(client):
    study(**FEW)
    html = page_at(client, LINK)
    assert 'name="label"' not in html
    client.post(LINK, {"arrival": hidden(html, "arrival"), "consent": "yes", "label": "Pia"})
    assert Session.objects.get().attributes == {}
    session = sit(Experiment.objects.get(), "quentin")
    assert client.post(f"/s/{session.token}/next/")["Location"] == f"/s/{session.token}/"
    assert session.completion_code in page_at(client, f"/s/{session.token}/")
