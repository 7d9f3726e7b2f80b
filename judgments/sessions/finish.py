"""Completion: only when every trial has its judgment, and only once."""

import secrets
from typing import Any

from django.utils import timezone

from judgments.models import Session
from judgments.sessions.columns import TABLES
from judgments.sessions.prepared import changed_rows
from judgments.sessions.protocol import Protocol, protocol_of

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # nothing to be misread
COMPLETION = """
UPDATE {session} SET status = 'complete', screen = 'debrief', completed_at = %s, completion_code = %s
WHERE id = %s AND status IN ('active', 'abandoned')
  AND EXISTS (SELECT 1 FROM {trial} t WHERE t.session_id = %s)
  AND NOT EXISTS (SELECT 1 FROM {trial} t WHERE t.session_id = %s
    AND NOT EXISTS (SELECT 1 FROM {judgment} j WHERE j.trial_id = t.id)"""  # left open, to leave a trial out


class NotFinished(Exception):
    """A trial has no judgment yet."""


def finish(session: Session) -> Session:
    """Complete the session and give it its code; called again, nothing changes."""
    news = completed(session.pk, protocol_of(session.version))
    if news is None:
        session.refresh_from_db(fields=["status", "screen", "completed_at", "completion_code"])
        if not session.is_final:
            raise NotFinished
        return session
    for name, value in news.items():
        setattr(session, name, value)
    return session


def completed(session_id: int, protocol: Protocol) -> dict[str, Any] | None:
    """Complete a running session whose every trial is answered; what changed, or None.

    One conditional update: of two last answers stored at the same time, the later one's sees both.
    """
    now, code, *_ = values = completion(session_id, protocol)
    if changed_rows(f"{COMPLETION})".format(**TABLES), values) != 1:
        return None
    return {
        "status": Session.Status.COMPLETE,
        "screen": "debrief",
        "completed_at": now,
        "completion_code": code,
    }


def completion(session_id: int, protocol: Protocol) -> list[Any]:
    """The values of the statement that completes a session now."""
    return [timezone.now(), protocol.completion_code or new_code(), session_id, session_id, session_id]


def new_code() -> str:
    """A completion code of eight signs (39 bits) that can be copied by hand."""
    return "".join(secrets.choice(ALPHABET) for _ in range(8))
