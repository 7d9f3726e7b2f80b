"""One judgment, once."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from judgments.models import Judgment, Session, SessionEvent, Trial
from judgments.sessions.given import GivenTrial
from judgments.sessions.lease import renew
from judgments.sessions.prepare import prepare_trials
from judgments.sessions.protocol import Protocol, protocol_of
from judgments.tasks.base import Answer, Option, is_correct


class UnknownTrial(LookupError):
    """The session has no such trial."""


@dataclass(frozen=True)
class Delivery:
    """An answer as it came in, with how it was given."""

    response: str
    input_type: str = Judgment.InputType.FORM
    rt_ms: int | None = None
    answered_at: datetime | None = None
    timing: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Recorded:
    """The judgment that stands, and whether this delivery made it."""

    judgment: Judgment
    is_new: bool


def record(session: Session, public_id: str, delivery: Delivery) -> Recorded:
    """Store the answer to a trial of this session; the first answer stands.

    The same answer again returns the first; a different one is kept as an event. Raises
    :class:`UnknownTrial`, :class:`~judgments.tasks.base.BadResponse`,
    :class:`~judgments.sessions.lease.SessionOver` or :class:`~judgments.sessions.places.StudyClosed`.
    """
    named = session.trials.select_related("judgment", "pair").filter(public_id=public_id)
    trial = named.first()
    if trial is None and not session.trials.exists():
        prepare_trials(session)  # the arrival was cut off before it wrote them
        trial = named.first()
    if trial is None:
        raise UnknownTrial(public_id)
    protocol = protocol_of(session.version)
    answer = protocol.task.parse(delivery.response, protocol.settings, options=options_of(trial))
    if hasattr(trial, "judgment"):
        return _already(trial, trial.judgment, delivery)
    try:
        with transaction.atomic():
            renew(session, screen=screen_after(trial))
            made = judgment_of(trial, answer, delivery, protocol=protocol)
            made.save(force_insert=True)
            return Recorded(made, is_new=True)
    except IntegrityError:  # another request stored one between our look and our insert
        first = Judgment.objects.filter(trial=trial).first()
        if first is None:
            raise
        return _already(trial, first, delivery)


def options_of(trial: Trial | GivenTrial) -> list[Option]:
    """The sentences shown in a trial, with what only the server knows about them."""
    return [
        Option(one["id"], one["text"], expected=(place == 0) == trial.expected_first)
        for place, one in enumerate(trial.shown.get("options", ()))
    ]


def screen_after(trial: Trial | GivenTrial) -> str:
    """After practice comes feedback, where there is something to say."""
    if trial.kind != "practice":
        return f"block-{trial.block}"
    return f"feedback-{trial.position}" if trial.correct else "practice"


def judgment_of(trial: Trial, answer: Answer, delivery: Delivery, *, protocol: Protocol) -> Judgment:
    """The row of a parsed answer, not yet stored."""
    return Judgment(trial=trial, **judgment_columns(trial, answer, delivery, protocol=protocol))


def judgment_columns(
    trial: Trial | GivenTrial, answer: Answer, delivery: Delivery, *, protocol: Protocol
) -> dict[str, Any]:
    """What the row of a parsed answer holds beside its trial, by column."""
    low, high = protocol.task.scale(protocol.settings)
    now = timezone.now()
    timing = dict(delivery.timing)
    if trial.shown_at is not None:
        timing["server_ms"] = round((now - trial.shown_at).total_seconds() * 1000)
    return {
        "status": Judgment.Status.ANSWERED,
        "response": answer.response,
        "value": answer.value,
        "chosen_id": _chosen(trial, answer),
        "scale_low": low,
        "scale_high": high,
        "is_correct": is_correct(answer, trial.correct),
        "rt_ms": delivery.rt_ms,
        "input_type": delivery.input_type,
        "timing": timing,
        "answered_at": delivery.answered_at,
        "received_at": now,
    }


def _chosen(trial: Trial | GivenTrial, answer: Answer) -> int | None:
    """The chosen member of a pair."""
    if trial.pair is None or not answer.option_id:
        return None
    return trial.pair.good_id if answer.value == 1 else trial.pair.bad_id


def _already(trial: Trial, first: Judgment, delivery: Delivery) -> Recorded:
    if delivery.response != first.response:
        SessionEvent.objects.create(
            session_id=trial.session_id, trial=trial, kind="conflict", details={"response": delivery.response}
        )
    return Recorded(first, is_new=False)
