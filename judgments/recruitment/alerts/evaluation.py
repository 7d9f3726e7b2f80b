"""Evaluation of the rules: a condition becomes one open alert, and ends it when it does not hold any more."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import structlog
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from experiments.models import AuditEntry, Campaign, Experiment
from experiments.webhooks.delivery import disabled_webhooks
from experiments.webhooks.events import emit
from judgments.models import Alert, AlertMail, AlertSettings
from judgments.recruitment.alerts.conditions import LOCAL_RULES, REMOTE_RULES, Condition, Rule, Subject
from judgments.recruitment.recruiter import PlatformError

log = structlog.get_logger(__name__)
#: A condition that comes back within this time opens its alert again, without another mail.
SAME_WITHIN = timedelta(hours=12)
SHOWN_WITH_CONDITION = ("title", "text", "address", "link")


def alert_settings(study: Experiment) -> AlertSettings:
    """The thresholds of a study, or the defaults."""
    return AlertSettings.objects.filter(experiment=study).first() or AlertSettings(experiment=study)


def open_alerts(studies: QuerySet[Experiment]) -> QuerySet[Alert]:
    """Alerts to show: neither ended nor dismissed, the newest first."""
    alerts = Alert.objects.filter(experiment__in=studies, resolved_at__isnull=True, dismissed_at__isnull=True)
    return alerts.select_related("experiment", "campaign")


def evaluate_all(*, is_remote: bool = False, now: datetime | None = None) -> int:
    """Evaluate the rules for every study that recruits; returns the number of alerts that were raised."""
    now = now or timezone.now()
    rules = REMOTE_RULES if is_remote else LOCAL_RULES
    recruiting = Campaign.objects.filter(account__isnull=False).exclude(
        state__in=[Campaign.State.DRAFT, Campaign.State.CLOSED]
    )
    due = Q(status=Experiment.Status.OPEN, origin=Experiment.Origin.COLLECTED)
    due |= Q(pk__in=recruiting.values("experiment"))
    due |= Q(pk__in=disabled_webhooks().values("experiment"))
    due |= Q(pk__in=Alert.objects.filter(resolved_at__isnull=True).values("experiment"))
    n_raised = 0
    for study in Experiment.objects.filter(due).order_by("pk"):
        try:
            n_raised += evaluate(study, rules, now=now)
        except Exception:  # the alerts of other studies do not wait for this one
            log.exception("alerts of a study failed", study=study.pk)
    return n_raised


def evaluate(study: Experiment, rules: Mapping[Alert.Kind, Rule], *, now: datetime) -> int:
    """Raise, update and resolve the alerts of one study; returns the number raised."""
    subject = Subject(study, alert_settings(study), now)
    n_raised = 0
    for kind, rule in rules.items():
        try:
            conditions = list(rule(subject))
        except PlatformError as error:  # unknown: neither raised nor resolved
            log.warning("alert could not be checked", study=study.pk, kind=kind, error=str(error))
            continue
        n_raised += sum(_raise(study, condition, now=now) for condition in conditions)
        _resolve(study, kind, keys=[condition.key for condition in conditions], now=now)
    return n_raised


@transaction.atomic
def _raise(study: Experiment, condition: Condition, *, now: datetime) -> bool:
    """Store a condition once, with a row for each member's mail; True if it is new."""
    values = {name: getattr(condition, name) for name in SHOWN_WITH_CONDITION}
    alerts = Alert.objects.filter(experiment=study, key=condition.key)
    if alerts.filter(resolved_at__isnull=True).update(**values):
        return False
    try:
        with transaction.atomic():
            recent = alerts.filter(resolved_at__gt=now - SAME_WITHIN).order_by("-pk").first()
            if recent is not None:
                alerts.filter(pk=recent.pk).update(resolved_at=None, **values)
                return False
            alert = Alert.objects.create(
                experiment=study,
                kind=condition.kind,
                key=condition.key,
                campaign=condition.campaign,
                raised_at=now,
                **values,
            )
    except IntegrityError:  # Race: another worker stored it in this moment, with its mail.
        return False
    about = {"kind": condition.kind, "title": condition.title, "page": condition.address}
    emit(study, "study.full" if condition.kind == Alert.Kind.FULL else "alert.raised", about)
    members = study.memberships.filter(user__is_active=True).values_list("user", flat=True)
    AlertMail.objects.bulk_create([AlertMail(alert=alert, user_id=user) for user in members])
    return True


def _resolve(study: Experiment, kind: Alert.Kind, *, keys: Iterable[str], now: datetime) -> None:
    ended = Alert.objects.filter(experiment=study, kind=kind, resolved_at__isnull=True)
    ended.exclude(key__in=list(keys)).update(resolved_at=now)


@transaction.atomic
def dismiss(alert: Alert, *, by: User) -> bool:
    """Hide an alert until its condition has ended; False if it is hidden already."""
    shown = Alert.objects.filter(pk=alert.pk, dismissed_at__isnull=True)
    if not shown.update(dismissed_at=timezone.now(), dismissed_by=by):
        return False
    AuditEntry.objects.create(
        experiment=alert.experiment,
        user=by,
        action="alert dismissed",
        details={"title": alert.title, "values": {"state": {"old": "shown", "new": "dismissed"}}},
    )
    return True
