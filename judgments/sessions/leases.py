"""Leases on list places: each answer renews its session's lease, and expired ones free the place."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from judgments.models import Session, SessionEvent
from judgments.sessions.places import check_taking, locked_lists
from judgments.sessions.protocol import load_protocol

FRESH = timedelta(seconds=30)  # a lease renewed so recently is not written again
EXPIRED_AT_ONCE = 10_000  # sessions in one run; the next run continues


class SessionOver(Exception):
    """The session is complete, refused or withdrawn: nothing more is recorded."""


class SessionExpired(Exception):
    """The session was left alone for longer than its study lets participants return."""


def lease_end(lease_minutes: int, now: datetime) -> datetime:
    """Return the expiry of a lease that is taken or renewed now."""
    return now + timedelta(minutes=lease_minutes)


def is_fresh(status: str, lease_expires_at: datetime | None, *, lease_minutes: int) -> bool:
    """Whether a session is active and its lease was renewed so recently that it need not be written."""
    if status != Session.Status.ACTIVE or lease_expires_at is None:
        return False
    age = lease_end(lease_minutes, timezone.now()) - lease_expires_at
    return -FRESH < age < FRESH  # far ahead, it was renewed before the clock was set back


def is_too_late(session: Session) -> bool:
    """Whether an unfinished session was left alone for longer than its study lets participants return."""
    if session.is_final or session.last_seen_at is None:
        return False
    return timezone.now() - session.last_seen_at > load_protocol(session.version).resume_limit


def renew(session: Session, *, screen: str = "") -> None:
    """Renew the lease, and store the screen; take the place again when the lease has expired.

    Raises :class:`SessionOver` when the session has ended, and
    :class:`~judgments.sessions.places.StudyClosed` when the study takes no participants any more.
    """
    now = timezone.now()
    changed = _renewal(session.experiment.lease_minutes, now, screen)
    active = Session.objects.filter(pk=session.pk, status=Session.Status.ACTIVE)
    # Race: the session may end or expire after it was read, so only a live lease is renewed right away.
    if not active.filter(lease_expires_at__gte=now).update(**changed):
        take_back(session)
        active.update(**changed)
    for name, value in changed.items():
        setattr(session, name, value)


def _renewal(lease_minutes: int, now: datetime, screen: str) -> dict[str, Any]:
    """The columns that a renewal writes."""
    changed: dict[str, Any] = {"lease_expires_at": lease_end(lease_minutes, now), "last_seen_at": now}
    return {**changed, "screen": screen} if screen else changed


@transaction.atomic
def take_back(session: Session) -> None:
    """Give an abandoned session its list again while the study takes participants, full or not.

    Limits are for newcomers: a participant who consented is not turned away over a lost connection. The
    answers so far are worth more than a perfect balance; the next arrivals level the lists.
    """
    locked_lists(session.version, round_number=session.list.round if session.list else 1)
    session.refresh_from_db(fields=["status", "lease_expires_at"])
    session.experiment.refresh_from_db(fields=["status"])
    now = timezone.now()
    if session.is_final:
        raise SessionOver
    is_active = session.status == Session.Status.ACTIVE
    if is_active and session.lease_expires_at and session.lease_expires_at >= now:
        return
    if not session.version.is_preview:
        check_taking(session.experiment)
    session.status = Session.Status.ACTIVE
    session.lease_expires_at = lease_end(session.experiment.lease_minutes, now)
    session.last_seen_at = now
    session.save(update_fields=["status", "lease_expires_at", "last_seen_at"])
    SessionEvent.objects.create(session=session, kind="resumed")


def expire_sessions() -> int:
    """Mark sessions whose lease has expired as abandoned; they may still be resumed. Returns the count.

    A place is free from the moment the lease expires; this only records it.
    """
    _shorten_future_leases()
    lapsed = Session.objects.filter(status=Session.Status.ACTIVE, lease_expires_at__lt=timezone.now())
    return sum(_expire(session_id) for session_id in lapsed.values_list("pk", flat=True)[:EXPIRED_AT_ONCE])


def _shorten_future_leases() -> None:
    """Let no session hold its place for longer than its study says because the clock was set back."""
    now = timezone.now()
    active = Session.objects.filter(status=Session.Status.ACTIVE, lease_expires_at__gt=now + FRESH)
    minutes = active.values_list("experiment__lease_minutes", flat=True).order_by().distinct()
    for lease_minutes in list(minutes):
        end = lease_end(lease_minutes, now)
        ahead = active.filter(experiment__lease_minutes=lease_minutes, lease_expires_at__gt=end + FRESH)
        ahead.update(lease_expires_at=end)


@transaction.atomic
def _expire(session_id: int) -> bool:
    # Race: an answer may have renewed the lease since the query; the conditions claim the row.
    claimed = Session.objects.filter(
        pk=session_id, status=Session.Status.ACTIVE, lease_expires_at__lt=timezone.now()
    ).update(status=Session.Status.ABANDONED)
    if claimed:
        SessionEvent.objects.create(session_id=session_id, kind="expired")
    return bool(claimed)
