"""Previews are forgotten: their versions, lists, sessions and the people who were none."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from experiments.models import Experiment, ExperimentVersion
from judgments.models import Participant, Payment, Session

TOGETHER = 500  # versions in one call; the next call goes on
RUNS_NEXT = {Experiment.Status.DRAFT, Experiment.Status.PILOT}  # their checklist counts the newest preview


def prune_previews(*, older_than: datetime | None = None) -> int:
    """Delete preview versions that nobody has used for the days of ``PREVIEW_DAYS``; gives their number.

    Only versions made for previews go, with test sessions on their lists. The newest preview of a study that
    is not open yet stays, because its launch checklist rests on it.
    """
    limit = older_than or timezone.now() - timedelta(days=settings.PREVIEW_DAYS)
    sessions = Session.objects.filter(version=OuterRef("pk"))
    kept = Q(is_test=False) | Q(last_seen_at__gte=limit) | Q(started_at__gte=limit)
    newer = ExperimentVersion.objects.filter(
        experiment=OuterRef("experiment"), is_preview=True, number__gt=OuterRef("number")
    )
    old = ExperimentVersion.objects.filter(is_preview=True, created_at__lt=limit)
    old = old.exclude(Exists(sessions.filter(kept)))
    old = old.exclude(Exists(Payment.objects.filter(session__version=OuterRef("pk"))))
    old = old.filter(Exists(newer) | ~Q(experiment__status__in=RUNS_NEXT))
    return sum(_prune(pk) for pk in old.order_by("pk").values_list("pk", flat=True)[:TOGETHER])


@transaction.atomic
def _prune(version_id: int) -> bool:
    """Delete one version with what hangs on it; another worker may have been first."""
    version = ExperimentVersion.objects.select_for_update().filter(pk=version_id, is_preview=True).first()
    if version is None:
        return False
    sessions = Session.objects.filter(version=version, is_test=True)
    people = list(sessions.values_list("participant", flat=True))
    sessions.delete()
    others = Session.objects.filter(participant=OuterRef("pk"))
    Participant.objects.filter(pk__in=people).exclude(Exists(others)).delete()
    version.delete()
    return True
