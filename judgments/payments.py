"""A researcher decides about pay: approve, bonus, not paid, undo. Each decision is a row that stays.

Payment never follows from the analysis, and nothing here rejects anybody by itself. Whether the money
moves is the recruiter's business; the ledger says what was decided, by whom and when.
"""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment
from experiments.money import LARGEST, written
from judgments.models import Payment, Session

Kind = Payment.Kind
LONGEST_REASON = 300
STATES = (("undecided", "undecided"), ("approved", "approved"), ("not_paid", "not paid"))


def payable(study: Experiment) -> QuerySet[Session]:
    """Sessions about whose pay somebody should decide: finished by a person, who may have withdrawn later.

    Previews are researchers' own; synthetic participants want nothing.
    """
    finished = Q(status=Session.Status.COMPLETE) | Q(
        status=Session.Status.WITHDRAWN, completed_at__isnull=False
    )
    people = Session.objects.filter(experiment=study, participant__is_simulated=False)
    return people.filter(finished, version__is_preview=False)


def undecided(study: Experiment) -> QuerySet[Session]:
    """Payable sessions without a standing decision."""
    return payable(study).exclude(pk__in=_standing().values("session"))


def _standing() -> QuerySet[Payment]:
    return Payment.objects.filter(kind__in=Kind.deciding(), reversal__isnull=True)


def state_of(entries: Iterable[Payment]) -> str:
    """What stands: undecided, approved or not_paid; ``entries`` are a session's rows with their reversals."""
    for entry in entries:
        if entry.kind in Kind.deciding() and not hasattr(entry, "reversal"):
            return "not_paid" if entry.kind == Kind.NOT_PAID else "approved"
    return "undecided"


@transaction.atomic
def approve(session: Session, *, amount_minor: int, currency: str, by: Any) -> Payment:
    """Approve the pay of a session; approved twice, it is one row."""
    decided = _locked(session)
    if decided is not None:
        if decided.kind == Kind.NOT_PAID:
            raise BadInput("it was decided not to pay this session.", remedy="Undo that first.")
        return decided
    _check_amount(amount_minor)
    is_out = session.status == Session.Status.SCREENED_OUT
    return _add(session, Kind.SCREEN_OUT if is_out else Kind.REWARD, amount_minor, currency, by=by)


@transaction.atomic
def refuse(session: Session, *, reason: str, currency: str, by: Any) -> Payment:
    """Decide by hand not to pay a session, with a reason."""
    reason, decided = _reason(reason), _locked(session)
    if decided is not None:
        if decided.kind != Kind.NOT_PAID:
            raise BadInput("the pay of this session is approved.", remedy="Undo that first.")
        return decided
    return _add(session, Kind.NOT_PAID, 0, currency, by=by, reason=reason)


@transaction.atomic
def give_bonus(
    session: Session, *, amount_minor: int, currency: str, reason: str, key: str, by: Any
) -> Payment:
    """Add a bonus; the same form sent twice is one row, another form another bonus."""
    reason = _reason(reason)
    _check_amount(amount_minor)
    _locked(session)
    known = Payment.objects.filter(idempotency_key=f"bonus-{session.pk}-{key}"[:100]).first()
    return known or _add(session, Kind.BONUS, amount_minor, currency, by=by, reason=reason, key=key)


@transaction.atomic
def undo(entry: Payment, *, by: Any) -> Payment:
    """Take an entry back by another; the first stays in the ledger, and undoing it twice is one row."""
    _locked(entry.session)
    if entry.kind == Kind.REVERSAL:
        raise BadInput("this entry takes another back.", remedy="Decide anew instead.")
    known = Payment.objects.filter(reverses=entry).first()
    return known or _add(
        entry.session, Kind.REVERSAL, entry.amount_minor, entry.currency, by=by, reverses=entry
    )


@transaction.atomic
def approve_many(study: Experiment, sessions: QuerySet[Session], *, by: Any) -> int:
    """Approve the study's pay for those of the sessions that are payable and undecided."""
    if not study.reward_minor:
        raise BadInput("the study does not say what it pays.", remedy="Set the pay under Task and texts.")
    asked = payable(study).filter(pk__in=sessions.values("pk")).order_by("pk")
    held = list(asked.select_for_update(of=("self",)).values_list("pk", flat=True))
    wanted = list(
        undecided(study).filter(pk__in=held).select_related("participant").annotate(n=Count("payments"))
    )
    rows = [_reward(study, session, place=session.n, by=by) for session in wanted]
    Payment.objects.bulk_create(rows, batch_size=500)
    AuditEntry.objects.bulk_create(
        (AuditEntry(experiment=study, user=by, action=_action(row), details=_details(row)) for row in rows),
        batch_size=500,
    )
    return len(wanted)


def _reward(study: Experiment, session: Session, *, place: int, by: Any) -> Payment:
    return Payment(
        session=session,
        kind=Kind.REWARD,
        amount_minor=study.reward_minor,
        currency=study.currency,
        idempotency_key=f"{Kind.REWARD}-{session.pk}-{place}",
        decided_by=by,
    )


def _action(row: Payment) -> str:
    return f"pay: {row.get_kind_display()}"


def _details(row: Payment) -> dict[str, Any]:
    """What the trail says of an entry."""
    return {
        "participant": row.session.participant.pseudonym,
        "session": row.session_id,
        "amount": written(row.amount_minor, row.currency),
        **({"reason": row.reason} if row.reason else {}),
        **({"of": row.reverses.get_kind_display()} if row.reverses else {}),
    }


def _locked(session: Session) -> Payment | None:
    """The standing decision, while nobody else decides about this session."""
    Session.objects.select_for_update().get(pk=session.pk)
    return _standing().filter(session=session).first()


def _reason(text: str) -> str:
    text = text.strip()
    if not text or len(text) > LONGEST_REASON:
        raise BadInput(
            "this needs a reason.",
            column="reason",
            remedy=f"Write why, in at most {LONGEST_REASON} characters.",
        )
    return text


def _check_amount(amount_minor: int) -> None:
    if not 0 < amount_minor <= LARGEST:
        raise BadInput("there is no amount.", column="amount", remedy="Write for example 1.50.")


def _add(
    session: Session, kind: str, amount_minor: int, currency: str, *, by: Any, key: str = "", **fields: Any
) -> Payment:
    """Write one row and the audit entry; without a key its place among the session's rows makes one."""
    place = key or str(Payment.objects.filter(session=session).count())
    row = Payment.objects.create(
        session=session,
        kind=kind,
        amount_minor=amount_minor,
        currency=currency,
        idempotency_key=f"{kind}-{session.pk}-{place}"[:100],
        decided_by=by,
        **fields,
    )
    AuditEntry.objects.create(
        experiment=session.experiment, user=by, action=_action(row), details=_details(row)
    )
    return row
