"""Answers to the questionnaire become the participant's background."""

from typing import Any

from django.db import transaction

from judgments.models import Participant, Session, SessionEvent
from judgments.sessions.advance import move_on, next_step
from judgments.sessions.withdraw import screen_out


@transaction.atomic
def note_background(
    session: Session,
    answers: dict[str, Any],
    *,
    is_native: bool | None,
    screened_by: str = "",
    trap: str = "",
) -> None:
    """Keep the answers and go on; once the questionnaire is behind, a late copy changes nothing.

    ``screened_by`` names the question whose answer the study does not fit; ``trap`` is what stood in
    the field that people do not see, of which only the length is kept.
    """
    if next_step(session).screen != "questionnaire":
        return
    Participant.objects.filter(pk=session.participant_id).update(background=answers, is_native=is_native)
    if trap.strip():
        SessionEvent.objects.create(session=session, kind="honeypot", details={"length": len(trap)})
    if screened_by:
        screen_out(session, details={"question": screened_by})
    else:
        move_on(session, "questionnaire")
