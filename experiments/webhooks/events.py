"""Types of events, and what stores them for delivery in the transaction of what they report."""

import json
import uuid
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils import timezone

from experiments.models import Experiment, Webhook, WebhookDelivery
from experiments.operation.job_runner import enqueue

DELIVER = "experiments.webhook"
TEST = "webhook.test"
EVENTS = {
    "study.status_changed": "the study was opened, paused or closed",
    "study.full": "the study has all the participants that it asks for",
    "alert.raised": "something else needs a person: no arrivals, drop-out, a low balance, a deadline",
    "submissions.sent": "decisions about submissions reached the platform",
    "judgments.imported": "judgments from elsewhere were imported",
    "release.frozen": "a release is ready",
    "release.published": "a release was verified on Hugging Face, Zenodo or OSF",
    "run.finished": "a model was scored, or could not be",
    "comparison.finished": "models were compared with people",
}


def emit(study: Experiment | None, event: str, data: Mapping[str, Any]) -> int:
    """Store an event for each webhook of the study that asks for it; returns their number.

    Called in the transaction of what it reports, so that an event is delivered exactly if that was stored.
    """
    if study is None:
        return 0
    webhooks = [
        row
        for row in Webhook.objects.filter(experiment=study, is_enabled=True).select_related("experiment")
        if event in row.events
    ]
    event_id = uuid.uuid4()
    for webhook in webhooks:
        store(webhook, event, data, event_id=event_id)
    return len(webhooks)


def store(
    webhook: Webhook, event: str, data: Mapping[str, Any], *, event_id: uuid.UUID | None = None
) -> WebhookDelivery:
    """Store one delivery with its job."""
    study = webhook.experiment
    body = {
        "type": event,
        "timestamp": timezone.now().isoformat(timespec="seconds").replace("+00:00", "Z"),
        "data": {
            **data,
            "study": study.slug,
            "study_url": f"{settings.SITE_ADDRESS}/api/v1/studies/{study.slug}/",
        },
    }
    delivery = WebhookDelivery.objects.create(
        webhook=webhook,
        event_id=event_id or uuid.uuid4(),
        event=event,
        body=json.dumps(body, ensure_ascii=False, sort_keys=True),
    )
    send_again(delivery)
    return delivery


def send_again(delivery: WebhookDelivery) -> None:
    """Queue the delivery; the same body and id, so that a receiver recognizes a repetition."""
    delivery.state = WebhookDelivery.State.WAITING
    delivery.job = enqueue(DELIVER, {"delivery": delivery.pk}, experiment=delivery.webhook.experiment)
    delivery.save(update_fields=["state", "job"])
