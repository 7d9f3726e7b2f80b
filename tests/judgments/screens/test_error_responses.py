"""A request that cannot be taken gets a page that says so, in the words of whoever sent it."""

import pytest
from django.db import DataError, connection
from django.test import Client

from tests.cast import ada, begin, draft, study
from tests.judgments.screens.walk import fields

pytestmark = pytest.mark.django_db
MANY = {f"field{n}": "1" for n in range(1_500)}
GERMAN = {"accept-language": "de-AT,en;q=0.5"}


@pytest.fixture
def browser():
    """Sees what a browser sees, errors included."""
    return Client(raise_request_exception=False)


def test_a_participant_whose_form_is_too_large_is_asked_once_more_in_their_language(browser):
    study()
    for sent in (MANY, {"consent": "x" * 3_000_000}):
        answer = browser.post("/take/agreement/", sent, headers=GERMAN)
        text = answer.content.decode()
        assert answer.status_code == 400
        assert '<html lang="de' in text and '<form action="/take/agreement/"' in text


@pytest.mark.parametrize(
    "address",
    ["/take/agreement/?participant=a%00b", "/take/agreement/?a%00b=c%00", "/s/a%00b/", "/studies/?q=%00"],
)
def test_characters_that_no_database_stores_cause_no_server_error(browser, address):
    study()
    consent = fields(browser.get("/take/agreement/").content.decode())
    sent = {field["name"]: field["value"] for field in consent if field.get("name") == "arrival"}
    assert browser.get(address).status_code < 500
    assert browser.post(address, {**sent, "consent": "yes"}).status_code < 500


def test_what_the_database_refuses_is_not_taken(browser):
    def refuse(execute, sql, params, many, context):
        raise DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")

    session = begin(study())
    with connection.execute_wrapper(refuse):
        page = browser.get(f"/s/{session.token}/", headers=GERMAN)
    assert page.status_code == 400 and "Noch einmal versuchen" in page.content.decode()


def test_a_participants_wrong_address_shows_no_researchers_page(browser):
    session = begin(study())
    for address in (f"/s/{session.token}/nowhere/", "/take/agreement/nowhere/", "/take/nothing/"):
        answer = browser.get(address, headers=GERMAN)
        text = answer.content.decode()
        assert answer.status_code == 404
        assert "Unter dieser Adresse gibt es keine Studie" in text and "/accounts/login/" not in text


def test_a_server_error_lets_a_participant_try_again(browser, monkeypatch):
    def fault(*args):
        raise RuntimeError("a mistake of ours")

    session = begin(study())
    monkeypatch.setattr("judgments.screens.session_views.next_step", fault)
    answer = browser.get(f"/s/{session.token}/", headers=GERMAN)
    assert answer.status_code == 500 and "Noch einmal versuchen" in answer.content.decode()


def test_api_clients_get_errors_in_json(browser):
    browser.force_login(ada())
    answer = browser.get("/api/v1/nowhere/")
    assert answer.status_code == 404 and answer.json()["code"] == "not_found"


@pytest.mark.parametrize(
    ("address", "back"),
    [("/studies/agreement/launch/dry-run/", "/studies/agreement/"), ("/account/token/", "/")],
)
def test_the_address_behind_a_button_leads_back_when_it_is_opened(browser, address, back):
    study()
    browser.force_login(ada())
    answer = browser.get(address)
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "Nothing was done" in answer.content.decode()
    assert f'class="button" href="{back}"' in answer.content.decode()


def test_programs_are_not_given_a_page_for_a_wrong_method(browser):
    session = begin(study())
    answer = browser.get(f"/api/v1/sessions/{session.token}/judgments/")
    assert answer.status_code == 405 and answer.json()["code"] == "method_not_allowed"


def test_an_expired_form_or_one_without_a_cookie_shows_a_remedy():
    browser = Client(enforce_csrf_checks=True)
    without = browser.post("/accounts/login/", {"login": "ada", "password": "x"})
    assert without.status_code == 403 and "Allow this site to set cookies" in without.content.decode()
    assert "form has expired" not in without.content.decode()
    browser.get("/accounts/login/")
    expired = browser.post("/accounts/login/", {"csrfmiddlewaretoken": "x" * 64})
    assert expired.status_code == 403 and "This form has expired" in expired.content.decode()
    assert "load the page again" in expired.content.decode()


def test_a_researchers_form_that_is_too_large_is_refused_with_a_message(browser):
    browser.force_login(ada())
    answer = browser.post("/studies/new/", MANY)
    assert answer.status_code == 400 and "This could not be read" in answer.content.decode()


CONTACT = 'href="mailto:lab@example.org"'


def foot(response):
    return response.content.decode().partition("<footer")[2]


def test_error_pages_of_a_known_study_have_its_contact_at_their_foot(browser, monkeypatch):
    session = begin(study(contact="lab@example.org"))
    responses = {
        404: [
            browser.get("/take/agreement/nowhere/"),
            browser.get(f"/s/{session.token}/nowhere/"),
            browser.post(f"/s/{session.token}/trials/nowhere/", {"response": "1"}),
        ],
        400: [browser.post("/take/agreement/", MANY), browser.post(f"/s/{session.token}/continue/", MANY)],
    }

    def fault(*args, **options):
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr("judgments.screens.session_views.next_step", fault)
    responses[500] = [browser.get(f"/s/{session.token}/")]
    for status, pages in responses.items():
        assert [page.status_code for page in pages] == [status] * len(pages)
        assert all(CONTACT in foot(page) for page in pages)
    assert CONTACT not in foot(browser.get("/take/nothing/"))


def test_a_wrong_address_below_a_study_leads_back_to_it(browser):
    session = begin(study())
    for home in ("/take/agreement/", f"/s/{session.token}/"):
        page = browser.get(f"{home}nowhere/").content.decode()
        assert f'<a class="button primary" href="{home}">Go on with the study</a>' in page
    for address in ("/take/nothing/nowhere/", "/take/nothing/", "/s/nobody/"):
        assert 'class="button primary"' not in browser.get(address).content.decode()


def test_a_draft_has_its_contact_on_wrong_addresses_too(browser):
    draft("sketch", contact="lab@example.org")
    assert CONTACT in foot(browser.get("/take/sketch/nowhere/"))
    assert CONTACT in foot(browser.get("/take/sketch/"))
