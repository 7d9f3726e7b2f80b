"""A lease keeps a session's place; each answer renews it, and who comes back may take it again."""

from django.db import transaction
from django.utils import timezone

from judgments.models import Session, SessionEvent
from judgments.sessions.places import check_taking, lease_end, locked_lists
from judgments.sessions.protocol import protocol_of


class SessionOver(Exception):
    """The session is complete, refused or withdrawn: nothing more is recorded."""


def is_too_late(session: Session) -> bool:
    """Whether an unfinished session was left alone for longer than its study lets people come back."""
    if session.is_final or session.last_seen_at is None:
        return False
    return timezone.now() - session.last_seen_at > protocol_of(session.version).resume_limit


def renew(session: Session, *, screen: str = "") -> None:
    """Renew the lease, and note the screen; take the place again when the lease ran out.

    Raises :class:`SessionOver` when the session has ended, and
    :class:`~judgments.sessions.places.StudyClosed` when the study takes nobody any more.
    """
    now = timezone.now()
    news = {"lease_expires_at": lease_end(session.experiment, now), "last_seen_at": now}
    if screen:
        news["screen"] = screen
    live = Session.objects.filter(pk=session.pk, status=Session.Status.ACTIVE, lease_expires_at__gte=now)
    if not live.update(**news):
        take_back(session)
        Session.objects.filter(pk=session.pk, status=Session.Status.ACTIVE).update(**news)
    for name, value in news.items():
        setattr(session, name, value)


@transaction.atomic
def take_back(session: Session) -> None:
    """Give an abandoned session its list again while the study takes participants, full or not.

    Limits are for newcomers: nobody who agreed is turned away over a dead spot. The answers so far are worth
    more than a perfect balance; the next arrivals level the lists.
    """
    locked_lists(session.version, round_number=session.list.round if session.list else 1)
    session.refresh_from_db(fields=["status", "lease_expires_at"])
    session.experiment.refresh_from_db(fields=["status"])
    now = timezone.now()
    if session.is_final:
        raise SessionOver
    if (
        session.status == Session.Status.ACTIVE
        and session.lease_expires_at
        and session.lease_expires_at >= now
    ):
        return
    if not session.version.is_preview:
        check_taking(session.experiment)
    session.status, session.lease_expires_at = Session.Status.ACTIVE, lease_end(session.experiment, now)
    session.last_seen_at = now
    session.save(update_fields=["status", "lease_expires_at", "last_seen_at"])
    SessionEvent.objects.create(session=session, kind="resumed")
