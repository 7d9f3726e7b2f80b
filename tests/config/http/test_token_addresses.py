"""Answers and plans take a short way through the server, and miss nothing of what protects the others."""

import json

import pytest

from tests import cast

pytestmark = pytest.mark.django_db
PROTECTING = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


@pytest.fixture
def plan():
    """The address of a running session's plan."""
    return f"/api/v1/sessions/{cast.begin(cast.study(), 'ada').token}/plan/"


def test_an_answer_of_the_short_way_carries_every_protecting_header(client, plan):
    for response in (client.get(plan), client.get("/api/v1/sessions/unknown/plan/")):
        assert {name: response.headers[name] for name in PROTECTING} == PROTECTING
        assert int(response.headers["Content-Length"]) == len(response.content)
        assert response.headers["Content-Type"] == "application/json"


def test_it_requires_no_login_and_opens_no_login_session(client, plan, django_assert_max_num_queries):
    with django_assert_max_num_queries(4):
        response = client.get(plan)
    assert response.status_code == 200
    assert not response.cookies


def test_an_unknown_host_is_refused(client, plan):
    assert client.get(plan, headers={"host": "elsewhere.example"}).status_code == 400


def test_plain_http_is_led_to_https_where_the_site_is_https_only(client, plan, settings):
    settings.SECURE_SSL_REDIRECT = True
    assert client.get(plan).status_code == 301
    assert client.get(plan, secure=True).status_code == 200


def test_addresses_beside_it_go_the_usual_way(client):
    response = client.get("/api/v1/sessions/")
    assert response.status_code == 404
    assert json.loads(response.content)["code"] == "not_found"


def test_a_participants_page_carries_what_every_page_carries(client):
    session = cast.begin(cast.study(), "ada")
    usual = client.get("/accounts/login/")
    for address in ("/take/agreement/", f"/s/{session.token}/", "/take/no-such-study/", "/s/no-such-token/"):
        page = client.get(address)
        for name in ("Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options"):
            assert page.headers[name] == usual.headers[name], (address, name)
        assert "csrftoken" not in page.cookies and "sessionid" not in page.cookies


def test_a_page_that_breaks_shows_a_kind_and_safe_message(client, monkeypatch):
    def breaks(*_, **__):
        raise RuntimeError("of a test")

    cast.study()
    client.raise_request_exception = False
    monkeypatch.setattr("judgments.screens.arrival_views.check_open", breaks)
    page = client.get("/take/agreement/")
    assert page.status_code == 500 and "Content-Security-Policy" in page.headers


def test_an_address_without_its_slash_is_led_to_the_one_with_it(client):
    cast.study()
    assert client.get("/take/agreement").headers["Location"] == "/take/agreement/"
