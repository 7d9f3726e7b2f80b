"""Deliveries: signed, repeated, logged, disabled after failures, and never into a private network."""

import base64
import hashlib
import hmac
import json
import socket
import time

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection, transaction

from analysis.errors import BadInput
from experiments.models import AuditEntry, Job, Webhook, WebhookDelivery
from experiments.studies.lifecycle import pause
from experiments.webhooks import endpoints
from experiments.webhooks.delivery import DISABLE_AFTER, delete_old_deliveries
from experiments.webhooks.events import EVENTS, emit
from experiments.webhooks.targets import checked_address
from judgments.models import Alert
from judgments.recruitment.alerts.evaluation import evaluate_all
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def webhook(study, receiver):
    return endpoints.add(study, receiver.url, events=list(EVENTS), by=cast.ada())


def is_signed(request, secret):
    """The check of a receiver, written from the specification alone."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = (
        f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    )
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return f"v1,{expected}" in request.headers["webhook-signature"].split()


def test_a_change_of_the_study_is_delivered_signed(study, webhook, receiver, run_deliveries):
    pause(study, cast.ada())
    run_deliveries()
    request = receiver.received[0]
    body = json.loads(request.body)
    assert body["type"] == "study.status_changed" and body["data"]["to"] == "paused"
    assert body["data"]["study"] == "agreement" and request.path == "/hook?key=1"
    assert is_signed(request, webhook.secret)
    assert abs(int(request.headers["webhook-timestamp"]) - time.time()) < 300
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.attempts[0]["status"]) == ("delivered", 200)
    assert delivery.attempts[0]["response"] == "thank you"


def test_a_change_that_is_refused_or_rolled_back_sends_nothing(study, webhook):
    with pytest.raises(PermissionDenied):
        pause(study, cast.ben())
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        pause(study, cast.ada())
        raise ZeroDivisionError
    assert WebhookDelivery.objects.count() == 0


def test_only_chosen_events_of_enabled_webhooks_are_stored(study, webhook):
    endpoints.change(webhook, events=["release.frozen"], by=cast.ada())
    assert emit(study, "run.finished", {}) == 0 and emit(study, "release.frozen", {}) == 1
    endpoints.change(webhook, is_enabled=False, by=cast.ada())
    assert emit(study, "release.frozen", {}) == 0


def test_a_failed_attempt_is_repeated_with_the_same_id_and_body(study, webhook, receiver, run_deliveries):
    receiver.statuses = [503]
    emit(study, "release.frozen", {"release": 1})
    run_deliveries()
    delivery, job = WebhookDelivery.objects.get(), Job.objects.get()
    assert (delivery.state, job.state) == ("waiting", "queued") and job.retry_at is not None
    run_deliveries()
    first, second = receiver.received
    assert first.body == second.body and first.headers["webhook-id"] == second.headers["webhook-id"]
    delivery.refresh_from_db()
    assert [attempt["status"] for attempt in delivery.attempts] == [503, 200]


def test_a_webhook_that_fails_again_and_again_is_disabled_with_an_alert(
    study, webhook, receiver, run_deliveries, settings
):
    settings.JOB_MAX_ATTEMPTS = 1
    for number in range(DISABLE_AFTER):
        assert Webhook.objects.get().is_enabled
        receiver.statuses = [500]
        emit(study, "release.frozen", {"release": number})
        run_deliveries()
    webhook.refresh_from_db()
    assert not webhook.is_enabled and "answered 500" in webhook.disabled_reason
    evaluate_all()
    alert = Alert.objects.get(key=f"delivery:{webhook.pk}")
    assert "The webhook to 127.0.0.1 was disabled" in alert.title and alert.mails.count() == 2
    endpoints.change(webhook, is_enabled=True, by=cast.ada())
    evaluate_all()
    alert.refresh_from_db()
    assert alert.resolved_at is not None


def test_one_success_resets_the_count_of_failures(study, webhook, receiver, run_deliveries, settings):
    settings.JOB_MAX_ATTEMPTS = 1
    for statuses in ([500], [200]):
        receiver.statuses = statuses
        emit(study, "release.frozen", {})
        run_deliveries()
    assert Webhook.objects.get().n_failed == 0


def test_a_receiver_that_is_gone_disables_its_webhook_at_once(study, webhook, receiver, run_deliveries):
    receiver.statuses = [410]
    emit(study, "release.frozen", {})
    run_deliveries()
    webhook.refresh_from_db()
    assert not webhook.is_enabled and "410" in webhook.disabled_reason and len(receiver.received) == 1


def test_send_again_repeats_a_delivery_with_its_id(study, webhook, receiver, run_deliveries):
    delivery = endpoints.test(webhook, by=cast.ada())
    endpoints.repeat(delivery, by=cast.ada())  # on its way already
    run_deliveries()
    delivery.refresh_from_db()
    endpoints.repeat(delivery, by=cast.ada())
    run_deliveries()
    assert [request.headers["webhook-id"] for request in receiver.received] == [str(delivery.event_id)] * 2


def test_both_secrets_sign_for_a_day_after_a_rotation(study, webhook, receiver, run_deliveries):
    earlier = webhook.secret
    rotated = endpoints.rotate_secret(webhook, by=cast.ada())
    endpoints.test(rotated, by=cast.ada())
    run_deliveries()
    assert rotated.secret != earlier
    assert all(is_signed(receiver.received[0], secret) for secret in (earlier, rotated.secret))
    Webhook.objects.update(earlier_until=webhook.created_at)
    endpoints.test(rotated, by=cast.ada())
    run_deliveries()
    assert not is_signed(receiver.received[1], earlier)


def test_secrets_are_encrypted_in_the_database_and_absent_from_the_history(study, webhook):
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM experiments_webhook")
        assert cursor.fetchone()[0].startswith("enc1:")
    assert "whsec_" not in str(list(AuditEntry.objects.values()))


def test_a_redirect_is_not_followed(study, webhook, receiver, run_deliveries):
    receiver.statuses, receiver.location = [302], receiver.url
    endpoints.test(webhook, by=cast.ada())
    run_deliveries()
    assert len(receiver.received) == 1 and "answered 302" in Job.objects.get().message


def test_a_long_or_broken_response_is_cut(study, webhook, receiver, run_deliveries):
    receiver.response = b"\xff\x00<script>" + b"x" * 100_000
    endpoints.test(webhook, by=cast.ada())
    run_deliveries()
    response = WebhookDelivery.objects.get().attempts[0]["response"]
    assert len(response) <= 2000 and "\0" not in response


@pytest.mark.parametrize(
    "address",
    [
        "https://127.0.0.1/", "https://10.0.0.5/", "https://169.254.169.254/latest/meta-data/", "https://[::1]/",
        "https://[::ffff:192.168.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/",
        "https://[::127.0.0.1]/", "https://[64:ff9b:1::a00:1]/", "https://[fec0::1]/", "https://192.0.0.8/",
        "https://0.0.0.0/", "https://100.64.0.1/", "https://localhost/", "https://intranet/",
        "http://lab.example.org/", "ftp://lab.example.org/", "https://user:secret@lab.example.org/",
        "https://lab.example.org/#part", "https://lab.example.org:99999/", "https://lab.exam ple.org/", "https://",
        "", f"https://lab.example.org/{'x' * 600}",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public_https_are_refused(settings, address):
    settings.WEBHOOK_PRIVATE_TARGETS = False
    with pytest.raises(BadInput):
        checked_address(address)


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::ffff:10.0.0.1"]])
def test_a_public_name_that_leads_into_a_private_network_gets_nothing(
    study, webhook, receiver, run_deliveries, settings, monkeypatch, addresses
):
    settings.WEBHOOK_PRIVATE_TARGETS = False
    Webhook.objects.update(address="https://hook.example.org/x")

    def resolved(host, port, **options):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    endpoints.test(webhook, by=cast.ada())
    run_deliveries()
    delivery = WebhookDelivery.objects.get()
    assert delivery.state == "failed" and "private network" in delivery.attempts[0]["response"]
    assert receiver.received == []


def test_the_log_is_deleted_after_a_month(study, webhook, run_deliveries):
    endpoints.test(webhook, by=cast.ada())
    run_deliveries()
    delete_old_deliveries()
    assert WebhookDelivery.objects.count() == 1
    WebhookDelivery.objects.update(created_at="2020-01-01T00:00:00Z")
    delete_old_deliveries()
    assert WebhookDelivery.objects.count() == 0
