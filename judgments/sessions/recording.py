"""Storing the answers of a session: each once, however often, in whatever order and number they arrive.

Three queries whatever the number of answers: the session with the trials that are named, the lease unless it
was renewed just now, the rows. Deliveries of one answer that come at the same time share the first, the last
and the transaction (:class:`JoinedCalls`). What is acknowledged is committed.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any, Generic, TypeVar

import structlog
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from analysis.plugins.registry import PluginFailure
from config.http.unavailable import is_unavailable
from experiments.operation.counters import counters
from experiments.tasks.base import Answer, BadResponse, Option, is_correct
from judgments.models import Judgment, Session, SessionEvent, Trial
from judgments.sessions.completion import complete
from judgments.sessions.leases import SessionExpired, SessionOver, is_fresh, is_late, renew, renew_live
from judgments.sessions.payload import SentAnswer
from judgments.sessions.protocol import Protocol, read_protocol
from judgments.sessions.trial_buffer import trial_buffer
from judgments.sessions.trials import PairMembers, TrialRow, prepare_trials
from judgments.sql.statements import (
    TABLES,
    as_bool,
    as_datetime,
    as_json,
    insert_rows,
    padded,
    select,
    write_lock,
)

log = structlog.get_logger(__name__)
PLUGIN_FAILURE = "plugin"  # event: the plugin of the task failed, with the reason
ATTEMPTS = 3  # each fails only when another request stored one of the same answers in between
JOIN_WITHIN_S = 0.002  # the longest that a call waits for others
ENOUGH_CALLS = 4  # are not kept waiting for more
Argument = TypeVar("Argument")
Outcome = TypeVar("Outcome")


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


@dataclass(slots=True)
class SessionState:
    """A session as one query reads it, with those of its trials that a delivery names.

    ``first_open`` is the position of the first trial that the delivery leaves without an answer;
    ``last_position``, that of the last trial, is read where there is no such trial.
    """

    pk: int
    status: str
    screen: str
    lease_minutes: int
    lease_expires_at: datetime | None
    last_seen_at: datetime | None
    protocol: Protocol
    first_open: int | None
    last_position: int | None
    trials: dict[str, TrialRow]
    stored: dict[str, dict[str, Any]]  # response and is_correct of the answer that a trial has already


def record_answers(token: str, answers: Sequence[SentAnswer]) -> Receipt:
    """Store the new answers of a session, acknowledge those that are stored, and complete the session.

    The first answer to a trial is kept; a different second one is stored as an event. An answer that cannot
    be stored is refused while the others are stored.
    """
    if token in trial_buffer.by_token:  # known without a query: the first answer needs them stored
        trial_buffer.flush_for(token)
    delivery = None
    # Another thread's connection sees nothing of this transaction, and cannot write into it.
    if len(answers) == 1 and not connection.in_atomic_block:
        delivery = _join((token, answers[0]))
    if delivery is None or not delivery.is_stored:
        delivery = _stored_delivery(token, answers, delivery)
    receipt = delivery.closing_receipt()
    n_stored = len(receipt.stored)
    counters.add(
        ("judgments_stored_total", n_stored),
        ("judgments_repeated_total", len(receipt.acknowledged) - n_stored),
    )
    return receipt


def _stored_delivery(
    token: str, answers: Sequence[SentAnswer], delivery: "_Delivery | None" = None
) -> "_Delivery":
    """The delivery once it is stored; ``delivery`` when its session was read already."""
    for attempt in range(1, ATTEMPTS + 1):
        if delivery is None or attempt > 1:
            delivery = _Delivery(_read_state(token, answers), answers)
        try:
            delivery.store()
            break
        except IntegrityError:
            # Race: another request stored one of these answers after the state was read; nothing of this
            # delivery is stored. Read again, and that answer is the first.
            if attempt == ATTEMPTS:
                raise
        except SessionOver:
            # Race: the session ended after its state was read, perhaps by these same answers sent twice.
            if delivery.state.status in Session.Status.final() or attempt == ATTEMPTS:
                raise
    assert delivery is not None
    return delivery


def _store_together(several: Sequence[tuple[str, SentAnswer]]) -> "list[_Delivery | None]":
    """Read the sessions of deliveries of one answer each, and store those without events or conflicts.

    None for a delivery that has to read its session by itself.
    """
    # A second delivery of a session has to see what became of the first.
    first_answers = dict(reversed(several))
    states = read_states([(token, answer.trial) for token, answer in first_answers.items()])
    deliveries = {
        token: _Delivery(state, [first_answers[token]])
        for token, state in states.items()
        if state.trials and not _is_late(state)
    }
    _store_joined([delivery for delivery in deliveries.values() if not delivery.has_events])
    return [deliveries.get(token) if first_answers[token] is answer else None for token, answer in several]


def _store_joined(deliveries: "Sequence[_Delivery]") -> None:
    """Insert the judgments, and renew the leases that need it; leaves out those whose lease has expired."""
    # Race: two processes that renew the same leases in another order would wait for each other.
    in_order = sorted(deliveries, key=lambda delivery: delivery.state.pk)
    to_renew = [delivery for delivery in in_order if delivery.needs_renewal]
    stored = [delivery for delivery in deliveries if delivery not in to_renew]
    # Without a renewal there is one statement, which is its own transaction.
    with write_lock(), transaction.atomic() if to_renew else nullcontext():
        stored += [delivery for delivery in to_renew if delivery.renew_live_lease()]
        _insert_judgments([row for delivery in stored for row in delivery.judgments])
    for delivery in stored:
        delivery.is_stored = True


def _insert_judgments(rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        return
    # Race: two processes that insert the same rows in another order would wait for each other.
    in_order = sorted(rows, key=itemgetter("trial_id"))
    with write_lock():
        insert_rows(Judgment, in_order)


def _read_state(token: str, answers: Sequence[SentAnswer]) -> SessionState:
    trial_ids = list(dict.fromkeys(answer.trial for answer in answers))
    state = read_state(token, trial_ids)
    if _lacks_trials(state):  # they are buffered, or the arrival was cut off before they were written
        trial_buffer.flush_for(token)
        state = read_state(token, trial_ids)
    if _lacks_trials(state):
        prepare_trials(Session.objects.get(pk=state.pk))
        state = read_state(token, trial_ids)
    if _is_late(state):
        raise SessionExpired
    if state.status == Session.Status.WITHDRAWN and not state.trials:
        raise SessionOver  # the answers were deleted, and the trials with them
    return state


def _is_late(state: SessionState) -> bool:
    return is_late(state.status, state.last_seen_at, state.protocol)


def _lacks_trials(state: SessionState) -> bool:
    return not state.trials and state.first_open is None and state.status not in Session.Status.final()


class _Delivery:
    """The answers of one delivery, sorted into new, stored and refused ones."""

    def __init__(self, state: SessionState, answers: Sequence[SentAnswer]) -> None:
        self.state, self.receipt = state, Receipt()
        self.is_stored = False
        self.judgments: list[dict[str, Any]] = []
        self.events: list[SessionEvent] = []
        self.conflicts: list[SessionEvent] = []
        self.open_positions = [] if state.first_open is None else [state.first_open]
        for answer in answers:
            self._sort(answer)

    def _sort(self, answer: SentAnswer) -> None:
        state, receipt = self.state, self.receipt
        trial = state.trials.get(answer.trial)
        if trial is None:
            message = "This session has no such trial."
            receipt.refused.append(Refusal(answer.trial, "unknown_trial", message))
            return
        first = state.stored.get(answer.trial)
        failure = None
        try:
            columns = judgment_columns(trial, answer, protocol=state.protocol)
        except PluginFailure as error:  # the participant goes on, and the answer is kept as it was sent
            columns, failure = unparsed_columns(trial, answer), error
        except BadResponse as problem:
            receipt.refused.append(Refusal(answer.trial, "bad_response", problem.message, problem))
            if first is None:
                self.open_positions.append(trial.position)
            return
        if first is None:
            # From here on a second answer to this trial in the same delivery is a repetition.
            first = state.stored[answer.trial] = columns
            self.judgments.append({"trial_id": trial.pk, **first})
            if failure is not None:
                self.events.append(_event(trial, PLUGIN_FAILURE, {"reason": str(failure)}))
            self.events += [_event(trial, **event) for event in answer.events]
            receipt.stored.append(answer.trial)
        elif first["response"] != answer.response:
            receipt.kept_first.append(answer.trial)
            self.conflicts.append(_event(trial, "conflict", {"response": answer.response}))
        if answer.trial not in receipt.acknowledged:
            receipt.acknowledged.append(answer.trial)
        if trial.kind == "practice":
            text = trial.correct.get("feedback", "")
            receipt.feedback[answer.trial] = {"is_correct": first["is_correct"], "text": text}

    @property
    def has_events(self) -> bool:
        """Whether something is to be stored beside judgments and the renewal."""
        return bool(self.conflicts or self.events)

    @property
    def needs_renewal(self) -> bool:
        """Whether the lease was not renewed just now, on the screen of the new answers."""
        state = self.state
        return bool(self.judgments) and not (
            state.screen == self._screen()
            and is_fresh(state.status, state.lease_expires_at, lease_minutes=state.lease_minutes)
        )

    def renew_live_lease(self) -> bool:
        """Renew the lease, and store the screen; False where the lease has expired."""
        state = self.state
        return renew_live(state.pk, state.lease_minutes, screen=self._screen())

    def store(self) -> None:
        """Write everything, or nothing."""
        if not self.has_events and not self.needs_renewal:
            _insert_judgments(self.judgments)
            return
        state = self.state
        with write_lock(), transaction.atomic():
            if self.judgments:
                if self.needs_renewal and not self.renew_live_lease():
                    renew(_session_to_renew(state.pk), screen=self._screen())
                insert_rows(Judgment, self.judgments)
            if events := self.events + self._new_conflicts():
                SessionEvent.objects.bulk_create(events)

    def _screen(self) -> str:
        """Where the participant is after the last of the new answers."""
        new = [self.state.trials[public_id] for public_id in self.receipt.stored]
        return screen_after(max(new, key=lambda trial: trial.position)) if new else self.state.screen

    def _new_conflicts(self) -> list[SessionEvent]:
        """Conflicts that no event records yet: a delivery sent again is one event."""
        if not self.conflicts:
            return []
        stored = SessionEvent.objects.filter(session=self.state.pk, kind="conflict")
        recorded = {
            (trial, str(details.get("response"))) for trial, details in stored.values_list("trial", "details")
        }
        unique = {(event.trial_id, event.details["response"]): event for event in self.conflicts}
        return [event for key, event in unique.items() if key not in recorded]

    def closing_receipt(self) -> Receipt:
        """The receipt once everything is stored; completes the session when no trial is open."""
        state, receipt = self.state, self.receipt
        if self.open_positions:
            receipt.position = min(self.open_positions) - 1
            receipt.is_complete = state.status == Session.Status.COMPLETE
            return receipt
        receipt.is_complete = (
            complete(state.pk, state.protocol) is not None
            or Session.objects.filter(pk=state.pk, status=Session.Status.COMPLETE).exists()
        )
        receipt.position = state.last_position or 0
        return receipt


def _event(trial: TrialRow, kind: str, details: dict[str, Any]) -> SessionEvent:
    return SessionEvent(session_id=trial.session_id, trial_id=trial.pk, kind=kind, details=details)


def _session_to_renew(session_id: int) -> Session:
    """What a renewal reads of a session; the rest is loaded where a lost place is taken again."""
    return (
        Session.objects.select_related("experiment")
        .only("status", "version", "list", "experiment__lease_minutes", "experiment__status")
        .get(pk=session_id)
    )


def options_of(trial: Trial | TrialRow) -> list[Option]:
    """The sentences shown in a trial, with what only the server knows about them."""
    return [
        Option(option["id"], option["text"], expected=(place == 0) == trial.expected_first)
        for place, option in enumerate(trial.shown.get("options", ()))
    ]


def screen_after(trial: TrialRow) -> str:
    """Where the participant is after answering; practice with something to say is followed by feedback."""
    if trial.kind != "practice":
        return f"block-{trial.block}"
    return f"feedback-{trial.position}" if trial.correct else "practice"


def judgment_columns(trial: TrialRow, answer: SentAnswer, *, protocol: Protocol) -> dict[str, Any]:
    """The columns of a judgment beside its trial, by attribute name."""
    parsed = protocol.task.parse(answer.response, protocol.settings, options=options_of(trial))
    low, high = protocol.task.scale(protocol.settings)
    return {
        **unparsed_columns(trial, answer),
        "status": Judgment.Status.ANSWERED.value,
        "response": parsed.response,
        "value": parsed.value,
        "chosen_id": _chosen(trial, parsed),
        "scale_low": low,
        "scale_high": high,
        "is_correct": is_correct(parsed, trial.correct),
    }


def unparsed_columns(trial: TrialRow, answer: SentAnswer) -> dict[str, Any]:
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


def _chosen(trial: TrialRow, parsed: Answer) -> int | None:
    """The chosen member of a pair."""
    if trial.pair is None or not parsed.option_id:
        return None
    return trial.pair.good_id if parsed.value == 1 else trial.pair.bad_id


# Written out: it runs for every answer, and the ORM takes longer to compose it than the database to run it.
# LIMIT keeps PostgreSQL from evaluating the subquery again for every trial. Moments as text, because psycopg
# converts them in Python, which takes longer than datetime.fromisoformat.
STATES = """
WITH asked (token, public_id) AS (VALUES {asked}), s AS (
  SELECT s.token, s.id, s.status, s.screen, e.lease_minutes,
    CAST(s.lease_expires_at AS text) AS lease_expires_at, CAST(s.last_seen_at AS text) AS last_seen_at,
    v.id AS version_id, v.sha256,
    (SELECT t.position FROM {trial} t
     WHERE t.session_id = s.id AND NOT EXISTS (SELECT 1 FROM {judgment} j WHERE j.trial_id = t.id)
       AND NOT EXISTS (SELECT 1 FROM asked a WHERE a.token = s.token AND a.public_id = t.public_id)
     ORDER BY t.position LIMIT 1) AS first_open
  FROM {session} s JOIN {experiment} e ON e.id = s.experiment_id
    JOIN {experimentversion} v ON v.id = s.version_id
  WHERE s.token IN (SELECT token FROM asked) LIMIT {n_asked})
SELECT s.*, CASE WHEN s.first_open IS NULL
    THEN (SELECT max(t.position) FROM {trial} t WHERE t.session_id = s.id) END,
  t.id, t.position, t.kind, t.block, t.public_id, t.expected_first, t.shown, t.correct,
  CAST(t.shown_at AS text), p.good_id, p.bad_id, j.id, j.response, j.is_correct
FROM s JOIN asked a ON a.token = s.token
  LEFT JOIN {trial} t ON t.session_id = s.id AND t.public_id = a.public_id
  LEFT JOIN {judgment} j ON j.trial_id = t.id LEFT JOIN {minimalpair} p ON p.id = t.pair_id"""
N_SESSION_COLUMNS = 11
NO_TRIAL = ""  # no trial has this public id


@cache
def _states_sql(n_asked: int) -> str:
    return STATES.format(**TABLES, asked=", ".join(["(%s, %s)"] * n_asked), n_asked=n_asked)


def read_state(token: str, trial_ids: Sequence[str]) -> SessionState:
    """Read a session and these of its trials; raises :class:`SessionUnknown`."""
    states = read_states([(token, public_id) for public_id in trial_ids or [NO_TRIAL]])
    if token not in states:
        raise SessionUnknown(token)
    return states[token]


def read_states(asked: Sequence[tuple[str, str]]) -> dict[str, SessionState]:
    """Read sessions by token, each with the trials that are asked for; unknown ones are left out."""
    asked = padded(asked)
    values = [value for token_and_trial in asked for value in token_and_trial]
    states: dict[str, SessionState] = {}
    for row in select(_states_sql(len(asked)), values):
        token, *columns = row[:N_SESSION_COLUMNS]
        if token not in states:
            states[token] = _state(*columns)
        _add_trial(states[token], row[N_SESSION_COLUMNS:])
    return states


def _state(
    pk: int,
    status: str,
    screen: str,
    lease_minutes: int,
    lease_expires_at: Any,
    last_seen_at: Any,
    version_id: int,
    sha256: str,
    first_open: int | None,
    last_position: int | None,
) -> SessionState:
    return SessionState(
        pk,
        status,
        screen,
        lease_minutes=lease_minutes,
        lease_expires_at=as_datetime(lease_expires_at),
        last_seen_at=as_datetime(last_seen_at),
        protocol=read_protocol(version_id, sha256),
        first_open=first_open,
        last_position=last_position,
        trials={},
        stored={},
    )


def _add_trial(state: SessionState, columns: Sequence[Any]) -> None:
    pk, position, kind, block, public_id, expected, shown, correct, shown_at, good, bad, *judgment = columns
    if pk is None:  # the session has none of the named trials
        return
    judgment_id, response, judged_correct = judgment
    state.trials[public_id] = TrialRow(
        pk,
        state.pk,
        position,
        kind,
        block,
        public_id,
        as_bool(expected),
        as_json(shown),
        as_json(correct),
        as_datetime(shown_at),
        PairMembers(good, bad) if good is not None else None,
        is_answered=judgment_id is not None,
    )
    if judgment_id is not None:
        state.stored[public_id] = {"response": response, "is_correct": as_bool(judged_correct)}


class _Call(Generic[Argument, Outcome]):
    """The call of one thread."""

    __slots__ = ("argument", "outcome", "turn")

    def __init__(self, argument: Argument) -> None:
        self.argument = argument
        self.outcome: Outcome | None = None
        self.turn = threading.Lock()  # held until this thread may go on
        self.turn.acquire()


class JoinedCalls(Generic[Argument, Outcome]):
    """Calls that several threads make at the same time become one call of a function, which takes them all.

    The function returns an outcome for each argument, or None where the thread has to act by itself; so it is
    for all of them when the function fails, so that one cannot fail the others.

    The first thread that comes makes the call. It waits until as many have come as there were threads here
    when the last call was made, but for no more than :data:`ENOUGH_CALLS` and no longer than
    :data:`JOIN_WITHIN_S`; a thread that is alone waits for nobody.
    """

    def __init__(self, function: Callable[[Sequence[Argument]], Sequence[Outcome | None]]) -> None:
        self.function = function
        self.lock = threading.Lock()
        self.waiting: list[_Call[Argument, Outcome]] = []  # the first is of the thread that makes the call
        self.n_here, self.n_expected = 0, 1  # threads

    def __call__(self, argument: Argument) -> Outcome | None:
        """The outcome for this argument."""
        own: _Call[Argument, Outcome] = _Call(argument)
        with self.lock:
            self.n_here += 1
            self.waiting.append(own)
            first = self.waiting[0]
            if len(self.waiting) >= self.n_expected and first.turn.locked():
                first.turn.release()
        try:
            if own is first:
                own.turn.acquire(timeout=JOIN_WITHIN_S)
                self._call()
            else:
                own.turn.acquire()
        finally:
            with self.lock:
                self.n_here -= 1
        return own.outcome

    def _call(self) -> None:
        with self.lock:
            # From here on, the next thread that comes is the first of others.
            together, self.waiting = self.waiting, []
            self.n_expected = min(self.n_here, ENOUGH_CALLS)
        try:
            outcomes = self.function([call.argument for call in together])
            for call, outcome in zip(together, outcomes, strict=True):
                call.outcome = outcome
        # Each thread acts by itself now and meets its own error, which Django logs with the traceback.
        except Exception as error:
            if is_unavailable(error):  # this thread need not wait for the database a second time
                raise
            # The type alone: PostgreSQL's message can quote what a participant wrote.
            log.info("joined call failed", n=len(together), error=type(error).__name__)
        finally:
            for call in together[1:]:
                call.turn.release()


_join = JoinedCalls(_store_together)
