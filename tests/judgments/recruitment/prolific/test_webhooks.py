"""Webhooks of Prolific: signature, window, repeated deliveries, and what an event leads to."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import amqp
import httpx
import kombu
import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from config.job_queue import celery_settings
from judgments.models import PlatformEvent, Submission
from judgments.recruitment import periodic
from judgments.recruitment.credentials import decrypt_secrets
from judgments.recruitment.prolific import webhooks
from judgments.recruitment.prolific.webhooks import handle_events, subscribe, unsubscribe

pytestmark = pytest.mark.django_db


@pytest.fixture
def subscribed(prolific, published):
    """The campaign, of whose account the platform delivers events."""
    subscribe(published.account, "http://127.0.0.1:1")
    return published


def deliveries(prolific):
    """The events of the platform that are not sent yet, as the test client sends them."""
    with prolific.platform.lock:
        return list(prolific.platform.events)


def send(client, campaign, event, prolific, *, at=None, body=None, **headers):
    signed = prolific.platform.signed_headers(event, at=at) | headers
    return client.post(
        f"/hooks/prolific/{campaign.account_id}/",
        body or event.body,
        content_type="application/json",
        headers={name: value for name, value in signed.items() if name != "Content-Type"},
    )


def test_subscribing_confirms_each_type_and_twice_is_once(prolific, published):
    for _ in range(2):
        subscribe(published.account, "http://127.0.0.1:1")
    rows = list(prolific.platform.subscriptions.values())
    assert {row.event_type for row in rows} == set(webhooks.EVENT_TYPES)
    assert len(rows) == 2 and all(row.is_enabled for row in rows)
    assert rows[0].target_url == f"http://127.0.0.1:1/hooks/prolific/{published.account_id}/"
    assert decrypt_secrets(published.account)["webhook_secret"] == prolific.platform.workspace_secret
    unsubscribe(published.account)
    unsubscribe(published.account)
    assert prolific.platform.subscriptions == {}


def test_an_event_leads_to_a_reconciliation_and_leaves_no_person(client, prolific, subscribed):
    number = prolific.arrive(subscribed.external_id)
    (event,) = deliveries(prolific)
    assert send(client, subscribed, event, prolific).status_code == 204
    assert not Submission.objects.exists()  # the work follows in a job
    assert handle_events() == 1
    assert Submission.objects.get().external_id == number
    stored = PlatformEvent.objects.get()
    assert stored.handled_at and stored.resource_id == number
    person = json.loads(event.body)["participant_id"]
    assert person not in str(PlatformEvent.objects.values().get())
    assert handle_events() == 0


def test_a_delivery_costs_few_queries_and_no_call(
    client, prolific, subscribed, django_assert_max_num_queries
):
    prolific.arrive(subscribed.external_id)
    (event,) = deliveries(prolific)
    n_calls = prolific.count("GET", "/")
    with django_assert_max_num_queries(5):
        assert send(client, subscribed, event, prolific).status_code == 204
    assert prolific.count("GET", "/") == n_calls


def test_a_delivery_waits_for_no_broker_and_the_scheduled_task_handles_it(
    client, prolific, subscribed, monkeypatch, django_capture_on_commit_callbacks
):
    def connect(*_, **__):
        raise AssertionError("the request connects to the broker")

    monkeypatch.setattr(amqp.Connection, "connect", connect)
    monkeypatch.setattr(kombu.Connection, "default_channel", property(connect))
    number = prolific.arrive(subscribed.external_id)
    (event,) = deliveries(prolific)
    with django_capture_on_commit_callbacks(execute=True):
        assert send(client, subscribed, event, prolific).status_code == 204
    assert PlatformEvent.objects.get().handled_at is None
    entry = next(row for row in celery_settings.beat_schedule.values() if "platform_events" in row["task"])
    assert entry["schedule"] <= 60  # seconds until a researcher sees the change
    assert entry["task"] == periodic.handle_platform_events.name
    periodic.handle_platform_events()
    assert PlatformEvent.objects.get().handled_at
    assert Submission.objects.get().external_id == number


def test_the_content_of_an_event_decides_nothing(client, prolific, subscribed):
    number = prolific.arrive(subscribed.external_id)
    (event,) = deliveries(prolific)
    event.body = event.body.replace(b'"ACTIVE"', b'"REJECTED"')
    send(client, subscribed, event, prolific)
    handle_events()
    assert Submission.objects.get(external_id=number).status == "active"


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"X-Prolific-Request-Signature": "AAAA"}, None),
        ({"X-Prolific-Request-Signature": ""}, None),
        ({"X-Prolific-Request-Timestamp": "1"}, None),
        ({}, b'{ "event_type": "study.status.change" }'),
    ],
)
def test_another_signature_is_refused(client, prolific, subscribed, headers, body):
    prolific.arrive(subscribed.external_id)
    (event,) = deliveries(prolific)
    assert send(client, subscribed, event, prolific, body=body, **headers).status_code == 403
    assert not PlatformEvent.objects.exists()


def test_the_signature_is_over_the_raw_bytes(client, prolific, subscribed):
    prolific.arrive(subscribed.external_id)
    (event,) = deliveries(prolific)
    spaced = json.dumps(json.loads(event.body), indent=1).encode()
    assert send(client, subscribed, event, prolific, body=spaced).status_code == 403


def test_an_old_delivery_is_refused_unless_its_event_is_stored(client, prolific, subscribed, settings):
    prolific.arrive(subscribed.external_id)
    (event,) = deliveries(prolific)
    an_hour_ago = time.time() - 3600
    assert send(client, subscribed, event, prolific, at=an_hour_ago).status_code == 403
    assert send(client, subscribed, event, prolific, at=time.time() + 3600).status_code == 403
    assert send(client, subscribed, event, prolific).status_code == 204
    assert send(client, subscribed, event, prolific, at=an_hour_ago).status_code == 204
    assert PlatformEvent.objects.count() == 1
    settings.PROLIFIC_EVENT_WINDOW_S = 7200
    PlatformEvent.objects.all().delete()
    assert send(client, subscribed, event, prolific, at=an_hour_ago).status_code == 204


@pytest.mark.parametrize("body", [b"[]", b"not json", b'{"event_type": 1, "resource_id": "x"}', b"{}"])
def test_what_is_no_event_is_refused(client, prolific, subscribed, body):
    prolific.arrive(subscribed.external_id)
    (event,) = deliveries(prolific)
    event.body = body
    assert send(client, subscribed, event, prolific).status_code == 400


def test_an_account_without_webhooks_has_no_address(client, prolific, published):
    assert (
        client.post(f"/hooks/prolific/{published.account_id}/", b"{}", "application/json").status_code == 404
    )
    assert client.post("/hooks/prolific/999/", b"{}", "application/json").status_code == 404
    assert client.get(f"/hooks/prolific/{published.account_id}/").status_code == 405


@pytest.mark.django_db(transaction=True)
def test_two_deliveries_of_one_event_at_once_are_one(prolific, subscribed):
    prolific.arrive(subscribed.external_id)
    (event,) = deliveries(prolific)

    def deliver(_):
        try:
            return send(Client(), subscribed, event, prolific).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(deliver, range(8))) == [204] * 8
    assert PlatformEvent.objects.count() == 1


def test_an_event_before_the_api_shows_its_submission_is_handled_later(client, prolific, subscribed):
    number = prolific.arrive(subscribed.external_id)
    (event,) = deliveries(prolific)
    row = prolific.platform.submissions.pop(number)
    send(client, subscribed, event, prolific)
    handle_events()
    stored = PlatformEvent.objects.get()
    assert stored.handled_at is None and "404" in stored.problem
    assert stored.next_attempt_at > timezone.now()
    prolific.platform.submissions[number] = row
    assert handle_events() == 0  # not due yet
    PlatformEvent.objects.update(next_attempt_at=timezone.now() - timedelta(seconds=1))
    assert handle_events() == 1
    assert Submission.objects.get().external_id == number
    assert PlatformEvent.objects.get().handled_at


def test_many_events_of_a_campaign_are_one_reconciliation(client, prolific, subscribed):
    for _ in range(4):
        prolific.arrive(subscribed.external_id)
    for event in deliveries(prolific):
        send(client, subscribed, event, prolific)
    before = prolific.count("GET", "/submissions/")
    assert handle_events() == 4
    assert prolific.count("GET", "/submissions/") == before + 1
    assert Submission.objects.count() == 4


def test_an_event_of_a_study_made_elsewhere_is_done_with(client, prolific, subscribed):
    event = deliveries(prolific)
    prolific.arrive(subscribed.external_id)
    (event,) = deliveries(prolific)
    event.body = b'{"event_type":"study.status.change","resource_id":"' + b"1" * 24 + b'"}'
    send(client, subscribed, event, prolific)
    handle_events()
    assert PlatformEvent.objects.get().handled_at


@pytest.mark.django_db(transaction=True)
def test_the_platforms_own_deliveries_arrive_and_are_repeated_until_they_succeed(
    prolific, published, live_server
):
    address = subscribe(published.account, live_server.url)
    prolific.arrive(published.external_id)
    (event,) = deliveries(prolific)
    event.subscription.target_url = "http://127.0.0.1:9/"
    assert prolific.platform.deliver() == 0
    event.subscription.target_url = address
    assert prolific.platform.deliver() == 1
    assert prolific.platform.deliver() == 0
    assert (event.attempts, event.answers) == (2, [0, 204])
    assert PlatformEvent.objects.count() == 1
    assert httpx.post(address, content=b"{}").status_code == 403
