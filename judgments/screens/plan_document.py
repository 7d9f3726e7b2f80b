"""The plan of a session as a browser gets it, in the first trial's page or by itself."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from experiments.languages import speaking, spoken_messages
from judgments.models import Session
from judgments.screens.page import direction
from judgments.screens.trial_screen import sentence_context
from judgments.screens.words import engine_words
from judgments.sessions.begun import beginnings
from judgments.sessions.given import GivenTrial, given_trials
from judgments.sessions.plan import plan_of
from judgments.sessions.prepare import prepare_trials
from judgments.sessions.protocol import protocol_of
from judgments.sessions.sittings import remember


def plan_document(session: Session) -> dict[str, Any]:
    """The trials of a session with the engine's words; the answers to come are expected from now on."""
    begun = beginnings.still(session)
    trials = begun.trials if begun is not None else given_trials(session)
    if not trials:  # the arrival was cut off before it wrote them, and no page was asked for
        prepare_trials(session)
        trials = given_trials(session)
    if begun is None:
        remember(session, trials)
    return planned(session, trials, token=session.token)


def planned(session: Session, trials: Sequence[GivenTrial], *, token: str) -> dict[str, Any]:
    """The plan of these trials for a session by this token."""
    protocol = protocol_of(session.version)
    with speaking(protocol.language):
        return {
            **plan_of(session, trials, sentence_of=sentence_context),
            "direction": direction(protocol.language),
            "words": {**engine_words(), **spoken_messages(protocol.task)},
            "next": reverse("session", kwargs={"token": token}),
        }
