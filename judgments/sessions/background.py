"""Answers to the questionnaire become the participant's background."""

from typing import Any

from django.db import transaction

from judgments.models import Participant, Session
from judgments.sessions.advance import move_on, next_step


@transaction.atomic
def note_background(session: Session, answers: dict[str, Any], *, is_native: bool | None) -> None:
    """Keep the answers and go on; once the questionnaire is behind, a late copy changes nothing."""
    if next_step(session).screen != "questionnaire":
        return
    Participant.objects.filter(pk=session.participant_id).update(background=answers, is_native=is_native)
    move_on(session, "questionnaire")
