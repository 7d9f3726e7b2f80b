"""The clock of simulated participants: a sitting that took no time gets the times a person's would have."""

from datetime import datetime, timedelta

import numpy as np
from django.db import transaction

from judgments.models import Consent, Judgment, Participant, Session, Trial

READING_S, QUESTIONS_S, PAUSE_S, DELIVERY_MS = 35.0, 20.0, 0.9, 120.0


@transaction.atomic
def retime(session: Session, began_at: datetime, rng: np.random.Generator) -> Session:
    """Let a simulated session have begun at ``began_at``, each answer after its own response time.

    Only rows of simulated participants may be moved; the rest of the row stays as it was recorded.
    """
    if not session.participant.is_simulated:
        raise ValueError("only a simulated session can be given other times")
    now = began_at + _seconds(READING_S + QUESTIONS_S, rng)
    for trial in (
        session.trials.filter(judgment__isnull=False).select_related("judgment").order_by("position")
    ):
        now = _answered(trial, trial.judgment, now, rng)
    session.started_at, session.last_seen_at, session.lease_expires_at = began_at, now, now
    if session.completed_at is not None:
        session.completed_at = now + _seconds(2.0, rng)
    session.save(update_fields=["started_at", "last_seen_at", "lease_expires_at", "completed_at"])
    Consent.objects.filter(session=session).update(at=began_at)
    Participant.objects.filter(pk=session.participant_id).update(created_at=began_at)
    return session


def _answered(trial: Trial, judgment: Judgment, shown_at: datetime, rng: np.random.Generator) -> datetime:
    """Move one answer; gives the moment at which the next trial is shown."""
    answered_at = shown_at + timedelta(milliseconds=judgment.rt_ms or 0)
    received_at = answered_at + timedelta(milliseconds=_spread(DELIVERY_MS, rng))
    server_ms = round((received_at - shown_at).total_seconds() * 1000)
    timing = {**judgment.timing, "server_ms": server_ms, "simulated": True}
    Trial.objects.filter(pk=trial.pk).update(shown_at=shown_at)
    Judgment.objects.filter(pk=judgment.pk).update(
        answered_at=answered_at, received_at=received_at, timing=timing
    )
    return received_at + _seconds(PAUSE_S, rng)


def _seconds(median: float, rng: np.random.Generator) -> timedelta:
    return timedelta(seconds=_spread(median, rng))


def _spread(median: float, rng: np.random.Generator) -> float:
    return median * float(np.exp(rng.normal(0, 0.35)))
