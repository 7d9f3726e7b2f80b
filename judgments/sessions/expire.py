"""Abandoned sessions give their list slot back."""

from django.utils import timezone

from judgments.models import Session


def expire_sessions() -> int:
    """Mark sessions whose lease ran out as abandoned; they may still be resumed. Returns the count."""
    return Session.objects.filter(status=Session.Status.ACTIVE, lease_expires_at__lt=timezone.now()).update(
        status=Session.Status.ABANDONED
    )
