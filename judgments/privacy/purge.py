"""Deletion of platforms' ids at a date: set when a study closes, carried out by a scheduled job."""

from datetime import date, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.dispatch import receiver
from django.utils import timezone

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment
from experiments.studies.signals import study_closed
from judgments.models import PlatformCall, PlatformIdentity, Submission

NOTICE_DAYS = 30
BATCH = 1000  # rows deleted in one transaction
LATEST_DAYS = 10 * 365  # from today: a later day is taken for a slip
WAITING = {Submission.Status.ACTIVE, Submission.Status.SUBMITTED}


@receiver(study_closed, dispatch_uid="purge_date_of_closed_study")
def _set_date(study: Experiment, **_: Any) -> None:
    set_purge_date(study)


def set_purge_date(study: Experiment) -> int:
    """Give the ids of a closed study that have no date the one of the settings; returns their number.

    Studies that were closed before this job existed get a month in which their team sees the date.
    """
    closed_at = study.closed_at or timezone.now()
    settled = closed_at.date() + timedelta(days=settings.VAULT_DAYS)
    earliest = timezone.now().date() + timedelta(days=min(settings.VAULT_DAYS, NOTICE_DAYS))
    day = max(settled, earliest)
    return PlatformIdentity.objects.filter(experiment=study, purge_at__isnull=True).update(purge_at=day)


@transaction.atomic
def move_purge_date(study: Experiment, day: date, *, by: Any) -> None:
    """Choose another day for all ids of a closed study."""
    if study.status != Experiment.Status.CLOSED:
        raise BadInput("the study is not closed.", remedy="The day is set when it closes.")
    if not timezone.now().date() <= day <= timezone.now().date() + timedelta(days=LATEST_DAYS):
        raise BadInput("the day must be today or later, within ten years.")
    rows = PlatformIdentity.objects.filter(experiment=study)
    earlier = rows.order_by("purge_at").values_list("purge_at", flat=True).first()
    rows.update(purge_at=day)
    AuditEntry.objects.create(
        experiment=study,
        user=by,
        action="purge date changed",
        details={"changes": {"purge date": {"old": str(earlier or ""), "new": str(day)}}},
    )


def purge_due(today: date | None = None) -> int:
    """Delete the ids whose day has come and whose pay is settled; returns their number.

    Studies that were closed in another way than by their page, such as imports, get their date here.
    """
    undated = Experiment.objects.filter(status=Experiment.Status.CLOSED).filter(
        Exists(PlatformIdentity.objects.filter(experiment=OuterRef("pk"), purge_at__isnull=True))
    )
    for study in undated:
        set_purge_date(study)
    n_deleted = 0
    while batch := _delete_batch(today or timezone.now().date()):
        n_deleted += batch
    return n_deleted


def is_awaiting_pay() -> Q:
    """Condition on rows of the vault: a call about this person's pay is open, or a decision is due."""
    calls = PlatformCall.objects.filter(state__in=PlatformCall.State.open())
    person = OuterRef("participant")
    return (
        Q(Exists(calls.filter(submission__session__participant=person)))
        | Q(Exists(calls.filter(payments__session__participant=person)))
        | Q(Exists(Submission.objects.filter(status__in=WAITING, session__participant=person)))
    )


@transaction.atomic
def _delete_batch(today: date) -> int:
    due = PlatformIdentity.objects.filter(purge_at__lte=today).exclude(is_awaiting_pay())
    keys = list(due.order_by("pk").values_list("pk", flat=True)[:BATCH])
    rows = PlatformIdentity.objects.filter(pk__in=keys)
    counts = list(rows.order_by().values("experiment").annotate(n=Count("pk")).values_list("experiment", "n"))
    n_deleted, _ = rows.delete()
    AuditEntry.objects.bulk_create(
        AuditEntry(experiment_id=study, action="platform ids purged", details={"identities": n})
        for study, n in counts
    )
    return n_deleted
