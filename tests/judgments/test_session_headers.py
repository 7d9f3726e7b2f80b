"""Answers behind a proxy, below a folder, and on hosts that are not served."""

import pytest
from django.test import Client

from judgments.models import Judgment
from tests.cast import begin, study
from tests.judgments.deliveries import address, row, send

pytestmark = pytest.mark.django_db


def test_behind_a_proxy_its_header_decides_about_https(settings):
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 3600
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    session = begin(study())
    first, second, *_ = session.trials.all()
    plain = send(session, row(first), client=Client(headers={"x-forwarded-proto": "http"}))
    assert plain.status_code == 301 and not Judgment.objects.exists()
    client = Client(headers={"x-forwarded-proto": "https"})
    for trial in (first, second):
        response = send(session, row(trial), client=client)
        assert response.status_code == 200
        assert response["Strict-Transport-Security"] == "max-age=3600"
        assert response["X-Content-Type-Options"] == "nosniff" and response["Cache-Control"] == "no-store"


def test_every_answer_of_a_session_carries_the_same_headers():
    session = begin(study())
    responses = [send(session, row(trial)) for trial in session.trials.all()]
    headers = [{**response.headers, "Content-Length": "", "X-Request-ID": ""} for response in responses]
    assert all(session_headers == headers[0] for session_headers in headers)
    for response in responses:
        assert int(response["Content-Length"]) == len(response.content)


def test_a_site_below_a_folder_takes_answers_and_names_its_own_addresses():
    session = begin(study())
    client = Client(SCRIPT_NAME="/lab")
    response = send(session, row(session.trials.first()), client=client)
    assert response.status_code == 200 and response.json()["acknowledged"]


def test_other_methods_and_hosts_are_refused():
    session = begin(study())
    assert Client().put(address(session)).status_code == 405
    trial = row(session.trials.first())
    elsewhere = Client(headers={"host": "elsewhere.example"})
    assert send(session, trial, client=elsewhere).status_code == 400
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("body", [b"{", b"\xff", b"", b"[" * 100_000, b"[]", b'{"judgments": []}'])
def test_a_body_without_answers_is_a_bad_request_with_a_code(body):
    session = begin(study())
    response = Client().post(address(session), body, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["code"] in {"invalid_json", "invalid", "wrong_number"}
