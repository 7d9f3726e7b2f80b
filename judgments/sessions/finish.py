"""Completion: only when every trial has its judgment, and only once."""

import secrets

from django.db.models import Exists, OuterRef
from django.utils import timezone

from judgments.models import Session, Trial
from judgments.sessions.protocol import protocol_of

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # nothing to be misread


class NotFinished(Exception):
    """A trial has no judgment yet."""


def finish(session: Session) -> Session:
    """Complete the session and give it its code; called again, nothing changes.

    One conditional update: of two last answers stored at the same time, the later one's sees both.
    """
    open_trials = Trial.objects.filter(session=OuterRef("pk"), judgment__isnull=True)
    ready = Session.objects.filter(Exists(Trial.objects.filter(session=OuterRef("pk"))), ~Exists(open_trials))
    news = {
        "status": Session.Status.COMPLETE,
        "screen": "debrief",
        "completed_at": timezone.now(),
        "completion_code": protocol_of(session.version).completion_code or new_code(),
    }
    if ready.filter(pk=session.pk).exclude(status__in=Session.Status.final()).update(**news):
        for name, value in news.items():
            setattr(session, name, value)
        return session
    session.refresh_from_db(fields=list(news))
    if not session.is_final:
        raise NotFinished
    return session


def new_code() -> str:
    """A completion code of eight signs (39 bits) that can be copied by hand."""
    return "".join(secrets.choice(ALPHABET) for _ in range(8))
