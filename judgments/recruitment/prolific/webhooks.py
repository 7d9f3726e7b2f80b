"""Webhooks of Prolific: subscription, signed deliveries, and what follows from an event.

An event is a hint. Its content decides nothing: the campaign that it is about is reconciled with what the
platform reports then, and polling finds whatever no event announced.
"""

import base64
import hashlib
import hmac
import json
import time
from collections import defaultdict
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.models import Campaign, PlatformAccount
from judgments.models import PlatformEvent, Submission, WebhookState
from judgments.recruitment.credentials import add_secret, decrypt_secrets, is_simulated
from judgments.recruitment.prolific.client import ProlificClient
from judgments.recruitment.reconcile import reconcile
from judgments.recruitment.recruiter import PlatformError, Refused

PROLIFIC = "prolific"
EVENT_TYPES = ("submission.status.change", "study.status.change")
SECRET = "webhook_secret"  # noqa: S105 - a name
MAX_BODY_BYTES = 65_536
MAX_ID_CHARACTERS = 100
MAX_ATTEMPTS = 8  # over about four hours
FIRST_PAUSE = timedelta(minutes=1)
CLAIM = timedelta(minutes=10)  # after which an event whose handling died is handled again
MAX_EVENTS = 500  # handled together


def subscribe(account: PlatformAccount, site: str) -> str:
    """Subscribe this server to the events of an account's workspace; returns the address of the deliveries.

    The secret is of the workspace and replaces an earlier one, so one account of a workspace has webhooks.
    """
    client = ProlificClient(decrypt_secrets(account)["token"])
    workspace = str(account.options.get("workspace") or client.workspaces()[0]["id"])
    address = site.rstrip("/") + reverse("prolific-webhook", args=[account.pk])
    for row in client.subscriptions(workspace):
        if row.get("target_url") == address:
            client.unsubscribe(str(row["id"]))
    add_secret(account, SECRET, client.create_webhook_secret(workspace))
    numbers = [client.subscribe(workspace, event_type, address) for event_type in EVENT_TYPES]
    account.options |= {
        "workspace": workspace,
        "subscriptions": numbers,
        "subscribed_at": timezone.now().isoformat(),
    }
    account.save(update_fields=["options"])
    return address


def unsubscribe(account: PlatformAccount) -> None:
    """End the subscriptions of an account; repeated, nothing changes."""
    client = ProlificClient(decrypt_secrets(account)["token"])
    for number in account.options.get("subscriptions") or []:
        try:
            client.unsubscribe(str(number))
        except Refused as error:
            if error.code != "404":
                raise
    account.options["subscriptions"] = []
    account.save(update_fields=["options"])


# A server sends it, which signs what it sends.
@csrf_exempt  # nosemgrep: without-csrf
@require_POST
@transaction.non_atomic_requests
def receive(request: HttpRequest, account_id: int) -> HttpResponse:
    """Check a delivery, store its event once and answer; the scheduled task handles it within a minute.

    No message is sent from here, because a broker that does not respond would delay the answer by seconds.
    """
    accounts = PlatformAccount.objects.select_related("webhook_state")
    account = get_object_or_404(accounts, pk=account_id, platform=PROLIFIC)
    secret = "" if is_simulated(account) else decrypt_secrets(account).get(SECRET, "")
    if not secret:
        return HttpResponse("There is no webhook for this account.", status=404)
    if len(request.body) > MAX_BODY_BYTES:
        return HttpResponse("The body is too long.", status=413)
    moment = request.headers.get("X-Prolific-Request-Timestamp", "")
    if not is_signed(request.body, moment, request.headers.get("X-Prolific-Request-Signature", ""), secret):
        return _refuse(account, "The signature is wrong.")
    event_id = request.headers.get("X-Event-ID", "")
    content = _content(request.body)
    if not 0 < len(event_id) <= MAX_ID_CHARACTERS or content is None:
        return HttpResponse("This is no event.", status=400)
    if not is_recent(moment):
        if PlatformEvent.objects.filter(account=account, event_id=event_id).exists():
            return HttpResponse(status=204)  # a further delivery, however old
        return _refuse(account, "The timestamp is too old, or the clock of this server is wrong.")
    event_type, resource_id = content
    event = PlatformEvent(account=account, event_id=event_id, event_type=event_type, resource_id=resource_id)
    PlatformEvent.objects.bulk_create([event], ignore_conflicts=True)
    if getattr(account, "webhook_state", None) and account.webhook_state.n_refused:
        WebhookState.objects.filter(account=account).update(n_refused=0)
    return HttpResponse(status=204)


def _refuse(account: PlatformAccount, reason: str) -> HttpResponse:
    """Refuse a delivery and count it, so that an alert can say that events do not work."""
    values = {"refused_at": timezone.now(), "reason": reason}
    state, is_new = WebhookState.objects.get_or_create(account=account, defaults={"n_refused": 1, **values})
    if not is_new:
        WebhookState.objects.filter(pk=state.pk).update(n_refused=F("n_refused") + 1, **values)
    return HttpResponse(reason, status=403)


def is_signed(body: bytes, moment: str, signature: str, secret: str) -> bool:
    """Whether a delivery is signed with the workspace's secret over its time and its raw body."""
    digest = hmac.new(secret.encode(), moment.encode() + body, hashlib.sha256).digest()
    return constant_time_compare(base64.b64encode(digest).decode(), signature)


def is_recent(moment: str) -> bool:
    """Whether the time of a delivery is within the window of the settings, on either side of our clock."""
    if not moment.isascii() or not moment.isdigit() or len(moment) > 12:
        return False
    return abs(time.time() - int(moment)) <= settings.PROLIFIC_EVENT_WINDOW_S


def _content(body: bytes) -> tuple[str, str] | None:
    """Type and resource of an event; the rest, such as the participant's id, is not stored."""
    try:
        event = json.loads(body)
    except ValueError:
        return None
    if not isinstance(event, dict):
        return None
    values = (event.get("event_type"), event.get("resource_id"))
    if not all(isinstance(value, str) and 0 < len(value) <= MAX_ID_CHARACTERS for value in values):
        return None
    return str(values[0]), str(values[1])


def handle_events() -> int:
    """Handle the events that are due, each campaign once; returns the number of events handled."""
    events = _claimed_events()
    by_campaign: dict[int, list[PlatformEvent]] = defaultdict(list)
    for event in events:
        campaign_id = _handle_event(event)
        if campaign_id is not None:
            by_campaign[campaign_id].append(event)
    for campaign_id, rows in by_campaign.items():
        _reconcile(campaign_id, rows)
    return len(events)


def _claimed_events() -> list[PlatformEvent]:
    """Events that are due, each claimed by a conditional update."""
    now = timezone.now()
    is_due = Q(handled_at__isnull=True) & (Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=now))
    due = PlatformEvent.objects.filter(is_due, n_attempts__lt=MAX_ATTEMPTS)
    numbers = list(due.values_list("pk", flat=True)[:MAX_EVENTS])
    # Race: of two workers, one changes the row; the other one's update finds another attempt.
    claimed = [
        number
        for number in numbers
        if PlatformEvent.objects.filter(is_due, pk=number).update(
            n_attempts=F("n_attempts") + 1, next_attempt_at=now + CLAIM
        )
    ]
    return list(PlatformEvent.objects.filter(pk__in=claimed).select_related("account"))


def _handle_event(event: PlatformEvent) -> int | None:
    """The campaign of an event; None if there is none, or it cannot be found now."""
    try:
        campaign_id = _find_campaign(event)
    except (PlatformError, BadInput) as error:
        _postpone([event], str(error))
        return None
    if campaign_id is None:
        _finish([event])  # of a study that is not ours
    return campaign_id


def _find_campaign(event: PlatformEvent) -> int | None:
    campaigns = Campaign.objects.filter(account=event.account)
    if event.event_type.startswith("study."):
        return campaigns.filter(external_id=event.resource_id).values_list("pk", flat=True).first()
    stored = Submission.objects.filter(campaign__account=event.account, external_id=event.resource_id)
    number = stored.values_list("campaign", flat=True).first()
    if number is not None:
        return number
    # An event may come before the API shows its submission: then this raises Refused, and it is asked again.
    row: dict[str, Any] = ProlificClient(decrypt_secrets(event.account)["token"]).submission(
        event.resource_id
    )
    return campaigns.filter(external_id=row.get("study_id") or "-").values_list("pk", flat=True).first()


def _reconcile(campaign_id: int, events: list[PlatformEvent]) -> None:
    campaign = Campaign.objects.select_related("account", "experiment").get(pk=campaign_id)
    try:
        reconcile(campaign)
    except (PlatformError, BadInput) as error:
        _postpone(events, str(error))
        return
    listed = Submission.objects.filter(campaign=campaign, external_id__in=[row.resource_id for row in events])
    numbers = set(listed.values_list("external_id", flat=True))
    early = [
        event
        for event in events
        if event.event_type.startswith("submission.") and event.resource_id not in numbers
    ]
    _postpone(early, "The platform's list does not have this submission yet.")
    _finish([event for event in events if event not in early])


def _finish(events: list[PlatformEvent]) -> None:
    numbers = [event.pk for event in events]
    PlatformEvent.objects.filter(pk__in=numbers).update(handled_at=timezone.now(), problem="")


def _postpone(events: list[PlatformEvent], problem: str) -> None:
    """Leave events for a later attempt, after a pause that doubles each time."""
    for event in events:
        pause = FIRST_PAUSE * 2 ** (event.n_attempts - 1)
        PlatformEvent.objects.filter(pk=event.pk).update(
            problem=problem[:500], next_attempt_at=timezone.now() + pause
        )
