"""The ledger: a row is committed before each call that changes something on a platform, and settled after.

1. ``plan`` stores the call. Until it is sent it can be cancelled.
2. ``carry_out`` commits the state "sent", sends the request once, and commits the answer.
3. A row that is still "sent" after ``ASK_AFTER``, because a process died, is as good as unknown.
4. ``resolve`` asks the platform about an unknown call before anything is sent again. What the platform cannot
   say stays unknown, and is shown, until a person settles it with ``settle``.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Sum
from django.utils import timezone

from analysis.errors import BadInput
from analysis.power.money import format_money
from experiments.models import AuditEntry, Campaign, Experiment, PlatformAccount
from judgments.models import Payment, PlatformCall, PlatformIdentity, Submission
from judgments.recruitment.recruiter import (
    AnswerLost,
    Bonus,
    Busy,
    Outcome,
    PlatformError,
    Recruiter,
    Refused,
    get_recruiter,
)

Kind, State = PlatformCall.Kind, PlatformCall.State
#: Longer than any client waits for an answer, so that no request of ours can still be on its way.
ASK_AFTER = timedelta(minutes=5)
DAY = timedelta(hours=24)
#: How long a call waits for another campaign's call with the same account, and between two looks.
ACCOUNT_WAIT_S = 30.0
ACCOUNT_LOOK_S = 0.2
LONGEST_NOTE = 300
READ_TOGETHER = 50  # planned calls
STATE_AFTER = {
    Kind.PUBLISH: Campaign.State.RUNNING,
    Kind.RESUME: Campaign.State.RUNNING,
    Kind.PAUSE: Campaign.State.PAUSED,
    Kind.STOP: Campaign.State.FINISHED,
    Kind.CLOSE: Campaign.State.CLOSED,
}
#: Of platforms without tokens for bonuses, whose amounts are all that proves a payment.
SAME_AMOUNTS = (
    "The platform shows bonuses of exactly these amounts. It does not say who paid them: one of the same"
    " amount that was paid manually on its site after this was sent looks the same. If you did that and"
    " both were meant, give the bonus once more."
)
HAND_PAID = (
    " A bonus that you paid by hand there is not this one: compare the time of each bonus with the time at"
    " which this was sent, and say “did not” where only yours is listed."
)
STATUS_AFTER = {Kind.APPROVE: Submission.Status.APPROVED, Kind.REJECT: Submission.Status.REJECTED}


class AccountInUse(Exception):
    """Another campaign pays, publishes or adds places with the same account at this moment."""


@transaction.atomic
def plan(
    campaign: Campaign,
    kind: str,
    *,
    key: str,
    by: User | None,
    submission: Submission | None = None,
    payments: Iterable[Payment] = (),
    request: Mapping[str, Any] | None = None,
    amount_minor: int = 0,
    fee_minor: int = 0,
    needs_second_person: bool = False,
) -> PlatformCall:
    """Store a call to be sent; the same key returns the same row, planned again after a failure."""
    fields = {
        "submission": submission,
        "request": dict(request or {}),
        "amount_minor": amount_minor,
        "fee_minor": fee_minor,
        "planned_by": by,
        "needs_second_person": needs_second_person,
    }
    # Race: of two requests that plan the same fact, the second finds the row of the first.
    call, is_new = PlatformCall.objects.select_for_update().get_or_create(
        key=key,
        defaults={"campaign": campaign, "kind": kind, "currency": campaign.currency, **fields},
    )
    revivable = {State.FAILED, State.CANCELLED}
    if kind == Kind.PREPARE_BONUSES:  # planned again after the call that should have paid them was cancelled
        revivable.add(State.CONFIRMED)
    if not is_new and call.state in revivable:
        for name, value in fields.items():
            setattr(call, name, value)
        call.state, call.problem, call.second_person = State.PLANNED, "", None
        call.save(update_fields=["state", "problem", "second_person", *fields])
    if is_new and (entries := list(payments)):
        call.payments.add(*entries)
    return call


@dataclass(frozen=True)
class Approval:
    """An approval to be planned: its key, its submission and the payment that it makes, if any."""

    key: str
    submission: Submission
    payment: Payment | None


def plan_approvals(
    campaign: Campaign, approvals: Sequence[Approval], *, by: User | None, **fields: Any
) -> None:
    """Plan many approvals as ``plan`` does, in a few statements; the caller has locked the campaign."""
    existing = set(
        PlatformCall.objects.filter(key__in=[row.key for row in approvals]).values_list("key", flat=True)
    )
    for row in approvals:
        if row.key in existing:
            entries = [row.payment] if row.payment else []
            plan(
                campaign,
                Kind.APPROVE,
                key=row.key,
                by=by,
                submission=row.submission,
                payments=entries,
                **fields,
            )
    new = [row for row in approvals if row.key not in existing]
    calls = PlatformCall.objects.bulk_create(
        (
            PlatformCall(
                campaign=campaign,
                kind=Kind.APPROVE,
                key=row.key,
                currency=campaign.currency,
                submission=row.submission,
                planned_by=by,
                **fields,
            )
            for row in new
        ),
        batch_size=500,
    )
    links = PlatformCall.payments.through
    links.objects.bulk_create(
        (
            links(platformcall=call, payment=row.payment)
            for call, row in zip(calls, new, strict=True)
            if row.payment
        ),
        batch_size=500,
    )


def cancel(calls: QuerySet[PlatformCall]) -> int:
    """Cancel those of the calls that are not being sent, and were not; returns their number."""
    waiting = calls.filter(state__in=[State.PLANNED, State.FAILED])
    # Race: the condition claims the rows; one that is sent at this moment is not cancelled.
    return waiting.update(state=State.CANCELLED, settled_at=timezone.now())


def carry_out(call: PlatformCall, *, recruiter: Recruiter | None = None) -> PlatformCall:
    """Send a planned call once and store the answer; returns the row as it is afterwards.

    Does nothing with a call that is not planned, or that waits for a second person or for money within the
    limits; ``problem`` says so. A refusal, a busy platform and a lost answer are states of the row, too.
    """
    recruiter = recruiter or get_recruiter(call.campaign)
    is_claimed = _claim_in_turn(call)
    call.refresh_from_db(fields=["state", "n_attempts", "sent_at", "problem"])
    if not is_claimed:
        return call
    try:
        response = _send(recruiter, call)
    except Refused as error:
        _store(call, State.FAILED, problem=str(error), response=_error_facts(error))
    except Busy as error:  # nothing happened there: the call waits as before
        _store(call, State.PLANNED, problem=str(error), response=_error_facts(error))
    except AnswerLost as error:
        _store(call, State.UNKNOWN, problem=str(error), response=_error_facts(error))
    except Exception:
        _store(
            call, State.UNKNOWN, problem="The answer of the platform could not be read: it may have acted."
        )
        raise
    else:
        _confirm(call, response)
    return call


def _error_facts(error: PlatformError) -> dict[str, Any]:
    return {"code": error.code, "ends_batch": error.ends_batch}


def _claim_in_turn(call: PlatformCall) -> bool:
    """Claim a call; it waits while another campaign of its account sends one of the same group."""
    deadline = time.monotonic() + ACCOUNT_WAIT_S
    while True:
        try:
            return _claim(call)
        except AccountInUse as error:
            if time.monotonic() >= deadline:
                PlatformCall.objects.filter(pk=call.pk, state=State.PLANNED).update(problem=str(error))
                return False
        time.sleep(ACCOUNT_LOOK_S)


def _claim(call: PlatformCall) -> bool:
    """Commit that the call is being sent; False where it is not planned, not released or above a limit."""
    # Durable: inside another transaction the row would not be there after a crash.
    with transaction.atomic(durable=True):
        if kinds := Kind.in_turn_with(call.kind):
            _check_account(call, kinds)
        # Race: the lock lets one sender at a time add up what was spent.
        campaign = Campaign.objects.select_for_update().get(pk=call.campaign_id)
        rows = PlatformCall.objects.filter(pk=call.pk, state=State.PLANNED)
        if reason := _obstacle(call, campaign):
            rows.update(problem=reason)
            return False
        released = rows.filter(Q(needs_second_person=False) | Q(second_person__isnull=False))
        return bool(
            released.update(
                state=State.SENT, sent_at=timezone.now(), n_attempts=F("n_attempts") + 1, problem=""
            )
        )


def _check_account(call: PlatformCall, kinds: set[str]) -> None:
    """Raise ``AccountInUse`` while another campaign of the same account sends a call of these kinds."""
    account = call.campaign.account_id
    if account is None:
        return
    # Race: the lock lets one sender of the account at a time see what is being sent and claim its own call.
    PlatformAccount.objects.select_for_update(no_key=True).get(pk=account)
    others = PlatformCall.objects.filter(
        campaign__account=account,
        kind__in=kinds,
        state=State.SENT,
        sent_at__gt=timezone.now() - ASK_AFTER,  # later, no request can still be on its way
    ).exclude(campaign=call.campaign_id)
    if other := others.select_related("campaign").first():
        if call.kind in Kind.taking_money():
            raise AccountInUse(
                f"Campaign {other.campaign.name} pays from the same account now. This was not sent and waits;"
                " it is sent again by itself, or when you send decisions."
            )
        raise AccountInUse(
            f"The same account is in use: campaign {other.campaign.name}, {other.get_kind_display()}. Nothing"
            " was sent. Press the button again in a minute."
        )


def _obstacle(call: PlatformCall, campaign: Campaign) -> str:
    """Why a payment may not be sent now; empty where it may."""
    if call.kind not in Kind.spending():
        return ""
    if call.currency != campaign.currency:
        return (
            f"The payment is in {call.currency} and the campaign in {campaign.currency}. Nothing was sent."
            " Undo the decision and decide in the campaign's currency."
        )
    cost = call.amount_minor + call.fee_minor
    for name, left_minor in limits_left(campaign).items():
        if cost > left_minor:
            return (
                f"The {name} leaves {format_money(max(left_minor, 0), campaign.currency)}, and this costs"
                f" {format_money(cost, campaign.currency)} with fees. It was not sent and waits. Raise the"
                " limit, or send it later."
            )
    return ""


def limits_left(campaign: Campaign) -> dict[str, int]:
    """Return the remainder of the campaign's limits by name, in minor units; empty without limits."""
    left = {}
    if campaign.total_limit_minor is not None:
        left["budget"] = campaign.total_limit_minor - spent(campaign)
    if campaign.daily_limit_minor is not None:
        left["daily limit"] = campaign.daily_limit_minor - spent(campaign, since=timezone.now() - DAY)
    return left


def committed_calls() -> QuerySet[PlatformCall]:
    """Calls of payments that were or will be sent; prepared bonuses count in the call that pays them."""
    paying = Q(kind__in=Kind.spending(), state__in=State.binding())
    return PlatformCall.objects.filter(paying | Q(kind=Kind.PREPARE_BONUSES, state__in=State.open()))


def spent(campaign: Campaign, *, since: datetime | None = None) -> int:
    """Return the sum of sent payments with fees, in minor units; unknown ones count as paid."""
    calls = PlatformCall.objects.filter(
        campaign=campaign,
        kind__in=Kind.spending(),
        state__in=[State.SENT, State.CONFIRMED, State.UNKNOWN],
    )
    if since is not None:
        calls = calls.filter(sent_at__gte=since)
    return calls.aggregate(sum=Sum(F("amount_minor") + F("fee_minor")))["sum"] or 0


def _send(recruiter: Recruiter, call: PlatformCall) -> dict[str, Any]:
    """Send the request of a call; returns what to store of the answer."""
    campaign, submission, request, key = call.campaign, call.submission, call.request, call.key
    match call.kind:
        case Kind.CREATE:
            return {"external_id": recruiter.create(campaign, key=key)}
        case Kind.PUBLISH:
            recruiter.publish(campaign, key=key)
        case Kind.ADD_PLACES:
            recruiter.add_places(campaign, request["n"], total=request["total"], key=key)
        case Kind.PAUSE:
            recruiter.pause(campaign, key=key)
        case Kind.RESUME:
            recruiter.resume(campaign, key=key)
        case Kind.STOP:
            recruiter.stop(campaign, key=key)
        case Kind.CLOSE:
            recruiter.close(campaign)
        case Kind.APPROVE:
            assert submission is not None
            recruiter.approve(submission, key=key)
        case Kind.REJECT:
            assert submission is not None
            recruiter.reject(submission, category=request["category"], message=request["message"], key=key)
        case Kind.REQUEST_RETURN:
            assert submission is not None
            recruiter.request_return(submission, reason=request["reason"], key=key)
        case Kind.PREPARE_BONUSES:
            prepared = recruiter.prepare_bonuses(campaign, _bonuses(call), key=key)
            assert prepared is not None
            return {
                "external_id": prepared.id,
                "amount_minor": prepared.amount_minor,
                "fee_minor": prepared.fee_minor,
                "paid_before": dict(prepared.paid_before),
            }
        case Kind.PAY_BONUSES:
            prepared_id = request.get("prepared_id", "")
            recruiter.pay_bonuses(campaign, _bonuses(call), key=key, prepared_id=prepared_id)
        case Kind.MESSAGE:
            assert submission is not None
            person = _persons(campaign, [submission.external_id])[submission.external_id]
            recruiter.send_message(campaign, person=person, text=request["text"], key=key)
    return {}


def _bonuses(call: PlatformCall) -> list[Bonus]:
    rows = call.request["bonuses"]
    persons = _persons(call.campaign, [row["submission"] for row in rows])
    return [Bonus(**row, person=persons.get(row["submission"], "")) for row in rows]


def _persons(campaign: Campaign, submission_ids: list[str]) -> dict[str, str]:
    """The platform's ids of participants by submission, from the vault."""
    identities = PlatformIdentity.objects.filter(
        participant__sessions__submission__campaign=campaign,
        participant__sessions__submission__external_id__in=submission_ids,
    )
    return dict(identities.values_list("participant__sessions__submission__external_id", "external_id"))


def _store(
    call: PlatformCall, state: str, *, problem: str = "", response: Mapping[str, Any] | None = None
) -> bool:
    """Commit the result of the attempt; False where another process took the call over meanwhile."""
    with transaction.atomic(durable=True):
        return _update(call, state, problem=problem, response=response)


def _update(
    call: PlatformCall,
    state: str,
    *,
    problem: str = "",
    response: Mapping[str, Any] | None = None,
    **fields: Any,
) -> bool:
    # Race: state and attempt are the condition, so a slow process overwrites nothing that was settled since.
    own = PlatformCall.objects.filter(pk=call.pk, state=call.state, n_attempts=call.n_attempts)
    is_settled = state in {State.CONFIRMED, State.FAILED}
    changed = {
        "state": state,
        "problem": problem,
        "response": dict(response or {}),
        "settled_at": timezone.now() if is_settled else None,
        **fields,
    }
    updated = bool(own.update(**changed))
    if updated:
        for name, value in changed.items():
            setattr(call, name, value)
    else:
        call.refresh_from_db()
    return updated


def _confirm(call: PlatformCall, response: Mapping[str, Any]) -> None:
    """Commit the confirmation together with what follows from it here."""
    fields: dict[str, Any] = {}
    if response.get("external_id"):
        fields["external_id"] = response["external_id"]
    if "fee_minor" in response:
        fields["fee_minor"] = response["fee_minor"]
    with transaction.atomic(durable=True):
        if _update(call, State.CONFIRMED, response=response, **fields):
            _apply(call)


def _apply(call: PlatformCall) -> None:
    """Apply a confirmed call to the campaign, the submission and the ledger."""
    campaign = Campaign.objects.select_for_update().get(pk=call.campaign_id)
    changed: dict[str, Any] = {}
    if call.kind == Kind.CREATE:
        changed["external_id"] = call.external_id
    elif call.kind == Kind.ADD_PLACES:
        changed["places"] = call.request["total"]
    elif call.kind in STATE_AFTER:
        changed["state"] = STATE_AFTER[Kind(call.kind)]
    if call.kind == Kind.PUBLISH:
        changed["published_at"] = timezone.now()
    if changed:
        for name, value in changed.items():
            setattr(campaign, name, value)
            setattr(call.campaign, name, value)
        campaign.save(update_fields=list(changed))
    if call.kind in STATUS_AFTER and call.submission is not None:
        call.submission.status = STATUS_AFTER[Kind(call.kind)]
        call.submission.save(update_fields=["status"])
        if call.submission.session is not None:
            call.submission.session.submission_status = call.submission.status
            call.submission.session.save(update_fields=["submission_status"])
    if call.kind == Kind.PREPARE_BONUSES:
        # In the same transaction: no prepared bonus is without the call that pays it.
        plan(
            campaign,
            Kind.PAY_BONUSES,
            key=_pay_key(call),
            by=call.planned_by,
            payments=call.payments.all(),
            request={
                **call.request,
                "prepared_id": call.external_id,
                "paid_before": call.response.get("paid_before", {}),
            },
            amount_minor=call.amount_minor,
            fee_minor=call.fee_minor,
        )


def unresolved_calls(campaign: Campaign, *, now: datetime | None = None) -> QuerySet[PlatformCall]:
    """Calls whose answer is missing and that are old enough to ask the platform about them."""
    calls = PlatformCall.objects.filter(campaign=campaign, state__in=[State.SENT, State.UNKNOWN])
    return calls.filter(sent_at__lte=(now or timezone.now()) - ASK_AFTER).order_by("pk")


def resolve(call: PlatformCall, *, recruiter: Recruiter | None = None) -> PlatformCall:
    """Ask the platform about a call whose answer is missing: confirmed, planned again, or still unknown."""
    if call.state not in {State.SENT, State.UNKNOWN}:
        return call
    if call.kind in Kind.repeatable():
        _store(call, State.PLANNED, problem="The answer was lost. Repeating this call is safe.")
        return call
    recruiter = recruiter or get_recruiter(call.campaign)
    if call.kind == Kind.PAY_BONUSES:
        call.request["expected_bonuses"] = _expected_bonuses(call)
    try:
        outcome = recruiter.outcome(call)
    except PlatformError as error:
        _store(
            call, State.UNKNOWN, problem=f"The platform could not be asked: {error}", response=call.response
        )
        return call
    if outcome is Outcome.DONE:
        is_by_amount = call.kind == Kind.PAY_BONUSES and recruiter.prepares_bonuses
        _confirm(call, {"resolved": SAME_AMOUNTS if is_by_amount else "The platform reports the effect."})
    elif outcome is Outcome.NOT_DONE:
        _store(
            call, State.PLANNED, problem="The platform reports that nothing happened; it can be sent again."
        )
    else:
        _store(
            call,
            State.UNKNOWN,
            problem="The answer was lost, and the platform's list does not show whether it acted. It is not"
            " sent again. Look on the platform's own site, then say here what you see there."
            f"{HAND_PAID if call.kind == Kind.PAY_BONUSES else ''}",
            response=call.response,
        )
    return call


def _expected_bonuses(call: PlatformCall) -> dict[str, int]:
    """By submission, the sum of bonuses that the platform reports if the call paid its own.

    A bonus may show there only minutes after it was confirmed. What the platform reported beyond the ledger
    when the call was prepared was paid elsewhere, and counts as well.
    """
    other_calls = PlatformCall.objects.filter(
        campaign=call.campaign, kind=Kind.PAY_BONUSES, state__in=[State.CONFIRMED, State.SENT, State.UNKNOWN]
    ).exclude(pk=call.pk)
    earlier: dict[str, int] = {}
    total: dict[str, int] = {}
    for other in other_calls:
        for row in other.request["bonuses"]:
            submission, amount = row["submission"], row["amount_minor"]
            total[submission] = total.get(submission, 0) + amount
            if other.sent_at and call.sent_at and other.sent_at < call.sent_at:
                earlier[submission] = earlier.get(submission, 0) + amount
    paid_before: dict[str, int] = call.request.get("paid_before", {})
    expected: dict[str, int] = {}
    for row in call.request["bonuses"]:
        submission = row["submission"]
        elsewhere = max(paid_before.get(submission, 0) - earlier.get(submission, 0), 0)
        base = expected.get(submission, total.get(submission, 0) + elsewhere)
        expected[submission] = base + row["amount_minor"]
    return expected


def settle(call: PlatformCall, *, took_effect: bool, note: str, by: User) -> PlatformCall:
    """Store what a person saw on the platform's own site about an unknown call."""
    note = note.strip()
    if not note or len(note) > LONGEST_NOTE:
        raise BadInput(
            "this needs a note.",
            column="note",
            remedy=f"Write what you saw there, in at most {LONGEST_NOTE} characters.",
        )
    if call.state != State.UNKNOWN:
        raise BadInput("the call is not unknown any more.", remedy="Reload the page.")
    response = {"settled_by": by.get_username(), "note": note, "took_effect": took_effect}
    with transaction.atomic():
        state = State.CONFIRMED if took_effect else State.FAILED
        if not _update(
            call, state, problem="" if took_effect else f"Settled by hand: {note}", response=response
        ):
            raise BadInput("the call is not unknown any more.", remedy="Reload the page.")
        if took_effect:
            _apply(call)
        AuditEntry.objects.create(
            experiment=call.campaign.experiment,
            user=by,
            action="platform call settled by hand",
            details={"call": call.pk, "kind": call.kind, "took_effect": took_effect, "note": note},
        )
    return call


@dataclass(frozen=True)
class Total:
    """Calls of one kind and state of a campaign, with their sums in minor units."""

    campaign: str
    mode: str
    kind: str
    state: str
    n: int
    amount_minor: int
    fee_minor: int
    currency: str


def totals(study: Experiment) -> list[Total]:
    """Payments of a study by campaign, kind and state."""
    rows = (
        PlatformCall.objects.filter(campaign__experiment=study, kind__in=Kind.spending())
        .exclude(state=State.CANCELLED)
        .order_by("campaign", "kind", "state", "currency")
        .values_list("campaign__name", "campaign__mode", "kind", "state", "currency")
        .annotate(n=Count("pk"), amount=Sum("amount_minor"), fee=Sum("fee_minor"))
    )
    return [
        Total(name, mode, kind, state, n=n, amount_minor=amount, fee_minor=fee, currency=currency)
        for name, mode, kind, state, currency, n, amount, fee in rows
    ]


def accounting_rows(study: Experiment) -> Iterator[dict[str, str | int]]:
    """Payments of a study for accounting: a row for each submission or bonus, without ids of persons."""
    calls = PlatformCall.objects.filter(campaign__experiment=study, kind__in=Kind.spending())
    calls = calls.exclude(state=State.CANCELLED).select_related(
        "campaign", "submission__session__participant"
    )
    for call in calls.order_by("pk"):
        items = call.request.get("bonuses") or [
            {"submission": call.submission and call.submission.external_id, "amount_minor": call.amount_minor}
        ]
        shares = _shares(call.fee_minor, [item["amount_minor"] for item in items])
        for item, fee_minor in zip(items, shares, strict=True):
            yield {
                "campaign": call.campaign.name,
                "platform": call.campaign.recruiter,
                "mode": call.campaign.mode,
                "kind": "reward" if call.kind == Kind.APPROVE else "bonus",
                "submission": item["submission"] or "",
                "state": call.get_state_display(),
                "amount": format_money(item["amount_minor"], call.currency).split()[0],
                "fee": format_money(fee_minor, call.currency).split()[0],
                "currency": call.currency,
                "sent_at": call.sent_at.isoformat(timespec="seconds") if call.sent_at else "",
                "confirmed_at": call.settled_at.isoformat(timespec="seconds")
                if call.settled_at and call.state == State.CONFIRMED
                else "",
                "call": call.pk,
            }


def _shares(total: int, weights: list[int]) -> list[int]:
    """Divide a sum in proportion to the weights, in whole units that add up to it."""
    weight_sum = sum(weights)
    cumulative = [0]
    running = 0
    for weight in weights:
        running += weight
        cumulative.append(round(total * running / weight_sum) if weight_sum else 0)
    return [after - before for before, after in pairwise(cumulative)]


def send_planned(
    campaign: Campaign, *, recruiter: Recruiter | None = None, now: datetime | None = None
) -> list[PlatformCall]:
    """Resolve what is unknown, then send what is planned, in order; returns the calls that were tried.

    Ends early where the platform is busy, refuses for lack of money or an answer was lost, and where a limit
    is reached: the rest stays planned.
    """
    recruiter = recruiter or get_recruiter(campaign)
    for lost in unresolved_calls(campaign, now=now).select_related(
        "campaign__account", "submission__session"
    ):
        resolve(lost, recruiter=recruiter)
    tried: list[PlatformCall] = []
    for call in _planned_calls(campaign):
        tried.append(carry_out(call, recruiter=recruiter))
        if call.kind == Kind.PREPARE_BONUSES and call.state == State.CONFIRMED:
            # At once, so that what the platform reported when they were prepared still holds.
            payment = PlatformCall.objects.select_related("campaign__account").get(key=_pay_key(call))
            tried.append(carry_out(payment, recruiter=recruiter))
        last = tried[-1]
        is_refused_alike = last.state == State.FAILED and last.response.get("ends_batch")
        if last.state in {State.PLANNED, State.UNKNOWN} or is_refused_alike:
            break
    return tried


def _pay_key(prepared: PlatformCall) -> str:
    """The key of the call that pays prepared bonuses."""
    return f"pay-{prepared.key}"[:64]


def _planned_calls(campaign: Campaign) -> Iterator[PlatformCall]:
    """Calls to be sent, in order, each once; those planned meanwhile come too.

    Race: one that is cancelled or sent elsewhere after it was read is not sent, because sending claims it.
    """
    calls = PlatformCall.objects.filter(campaign=campaign, state=State.PLANNED)
    calls = calls.exclude(kind__in=Kind.of_campaign())  # a person presses these buttons again
    released = calls.filter(Q(needs_second_person=False) | Q(second_person__isnull=False))
    rows = released.select_related("campaign__account", "submission__session").order_by("pk")
    after = 0
    while batch := list(rows.filter(pk__gt=after)[:READ_TOGETHER]):
        after = batch[-1].pk
        yield from batch
