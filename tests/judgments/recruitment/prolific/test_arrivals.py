"""Arrivals from Prolific: ids confirmed by signature or by the API, the clean address, and each way back."""

import socket
import time
from datetime import timedelta
from unittest.mock import patch
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.cache import cache
from django.test import Client

from analysis.quality.duplicates import duplicates
from judgments.frames.measurements import evidence_frame
from judgments.models import PlatformIdentity, Session
from judgments.recruitment.prolific import arrivals
from judgments.sessions.removal import screen_out
from tests import cast
from tests.judgments.screens.walk import consent, hidden

pytestmark = pytest.mark.django_db
PERSON = "5f" * 12


def path_of(address):
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}"


def arrival(prolific, published, person=PERSON):
    """A place taken on the platform: the submission and the path that the participant opens."""
    place = prolific.platform.take_place(published.external_id, person)
    return place["submission"], path_of(place["url"])


def entered(client, path):
    """The clean address after the link."""
    response = client.get(path)
    assert response.status_code == 302, response.content
    return response["Location"]


def finished(address):
    session = Session.objects.get(token=address.split("/")[2])
    for trial in session.trials.select_related("session__experiment"):
        cast.record(session, trial.public_id, cast.answer_to(trial))
    session.refresh_from_db()
    return session


def page(client, address):
    return client.get(address).content.decode().replace("&amp;", "&")


def way_back(published, outcome):
    published.refresh_from_db()
    return f'href="{published.return_template(outcome)}"'


@pytest.fixture
def signing(published, prolific):
    """The campaign's links are signed, and the API does not confirm anything."""
    prolific.platform.studies[published.external_id]["is_external_study_url_secure"] = True
    published.account = None
    published.save()
    return published


def test_an_arrival_leaves_no_id_in_the_address_and_is_confirmed_by_the_api(client, prolific, published):
    submission, path = arrival(prolific, published)
    clean = entered(client, path)
    assert PERSON not in clean and submission not in clean and "?" not in clean
    finished(consent(client, clean))
    identity = PlatformIdentity.objects.get()
    assert (identity.recruiter, identity.external_id, identity.is_verified) == ("prolific", PERSON, True)
    assert identity.parameters["SESSION_ID"] == submission
    session = Session.objects.get()
    assert session.campaign == published and PERSON not in str(session.attributes)


@pytest.mark.parametrize(("clock_was_ahead_s", "status"), [(3600, 200), (0, 200), (-86_400 - 60, 404)])
def test_an_address_counts_for_a_day_even_if_the_clock_was_ahead_when_it_was_made(
    client, prolific, published, monkeypatch, clock_was_ahead_s, status
):
    _, path = arrival(prolific, published)
    now = time.time()
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", lambda: now + clock_was_ahead_s)
        clean = entered(client, path)
    assert client.get(clean).status_code == status


def test_looking_at_the_link_stores_nothing(client, prolific, published):
    _, path = arrival(prolific, published)
    client.get(entered(client, path))
    assert not Session.objects.exists() and not PlatformIdentity.objects.exists()


def test_who_completes_returns_with_the_code_of_completion(client, prolific, published):
    _, path = arrival(prolific, published)
    address = consent(client, entered(client, path))
    finished(address)
    shown = page(client, address)
    assert way_back(published, "complete") in shown
    code = published.options["codes"]["complete"]["code"]
    assert f"<output>{code}</output>" in shown, "the code to copy is the one that Prolific expects"
    assert Session.objects.get().completion_code not in shown


@pytest.mark.parametrize(
    ("details", "outcome"), [({"question": "age"}, "screened_out"), ({"quiz": "failed"}, "failed_check")]
)
def test_who_is_screened_out_returns_with_the_code_of_the_reason(
    client, prolific, published, details, outcome
):
    _, path = arrival(prolific, published)
    address = consent(client, entered(client, path))
    screen_out(Session.objects.get(), details=details)
    assert way_back(published, outcome) in page(client, address)


def test_who_refuses_returns_with_the_code_of_no_consent(client, prolific, published):
    _, path = arrival(prolific, published)
    clean = entered(client, path)
    form = {"arrival": hidden(page(client, clean), "arrival"), "consent": "no"}
    answer = client.post(clean, form).content.decode()
    assert way_back(published, "refused") in answer
    assert not PlatformIdentity.objects.exists()


def test_who_comes_when_the_study_is_full_returns_with_the_code_of_the_quota(client, prolific, published):
    _, path = arrival(prolific, published)
    published.places = 1
    published.save()
    _, other = arrival(prolific, published, "6a" * 12)
    consent(client, entered(client, path))
    later = Client()
    assert way_back(published, "over_quota") in page(later, entered(later, other))


def test_the_same_submission_from_another_browser_goes_on_with_its_session(client, prolific, published):
    _, path = arrival(prolific, published)
    address = consent(client, entered(client, path))
    later = Client()
    assert later.get(entered(later, path))["Location"] == address


def test_two_windows_of_one_submission_begin_one_session(client, prolific, published):
    _, path = arrival(prolific, published)
    second = Client()
    first_page, second_page = entered(client, path), entered(second, path)
    form = hidden(page(second, second_page), "arrival")
    consent(client, first_page)
    second.post(second_page, {"arrival": form, "consent": "yes"})
    assert Session.objects.count() == 1


def test_who_took_part_before_sees_the_way_back_and_no_code_of_then(client, prolific, published):
    submission, path = arrival(prolific, published)
    finished(consent(client, entered(client, path)))
    code = published.return_template("complete")
    del prolific.platform.submissions[submission]
    _, again = arrival(prolific, published)
    later = Client()
    shown = page(later, entered(later, again))
    assert "taken part in this study before" in shown
    assert way_back(published, "repeated") in shown and code not in shown
    assert Session.objects.count() == 1


def test_the_same_person_over_a_channel_and_over_a_campaign_is_flagged_for_the_researcher(
    client, prolific, published
):
    study = published.experiment
    study.campaigns.create(
        recruiter="panel", name="pool", state="running", options={"id_parameter": "PROLIFIC_PID"}
    )
    for person in (PERSON, "6a" * 12):
        finished(consent(Client(), f"/take/{study.link_slug}/panel/pool/?PROLIFIC_PID={person}"))
    _, path = arrival(prolific, published)
    finished(consent(client, entered(client, path)))  # the link of the channel claims; this one is confirmed
    flagged = duplicates(evidence_frame(study))
    assert flagged["flagged"].sort_index().tolist() == [True, False, True]
    assert "same id" in flagged["reason"].sort_index().iloc[0]


@pytest.mark.parametrize("parameter", ["PROLIFIC_PID", "SESSION_ID"])
def test_an_id_written_by_hand_is_a_claim_and_opens_nobodys_session(client, prolific, published, parameter):
    _, path = arrival(prolific, published)
    address = consent(client, entered(client, path))
    finished(address)
    query = dict(parse_qsl(urlsplit(path).query)) | {parameter: "7b" * 12}
    later = Client()
    clean = entered(later, f"{urlsplit(path).path}?{urlencode(query)}")
    assert consent(later, clean) != address
    assert list(PlatformIdentity.objects.order_by("pk").values_list("is_verified", flat=True)) == [
        True,
        False,
    ]


def test_a_finished_submission_no_longer_confirms_a_visitor(client, prolific, published):
    submission, path = arrival(prolific, published)
    address = consent(client, entered(client, path))
    finished(address)
    prolific.submit(submission, published.options["codes"]["complete"]["code"])
    later = Client()
    shown = page(later, entered(later, path))
    assert published.options["codes"]["complete"]["code"] not in shown
    assert client.get(entered(client, path))["Location"] == address  # the browser that began


@pytest.mark.parametrize("kind", ["before", "after", "429", "503", "malformed", "401"])
def test_without_an_answer_of_the_api_the_ids_are_a_claim(client, prolific, published, kind):
    _, path = arrival(prolific, published)
    prolific.fail_next(kind, method="GET", path="/submissions/")
    consent(client, entered(client, path))
    assert not PlatformIdentity.objects.get().is_verified


def test_a_link_of_another_study_is_not_found(client, published):
    for query in ("", "?STUDY_ID=" + "9" * 24):
        assert client.get(f"/take/agreement/prolific/{query}").status_code == 404
    assert client.get("/take/agreement/prolific/invented/").status_code == 404


def test_one_campaign_asks_the_platform_so_often_and_no_more(client, prolific, published, monkeypatch):
    monkeypatch.setattr(arrivals, "QUESTIONS_PER_MINUTE", 2)
    _, path = arrival(prolific, published)
    for _ in range(4):
        entered(client, path)
    assert prolific.count("GET", "/submissions/ID/") == 2


# Signed links


def is_verified(client, path):
    consent(client, entered(client, path))
    return PlatformIdentity.objects.get().is_verified


def test_a_signed_link_is_confirmed_by_the_platforms_key(client, prolific, signing):
    _, path = arrival(prolific, signing)
    assert is_verified(client, path)
    assert prolific.count("GET", "/submissions/ID/") == 0


def signed_path(double, campaign, /, **changes):
    submission, _ = arrival(double, campaign)
    platform = double.platform
    study, row = platform.studies[campaign.external_id], platform.submissions[submission]
    return path_of(platform.study_address(study, row, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"lifetime": timedelta(minutes=-5)},
        {"iss": "https://www.prolific.example"},
        {"aud": "https://other.example/take/agreement/prolific/"},
        {"aud": "http://testserver/take/other/prolific/"},
        {"sub": "8" * 24},
        {"prolific": {"PROLIFIC_PID": "8" * 24}},
        {"prolific": None},
    ],
)
def test_a_signature_of_anything_else_confirms_nothing(client, prolific, signing, changes):
    assert not is_verified(client, signed_path(prolific, signing, **changes))


def test_a_clock_that_is_a_little_slow_does_not_matter(client, prolific, signing):
    assert is_verified(client, signed_path(prolific, signing, lifetime=timedelta(seconds=-10)))


def forged(path, key, algorithm, **headers):
    """The link with its token signed anew."""
    parts = urlsplit(path)
    query = dict(parse_qsl(parts.query))
    claims = jwt.decode(query["prolific_token"], options={"verify_signature": False})
    query["prolific_token"] = jwt.encode(claims, key, algorithm=algorithm, headers=headers)
    return f"{parts.path}?{urlencode(query)}"


def test_another_key_and_another_algorithm_confirm_nothing(client, prolific, signing):
    path = signed_path(prolific, signing)
    key_id = prolific.platform.public_keys()["keys"][0]["kid"]
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    for address in (
        forged(path, other, "RS256", kid=key_id),
        forged(path, other, "RS256", kid="invented"),
        forged(path, "", "none", kid=key_id),
        forged(path, "secret-of-thirty-two-characters-1", "HS256", kid=key_id),
    ):
        visitor = Client()
        consent(visitor, entered(visitor, address))
    assert not PlatformIdentity.objects.filter(is_verified=True).exists()
    assert prolific.count("GET", "/.well-known/study/jwks.json") <= 2


def test_keys_that_cannot_be_read_confirm_nothing(client, prolific, signing):
    path = signed_path(prolific, signing)
    for kind in ("malformed", "503"):
        prolific.fail_next(kind, path="jwks")
    assert not is_verified(client, path)


def test_without_a_network_an_arrival_still_begins(client, prolific, published, settings):
    _, path = arrival(prolific, published)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.PROLIFIC_URL = f"http://127.0.0.1:{unused.getsockname()[1]}"
        assert not is_verified(client, path)


def test_arrivals_of_one_network_are_limited(prolific, published, settings):
    settings.ARRIVALS_PER_MINUTE = 2
    cache.clear()

    def consents(number):
        browser = Client()
        _, path = arrival(prolific, published, f"{number:024x}")
        clean = entered(browser, path)
        sent = {"arrival": hidden(browser.get(clean).content.decode(), "arrival"), "consent": "yes"}
        return browser.post(clean, sent)

    with patch("experiments.limits.time", return_value=60e6 + 15):
        responses = [consents(number) for number in range(4)]
    assert [response.status_code for response in responses] == [302, 302, 429, 429]
    assert responses[-1]["Retry-After"] == "45" and Session.objects.count() == 2
    cache.clear()
