"""Storing the answers of a session: each once, however often, in whatever order and number they arrive.

What is acknowledged is committed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from analysis.plugins.registry import PluginFailure
from experiments.operation.counters import counters
from experiments.tasks.base import Answer, BadResponse, Option, is_correct
from judgments.models import Judgment, Session, SessionEvent, Trial
from judgments.sessions.compiled_queries import Compiled
from judgments.sessions.completion import complete
from judgments.sessions.leases import SessionExpired, SessionOver, is_fresh, is_too_late, renew
from judgments.sessions.payload import STORAGE, SentAnswer
from judgments.sessions.protocol import Protocol, load_protocol
from judgments.write_lock import write_lock

PLUGIN_FAILURE = "plugin"  # event: the plugin of the task failed, with the reason
MAX_PROBLEMS = 20  # of a session's storage
ATTEMPTS = 3  # each fails only when another request changed the session in between


class SessionUnknown(LookupError):
    """No session has this token."""


@dataclass(frozen=True)
class Refusal:
    """An answer that cannot be stored, and why; ``problem`` is what the task says of a response."""

    trial: str
    code: str
    message: str
    problem: BadResponse | None = None


@dataclass
class Receipt:
    """The outcome of a delivery, by public id of the trials.

    ``acknowledged`` are stored for good, ``stored`` of these by this delivery; ``kept_first`` had another
    answer before, which is kept. Every trial up to ``position`` has its answer.
    """

    acknowledged: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)
    kept_first: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    feedback: dict[str, dict[str, Any]] = field(default_factory=dict)
    position: int = 0
    is_complete: bool = False


def record_answers(
    token: str, answers: Sequence[SentAnswer], *, problems: Sequence[dict[str, str]] = ()
) -> Receipt:
    """Store the new answers of a session, acknowledge those that are stored, and complete the session.

    The first answer to a trial is kept; a different second one is stored as an event. An answer that cannot
    be stored is refused while the others are stored. ``problems`` of the browser's storage came with no
    answer, perhaps after the last one; each is one event of the session.
    """
    for attempt in range(1, ATTEMPTS + 1):
        session = _read_session(token)
        delivery = _Delivery(session, _read_trials(session, answers), answers)
        if delivery.judgments and session.is_final:
            raise SessionOver
        try:
            delivery.store()
            break
        except (IntegrityError, SessionOver):
            # Race: another request stored one of these answers, or ended the session, after it was read.
            # Nothing of this delivery is stored: read again, and the answer that is stored is the first.
            if attempt == ATTEMPTS:
                raise
    if problems:
        _store_problems(session, problems)
    receipt = delivery.receipt
    n_stored = len(receipt.stored)
    counters.add(
        ("judgments_stored_total", n_stored),
        ("judgments_repeated_total", len(receipt.acknowledged) - n_stored),
    )
    _add_progress(receipt, session)
    return receipt


_session_by_token = Compiled(
    lambda token: (
        Session.objects.select_related("experiment", "version")
        .only(
            *("status", "screen", "lease_expires_at", "last_seen_at", "list"),
            *("experiment__lease_minutes", "experiment__status", "version__sha256"),
        )
        .filter(token=token)
    )
)
_trials_by_public_id = Compiled(
    lambda session, *ids: (
        Trial.objects.select_related("pair", "judgment")
        .defer("attributes")
        .filter(session=session, public_id__in=ids)
        .order_by()
    )
)
_first_open_position = Compiled(
    lambda session: (
        Trial.objects.filter(session=session, judgment__isnull=True)
        .order_by("position")
        .values_list("position")[:1]
    )
)


def _read_session(token: str) -> Session:
    session: Session | None = _session_by_token.first(token)
    if session is None:
        raise SessionUnknown(token)
    if is_too_late(session):
        raise SessionExpired
    return session


def _read_trials(session: Session, answers: Sequence[SentAnswer]) -> dict[str, Trial]:
    """The trials that are answered, by public id, each with its stored judgment if there is one."""
    ids = dict.fromkeys(answer.trial for answer in answers)
    found = {trial.public_id: trial for trial in _trials_by_public_id(session.pk, *ids)} if ids else {}
    if not found and session.status == Session.Status.WITHDRAWN:
        raise SessionOver  # the answers were deleted, and the trials with them
    return found


class _Delivery:
    """The answers of one delivery, sorted into new, stored and refused ones."""

    def __init__(self, session: Session, trials: dict[str, Trial], answers: Sequence[SentAnswer]) -> None:
        self.session, self.trials, self.receipt = session, trials, Receipt()
        self.judgments: list[Judgment] = []
        self.events: list[SessionEvent] = []
        self.conflicts: list[SessionEvent] = []
        self.protocol = load_protocol(session.version)
        for answer in answers:
            self._sort(answer)

    def _sort(self, answer: SentAnswer) -> None:
        receipt, trial = self.receipt, self.trials.get(answer.trial)
        if trial is None:
            message = "This session has no such trial."
            receipt.refused.append(Refusal(answer.trial, "unknown_trial", message))
            return
        failure = None
        try:
            columns = judgment_columns(trial, answer, protocol=self.protocol)
        except PluginFailure as error:  # the participant goes on, and the answer is kept as it was sent
            columns, failure = unparsed_columns(trial, answer), error
        except BadResponse as problem:
            receipt.refused.append(Refusal(answer.trial, "bad_response", problem.message, problem))
            return
        first: Judgment | None = getattr(trial, "judgment", None)
        if first is None:
            # From here on ``trial.judgment`` is set: a second answer in the same delivery is a repetition.
            first = Judgment(trial=trial, **columns)
            self.judgments.append(first)
            if failure is not None:
                self.events.append(_event(trial, PLUGIN_FAILURE, {"reason": str(failure)}))
            self.events += [_event(trial, **event) for event in answer.events]
            receipt.stored.append(answer.trial)
        elif first.response != answer.response:
            receipt.kept_first.append(answer.trial)
            self.conflicts.append(_event(trial, "conflict", {"response": answer.response}))
        if answer.trial not in receipt.acknowledged:
            receipt.acknowledged.append(answer.trial)
        if trial.kind == "practice":
            text = trial.correct.get("feedback", "")
            receipt.feedback[answer.trial] = {"is_correct": first.is_correct, "text": text}

    def store(self) -> None:
        """Write everything, or nothing."""
        if not self.judgments and not self.conflicts:
            return
        with write_lock(), transaction.atomic():
            if self.judgments:
                self._renew_lease()
                Judgment.objects.bulk_create(self.judgments)
            if events := self.events + self._new_conflicts():
                SessionEvent.objects.bulk_create(events)

    def _renew_lease(self) -> None:
        """Renew the lease unless it was renewed just now on the screen of the last of the new answers."""
        session = self.session
        last = max((judgment.trial for judgment in self.judgments), key=lambda trial: trial.position)
        screen = screen_after(last)
        lease_minutes = session.experiment.lease_minutes
        if session.screen != screen or not is_fresh(
            session.status, session.lease_expires_at, lease_minutes=lease_minutes
        ):
            renew(session, screen=screen)

    def _new_conflicts(self) -> list[SessionEvent]:
        """Conflicts that no event records yet: a delivery sent again is one event."""
        if not self.conflicts:
            return []
        stored = SessionEvent.objects.filter(session=self.session.pk, kind="conflict")
        recorded = {
            (trial, str(details.get("response"))) for trial, details in stored.values_list("trial", "details")
        }
        unique = {(event.trial_id, event.details["response"]): event for event in self.conflicts}
        return [event for key, event in unique.items() if key not in recorded]


def _store_problems(session: Session, problems: Sequence[dict[str, str]]) -> None:
    with write_lock(), transaction.atomic():
        # Race: the same delivery sent twice.
        Session.objects.select_for_update().only("pk").get(pk=session.pk)
        stored = SessionEvent.objects.filter(session=session.pk, kind=STORAGE)
        recorded = list(stored.values_list("details", flat=True))
        for details in problems:
            if details not in recorded and len(recorded) < MAX_PROBLEMS:
                recorded.append(details)
                SessionEvent.objects.create(session_id=session.pk, kind=STORAGE, details=details)


def _add_progress(receipt: Receipt, session: Session) -> None:
    """Set how far the session is answered; complete it when no trial is open."""
    first_open = _first_open_position.first(session.pk)
    if first_open is not None:
        receipt.position = first_open[0] - 1
        receipt.is_complete = session.status == Session.Status.COMPLETE
        return
    receipt.is_complete = (
        complete(session.pk, load_protocol(session.version)) is not None
        or Session.objects.filter(pk=session.pk, status=Session.Status.COMPLETE).exists()
    )
    receipt.position = session.trials.aggregate(last=Max("position"))["last"] or 0


def _event(trial: Trial, kind: str, details: dict[str, Any]) -> SessionEvent:
    return SessionEvent(session_id=trial.session_id, trial_id=trial.pk, kind=kind, details=details)


def shown_options(trial: Trial) -> list[Option]:
    """The sentences shown in a trial, with what only the server knows about them."""
    return [
        Option(option["id"], option["text"], expected=(place == 0) == trial.expected_first)
        for place, option in enumerate(trial.shown.get("options", ()))
    ]


def screen_after(trial: Trial) -> str:
    """Return the screen after an answer; practice with feedback is followed by it."""
    if trial.kind != "practice":
        return f"block-{trial.block}"
    return f"feedback-{trial.position}" if trial.correct else "practice"


def judgment_columns(trial: Trial, answer: SentAnswer, *, protocol: Protocol) -> dict[str, Any]:
    """The columns of a judgment beside its trial, by attribute name."""
    if is_timed_out(answer, protocol.deadline_ms):
        columns = unparsed_columns(trial, answer)
        late = {} if answer.rt_ms is None else {"late_ms": answer.rt_ms}
        timing = {**columns["timing"], **late}
        return {**columns, "status": Judgment.Status.TIMED_OUT.value, "rt_ms": None, "timing": timing}
    parsed = protocol.task.parse(answer.response, protocol.settings, options=shown_options(trial))
    low, high = protocol.task.scale(protocol.settings)
    return {
        **unparsed_columns(trial, answer),
        "status": Judgment.Status.ANSWERED.value,
        "response": parsed.response,
        "value": parsed.value,
        "chosen_id": _chosen_member(trial, parsed),
        "scale_low": low,
        "scale_high": high,
        "is_correct": is_correct(parsed, trial.correct),
    }


def is_timed_out(answer: SentAnswer, deadline_ms: int | None) -> bool:
    """Whether the time for the answer had passed, as the browser states or its response time shows."""
    return deadline_ms is not None and (answer.is_timed_out or (answer.rt_ms or 0) > deadline_ms)


def unparsed_columns(trial: Trial, answer: SentAnswer) -> dict[str, Any]:
    """The columns of an answer as it was sent, without a value on the scale."""
    now = timezone.now()
    timing = dict(answer.timing)
    if trial.shown_at is not None:
        timing["server_ms"] = round((now - trial.shown_at).total_seconds() * 1000)
    return {
        "status": Judgment.Status.MISSING.value,
        "response": answer.response,
        "value": None,
        "chosen_id": None,
        "scale_low": None,
        "scale_high": None,
        "is_correct": None,
        "rt_ms": answer.rt_ms,
        "input_type": str(answer.input_type),
        "timing": timing,
        "answered_at": answer.answered_at,
        "received_at": now,
    }


def _chosen_member(trial: Trial, parsed: Answer) -> int | None:
    """The chosen member of a pair."""
    if trial.pair is None or not parsed.option_id:
        return None
    return trial.pair.good_id if parsed.value == 1 else trial.pair.bad_id
