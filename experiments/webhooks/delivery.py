"""The job that delivers one event: signed as Standard Webhooks describes, repeated, logged, given up.

References
----------
https://www.standardwebhooks.com: headers ``webhook-id``, ``webhook-timestamp``, ``webhook-signature``.
"""

import base64
import hashlib
import hmac
import time
from datetime import timedelta
from typing import Any

import httpx
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from analysis.errors import BadInput
from experiments.models import AuditEntry, Job, Webhook, WebhookDelivery
from experiments.operation.job_runner import IOFailure, Run, job
from experiments.webhooks.events import DELIVER
from experiments.webhooks.targets import PrivateTarget, resolve

SECRET_MARK = "whsec_"  # noqa: S105 - begins each secret, as Standard Webhooks asks
TIMEOUT = httpx.Timeout(10.0, connect=5.0)  # seconds
MAX_RESPONSE_BYTES = 2000
MAX_SECONDS = 15.0  # of one attempt: a receiver that sends a byte now and then never meets the timeouts above
MAX_ATTEMPTS_LOGGED = 20
LOG_DAYS = 30
DISABLE_AFTER = 5  # deliveries in a row that failed for good
State = WebhookDelivery.State


class ReceiverGone(BadInput):
    """The receiver answered 410: it wants no events any more."""


def signature(secret: str, event_id: str, timestamp: str, body: bytes) -> str:
    """``v1,`` and the base64 of the HMAC-SHA256 of id, timestamp and body, joined by dots.

    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b'{"test": 2432232314}')
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    key = base64.b64decode(secret.removeprefix(SECRET_MARK))
    digest = hmac.new(key, f"{event_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def build_headers(delivery: WebhookDelivery, *, timestamp: int) -> dict[str, str]:
    """Id, time and signatures; within a day of a rotation the earlier secret signs, too."""
    webhook, event_id = delivery.webhook, str(delivery.event_id)
    secrets = [webhook.secret]
    if webhook.earlier_secret and webhook.earlier_until and webhook.earlier_until > timezone.now():
        secrets.append(webhook.earlier_secret)
    body = delivery.body.encode()
    signatures = (signature(secret, event_id, str(timestamp), body) for secret in secrets)
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
        "Content-Type": "application/json",
        "User-Agent": "Obelus-Webhooks",
    }


def _given_up(failed: Job, reason: str) -> None:
    """Mark the delivery as failed; the fifth in a row, or 410, disables the webhook."""
    delivery = WebhookDelivery.objects.select_related("webhook").get(pk=failed.arguments["delivery"])
    delivery.state = State.FAILED
    delivery.save(update_fields=["state"])
    Webhook.objects.filter(pk=delivery.webhook_id).update(n_failed=F("n_failed") + 1)
    webhook = Webhook.objects.get(pk=delivery.webhook_id)
    has_left = bool(delivery.attempts) and delivery.attempts[-1].get("status") == 410
    if has_left or webhook.n_failed >= DISABLE_AFTER:
        _disable(webhook, "The receiver answered 410 (gone)." if has_left else reason)


def _disable(webhook: Webhook, reason: str) -> None:
    if Webhook.objects.filter(pk=webhook.pk, is_enabled=True).update(
        is_enabled=False, disabled_reason=reason[:300]
    ):
        AuditEntry.objects.create(
            experiment_id=webhook.experiment_id,
            action="webhook disabled",
            details={"webhook": webhook.pk, "reason": reason[:300]},
        )


def disabled_webhooks() -> QuerySet[Webhook]:
    """Webhooks that were disabled by themselves, which needs a person."""
    return Webhook.objects.filter(is_enabled=False).exclude(disabled_reason="")


@job(DELIVER, after_failure=_given_up)
def deliver(run: Run) -> None:
    """Send one event; without a success the job tries again, and fails after its last attempt."""
    rows = WebhookDelivery.objects.select_related("webhook")
    delivery = rows.filter(pk=run.arguments["delivery"]).first()
    if delivery is None:  # its webhook was removed
        with run.finishing() as result:
            result["delivered"] = False
        return
    problem = _attempt(delivery)
    if problem is not None:
        raise problem
    with run.finishing() as result:
        delivery.state, delivery.delivered_at = State.DELIVERED, timezone.now()
        delivery.save(update_fields=["state", "delivered_at"])
        Webhook.objects.filter(pk=delivery.webhook_id).update(n_failed=0)
        result |= {"delivered": True, "event": delivery.event}


def _attempt(delivery: WebhookDelivery) -> BadInput | None:
    """Make one attempt and log it; returns what went wrong."""
    started, status, response = time.monotonic(), 0, ""
    problem: BadInput | None = None
    try:
        status, response = _post(delivery)
    except (PrivateTarget, IOFailure) as error:
        problem, response = error, error.message
    except httpx.HTTPError as error:
        response = f"no answer ({type(error).__name__})"
        problem = IOFailure(f"the receiver did not answer ({type(error).__name__}).")
    if problem is None and status == 410:
        problem = ReceiverGone("the receiver answered 410: it wants no events any more.")
    elif problem is None and not 200 <= status < 300:
        # Redirects are not followed: they could lead into a private network.
        problem = IOFailure(f"the receiver answered {status}.")
    entry = {
        "at": timezone.now().isoformat(timespec="seconds"),
        "status": status,
        "ms": round(1000 * (time.monotonic() - started)),
        "response": response,
    }
    _log(delivery, entry)
    return problem


@transaction.atomic
def _log(delivery: WebhookDelivery, entry: dict[str, Any]) -> None:
    # Race: a start that was replaced may log at the same time.
    locked = WebhookDelivery.objects.select_for_update().get(pk=delivery.pk)
    locked.attempts = delivery.attempts = [*locked.attempts, entry][-MAX_ATTEMPTS_LOGGED:]
    locked.save(update_fields=["attempts"])


def _post(delivery: WebhookDelivery) -> tuple[int, str]:
    """POST to the checked address; status and the beginning of the response."""
    target = resolve(delivery.webhook.address)
    headers = {**build_headers(delivery, timestamp=int(time.time())), "Host": target.header}
    # The certificate is checked for the host, although the connection goes to its address.
    extensions = {"sni_hostname": target.host}
    deadline = time.monotonic() + MAX_SECONDS
    # trust_env off: a proxy of the environment would resolve the name again.
    with (
        httpx.Client(timeout=TIMEOUT, follow_redirects=False, trust_env=False) as client,
        client.stream(
            "POST", target.url, content=delivery.body.encode(), headers=headers, extensions=extensions
        ) as response,
    ):
        content = b""
        for chunk in response.iter_raw():
            content += chunk
            if len(content) >= MAX_RESPONSE_BYTES or time.monotonic() > deadline:
                break
        text = content[:MAX_RESPONSE_BYTES].decode("utf-8", "replace")
        return response.status_code, "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


def delete_old_deliveries() -> None:
    """Delete the log of deliveries after a month."""
    before = timezone.now() - timedelta(days=LOG_DAYS)
    WebhookDelivery.objects.filter(created_at__lt=before).exclude(state=State.WAITING).delete()
