"""Completion: only when every trial has its judgment, and only once."""

import secrets

from django.db import transaction
from django.utils import timezone

from judgments.models import Session
from judgments.sessions.protocol import protocol_of

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # nothing to be misread


class NotFinished(Exception):
    """A trial has no judgment yet."""


@transaction.atomic
def finish(session: Session) -> Session:
    """Complete the session and give it its code; called again, nothing changes."""
    held = Session.objects.select_for_update().get(pk=session.pk)
    if held.is_final:
        _copy(held, session)
        return session
    if not session.trials.exists() or session.trials.filter(judgment__isnull=True).exists():
        raise NotFinished
    held.status, held.screen, held.completed_at = Session.Status.COMPLETE, "debrief", timezone.now()
    held.completion_code = protocol_of(session.version).completion_code or new_code()
    held.save(update_fields=["status", "screen", "completed_at", "completion_code"])
    _copy(held, session)
    return session


def new_code() -> str:
    """A completion code of eight signs (39 bits) that can be copied by hand."""
    return "".join(secrets.choice(ALPHABET) for _ in range(8))


def _copy(held: Session, session: Session) -> None:
    for name in ("status", "screen", "completed_at", "completion_code"):
        setattr(session, name, getattr(held, name))
