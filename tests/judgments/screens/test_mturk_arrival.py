"""Workers of MTurk: our page in the frame of another site, without cookies, up to the form that submits."""

import re
from unittest.mock import patch
from urllib.parse import urlencode

import pytest
from django.core.cache import cache
from django.test import Client

from experiments.models import Campaign
from judgments.models import Participant, PlatformIdentity, Session
from judgments.recruitment.mturk.external_question import read_receipt
from tests import cast
from tests.judgments.screens.walk import hidden
from tools.doubles.mturk_service import answer_document

pytestmark = pytest.mark.django_db
SITE = "https://workersandbox.mturk.com"


@pytest.fixture
def study():
    study = cast.study("agreement", screen_out_code="SCREENED")
    Campaign.objects.create(
        experiment=study, recruiter="mturk", name="turk", state="running", currency="USD", places=20
    )
    return study


def link(assignment="3ASSIGN1", worker="AWORKER1", site=f"{SITE}/", **more):
    query = {"campaign": "turk", "assignmentId": assignment, "hitId": "3HIT1", "turkSubmitTo": site, **more}
    return f"/take/agreement/mturk/?{urlencode({**query, **({'workerId': worker} if worker else {})})}"


def without_cookies():
    """The next request of a browser that keeps no cookie of a framed page."""
    return Client()


def begin(address):
    """Agree; the address of the session."""
    html = without_cookies().get(address).content.decode()
    form = {"arrival": hidden(html, "arrival"), "consent": "yes"}
    response = without_cookies().post(address, form)
    assert response.status_code == 302, response.content.decode()
    return response["Location"]


def finish(address):
    session = Session.objects.get(token=address.split("/")[2])
    for trial in session.trials.select_related("session__experiment"):
        cast.record(session, trial.public_id, cast.answer_to(trial))
    return session


def text_of(address):
    return without_cookies().get(address, follow=True).content.decode()


def submit_form(html):
    """Action and fields of the form that goes to the worker site; None where there is none."""
    form = re.search(r'<form method="post" action="([^"]*externalSubmit)">(.*?)</form>', html, re.DOTALL)
    return form and (form[1], dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[2])))


def framing(response):
    policy = dict(
        part.strip().split(" ", 1) for part in response["Content-Security-Policy"].split(";") if part
    )
    return policy["frame-ancestors"], policy["form-action"], response.headers.get("X-Frame-Options")


def test_a_worker_takes_part_without_cookies_and_submits_on_the_worker_site(study):
    address = begin(link())
    session = finish(address)
    action, fields = submit_form(text_of(address))
    assert action == f"{SITE}/mturk/externalSubmit"
    assert fields.keys() == {"assignmentId", "receipt"} and fields["assignmentId"] == "3ASSIGN1"
    session.refresh_from_db()
    assert session.status == Session.Status.COMPLETE and session.completion_code not in text_of(address)
    assert read_receipt(answer_document(fields)) == fields["receipt"] != ""
    assert submit_form(text_of(address)) == (action, fields), "the page may be opened again"


def test_ids_are_in_the_vault_only(study):
    begin(link(extra="x"))
    session, identity = Session.objects.get(), PlatformIdentity.objects.get()
    assert (identity.recruiter, identity.external_id, identity.is_verified) == ("mturk", "AWORKER1", False)
    assert identity.parameters["assignmentId"] == "3ASSIGN1" and identity.parameters["turkSubmitTo"] == SITE
    assert session.attributes == {} and "AWORKER1" not in session.participant.pseudonym


@pytest.mark.parametrize(
    "preview",
    [
        {"assignment": "ASSIGNMENT_ID_NOT_AVAILABLE"},
        {"assignment": "ASSIGNMENT_ID_NOT_AVAILABLE", "worker": ""},
        {"assignment": ""},
        {"worker": ""},
    ],
)
def test_a_preview_stores_nothing(study, preview):
    response = without_cookies().get(link(**preview))
    html = response.content.decode()
    assert "Please accept the HIT to begin" in html and "<form" not in html
    assert framing(response)[0] == "https://*.mturk.com"
    refused = without_cookies().post(link(**preview), {"arrival": "x", "consent": "yes"})
    assert "Please accept the HIT to begin" in refused.content.decode()
    assert not Participant.objects.exists() and not PlatformIdentity.objects.exists()


def test_only_a_workers_pages_may_be_framed_and_only_by_worker_sites(study, client):
    address = begin(link())
    for path in (link(), address, f"{address}consent/", f"{address}leave/"):
        ancestors, forms, options = framing(without_cookies().get(path))
        assert ancestors == "https://*.mturk.com" and options is None
        assert forms == f"'self' {SITE} https://www.mturk.com"
    token = cast.begin(study, "pia").token
    for path in ("/take/agreement/", "/take/agreement/consent/", f"/s/{token}/", "/accounts/login/"):
        ancestors, forms, options = framing(client.get(path))
        assert (ancestors, forms, options) == ("'none'", "'self'", "DENY")


@pytest.mark.parametrize(
    "site",
    ["https://evil.example/", "https://www.mturk.com.evil.example/", "javascript:alert(1)", "", "https://["],
)
def test_a_form_is_never_sent_to_a_site_that_the_link_chose(study, site):
    address = begin(link(site=site))
    finish(address)
    html = text_of(address)
    assert submit_form(html)[0] == f"{SITE}/mturk/externalSubmit", "the sandbox, by the campaign's mode"
    assert "evil" not in html


def test_another_compatible_site_is_allowed_by_the_settings(study, settings):
    settings.MTURK_WORKER_SITES = ["https://workers.example"]
    address = begin(link(site="https://workers.example/"))
    finish(address)
    assert submit_form(text_of(address))[0] == "https://workers.example/mturk/externalSubmit"
    assert "https://workers.example" in framing(without_cookies().get(address))[0]


def test_a_reload_goes_on_with_the_same_session(study):
    address = begin(link())
    assert without_cookies().get(link())["Location"] == address
    assert begin_twice(link()) == 1


def begin_twice(address):
    """Sessions after the same assignment agreed in two windows at once."""
    pages = [without_cookies().get(link("3TWICE", "ATWICE")).content.decode() for _ in range(2)]
    for html in pages:
        form = {"arrival": hidden(html, "arrival"), "consent": "yes"}
        without_cookies().post(link("3TWICE", "ATWICE"), form)
    return [row.external_id for row in PlatformIdentity.objects.all()].count("ATWICE")


def test_a_finished_worker_who_opens_the_hit_again_may_submit_and_sees_nothing_else(study):
    address = begin(link())
    session = finish(address)
    html = text_of(link())
    assert submit_form(html)[1]["assignmentId"] == "3ASSIGN1"
    session.refresh_from_db()
    assert session.token not in html and session.completion_code not in html and "withdraw" not in html


def test_who_took_part_is_asked_to_return_a_second_hit(study):
    address = begin(link())
    finish(address)
    html = text_of(link("3ASSIGN2"))
    assert "You have taken part in this study before" in html and "return this HIT" in html
    assert submit_form(html) is None and Session.objects.count() == 1


def test_two_workers_may_have_one_assignment_id(study):
    first, second = begin(link(worker="AFIRST")), begin(link(worker="ASECOND"))
    assert first != second and Session.objects.count() == 2
    assert without_cookies().get(link(worker="ASECOND"))["Location"] == second


def test_a_refusal_stores_no_id_and_can_be_taken_back(study):
    html = without_cookies().get(link()).content.decode()
    response = without_cookies().post(link(), {"arrival": hidden(html, "arrival"), "consent": "no"})
    html = response.content.decode()
    assert "return this HIT" in html and not PlatformIdentity.objects.exists()
    form = {"arrival": hidden(html, "arrival"), "consent": "reconsider"}
    assert without_cookies().post(link(), form)["Location"] == link()
    assert finish(begin(link())).campaign.name == "turk"


@pytest.mark.parametrize(("status", "is_paid"), [("screened_out", True), ("withdrawn", False)])
def test_each_other_end_says_what_becomes_of_the_hit(study, status, is_paid):
    address = begin(link())
    Session.objects.update(status=status)
    html = text_of(address)
    assert bool(submit_form(html)) == is_paid and ("return this HIT" in html) != is_paid


def test_a_campaign_that_is_not_running_asks_to_return_the_hit(study):
    Campaign.objects.update(state="paused")
    response = without_cookies().get(link())
    assert "return this HIT" in response.content.decode() and framing(response)[2] is None
    assert without_cookies().get(link(campaign="other")).status_code == 404


def test_links_that_the_frame_cannot_show_open_beside_it(study):
    html = without_cookies().get(link()).content.decode()
    assert re.search(r'href="/take/agreement/consent/" target="_blank"', html)
    address = begin(link())
    finish(address)
    assert 'consent.pdf" target="_blank"' in text_of(address)
    assert 'consent/" target' not in without_cookies().get("/take/agreement/").content.decode()


@pytest.mark.parametrize("answer", ["", "<", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "<a/>"])
def test_an_answer_without_a_receipt_is_read_as_none(answer):
    assert read_receipt(answer) == ""


def test_arrivals_of_one_network_are_limited(study, settings):
    settings.ARRIVALS_PER_MINUTE = 3
    cache.clear()
    with patch("experiments.limits.time", return_value=60e6 + 15):
        for number in range(3):
            begin(link(assignment=f"3ASSIGN{number}", worker=f"AWORKER{number}"))
        address = link(assignment="3ASSIGN4", worker="AWORKER4")
        page = without_cookies().get(address)
        form = {"arrival": hidden(page.content.decode(), "arrival"), "consent": "yes"}
        late = without_cookies().post(address, form)
    assert (late.status_code, late["Retry-After"]) == (429, "45")
    assert framing(late) == framing(page), "the page that asks to wait is shown in the frame as well"
    assert Session.objects.count() == 3
    with patch("experiments.limits.time", return_value=60e6 + 61):
        retry_form = {"arrival": hidden(late.content.decode(), "arrival"), "consent": "yes"}
        assert without_cookies().post(address, retry_form).status_code == 302
    cache.clear()
