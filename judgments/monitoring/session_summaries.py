"""Sessions of participants with their signals, payments and answers, as pages list them."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, QuerySet, Subquery

from analysis.power.money import format_money
from analysis.quality.report import LABELS
from experiments.lists.extra_trials import INSTRUCTION
from experiments.models import TrialKind
from judgments.models import Flag, Judgment, Participant, Payment, Session, Signal, Trial


@dataclass(frozen=True)
class LedgerEntry:
    """One row of the ledger as text."""

    pk: int
    kind: str
    text: str
    at: datetime
    by: User | None
    is_undone: bool


@dataclass(frozen=True)
class SessionSummary:
    """One session of a participant in numbers."""

    session: Session
    n_answered: int
    n_timed_out: int
    n_planned: int
    n_catch: int
    n_catch_right: int
    n_instructions: int
    n_instructions_right: int
    signals: list[dict[str, str]] = field(default_factory=list)
    entries: list[LedgerEntry] = field(default_factory=list)
    pay: str = "undecided"

    @property
    def pay_text(self) -> str:
        """The decision on pay; none is due before the session ends."""
        return dict(Payment.STATES)[self.pay] if self.is_over or self.pay != "undecided" else "not finished"

    @property
    def is_over(self) -> bool:
        """Whether pay can be decided: the session had consent and ended in any state."""
        return self.session.status not in {Session.Status.ACTIVE, Session.Status.REFUSED}

    @property
    def minutes(self) -> float | None:
        """Duration as the platform reports it, else from start to end."""
        session = self.session
        if session.work_time_s is not None:
            return session.work_time_s / 60
        if session.started_at and session.completed_at:
            return (session.completed_at - session.started_at).total_seconds() / 60
        return None


def with_sessions(participants: list[Participant]) -> list[dict[str, Any]]:
    """Each participant with sessions, signals, pay and flags, in six queries for any number of them."""
    summaries: dict[int, list[SessionSummary]] = {}
    for summary in _summaries(participants):
        summaries.setdefault(summary.session.participant_id, []).append(summary)
    flags: dict[int, list[Flag]] = {}
    for flag in Flag.objects.filter(participant__in=participants).select_related("raised_by", "lifted_by"):
        flags.setdefault(flag.participant_id, []).append(flag)
    return [
        {
            "participant": participant,
            "sessions": summaries.get(participant.pk, []),
            "flags": flags.get(participant.pk, []),
            "is_flagged": any(flag.lifted_at is None for flag in flags.get(participant.pk, [])),
        }
        for participant in participants
    ]


def _summaries(participants: list[Participant]) -> list[SessionSummary]:
    """Sessions with their counts; each count is a subquery of its own, because joins would multiply them."""
    answered = Judgment.objects.filter(trial__session=OuterRef("pk"), status=Judgment.Status.ANSWERED)
    timed_out = Judgment.objects.filter(trial__session=OuterRef("pk"), status=Judgment.Status.TIMED_OUT)
    caught = answered.filter(trial__kind=TrialKind.CATCH, is_correct__isnull=False)
    instructions = caught.filter(trial__correct__check=INSTRUCTION)
    rows = (
        Session.objects.filter(participant__in=participants)
        .select_related("list", "participant", "version")
        .defer("version__snapshot")
        .annotate(
            n_answered=_count(answered),
            n_timed_out=_count(timed_out),
            n_trials=_count(Trial.objects.filter(session=OuterRef("pk")), of="session"),
            n_catch=_count(caught),
            n_right=_count(caught.filter(is_correct=True)),
            n_instructions=_count(instructions),
            n_instructions_right=_count(instructions.filter(is_correct=True)),
        )
        .order_by("pk")
    )
    signals: dict[int, list[dict[str, str]]] = {}
    for signal in Signal.objects.filter(session__participant__in=participants):
        label = LABELS.get(signal.name, signal.name)
        signals.setdefault(signal.session_id, []).append({"label": label, "reason": signal.reason})
    ledger: dict[int, list[Payment]] = {}
    payments = Payment.objects.filter(session__participant__in=participants)
    for payment in payments.select_related("decided_by", "reversal"):
        ledger.setdefault(payment.session_id, []).append(payment)
    return [
        SessionSummary(
            row,
            row.n_answered or 0,
            row.n_timed_out or 0,
            (row.list.n_trials if row.list else 0) or row.n_trials or 0,
            row.n_catch or 0,
            row.n_right or 0,
            row.n_instructions or 0,
            row.n_instructions_right or 0,
            signals.get(row.pk, []),
            [_entry(payment) for payment in ledger.get(row.pk, [])],
            Payment.pay_state(ledger.get(row.pk, [])),
        )
        for row in rows
    ]


def _entry(payment: Payment) -> LedgerEntry:
    amount = f" {format_money(payment.amount_minor, payment.currency)}" if payment.amount_minor else ""
    reason = f": {payment.reason}" if payment.reason else ""
    return LedgerEntry(
        payment.pk,
        payment.kind,
        f"{payment.get_kind_display()}{amount}{reason}",
        payment.at,
        payment.decided_by,
        hasattr(payment, "reversal"),
    )


def _count(rows: QuerySet[Any], *, of: str = "trial__session") -> Subquery:
    return Subquery(rows.order_by().values(of).annotate(n=Count("pk")).values("n"))
