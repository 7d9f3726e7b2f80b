"""The direct link."""

import pytest
from django.test import Client

from experiments.models import Experiment
from judgments.models import Consent, Participant, PlatformIdentity, Session
from tests.cast import begin, study
from tests.judgments.screens.walk import consent, hidden

pytestmark = pytest.mark.django_db
LINK = "/take/agreement/"


@pytest.mark.parametrize("method", ["get", "head"])
def test_looking_at_the_link_creates_nothing(client, method):
    study()
    response = getattr(client, method)(LINK, headers={"user-agent": "Slackbot-LinkExpanding 1.0"})
    assert response.status_code == 200
    assert (Participant.objects.count(), Session.objects.count()) == (0, 0)
    assert not response.cookies


def test_the_title_is_shown_once_on_the_page_of_the_consent(client):
    study()
    page = client.get(LINK).content.decode().partition("<body")[2]
    assert page.count("Study agreement") == 1


def test_agreeing_begins_a_session_and_keeps_what_was_agreed_to(client):
    study()
    address = consent(client, LINK)
    session = Session.objects.get()
    assert address == f"/s/{session.token}/"
    assert Consent.objects.get().given
    assert client.get(address).status_code == 200


def test_a_double_click_on_agree_is_one_session(client):
    study()
    form = {"arrival": hidden(client.get(LINK).content.decode(), "arrival"), "consent": "yes"}
    first, second = Client().post(LINK, form), Client().post(LINK, form)
    assert first["Location"] == second["Location"]
    assert Session.objects.count() == 1


@pytest.mark.parametrize("instructions", ["", "Read each pair."])
def test_where_scripts_run_the_first_screen_answers_the_consent_itself(client, instructions):
    study(instructions=instructions)
    form = {"arrival": hidden(client.get(LINK).content.decode(), "arrival"), "consent": "yes", "script": "1"}
    response = client.post(LINK, form)
    session = Session.objects.get()
    assert response.status_code == 200 and "no-store" in response["Cache-Control"]
    page = response.content.decode()
    assert f'data-home="/s/{session.token}/"' in page
    assert page == client.get(f"/s/{session.token}/").content.decode()
    assert client.get(LINK)["Location"] == f"/s/{session.token}/"  # the cookie came with the page
    repeated = client.post(LINK, form)  # reloaded before a script ran: the same session
    assert repeated["Location"] == f"/s/{session.token}/" and Session.objects.count() == 1


def test_late_participants_are_informed_where_scripts_run(client):
    study(max_participants=1)
    form = {"arrival": hidden(client.get(LINK).content.decode(), "arrival"), "consent": "yes", "script": "1"}
    begin(Experiment.objects.get(), "somebody quicker")
    response = client.post(LINK, form)
    assert response.status_code == 200 and "data-home" not in response.content.decode()
    assert Session.objects.count() == 1


def test_coming_back_with_the_cookie_leads_to_the_same_session(client):
    study()
    address = consent(client, LINK)
    assert client.get(LINK)["Location"] == address
    assert consent(Client(), LINK) != address


def refuse(client, link=LINK):
    """Say no; give the page that follows, and what was sent."""
    form = {"arrival": hidden(client.get(link).content.decode(), "arrival"), "consent": "no"}
    return client.post(link, form), form


def counts():
    """What the database holds of people."""
    return (Participant.objects.count(), Session.objects.count(), Consent.objects.count())


def test_refusing_is_kind_and_takes_no_list(client):
    study()
    response, _ = refuse(client)
    assert "perfectly all right" in response.content.decode()
    assert (Session.objects.get().status, Session.objects.get().list) == ("refused", None)
    assert not Consent.objects.get().given


def test_refusing_is_final_in_the_same_browser(client):
    study()
    first, form = refuse(client)
    assert 'value="reconsider"' in first.content.decode() and 'href=""' not in first.content.decode()
    before = counts()
    for response in (client.get(LINK), client.get(f"{LINK}?source=poster"), client.post(LINK, form)):
        assert "You do not take part" in response.content.decode()
    agreed = client.post(LINK, {**form, "consent": "yes"})
    assert agreed.status_code == 200 and "You do not take part" in agreed.content.decode()
    assert counts() == before
    assert consent(Client(), LINK)  # somebody else may


def test_refusing_is_final_for_a_form_left_open_where_cookies_are_dropped(client):
    study()
    _, form = refuse(client)
    agreed = Client().post(LINK, {**form, "consent": "yes"})
    assert "You do not take part" in agreed.content.decode()
    assert Session.objects.get().status == "refused"


def test_a_refusal_reveals_nothing_to_another_study(client):
    study()
    study("agreement-2")
    refuse(client, f"{LINK}?participant=lab-7")
    assert consent(client, "/take/agreement-2/?participant=lab-7")


@pytest.mark.parametrize(
    "form", [{}, {"consent": "yes"}, {"consent": "yes", "arrival": "forged"}, {"consent": "perhaps"}]
)
def test_a_forged_form_starts_no_session(client, form):
    study()
    assert "answer once more" in client.post(LINK, form).content.decode()
    assert not Session.objects.exists()


def test_a_full_study_is_reported_before_consent(client):
    experiment = study(max_participants=1)
    html = client.get(LINK).content.decode()
    begin(experiment, "quentin")
    assert "this study is full" in client.get(LINK).content.decode()
    late = client.post(LINK, {"arrival": hidden(html, "arrival"), "consent": "yes"})
    assert "this study is full" in late.content.decode()
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    ("status", "words"), [("draft", "not open yet"), ("paused", "takes a break"), ("closed", "is over")]
)
def test_a_study_that_is_not_open_shows_the_reason(client, status, words):
    study(status=status)
    assert words in client.get(LINK).content.decode()


def test_an_unknown_study_is_a_kind_404(client):
    response = client.get("/take/nowhere/")
    assert response.status_code == 404
    assert "no study at this address" in response.content.decode()


def test_parameters_of_the_link_are_kept_and_personal_ones_go_to_the_vault(client):
    study()
    consent(client, f"{LINK}?source=poster&participant=lab-7&PROLIFIC_PID=5f")
    assert Session.objects.get().attributes == {"link": {"source": "poster"}}
    identity = PlatformIdentity.objects.get()
    assert identity.external_id == "lab-7" and not identity.is_verified
    assert identity.parameters == {"participant": "lab-7", "PROLIFIC_PID": "5f"}
    assert client.get(f"{LINK}?participant=lab-8").status_code == 200


def test_texts_are_shown_in_the_studys_language_and_direction(client):
    study(language="he", consent="<b>שלום</b> & <h2>ברוכים</h2>")
    html = client.get(LINK).content.decode()
    assert '<html lang="he" dir="rtl">' in html
    assert "<b>שלום</b> &amp; &lt;h2&gt;ברוכים&lt;/h2&gt;" in html


def test_pages_are_never_kept_by_the_browser_and_need_no_other_host(client):
    study()
    response = client.get(LINK)
    assert "no-store" in response["Cache-Control"]
    assert "default-src 'none'" in response["Content-Security-Policy"]
    html = response.content.decode()
    assert "http://" not in html and "https://" not in html and "<style" not in html and "style=" not in html
