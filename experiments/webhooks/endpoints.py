"""Webhooks of a study: added, changed, tested, their secrets rotated, removed; each step is noted."""

import base64
import secrets
from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from analysis.errors import BadInput, UnknownName
from experiments import limits
from experiments.models import AuditEntry, Experiment, Webhook, WebhookDelivery
from experiments.teams.roles import may_edit
from experiments.webhooks.delivery import SECRET_MARK
from experiments.webhooks.events import EVENTS, TEST, send_again, store
from experiments.webhooks.targets import checked_address

MOST_WEBHOOKS = 10  # of one study
BY_HAND_PER_MINUTE = 10  # tests and repetitions of one user, over all webhooks
SECRET_BYTES = 32
EARLIER_SECRET = timedelta(days=1)  # for which the secret before a rotation signs as well


@transaction.atomic
def add(study: Experiment, address: str, *, events: Sequence[str], by: User) -> Webhook:
    """Store a webhook with a new secret."""
    _require_editor(study, by)
    Experiment.objects.select_for_update().get(pk=study.pk)  # Race: two at once would exceed the limit.
    if study.webhooks.count() >= MOST_WEBHOOKS:
        raise BadInput(f"the study has {MOST_WEBHOOKS} webhooks.", remedy="Remove one that is not used.")
    webhook = Webhook.objects.create(
        experiment=study,
        address=checked_address(address),
        events=_checked_events(events),
        secret=_new_secret(),
        created_by=by,
    )
    _note(webhook, "webhook added", by=by, events=", ".join(webhook.events))
    return webhook


@transaction.atomic
def change(
    webhook: Webhook,
    *,
    by: User,
    address: str | None = None,
    events: Sequence[str] | None = None,
    is_enabled: bool | None = None,
) -> Webhook:
    """Change address or events, disable it, or enable it again."""
    _require_editor(webhook.experiment, by)
    locked = Webhook.objects.select_for_update().get(pk=webhook.pk)
    if address is not None:
        locked.address = checked_address(address)
    if events is not None:
        locked.events = _checked_events(events)
    if is_enabled is not None:
        locked.is_enabled, locked.disabled_reason, locked.n_failed = is_enabled, "", 0
    locked.save()
    state = "enabled" if locked.is_enabled else "disabled"
    _note(locked, "webhook changed", by=by, events=", ".join(locked.events), state=state)
    return locked


@transaction.atomic
def rotate_secret(webhook: Webhook, *, by: User) -> Webhook:
    """Give it another secret; for a day both sign, so that the receiver can be changed without a gap."""
    _require_editor(webhook.experiment, by)
    locked = Webhook.objects.select_for_update().get(pk=webhook.pk)
    locked.earlier_secret, locked.earlier_until = locked.secret, timezone.now() + EARLIER_SECRET
    locked.secret = _new_secret()
    locked.save(update_fields=["secret", "earlier_secret", "earlier_until"])
    _note(locked, "webhook secret rotated", by=by)
    return locked


@transaction.atomic
def remove(webhook: Webhook, *, by: User) -> None:
    """Delete a webhook with its log."""
    _require_editor(webhook.experiment, by)
    _note(webhook, "webhook removed", by=by)
    webhook.delete()


def test(webhook: Webhook, *, by: User) -> WebhookDelivery:
    """Send a test event, whatever events it asks for; raises ``LimitReached``."""
    _count_request(webhook, by)
    with transaction.atomic():
        return store(webhook, TEST, {"sent_by": by.get_username()})


def repeat(delivery: WebhookDelivery, *, by: User) -> None:
    """Send a delivery again that is not on its way already; raises ``LimitReached``."""
    _count_request(delivery.webhook, by)
    with transaction.atomic():
        # Race: of two clicks, one finds it finished.
        rows = WebhookDelivery.objects.select_for_update().select_related("webhook__experiment")
        locked = rows.get(pk=delivery.pk)
        if locked.state != WebhookDelivery.State.WAITING:
            send_again(locked)


def _count_request(webhook: Webhook, by: User) -> None:
    """Count what a user sends by hand: a test must not become a way to flood a server of others."""
    _require_editor(webhook.experiment, by)
    limits.count("webhook-by-hand", str(by.pk), limit=BY_HAND_PER_MINUTE)


def address_host(webhook: Webhook) -> str:
    """The host of the address; the path may be a secret of the receiver's service."""
    return urlsplit(webhook.address).hostname or ""


def _new_secret() -> str:
    return SECRET_MARK + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def _checked_events(events: Sequence[str]) -> list[str]:
    for event in events:
        if event not in EVENTS:
            raise UnknownName("event", event, list(EVENTS))
    if not events:
        raise BadInput("no event is chosen.", column="events", remedy="Choose at least one.")
    return [event for event in EVENTS if event in events]


def _require_editor(study: Experiment, by: User) -> None:
    if not may_edit(by, study):
        raise PermissionDenied("Viewers of a study cannot change it.")


def _note(webhook: Webhook, action: str, *, by: User, **details: object) -> None:
    AuditEntry.objects.create(
        experiment=webhook.experiment,
        user=by,
        action=action,
        details={"webhook": webhook.pk, "host": address_host(webhook), **details},
    )
