"""Abandoned sessions give their list slot back."""

from django.db import transaction
from django.utils import timezone

from judgments.models import Session, SessionEvent


def expire_sessions() -> int:
    """Mark sessions whose lease ran out as abandoned; they may still be resumed. Returns the count.

    A place is free from the moment the lease runs out; this only writes it down.
    """
    lapsed = Session.objects.filter(status=Session.Status.ACTIVE, lease_expires_at__lt=timezone.now())
    return sum(_expire(session_id) for session_id in lapsed.values_list("pk", flat=True)[:10_000])


@transaction.atomic
def _expire(session_id: int) -> bool:
    """Claim one by conditional update: an answer that renewed the lease meanwhile was first."""
    claimed = Session.objects.filter(
        pk=session_id, status=Session.Status.ACTIVE, lease_expires_at__lt=timezone.now()
    ).update(status=Session.Status.ABANDONED)
    if claimed:
        SessionEvent.objects.create(session_id=session_id, kind="expired")
    return bool(claimed)
