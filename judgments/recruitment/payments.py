"""Decisions on pay: approve, bonus, not paid, undo. Each decision is a permanent row of the ledger.

Pay never follows from the analysis, and no session is rejected automatically. The recruitment platform
transfers the money; the ledger records what was decided, by whom and when. What was sent to a platform
cannot be undone.
"""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from analysis.errors import BadInput
from analysis.power.money import format_money
from experiments.models import AuditEntry, Campaign, Experiment
from experiments.models.lab import check_pay
from judgments.models import Payment, PlatformCall, Session, Submission

Kind = Payment.Kind
LONGEST_REASON = 300
#: Statuses in which only a bonus pays the person.
LEFT = {Submission.Status.RETURNED, Submission.Status.TIMED_OUT, Submission.Status.SCREENED_OUT}


def payable(study: Experiment) -> QuerySet[Session]:
    """Sessions that need a decision on pay: finished, even if withdrawn later; no previews or simulations."""
    finished = Q(status=Session.Status.COMPLETE) | Q(
        status=Session.Status.WITHDRAWN, completed_at__isnull=False
    )
    people = Session.objects.filter(experiment=study, participant__is_simulated=False)
    return people.filter(finished, version__is_preview=False)


def undecided_sessions(study: Experiment) -> QuerySet[Session]:
    """Payable sessions without a valid decision."""
    return payable(study).exclude(pk__in=_valid_decisions().values("session"))


def _valid_decisions() -> QuerySet[Payment]:
    return Payment.objects.filter(kind__in=Kind.deciding(), reversal__isnull=True)


@transaction.atomic
def approve(session: Session, *, amount_minor: int, currency: str, by: User) -> Payment:
    """Approve the pay of a session; a repeated approval adds no row."""
    decided = _lock_session(session)
    if decided is not None:
        if decided.kind == Kind.NOT_PAID:
            raise BadInput("it was decided not to pay this session.", remedy="Undo that first.")
        return decided
    is_out = session.status == Session.Status.SCREENED_OUT
    _check_pay([session], amount_minor, currency, is_reward=not is_out)
    return _add(session, Kind.SCREEN_OUT if is_out else Kind.REWARD, amount_minor, currency, by=by)


@transaction.atomic
def refuse(session: Session, *, reason: str, currency: str, by: User) -> Payment:
    """Decide not to pay a session, with a reason."""
    reason, decided = _checked_reason(reason), _lock_session(session)
    if decided is not None:
        if decided.kind != Kind.NOT_PAID:
            raise BadInput("the pay of this session is approved.", remedy="Undo that first.")
        return decided
    return _add(session, Kind.NOT_PAID, 0, currency, by=by, reason=reason)


@transaction.atomic
def give_bonus(
    session: Session, *, amount_minor: int, currency: str, reason: str, key: str, by: User
) -> Payment:
    """Add a bonus; the same form (``key``) submitted twice adds one row."""
    reason = _checked_reason(reason)
    _lock_session(session)
    _check_pay([session], amount_minor, currency)
    existing = Payment.objects.filter(idempotency_key=f"bonus-{session.pk}-{key}"[:100]).first()
    return existing or _add(session, Kind.BONUS, amount_minor, currency, by=by, reason=reason, key=key)


@transaction.atomic
def undo(entry: Payment, *, by: User) -> Payment:
    """Reverse an entry by another; both stay in the ledger, and a repeated undo adds no row."""
    _lock_session(entry.session)
    if entry.kind == Kind.REVERSAL:
        raise BadInput("this entry reverses another one.", remedy="Make a new decision instead.")
    existing = Payment.objects.filter(reverses=entry).first()
    if existing is None and not _withdraw([entry]):
        raise BadInput(
            "this was sent to the platform.", remedy="What was paid there cannot be taken back from here."
        )
    return existing or _add(
        entry.session, Kind.REVERSAL, entry.amount_minor, entry.currency, by=by, reverses=entry
    )


def _withdraw(entries: Sequence[Payment]) -> list[Payment]:
    """Cancel the planned calls of entries; returns the entries that were not sent to a platform.

    A decision on the submission that the entries carry out is taken back as well.
    """
    calls = PlatformCall.objects.filter(payments__in=entries)
    # Race: the condition claims the rows; a call that is sent at this moment is not cancelled.
    planned = [PlatformCall.State.PLANNED, PlatformCall.State.FAILED]
    waiting = list(calls.filter(state__in=planned).values_list("pk", flat=True))
    PlatformCall.objects.filter(pk__in=waiting, state__in=planned).update(
        state=PlatformCall.State.CANCELLED, settled_at=timezone.now()
    )
    sent = calls.filter(state__in=PlatformCall.State.binding()).exclude(
        kind=PlatformCall.Kind.PREPARE_BONUSES, state=PlatformCall.State.CONFIRMED
    )
    ids_sent = set(sent.values_list("payments", flat=True))
    free = [entry for entry in entries if entry.pk not in ids_sent]
    deciding = [entry.session_id for entry in free if entry.kind in Kind.deciding()]
    Submission.objects.filter(session__in=deciding, decision=Submission.Decision.APPROVE).update(
        decision=Submission.Decision.NONE, reason="", decided_by=None, decided_at=None
    )
    return free


@transaction.atomic
def approve_many(study: Experiment, sessions: QuerySet[Session], *, by: User) -> int:
    """Approve the study's pay for those of the sessions that are payable and undecided."""
    if not study.reward_minor:
        raise BadInput("the study has no pay per session.", remedy="Set the pay under Task and texts.")
    return approve_each(study, sessions, amount_minor=study.reward_minor, currency=study.currency, by=by)


@transaction.atomic
def approve_each(
    study: Experiment, sessions: QuerySet[Session], *, amount_minor: int, currency: str, by: User
) -> int:
    """Approve one amount for those of the sessions that are payable and undecided."""
    return _settle_many(
        study, sessions, kind=Kind.REWARD, amount_minor=amount_minor, currency=currency, by=by
    )


@transaction.atomic
def refuse_many(study: Experiment, sessions: QuerySet[Session], *, reason: str, by: User) -> int:
    """Decide not to pay those of the sessions that are payable and undecided, with a reason."""
    return _settle_many(
        study,
        sessions,
        kind=Kind.NOT_PAID,
        amount_minor=0,
        currency=study.currency,
        by=by,
        reason=_checked_reason(reason),
    )


@transaction.atomic
def give_bonuses(
    study: Experiment, sessions: QuerySet[Session], *, amount_minor: int, reason: str, key: str, by: User
) -> int:
    """Add a bonus to those of the sessions that are payable; the same form submitted twice adds one each."""
    reason = _checked_reason(reason)
    payable_now = _locked_many(payable(study).filter(pk__in=sessions.values("pk")))
    _check_pay(payable_now, amount_minor, study.currency)
    keys = {session.pk: f"bonus-{session.pk}-{key}"[:100] for session in payable_now}
    bonuses = Payment.objects.filter(session__experiment=study, kind=Kind.BONUS)
    already = set(bonuses.values_list("idempotency_key", flat=True))
    rows = [
        Payment(
            session=session,
            kind=Kind.BONUS,
            amount_minor=amount_minor,
            currency=study.currency,
            reason=reason,
            idempotency_key=keys[session.pk],
            decided_by=by,
        )
        for session in payable_now
        if keys[session.pk] not in already
    ]
    return _add_many(study, rows, by=by)


@transaction.atomic
def undo_many(study: Experiment, sessions: QuerySet[Session], *, by: User) -> int:
    """Reverse the valid decision on each of the sessions that was not sent to a platform; bonuses stay."""
    decided = Session.objects.filter(
        Exists(_valid_decisions().filter(session=OuterRef("pk"))),
        pk__in=sessions.values("pk"),
        experiment=study,
    )
    locked = {session.pk: session for session in _locked_many(decided)}
    entries = _withdraw(list(_valid_decisions().filter(session__in=list(locked))))
    rows = [
        Payment(
            session=locked[entry.session_id],
            kind=Kind.REVERSAL,
            amount_minor=entry.amount_minor,
            currency=entry.currency,
            reverses=entry,
            idempotency_key=f"{Kind.REVERSAL}-{entry.session_id}-of-{entry.pk}",
            decided_by=by,
        )
        for entry in entries
    ]
    return _add_many(study, rows, by=by)


def _settle_many(
    study: Experiment,
    sessions: QuerySet[Session],
    *,
    kind: str,
    amount_minor: int,
    currency: str,
    by: User,
    reason: str = "",
) -> int:
    """Add the same decision to those of the sessions that are payable and undecided."""
    locked = _locked_many(payable(study).filter(pk__in=sessions.values("pk")))
    undecided = undecided_sessions(study).filter(pk__in=[session.pk for session in locked])
    waiting = list(undecided.select_related("participant").annotate(n=Count("payments")))
    if kind != Kind.NOT_PAID:
        _check_pay(waiting, amount_minor, currency, is_reward=True)
    rows = [
        Payment(
            session=session,
            kind=kind,
            amount_minor=amount_minor,
            currency=currency,
            reason=reason,
            idempotency_key=f"{kind}-{session.pk}-{session.n}",
            decided_by=by,
        )
        for session in waiting
    ]
    return _add_many(study, rows, by=by)


def _locked_many(sessions: QuerySet[Session]) -> list[Session]:
    """Lock sessions in one order, so that two requests cannot wait for each other."""
    return list(sessions.select_related("participant").order_by("pk").select_for_update(of=("self",)))


def _add_many(study: Experiment, rows: list[Payment], *, by: User) -> int:
    """Store the rows with one entry of the history each; return their number."""
    Payment.objects.bulk_create(rows, batch_size=500)
    AuditEntry.objects.bulk_create(
        (AuditEntry(experiment=study, user=by, action=_action(row), details=_details(row)) for row in rows),
        batch_size=500,
    )
    return len(rows)


def _action(row: Payment) -> str:
    return f"pay: {row.get_kind_display()}"


def _details(row: Payment) -> dict[str, Any]:
    """Details of an entry in the history."""
    return {
        "participant": row.session.participant.pseudonym,
        "session": row.session_id,
        "amount": format_money(row.amount_minor, row.currency),
        **({"reason": row.reason} if row.reason else {}),
        **({"of": row.reverses.get_kind_display()} if row.reverses else {}),
    }


def _lock_session(session: Session) -> Payment | None:
    """Lock the session and return its valid decision."""
    # Race: two decisions on one session run one after the other, so that the second sees the first
    Session.objects.select_for_update().get(pk=session.pk)
    return _valid_decisions().filter(session=session).first()


def _checked_reason(text: str) -> str:
    text = text.strip()
    if not text or len(text) > LONGEST_REASON:
        raise BadInput(
            "this needs a reason.",
            column="reason",
            remedy=f"Write why, in at most {LONGEST_REASON} characters.",
        )
    return text


def _check_pay(
    sessions: Sequence[Session], amount_minor: int, currency: str, *, is_reward: bool = False
) -> None:
    """Refuse what the lab or a campaign does not pay, and what the platform could not be sent."""
    if not sessions:
        return
    study = sessions[0].experiment
    check_pay(study.lab, amount_minor, currency)
    rows = Submission.objects.filter(session__in=[session.pk for session in sessions])
    n_on_platforms = 0
    for campaign in Campaign.objects.filter(submissions__in=rows).annotate(n=Count("submissions")):
        n_on_platforms += campaign.n
        check_pay(study.lab, amount_minor, currency, campaign_limit_minor=campaign.payment_limit_minor)
        of_campaign = rows.filter(campaign=campaign)
        if currency != campaign.currency:
            raise BadInput(
                f"the campaign {campaign.name} pays in {campaign.currency}, not in {currency}.",
                column="currency",
                remedy=f"Write the amount in {campaign.currency}; decide on its submissions by themselves.",
            )
        if is_reward and of_campaign.filter(status=Submission.Status.REJECTED).exists():
            raise BadInput(
                "a submission is rejected on the platform.", remedy="Take the rejection back there first."
            )
        if (
            is_reward
            and amount_minor != campaign.reward_minor
            and of_campaign.exclude(status__in=LEFT).exists()
        ):
            raise BadInput(
                f"the campaign {campaign.name} pays {format_money(campaign.reward_minor, currency)} for an"
                " approved submission.",
                column="amount",
                remedy="Approve that, and add the rest as a bonus.",
            )
    if n_on_platforms < len(sessions) and currency != study.currency:
        raise BadInput(
            f"the study pays in {study.currency}, not in {currency}.",
            column="currency",
            remedy=f"Write the amount in {study.currency}, or change the currency under Task and texts.",
        )


def _add(
    session: Session, kind: str, amount_minor: int, currency: str, *, by: User, key: str = "", **fields: Any
) -> Payment:
    """Store one row and its audit entry; without a key, the number of the session's rows makes it unique."""
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
