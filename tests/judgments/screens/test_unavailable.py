"""While the database is away, people and programs are told to try again, and nothing they sent is lost."""

import psycopg
import pytest
from django.db import InternalError, OperationalError, ProgrammingError, connection
from django.test import Client

from judgments.models import Judgment
from judgments.simulation.http_client import Page
from tests.cast import ada, answer_to, begin, study
from tests.judgments import deliveries

pytestmark = pytest.mark.django_db


def _away(execute, sql, params, many, context):
    raise OperationalError("server closed the connection unexpectedly")


@pytest.fixture
def browser():
    """Sees what a browser sees, errors included."""
    return Client(raise_request_exception=False, headers={"accept-language": "de-AT,en;q=0.5"})


def test_a_participant_reads_in_their_own_language_that_it_takes_a_moment(browser):
    session = begin(study())
    with connection.execute_wrapper(_away):
        answer = browser.get(f"/s/{session.token}/")
    assert (answer.status_code, answer["Retry-After"], answer["Cache-Control"]) == (503, "5", "no-store")
    text = answer.content.decode()
    assert '<html lang="de' in text and "Noch einmal versuchen" in text
    assert browser.get(f"/s/{session.token}/").status_code == 200


def test_an_answer_sent_while_the_database_is_away_is_stored_by_trying_again(browser):
    session = begin(study(instructions=""))
    trial = session.trials.select_related("session__experiment").first()
    address = f"/s/{session.token}/trials/{trial.public_id}/"
    with connection.execute_wrapper(_away):
        refused = browser.post(address, {"response": answer_to(trial), "note": '<"&'})
    assert refused.status_code == 503 and not Judgment.objects.exists()
    (form,) = Page(address, 503, refused.content.decode()).forms()
    assert (form.action, form.hidden["note"]) == (address, '<"&')
    for _ in range(2):
        assert browser.post(form.action, form.hidden).status_code == 302
    assert Judgment.objects.get().response == answer_to(trial)


def test_consent_sent_again_begins_one_session(browser):
    experiment = study()
    page = Page("/take/agreement/", 200, browser.get("/take/agreement/?participant=pia").content.decode())
    with connection.execute_wrapper(_away):
        refused = browser.post(
            "/take/agreement/?participant=pia", {**page.forms()[0].hidden, "consent": "yes"}
        )
    (form,) = Page("/take/agreement/", 503, refused.content.decode()).forms()
    assert form.action == "/take/agreement/?participant=pia"
    assert {browser.post(form.action, form.hidden)["Location"] for _ in range(2)} == {
        f"/s/{experiment.sessions.get().token}/"
    }


@pytest.mark.parametrize(
    ("error", "cause"),
    [  # what PostgreSQL says on a disk that became read-only, and after a switch to the standby
        (ProgrammingError, psycopg.errors.InsufficientPrivilege),
        (InternalError, psycopg.errors.ReadOnlySqlTransaction),
    ],
)
def test_a_database_that_cannot_write_any_more_is_tried_again(browser, error, cause):
    session = begin(study())

    def refuse(execute, sql, params, many, context):
        raise error("could not write") from cause("Read-only file system")

    sent = deliveries.row(session.trials.first())
    with connection.execute_wrapper(refuse):
        page, answer = browser.get(f"/s/{session.token}/"), deliveries.send(session, sent, client=browser)
    assert (page.status_code, answer.status_code, answer.json()["code"]) == (503, 503, "try_again")
    assert deliveries.send(session, sent).status_code == 200


def test_researchers_and_programs_are_informed_too(browser):
    browser.force_login(ada())
    with connection.execute_wrapper(_away):
        page, api = browser.get("/"), browser.get("/api/v1/studies/")
    assert page.status_code == 503 and "try again" in page.content.decode()
    assert (api.status_code, api.json()["code"], api["Retry-After"]) == (503, "try_again", "5")


def test_another_error_is_still_our_fault(browser, monkeypatch):
    def fault(*args):
        raise RuntimeError("a mistake of ours")

    session = begin(study())
    monkeypatch.setattr("judgments.screens.session_views.next_step", fault)
    assert browser.get(f"/s/{session.token}/").status_code == 500


def test_the_contact_stays_at_the_foot_while_the_database_is_away(browser):
    session = begin(study(contact="lab@example.org"))
    addresses = ["/take/agreement/", f"/s/{session.token}/"]
    for address in addresses:
        browser.get(address)
    with connection.execute_wrapper(_away):
        pages = [browser.get(address) for address in addresses]
    assert [page.status_code for page in pages] == [503, 503]
    assert all("mailto:lab@example.org" in page.content.decode().partition("<footer")[2] for page in pages)
