"""A web server stores the trials of new sessions a moment later, and nobody notices."""

import json
import re
import time

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from judgments.models import Judgment, Session, Trial
from judgments.screens import session_views
from judgments.sessions import arrival, navigation
from judgments.sessions import trial_buffer as buffering
from judgments.sessions.removal import erase
from judgments.sessions.trial_buffer import trial_buffer
from judgments.sessions.trials import prepare_trials
from tests import cast
from tests.judgments.screens.walk import hidden

pytestmark = pytest.mark.django_db(transaction=True)
PLAN = re.compile(r'<script id="plan" type="application/json">(.*?)</script>', re.DOTALL)


@pytest.fixture(autouse=True)
def server(monkeypatch, settings):
    """A process that lives on, as the web server does, and whose moment lasts until the test ends it."""
    monkeypatch.setattr(buffering, "FLUSH_AFTER_S", 600.0)
    settings.BUFFER_TRIALS = True
    monkeypatch.setattr(trial_buffer, "is_timed", False)
    yield
    trial_buffer.by_token.clear()


def at_first_trial(study="agreement"):
    """Consent, and the page of the first trial with its plan."""
    client = Client()
    html = client.get(f"/take/{study}/").content.decode()
    sent = {"arrival": hidden(html, "arrival"), "consent": "yes"}
    address = client.post(f"/take/{study}/", sent)["Location"]
    page = client.get(address).content.decode()
    return client, address, page, json.loads(PLAN.search(page)[1])


def send(client, plan, trial):
    address = plan["next"].replace("/s/", "/api/v1/sessions/") + "judgments/"
    row = {"trial": trial["id"], "response": trial["options"][0]["id"]}
    return client.post(address, {"judgments": [row]}, content_type="application/json")


def test_the_first_page_comes_before_the_trials_are_stored_and_gives_the_same():
    cast.study(instructions="")
    client, address, page, plan = at_first_trial()
    assert Trial.objects.count() == 0
    trial_buffer.flush()
    stored = client.get(address)
    assert stored.content.decode() == page  # sign by sign, though one came from a frame
    assert json.loads(PLAN.search(page)[1]) == plan
    assert [trial.public_id for trial in Trial.objects.all()] == [trial["id"] for trial in plan["trials"]]
    first = Trial.objects.first()
    assert f'data-trial="{first.public_id}"' in page and first.shown_at is not None
    assert client.get(f"/api/v1/sessions/{Session.objects.get().token}/plan/").json() == plan


def test_the_first_answer_has_the_trials_stored_before_it_reads_them():
    cast.study(instructions="")
    client, _, _, plan = at_first_trial()
    with CaptureQueriesContext(connection) as captured:
        assert send(client, plan, plan["trials"][0]).json()["position"] == 1
    reads = [query["sql"] for query in captured.captured_queries if "first_open" in query["sql"]]
    assert len(reads) == 1 and Trial.objects.count() == len(plan["trials"])


@pytest.mark.parametrize("task", sorted(cast.ANSWERS))
def test_the_first_page_is_the_same_for_every_task_and_person(task):
    cast.study(task=task, instructions="", n_lists=1)
    pages = [at_first_trial() for _ in range(3)]  # the later ones from the frame of the first
    trial_buffer.flush()
    for client, address, page, _ in pages:
        assert client.get(address).content.decode() == page
    assert len({page for _, _, page, _ in pages}) == 3


def test_what_looks_like_a_script_in_a_sentence_stays_text():
    evil = "</script><script>alert(1)</script> & <!-- <b>{n}</b>"
    cast.study(instructions="", materials=cast.material_set("evil", texts=(evil, evil + "!")))
    _, _, page, plan = at_first_trial()
    assert "<script>alert(1)" not in page
    assert plan["trials"][0]["options"][0]["text"].casefold().startswith("</script><script>alert(1)")


def test_the_first_answer_stores_the_trials_of_all_arrivals():
    cast.study(instructions="", n_lists=2)
    (client, _, _, plan), *_ = [at_first_trial() for _ in range(3)]
    answer = send(client, plan, plan["trials"][0])
    assert answer.json()["acknowledged"] == [plan["trials"][0]["id"]]
    assert (Trial.objects.count(), Judgment.objects.count()) == (12, 1)
    timing = Judgment.objects.get().timing
    assert 0 <= timing["server_ms"] < 60_000


def test_a_form_without_script_stores_them_too():
    cast.study(instructions="")
    client, address, _, plan = at_first_trial()
    first = plan["trials"][0]
    answered = client.post(f"{address}trials/{first['id']}/", {"response": first["options"][1]["id"]})
    assert answered["Location"] == address
    assert Judgment.objects.get().response == first["options"][1]["id"]


def test_a_server_killed_in_between_loses_nothing():
    cast.study(instructions="")
    client, _, _, plan = at_first_trial()
    trial_buffer.by_token.clear()  # the process is gone; another one hears the answer
    assert send(client, plan, plan["trials"][0]).status_code == 200
    assert [trial.public_id for trial in Trial.objects.all()] == [trial["id"] for trial in plan["trials"]]
    option_ids = {
        trial.public_id: [option["id"] for option in trial.shown["options"]] for trial in Trial.objects.all()
    }
    assert option_ids == {
        trial["id"]: [option["id"] for option in trial["options"]] for trial in plan["trials"]
    }


def test_a_form_after_a_killed_server_is_taken_too():
    cast.study(instructions="")
    client, address, _, plan = at_first_trial()
    trial_buffer.by_token.clear()
    first = plan["trials"][0]
    answered = client.post(f"{address}trials/{first['id']}/", {"response": first["options"][0]["id"]})
    assert answered.status_code == 302 and Judgment.objects.get().trial.public_id == first["id"]


def test_who_went_on_in_another_process_is_not_sent_back():
    cast.study(instructions="Read each sentence.", n_lists=1)
    client = Client()
    html = client.get("/take/agreement/").content.decode()
    address = client.post("/take/agreement/", {"arrival": hidden(html, "arrival"), "consent": "yes"})[
        "Location"
    ]
    mark = hidden(client.get(address).content.decode(), "mark")
    here = dict(trial_buffer.by_token)
    trial_buffer.by_token.clear()  # another process hears the button
    client.post(f"{address}continue/", {"mark": mark})
    trial_buffer.by_token.update(here)  # and this one is asked for the page
    page = client.get(address).content.decode()
    assert 'data-trial="' in page and Session.objects.get().screen == "block-1"
    assert f'data-trial="{Trial.objects.first().public_id}"' in page


def test_another_process_that_was_first_is_left_alone():
    cast.study(instructions="")
    client, _, _, plan = at_first_trial()
    prepare_trials(Session.objects.get())
    trial_buffer.flush()
    assert Trial.objects.count() == 4
    assert send(client, plan, plan["trials"][0]).status_code == 200


def test_a_page_asked_for_while_they_are_being_stored(monkeypatch):
    cast.study(instructions="")
    client, address, page, plan = at_first_trial()
    look, waiting = session_views.next_step, dict(trial_buffer.by_token)
    trial_buffer.by_token.clear()

    def just_before(session, **options):
        step = look(session, **options)
        trial_buffer.by_token.update(waiting)
        waiting.clear()
        trial_buffer.flush()
        return step

    monkeypatch.setattr(session_views, "next_step", just_before)
    assert client.get(address).content.decode() == page


def test_a_page_asked_for_whose_trials_are_stored_between_two_looks(monkeypatch):
    cast.study(instructions="")
    client, address, page, plan = at_first_trial()
    look, waiting = navigation._first_unanswered, dict(trial_buffer.by_token)
    trial_buffer.by_token.clear()

    class JustBefore:
        def first(self, key):
            cached = look.first(key)
            trial_buffer.by_token.update(waiting)
            waiting.clear()
            trial_buffer.flush()
            return cached

    monkeypatch.setattr(navigation, "_first_unanswered", JustBefore())
    assert client.get(address).content.decode() == page


def test_nothing_is_stored_for_who_withdrew_meanwhile():
    cast.study(instructions="")
    at_first_trial()
    erase(Session.objects.get().participant, reason="asked")
    trial_buffer.flush()
    assert Trial.objects.count() == 0


def test_what_cannot_be_stored_now_is_written_by_the_next_who_needs_it(monkeypatch):
    cast.study(instructions="")
    client, _, _, plan = at_first_trial()

    def locked(*_, **__):
        raise OperationalError("database is locked")

    with monkeypatch.context() as broken:
        broken.setattr(buffering, "insert_rows", locked)
        assert send(client, plan, plan["trials"][0]).status_code == 503
    assert send(client, plan, plan["trials"][0]).json()["acknowledged"] == [plan["trials"][0]["id"]]


def test_the_moment_ends_by_itself(monkeypatch):
    monkeypatch.setattr(buffering, "FLUSH_AFTER_S", 0.05)
    cast.study(instructions="")
    at_first_trial()
    until = time.monotonic() + 60
    while not Trial.objects.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert Trial.objects.count() == 4
    at_first_trial()  # whoever comes after it begins another one
    while Trial.objects.count() == 4 and time.monotonic() < until:
        time.sleep(0.02)
    assert Trial.objects.count() == 8


def test_an_arrival_that_is_taken_back_leaves_nothing(monkeypatch):
    study = cast.study(instructions="")

    def fails(*_, **__):
        raise OperationalError("gone away")

    monkeypatch.setattr("judgments.sessions.enrollment.store_consents", fails)
    with pytest.raises(OperationalError):
        cast.begin(study, "ada")
    assert not trial_buffer.by_token and not Session.objects.exists()


def test_a_study_read_a_moment_ago_gives_no_place_that_it_no_longer_has(monkeypatch):
    monkeypatch.setattr(arrival, "CACHE_S", 600.0)
    study = cast.study(instructions="")
    client = Client()
    sent = {"arrival": hidden(client.get("/take/agreement/").content.decode(), "arrival"), "consent": "yes"}
    type(study).objects.update(status="paused")
    assert hidden(Client().get("/take/agreement/").content.decode(), "arrival")  # as it was a moment ago
    refused = client.post("/take/agreement/", sent)
    assert refused.status_code == 200 and not Session.objects.exists()
    arrival.clear_cache()
    closed = Client().get("/take/agreement/").content.decode()
    type(study).objects.update(status="open")
    assert 'name="arrival"' not in closed
    assert 'name="arrival"' in Client().get("/take/agreement/").content.decode()  # opened again: at once


def test_one_reading_serves_all_who_come_together(django_assert_num_queries, monkeypatch):
    monkeypatch.setattr(arrival, "CACHE_S", 600.0)
    cast.study(instructions="", target_judgments=0)  # how many more are wanted is counted each time
    Client().get("/take/agreement/")
    with django_assert_num_queries(0):
        pages = [Client().get("/take/agreement/").content.decode() for _ in range(3)]
    assert len({hidden(page, "arrival") for page in pages}) == 3
