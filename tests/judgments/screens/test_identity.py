"""An id in a link is a claim: it begins a session, and opens none of an earlier visit."""

import csv
import json
import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client

import config.settings
from analysis.quality.duplicates import duplicates
from judgments.frames.measurements import evidence_frame
from judgments.models import Judgment, Participant, PlatformIdentity, Session
from judgments.sessions.arrival import personal_link
from judgments.sessions.completion import finish
from tests import cast
from tests.judgments.screens.walk import consent, hidden

pytestmark = pytest.mark.django_db
LINK, PIAS = "/take/agreement/", "/take/agreement/?participant=pia"


def form(client, link=LINK, answer="yes"):
    """The consent form of a link, filled in."""
    return {"arrival": hidden(client.get(link).content.decode(), "arrival"), "consent": answer}


def complete(address):
    """Answer all trials of the session at an address."""
    session = Session.objects.get(token=address.split("/")[2])
    for trial in session.trials.select_related("session__experiment"):
        cast.record(session, trial.public_id, cast.answer_to(trial))
    return finish(session)


def without_key(client, link):
    """A consent page without the part that differs between any two of them."""
    page = client.get(link).content.decode()
    return page.replace(hidden(page, "arrival"), "")


@pytest.mark.parametrize("n_answers", [0, 1, None])
def test_a_stranger_with_an_id_reaches_nothing_of_its_session_and_learns_nothing(client, n_answers):
    cast.study("agreement")
    session_address = consent(client, PIAS)
    if n_answers is None:
        assert complete(session_address).completion_code
    stranger, elsewhere = Client(), Client()
    assert without_key(stranger, PIAS) == without_key(elsewhere, f"{LINK}?participant=nobody")
    other = stranger.post(PIAS, form(stranger, PIAS))
    assert other.status_code == 302 and other["Location"] != session_address
    page = stranger.get(other["Location"]).content.decode()
    assert session_address not in page and "Your completion code" not in page
    stranger.post(f"{other['Location']}withdraw/")
    if n_answers is None:
        assert Judgment.objects.count() == 4
    assert (
        client.get(PIAS)["Location"] == session_address
    )  # the cookie of Pia's browser still leads to her session


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_an_id_used_before_does_not_lock_out_its_owner(client, answer):
    cast.study("agreement")
    stranger = Client()
    first = stranger.post(PIAS, form(stranger, PIAS, answer))
    if answer == "yes":
        complete(first["Location"])
    session_address = consent(client, PIAS)
    assert Session.objects.get(token=session_address.split("/")[2]).status == "active"


def test_two_sessions_under_one_id_are_flagged_for_the_researcher(client):
    study = cast.study("agreement")
    for browser, name in ((client, "pia"), (Client(), "pia"), (Client(), "quentin")):
        complete(consent(browser, f"{LINK}?participant={name}"))
    flagged = duplicates(evidence_frame(study))
    assert flagged["flagged"].sort_index().tolist() == [True, True, False]
    assert "same id" in flagged["reason"].sort_index().iloc[0]


def test_a_signed_link_leads_to_its_own_session_from_any_browser(client):
    study = cast.study("agreement")
    stranger = Client()
    consent(stranger, PIAS)
    link = personal_link(study, "pia")
    session_address = consent(client, link)
    complete(session_address)
    assert Client().get(link)["Location"] == session_address
    assert "Your completion code" in Client().get(link, follow=True).content.decode()
    assert Client().get(f"{PIAS}&key=forged").status_code == 200
    other = cast.study("other")
    assert Client().get(link.replace("agreement", other.slug)).status_code == 200
    assert PlatformIdentity.objects.with_id(study, "pia").filter(is_verified=True).count() == 1
    assert "key" not in str(Session.objects.values_list("attributes", flat=True))


def test_an_editor_downloads_signed_links(client):
    cast.study("agreement")
    client.force_login(cast.ada())
    assert "Personal links" in client.get("/studies/agreement/").content.decode()
    file = client.post("/studies/agreement/links/", {"labels": "lab-1\r\n\n lab-2 \nlab-1"})
    rows = list(csv.DictReader(file.content.decode().splitlines()))
    assert [row["participant"] for row in rows] == ["lab-1", "lab-2"]
    session_address = consent(Client(), rows[0]["link"])
    assert Client().get(rows[0]["link"])["Location"] == session_address != consent(Client(), rows[1]["link"])
    client.force_login(cast.ben())
    assert client.post("/studies/agreement/links/", {"labels": "lab-1"}).status_code in {403, 404}


def test_the_next_person_at_a_shared_computer_begins_with_their_own_id(client):
    cast.study("agreement")
    first = consent(client, PIAS)
    second = consent(client, f"{LINK}?participant=quentin")
    assert first != second and Participant.objects.count() == 2


@pytest.mark.parametrize(
    "name", ["PROLIFIC_PID", "workerId", "pid", "id"], ids=["Prolific", "MTurk", "panel", "SONA"]
)
def test_the_id_of_a_platform_in_a_direct_link_is_kept_in_the_vault(client, name):
    cast.study("agreement")
    consent(client, f"{LINK}?{name}=5f1e&SESSION_ID=77&source=poster")
    identity = PlatformIdentity.objects.get()
    assert (identity.external_id, identity.is_verified) == ("5f1e", False)
    assert identity.parameters == {name: "5f1e", "SESSION_ID": "77"}
    assert Session.objects.get().attributes == {"link": {"source": "poster"}}


@pytest.mark.parametrize("is_shared", [False, True])
def test_nul_in_a_link_or_label_is_left_out_in_every_database(client, is_shared):
    """PostgreSQL cannot store it: one such visit on SQLite kept a pilot from being moved."""
    cast.study("agreement", lab_mode=is_shared)
    link = f"{LINK}?participant=pi%00a&so%00urce=a%00b&label=se%00at"
    assert client.post(link, form(client, link)).status_code == 302
    session = Session.objects.get()
    assert session.attributes["link"]["source"] == "ab"
    if is_shared:
        link = f"{LINK}?source=c"
        assert client.post(link, form(client, link) | {"label": "next\0seat"}).status_code == 302
    texts = json.dumps([[one.attributes, one.participant.pseudonym] for one in Session.objects.all()])
    assert "u0000" not in texts and ("nextseat" in texts) is is_shared


def test_a_key_is_valid_for_its_study_and_a_day(client):
    cast.study("agreement")
    cast.study("other")
    sent = form(client)
    assert "answer once more" in Client().post("/take/other/", sent).content.decode()
    with patch("django.core.signing.time.time", return_value=time.time() + 25 * 3600):
        late = Client().post(LINK, sent)
    assert "answer once more" in late.content.decode() and not Session.objects.exists()
    assert Client().post(LINK, sent).status_code == 302


def test_arrivals_of_one_network_are_limited_and_can_try_again(client, settings):
    settings.ARRIVALS_PER_MINUTE = 3
    cache.clear()
    cast.study("agreement")
    cast.study("other")
    minute = 60 * 1_000_000
    with patch("experiments.limits.time", return_value=minute + 15):
        responses = [Client().post(LINK, form(Client())) for _ in range(5)]
        assert [response.status_code for response in responses] == [302, 302, 302, 429, 429]
        late = responses[-1]
        assert late["Retry-After"] == "45" and "wait a minute" in late.content.decode()
        assert 'name="consent" value="yes"' in late.content.decode()
        assert Session.objects.count() == 3
        assert Client(REMOTE_ADDR="10.0.0.9").post(LINK, form(Client())).status_code == 302
        assert Client().post("/take/other/", form(Client(), "/take/other/")).status_code == 302
    with patch("experiments.limits.time", return_value=minute + 61):
        retry_form = {"arrival": hidden(late.content.decode(), "arrival"), "consent": "yes"}
        assert Client().post(LINK, retry_form).status_code == 302
    cache.clear()


@pytest.mark.django_db(transaction=True)
def test_150_arrivals_at_once_from_one_network_begin_60_sessions(settings):
    """The default; a study of which one computer takes all places would end with its answers alone."""
    settings.ARRIVALS_PER_MINUTE = config.settings.ARRIVALS_PER_MINUTE
    cache.clear()
    cast.study("agreement", target_judgments=1000)

    def arrive(_):
        try:
            response = Client().post(LINK, form(Client()))
            return response.status_code, response.get("Retry-After")
        finally:
            connection.close()

    with patch("experiments.limits.time", return_value=60e6 + 20), ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(arrive, range(150)))
    assert sorted(responses, key=str) == [(302, None)] * 60 + [(429, "40")] * 90
    assert Session.objects.count() == 60
    cache.clear()


def test_an_address_is_read_behind_the_proxies_that_are_trusted(settings):
    settings.ARRIVALS_PER_MINUTE = 1
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    cache.clear()
    cast.study("agreement")

    def arrive(forwarded):
        return Client().post(LINK, form(Client()), headers={"x-forwarded-for": forwarded}).status_code

    assert [arrive("1.1.1.1"), arrive("2.2.2.2"), arrive("9.9.9.9, 1.1.1.1")] == [302, 302, 429]
    assert [arrive("2001:db8::1"), arrive("2001:db8::2"), arrive("2001:db8:0:1::2")] == [302, 429, 302]
    cache.clear()
