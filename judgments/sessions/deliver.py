"""Answers in the background: one or many, in any order, any number of times, each stored once.

The usual way takes three queries whatever the number of rows: the session with the trials named, the lease
(unless it was renewed just now), the rows. What is acknowledged is committed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from judgments.models import Judgment, Session, SessionEvent, Trial
from judgments.sessions.finish import NotFinished, finish
from judgments.sessions.incoming import Incoming
from judgments.sessions.lease import SessionOver, renew
from judgments.sessions.lookup import session_of
from judgments.sessions.places import lease_end
from judgments.sessions.protocol import Protocol, protocol_of
from judgments.sessions.record import judgment_of, options_of, screen_after
from judgments.tasks.base import BadResponse

FRESH = timedelta(seconds=30)  # a lease renewed so recently is not written again
ATTEMPTS = 3


@dataclass(frozen=True)
class Refusal:
    """A row that cannot be stored, and why."""

    trial: str
    code: str
    message: str


@dataclass
class Receipt:
    """What became of a delivery; ``acknowledged`` are stored for good, ``kept_first`` had another answer."""

    acknowledged: list[str] = field(default_factory=list)
    kept_first: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    feedback: dict[str, dict[str, Any]] = field(default_factory=dict)
    position: int = 0
    is_complete: bool = False


def deliver(session: Session, rows: Sequence[Incoming]) -> Receipt:
    """Store what is new, acknowledge what is stored, refuse what cannot be; complete the session.

    Takes a session of :mod:`judgments.sessions.lookup`. Raises :class:`~judgments.sessions.lease.SessionOver`
    or :class:`~judgments.sessions.places.StudyClosed` when something new can no longer be stored.
    """
    if session.status == Session.Status.WITHDRAWN and not session.named:
        raise SessionOver  # the answers were deleted, and the trials with them: nothing more is to be asked
    for attempt in range(ATTEMPTS):
        if attempt:
            session = session_of(session.token, sent=[row.trial for row in rows]) or session
        sorting = _Sorting(session, rows)
        try:
            sorting.store()
            break
        except IntegrityError:  # another request stored one of them between our look and our insert
            if attempt == ATTEMPTS - 1:
                raise
    receipt = sorting.receipt
    waits = [place for place in (session.waits_at, *sorting.still_open) if place is not None]
    if waits:
        receipt.position = min(waits) - 1
        receipt.is_complete = session.status == Session.Status.COMPLETE
    else:
        receipt.is_complete = _completed(session)
        receipt.position = (
            session.trials.order_by("-position").values_list("position", flat=True).first() or 0
        )
    return receipt


def _completed(session: Session) -> bool:
    try:
        return finish(session).status == Session.Status.COMPLETE
    except NotFinished:  # no trials yet
        return False


class _Sorting:
    """Rows of one delivery, sorted into new ones, known ones and refused ones."""

    def __init__(self, session: Session, rows: Sequence[Incoming]) -> None:
        self.session, self.receipt = session, Receipt()
        self.protocol: Protocol = protocol_of(session.version)
        self.new: dict[str, Judgment] = {}
        self.conflicts: list[SessionEvent] = []
        self.events: list[SessionEvent] = []
        self.still_open: list[int] = []
        self.trials: dict[str, Trial] = session.named
        for row in rows:
            self._sort(row)

    def _sort(self, row: Incoming) -> None:
        trial = self.trials.get(row.trial)
        if trial is None:
            self._refuse(row, "unknown_trial", "This session has no such trial.")
            return
        known = self.new.get(row.trial) or trial.known
        try:
            answer = self.protocol.task.parse(
                row.delivery.response, self.protocol.settings, options=options_of(trial)
            )
        except BadResponse as problem:
            self._refuse(row, "bad_response", problem.message)
            if known is None:
                self.still_open.append(trial.position)
            return
        if known is None:
            known = self.new[row.trial] = judgment_of(trial, answer, row.delivery, protocol=self.protocol)
            self.events += [self._event(trial, **event) for event in row.events]
        elif known.response != row.delivery.response:
            self.receipt.kept_first.append(row.trial)
            self.conflicts.append(self._event(trial, "conflict", {"response": row.delivery.response}))
        if row.trial not in self.receipt.acknowledged:
            self.receipt.acknowledged.append(row.trial)
        if trial.kind == "practice":
            self.receipt.feedback[row.trial] = {
                "is_correct": known.is_correct,
                "text": trial.correct.get("feedback", ""),
            }

    def store(self) -> None:
        """Write everything, or nothing."""
        if not self.new and not self.conflicts:
            return
        screen = self._screen()
        if len(self.new) == 1 and not self.events and not self.conflicts and self._is_fresh(screen):
            for judgment in self.new.values():
                judgment.save(force_insert=True)  # one statement is its own transaction
            return
        with transaction.atomic():
            if self.new:
                if not self._is_fresh(screen):
                    renew(self.session, screen=screen)
                Judgment.objects.bulk_create(self.new.values())
            if events := self.events + self._unknown_conflicts():
                SessionEvent.objects.bulk_create(events)

    def _screen(self) -> str:
        """Where the participant is after the last of the new answers."""
        last = max((one.trial for one in self.new.values()), key=lambda trial: trial.position, default=None)
        return screen_after(last) if last else self.session.screen

    def _is_fresh(self, screen: str) -> bool:
        """Whether the lease was renewed just now, and the participant is where they were."""
        session = self.session
        return (
            session.status == Session.Status.ACTIVE
            and session.screen == screen
            and session.lease_expires_at is not None
            and lease_end(session.experiment, timezone.now()) - session.lease_expires_at < FRESH
        )

    def _unknown_conflicts(self) -> list[SessionEvent]:
        """Conflicts that were not noted before: a delivery sent again is one event."""
        if not self.conflicts:
            return []
        before = SessionEvent.objects.filter(session=self.session, kind="conflict")
        noted = {
            (trial, str(details.get("response"))) for trial, details in before.values_list("trial", "details")
        }
        fresh = {(one.trial_id, one.details["response"]): one for one in self.conflicts}
        return [one for key, one in fresh.items() if key not in noted]

    def _event(self, trial: Trial, kind: str, details: dict[str, Any]) -> SessionEvent:
        return SessionEvent(session_id=self.session.pk, trial=trial, kind=kind, details=details)

    def _refuse(self, row: Incoming, code: str, message: str) -> None:
        self.receipt.refused.append(Refusal(row.trial, code, message))
