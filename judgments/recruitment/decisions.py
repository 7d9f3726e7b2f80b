"""Decisions on submissions, and their way to the platform: approve, reject, ask to return, pay bonuses.

A decision is stored here first and can be undone until its call is being sent. Nothing rejects anybody by
itself. What is sent follows from the decisions and from the ledger of payments (``recruitment.payments``):

* approved pay of a submission that waits for a decision approves it there; the platform pays its reward;
* approved pay of a submission that was returned or ran out of time, screen-out pay, and bonuses are bonuses;
* a rejection and a request to return are sent as they are.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from analysis.errors import BadInput
from analysis.power.money import format_money
from analysis.text import plural
from experiments.models import AuditEntry, Campaign, Job
from experiments.operation.job_runner import Run, enqueue, job
from experiments.webhooks.events import emit
from judgments.models import Payment, PlatformCall, Session, Submission
from judgments.recruitment import ledger, payments
from judgments.recruitment.recruiter import Cost, Finding, Level, Recruiter, get_recruiter

Decision, Status = Submission.Decision, Submission.Status
Kind, State = PlatformCall.Kind, PlatformCall.State
SEND = "judgments.send_to_platform"
#: Statuses in which the platform approves and rejects.
DECIDABLE = {Status.SUBMITTED}
RETRY_EVERY = timedelta(minutes=30)  # of what waits for the platform, a limit or an answer
BONUS_REASON = "Thank you for taking part."
SHORT_STUDY_MINUTES = 5  # below, one failed attention check may be a ground for a rejection on Prolific


@dataclass(frozen=True)
class PlannedSending:
    """Calls that would be sent now: numbers and sums for the page, and obstacles."""

    approvals: list[Submission] = field(default_factory=list)
    rejections: list[Submission] = field(default_factory=list)
    return_requests: list[Submission] = field(default_factory=list)
    bonuses: list[Payment] = field(default_factory=list)
    waiting: list[Submission] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    reward_minor: int = 0
    bonus_minor: int = 0
    fee_minor: int = 0

    @property
    def total_minor(self) -> int:
        """Rewards, bonuses and fees."""
        return self.reward_minor + self.bonus_minor + self.fee_minor

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to send."""
        return not (self.approvals or self.rejections or self.return_requests or self.bonuses)


# Deciding


@transaction.atomic
def approve(campaign: Campaign, submissions: QuerySet[Submission], *, by: User, reason: str = "") -> int:
    """Decide to approve those that wait for a decision; their sessions' pay is approved with them."""
    rows = _locked_undecided(campaign, submissions)
    sessions = Session.objects.filter(submission__in=[row.pk for row in rows])
    _approve_pay(campaign, sessions, by=by)
    return _decide(rows, Decision.APPROVE, by=by, reason=_checked_reason(reason))


@dataclass(frozen=True)
class ApprovalPreview:
    """Effect and cost of approving a selection; ``left_out`` has the number for each cause."""

    n: int
    cost: Cost
    left_out: dict[str, int]
    n_without_pay: int
    findings: list[Finding]


def preview_approval(
    campaign: Campaign, submissions: QuerySet[Submission], *, recruiter: Recruiter | None = None
) -> ApprovalPreview:
    """Count whom an approval would reach, and ask the platform what it costs; changes nothing."""
    recruiter = recruiter or get_recruiter(campaign)
    rows = submissions.filter(campaign=campaign).order_by()
    waiting = rows.filter(decision=Decision.NONE, status__in=DECIDABLE)
    counts = rows.aggregate(
        decided=Count("pk", filter=~Q(decision=Decision.NONE)),
        elsewhere=Count("pk", filter=Q(decision=Decision.NONE) & ~Q(status__in=DECIDABLE)),
    )
    n = waiting.count()
    cost = recruiter.cost(campaign, places=n)
    decided_before = _preview(campaign, recruiter, each=recruiter.cost(campaign, places=1))
    findings = _limit_findings(campaign, cost.total_minor + decided_before.total_minor)
    if not decided_before.is_empty:
        earlier = format_money(decided_before.total_minor, campaign.currency)
        findings.insert(0, Finding(Level.NOTE, f"Decided before and not sent yet: {earlier} with fees."))
    return ApprovalPreview(
        n,
        cost,
        left_out={
            text: number
            for text, number in (
                ("decided before", counts["decided"]),
                ("not waiting for a decision on the platform", counts["elsewhere"]),
            )
            if number
        },
        n_without_pay=waiting.exclude(session__status=Session.Status.COMPLETE).count(),
        findings=findings,
    )


def _approve_pay(campaign: Campaign, sessions: QuerySet[Session], *, by: User) -> None:
    """Approve the campaign's reward for the sessions that are payable; an earlier decision stays."""
    payable = payments.payable(campaign.experiment).filter(pk__in=sessions.values("pk"))
    if campaign.reward_minor:
        payments.approve_each(
            campaign.experiment,
            payable,
            amount_minor=campaign.reward_minor,
            currency=campaign.currency,
            by=by,
        )


@transaction.atomic
def reject(
    campaign: Campaign,
    submissions: QuerySet[Submission],
    *,
    category: str,
    message: str,
    by: User,
    reason: str = "",
) -> int:
    """Decide to reject those that wait for a decision, each with the same ground and message."""
    recruiter = get_recruiter(campaign)
    if not recruiter.decides:
        raise BadInput(f"{recruiter.label} does not reject anybody from here.", remedy="Nothing was changed.")
    if category not in recruiter.reject_categories:
        raise BadInput(
            "choose a ground for the rejection.",
            column="category",
            remedy=f"{recruiter.label} accepts: {', '.join(recruiter.reject_categories.values())}.",
        )
    message = _checked_message(message, recruiter)
    rows = _locked_undecided(campaign, submissions)
    paid = Payment.objects.filter(
        session__submission__in=[row.pk for row in rows],
        kind__in={Payment.Kind.REWARD, Payment.Kind.SCREEN_OUT},
        reversal__isnull=True,
    )
    if n := paid.count():
        raise BadInput(
            f"the pay of {plural(n, 'of these submissions', 'of these submissions')} is approved.",
            remedy="Undo that first.",
        )
    sessions = Session.objects.filter(submission__in=[row.pk for row in rows])
    payments.refuse_many(
        campaign.experiment, sessions, reason=f"rejected: {recruiter.reject_categories[category]}", by=by
    )
    return _decide(
        rows, Decision.REJECT, by=by, reason=_checked_reason(reason), category=category, message=message
    )


@transaction.atomic
def request_return(
    campaign: Campaign, submissions: QuerySet[Submission], *, message: str, by: User, reason: str = ""
) -> int:
    """Decide to ask the participants to return their submissions."""
    recruiter = get_recruiter(campaign)
    if not recruiter.requests_returns:
        raise BadInput(
            f"{recruiter.label} has no requests to return.", remedy="Write to the participant instead."
        )
    message = message.strip()
    if not message:
        raise BadInput("this needs a reason.", column="message", remedy="The participant reads it.")
    rows = _locked_undecided(campaign, submissions, statuses={Status.SUBMITTED, Status.ACTIVE})
    return _decide(rows, Decision.REQUEST_RETURN, by=by, reason=_checked_reason(reason), message=message)


@transaction.atomic
def undo(campaign: Campaign, submissions: QuerySet[Submission], *, by: User) -> int:
    """Take back decisions that were not sent, with their pay; returns how many were."""
    decided = submissions.filter(campaign=campaign).exclude(decision=Decision.NONE)
    rows = list(decided.order_by("pk").select_for_update(of=("self",)))
    for row in rows:
        row.campaign = campaign
    sent = PlatformCall.objects.filter(
        submission__in=rows, kind__in=_KIND_OF.values(), state__in=_STATES_SENT
    )
    ids_sent = set(sent.values_list("submission", flat=True))
    free = [row for row in rows if row.pk not in ids_sent]
    calls = PlatformCall.objects.filter(submission__in=free, kind__in=_KIND_OF.values())
    ledger.cancel(calls)
    if calls.filter(state__in=_STATES_SENT).exists():  # sent in this very moment
        raise BadInput("a decision is being sent now.", remedy="Reload the page.")
    payments.undo_many(campaign.experiment, Session.objects.filter(submission__in=free), by=by)
    for decision in {row.decision for row in free}:
        values = {"decision": {"old": str(Decision(decision).label), "new": ""}}
        same = [row for row in free if row.decision == decision]
        _note(same, "decision on a submission undone", by=by, values=values)
    Submission.objects.filter(pk__in=[row.pk for row in free]).update(
        decision=Decision.NONE, category="", message="", reason="", decided_by=None, decided_at=None
    )
    return len(free)


_KIND_OF = {
    Decision.APPROVE: Kind.APPROVE,
    Decision.REJECT: Kind.REJECT,
    Decision.REQUEST_RETURN: Kind.REQUEST_RETURN,
}
_STATES_SENT = {State.SENT, State.CONFIRMED, State.UNKNOWN}


def _locked_undecided(
    campaign: Campaign, submissions: QuerySet[Submission], *, statuses: Iterable[str] = DECIDABLE
) -> list[Submission]:
    """Lock those of the submissions that wait for a decision, in one order."""
    rows = submissions.filter(campaign=campaign, decision=Decision.NONE, status__in=list(statuses))
    locked = list(rows.order_by("pk").select_for_update(of=("self",)))
    for row in locked:
        row.campaign = campaign
    return locked


def _decide(rows: Sequence[Submission], decision: str, *, by: User, **fields: Any) -> int:
    # The same values for all, so that one short statement stores them however many they are.
    Submission.objects.filter(pk__in=[row.pk for row in rows]).update(
        decision=decision, decided_by=by, decided_at=timezone.now(), **fields
    )
    details: dict[str, Any] = {name: value for name, value in fields.items() if value}
    details["values"] = {"decision": {"old": "", "new": str(Decision(decision).label)}}
    _note(rows, f"submission: {Decision(decision).label}", by=by, **details)
    return len(rows)


def _note(rows: Sequence[Submission], action: str, *, by: User, **details: Any) -> None:
    if not rows:
        return
    campaign = rows[0].campaign
    AuditEntry.objects.bulk_create(
        AuditEntry(
            experiment=campaign.experiment,
            user=by,
            action=action,
            details={"campaign": campaign.name, "submission": row.pk, **details},
        )
        for row in rows
    )


def _checked_reason(reason: str) -> str:
    reason = reason.strip()
    if len(reason) > payments.LONGEST_REASON:
        raise BadInput(
            f"the reason has {len(reason)} characters.",
            column="note",
            remedy=f"Write at most {payments.LONGEST_REASON}.",
        )
    return reason


def _checked_message(message: str, recruiter: Recruiter) -> str:
    message = message.strip()
    shortest, longest = recruiter.shortest_reject_message, recruiter.longest_reject_message
    if not shortest <= len(message) <= longest:
        raise BadInput(
            f"the message has {len(message)} characters.",
            column="message",
            remedy=f"{recruiter.label} accepts {shortest} to {longest}. Say what was asked for, what you saw"
            " and why that is a ground.",
        )
    return message


# From decisions to calls


def preview(campaign: Campaign, *, recruiter: Recruiter | None = None) -> PlannedSending:
    """Return the calls that would be sent now, and obstacles; changes nothing."""
    recruiter = recruiter or get_recruiter(campaign)
    return _preview(campaign, recruiter, each=recruiter.cost(campaign, places=1))


def _preview(campaign: Campaign, recruiter: Recruiter, *, each: Cost) -> PlannedSending:
    findings: list[Finding] = []
    approvals, rejections, requests, waiting = [], [], [], []
    entries = list(unsent_payments(campaign))
    rewards = {entry.session_id: entry for entry in entries if entry.kind == Payment.Kind.REWARD}
    for row in _undelivered_decisions(campaign):
        reward = rewards.get(row.session_id) if row.session_id else None
        if row.decision == Decision.REQUEST_RETURN and row.status in {Status.SUBMITTED, Status.ACTIVE}:
            requests.append(row)
        elif row.decision == Decision.REJECT and row.status in DECIDABLE:
            rejections.append(row)
        elif row.decision == Decision.APPROVE and row.status in DECIDABLE and reward is None:
            approvals.append(row)
        elif row.decision == Decision.APPROVE and row.status in {Status.ACTIVE, Status.UNKNOWN}:
            waiting.append(row)
    bonuses = []
    for entry in entries:
        row = entry.session.submission
        if entry.currency != campaign.currency:
            findings.append(_wrong_currency(entry, campaign))
        elif entry.kind == Payment.Kind.SCREEN_OUT and row.status == Status.SCREENED_OUT:
            continue  # the platform pays its own screen-out reward
        elif entry.kind != Payment.Kind.REWARD or row.status in payments.LEFT:
            bonuses.append(entry)
        elif row.status == Status.REJECTED:
            findings.append(_rejected_there(entry))
        elif row.status in DECIDABLE and entry.amount_minor == campaign.reward_minor:
            approvals.append(row)
        elif row.status in DECIDABLE:
            findings.append(_other_amount(entry, campaign))
        elif row not in waiting:
            waiting.append(row)
    sending = PlannedSending(
        approvals=approvals,
        rejections=rejections,
        return_requests=requests,
        bonuses=bonuses,
        waiting=waiting,
        findings=findings,
        reward_minor=each.reward_minor * len(approvals),
        bonus_minor=sum(entry.amount_minor for entry in bonuses),
        fee_minor=each.fee_minor * len(approvals)
        + sum(recruiter.bonus_fee(entry.amount_minor) for entry in bonuses),
    )
    findings += _limit_findings(campaign, sending.total_minor)
    return sending


def _limit_findings(campaign: Campaign, total_minor: int) -> list[Finding]:
    """Warn where the limits stop the sending before its end."""
    return [
        Finding(
            Level.WARNING,
            f"This costs {format_money(total_minor, campaign.currency)}, and the {name} leaves"
            f" {format_money(left_minor, campaign.currency)}: what is above it is not sent and waits.",
            "Raise the limit, or send the rest later.",
        )
        for name, left_minor in ledger.limits_left(campaign).items()
        if total_minor > left_minor
    ]


def _undelivered_decisions(campaign: Campaign) -> QuerySet[Submission]:
    """Decided submissions without a call that carries the decision, or that carried it."""
    calls = PlatformCall.objects.filter(
        submission=OuterRef("pk"), kind__in=_KIND_OF.values(), state__in=State.binding()
    )
    decided = Submission.objects.filter(campaign=campaign).exclude(decision=Decision.NONE)
    return decided.filter(~Exists(calls)).select_related("session__participant").order_by("pk")


def unsent_payments(campaign: Campaign) -> QuerySet[Payment]:
    """Valid payments of the campaign's submissions that no call carries and no approval there settled."""
    calls = ledger.committed_calls().filter(payments=OuterRef("pk"))
    approvals = PlatformCall.objects.filter(
        submission__session=OuterRef("session"), kind=Kind.APPROVE, state__in=State.binding()
    )
    paying = {Payment.Kind.REWARD, Payment.Kind.SCREEN_OUT, Payment.Kind.BONUS}
    entries = Payment.objects.filter(
        session__submission__campaign=campaign, kind__in=paying, reversal__isnull=True
    )
    is_settled = Q(kind=Payment.Kind.REWARD) & (
        Q(session__submission__status=Status.APPROVED) | Exists(approvals)
    )
    return (
        entries.filter(~Exists(calls))
        .exclude(is_settled)
        .select_related("session__submission", "session__participant")
        .order_by("pk")
    )


def _wrong_currency(entry: Payment, campaign: Campaign) -> Finding:
    amount = format_money(entry.amount_minor, entry.currency)
    return Finding(
        Level.ERROR,
        f"{entry.session.participant.pseudonym}: {amount} were approved, and the campaign pays in"
        f" {campaign.currency}. This is not sent.",
        f"Undo it and decide in {campaign.currency}.",
    )


def _rejected_there(entry: Payment) -> Finding:
    return Finding(
        Level.ERROR,
        f"{entry.session.participant.pseudonym}: pay is approved, and the submission is rejected on the"
        " platform. This is not sent.",
        "Take the rejection back on the platform's own site.",
    )


def _other_amount(entry: Payment, campaign: Campaign) -> Finding:
    amount = format_money(entry.amount_minor, entry.currency)
    reward = format_money(campaign.reward_minor, campaign.currency)
    return Finding(
        Level.ERROR,
        f"{entry.session.participant.pseudonym}: {amount} were approved, and the platform pays {reward} for"
        " an approved submission. This is not sent.",
        "Undo it, approve the reward, and add the rest as a bonus.",
    )


def plan_sending(
    campaign: Campaign, *, by: User, recruiter: Recruiter | None = None, total_minor: int | None = None
) -> PlannedSending:
    """Plan the calls for everything that was decided and not sent; planned twice, each has one call.

    Nothing is planned where the total is not the ``total_minor`` that a program confirmed.
    """
    recruiter = recruiter or get_recruiter(campaign)
    each = recruiter.cost(campaign, places=1)  # asks the platform: not within the transaction
    return _plan_sending(campaign, by=by, recruiter=recruiter, each=each, total_minor=total_minor)


@transaction.atomic
def _plan_sending(
    campaign: Campaign, *, by: User, recruiter: Recruiter, each: Cost, total_minor: int | None
) -> PlannedSending:
    # Race: two requests plan one after the other, so that nothing remains for the second.
    campaign = Campaign.objects.select_for_update(of=("self",)).select_related("account").get(pk=campaign.pk)
    _drop_outdated(campaign)
    sending = _preview(campaign, recruiter, each=each)
    if total_minor is not None and sending.total_minor != total_minor:
        raise BadInput(
            f"the total is {sending.total_minor} now, and not {total_minor}: nothing was sent.",
            column="total_minor",
            remedy="Look at the decisions again.",
        )
    needs_second = _needs_second_person(campaign, sending, by=by)
    rewards = Payment.objects.filter(
        session__submission__in=sending.approvals, kind=Payment.Kind.REWARD, reversal__isnull=True
    )
    entries = {entry.session_id: entry for entry in rewards}
    approvals = [
        ledger.Approval(
            _key("approve", campaign, row.external_id),
            row,
            entries.get(row.session_id) if row.session_id else None,
        )
        for row in sending.approvals
    ]
    ledger.plan_approvals(
        campaign,
        approvals,
        by=by,
        amount_minor=each.reward_minor,
        fee_minor=each.fee_minor,
        needs_second_person=needs_second,
    )
    for row in sending.rejections:
        ledger.plan(
            campaign,
            Kind.REJECT,
            key=_key("reject", campaign, row.external_id),
            by=by,
            submission=row,
            request={"category": row.category, "message": row.message},
        )
    for row in sending.return_requests:
        ledger.plan(
            campaign,
            Kind.REQUEST_RETURN,
            key=_key("return", campaign, row.external_id),
            by=by,
            submission=row,
            request={"reason": row.message},
        )
    for start in range(0, len(sending.bonuses), recruiter.bonuses_per_call):
        batch = sending.bonuses[start : start + recruiter.bonuses_per_call]
        _plan_bonuses(campaign, batch, by=by, recruiter=recruiter, needs_second_person=needs_second)
    if not sending.is_empty:
        _record_sending(campaign, sending, by=by)
    return sending


def _record_sending(campaign: Campaign, sending: PlannedSending, *, by: User) -> None:
    """Add what is sent, with its sums, to the history; decisions on single submissions have their entries."""
    values = {
        "approvals": len(sending.approvals),
        "rejections": len(sending.rejections),
        "requests to return": len(sending.return_requests),
        "bonuses": len(sending.bonuses),
        "total with fees": format_money(sending.total_minor, campaign.currency),
    }
    details = {
        "campaign": campaign.name,
        "mode": campaign.mode,
        "values": {name: {"old": "", "new": value} for name, value in values.items() if value},
    }
    AuditEntry.objects.create(
        experiment=campaign.experiment, user=by, action="campaign: send decisions", details=details
    )


def _plan_bonuses(
    campaign: Campaign,
    batch: Sequence[Payment],
    *,
    by: User,
    recruiter: Recruiter,
    needs_second_person: bool,
) -> None:
    keys = {entry.pk: payment_key(entry) for entry in batch}
    rows = [
        {
            "submission": entry.session.submission.external_id,
            "amount_minor": entry.amount_minor,
            "currency": entry.currency,
            "reason": entry.reason or BONUS_REASON,
            "payment_key": keys[entry.pk],
        }
        for entry in batch
    ]
    kind = Kind.PREPARE_BONUSES if recruiter.prepares_bonuses else Kind.PAY_BONUSES
    ledger.plan(
        campaign,
        kind,
        key=_key("bonus", campaign, *sorted(keys.values())),
        by=by,
        payments=batch,
        request={"bonuses": rows},
        amount_minor=sum(entry.amount_minor for entry in batch),
        fee_minor=sum(recruiter.bonus_fee(entry.amount_minor) for entry in batch),
        needs_second_person=needs_second_person,
    )


def payment_key(entry: Payment) -> str:
    """The same for the same payment for ever: made of the session's token, which no other session has."""
    digest = hashlib.sha256(f"{entry.session.token}:{entry.idempotency_key}".encode()).hexdigest()
    return f"b-{digest[:40]}"


def _key(prefix: str, campaign: Campaign, *facts: str) -> str:
    text = ":".join([str(campaign.pk), campaign.created_at.isoformat(), *facts])
    return f"{prefix}-{hashlib.sha256(text.encode()).hexdigest()[:40]}"


def _drop_outdated(campaign: Campaign) -> None:
    """Cancel refused calls, so that they are planned again from the current decisions."""
    failed = PlatformCall.objects.filter(campaign=campaign, state=State.FAILED)
    ledger.cancel(failed.filter(kind__in=[*_KIND_OF.values(), Kind.PREPARE_BONUSES, Kind.PAY_BONUSES]))


def _needs_second_person(campaign: Campaign, sending: PlannedSending, *, by: User) -> bool:
    """Whether the payment, with those that the same person planned within a day, is above the limit."""
    limit = campaign.two_people_above_minor
    if limit is None:
        return False
    since = timezone.now() - ledger.DAY
    # Small payments one after the other add up, else the limit would not be one.
    earlier = ledger.committed_calls().filter(campaign=campaign, planned_by=by, created_at__gte=since)
    planned_minor = earlier.aggregate(sum=Sum(F("amount_minor") + F("fee_minor")))["sum"] or 0
    return sending.total_minor + planned_minor > limit


def waiting_for_second_person(campaign: Campaign) -> QuerySet[PlatformCall]:
    """Planned payments that another person has to release."""
    return PlatformCall.objects.filter(
        campaign=campaign, state=State.PLANNED, needs_second_person=True, second_person__isnull=True
    )


@transaction.atomic
def release(campaign: Campaign, *, by: User) -> int:
    """Release, as the second person, payments that another user planned; return the count."""
    waiting = waiting_for_second_person(campaign)
    calls = list(waiting.exclude(planned_by=by).filter(planned_by__isnull=False).order_by("pk"))
    n = waiting.filter(pk__in=[call.pk for call in calls]).update(second_person=by)
    if not n and waiting.exists():
        raise BadInput(
            "you planned these payments yourself.", remedy="Another member of the study has to release them."
        )
    if n:
        AuditEntry.objects.create(
            experiment=campaign.experiment,
            user=by,
            action="payments released",
            details={
                "campaign": campaign.name,
                "calls": n,
                "values": {
                    f"{call.get_kind_display()} {call.pk}": {
                        "old": "waiting",
                        "new": f"released: {format_money(call.amount_minor, call.currency)}",
                    }
                    for call in calls
                },
            },
        )
    return n


def send_later(campaign: Campaign, *, by: User | None) -> Job:
    """Queue the sending of what is planned; while a job is waiting or running, return that job."""
    earlier = Job.objects.filter(kind=SEND, arguments__campaign=campaign.pk)
    active = earlier.exclude(state__in=Job.State.final()).first()
    key = f"{SEND}:{campaign.pk}:{earlier.count()}"
    return active or enqueue(
        SEND, {"campaign": campaign.pk}, user=by, experiment=campaign.experiment, key=key
    )


def continue_sending() -> int:
    """Queue the sending where calls wait or have no answer; returns the number of campaigns.

    A platform that was busy is tried again, and asked about lost answers.
    """
    sendable = PlatformCall.objects.exclude(kind__in=Kind.of_campaign()).filter(
        Q(state=State.PLANNED, needs_second_person=False)
        | Q(state=State.PLANNED, second_person__isnull=False)
        | Q(state__in=[State.SENT, State.UNKNOWN], sent_at__lte=timezone.now() - ledger.ASK_AFTER)
    )
    recent = Job.objects.filter(kind=SEND, created_at__gte=timezone.now() - RETRY_EVERY)
    campaigns = Campaign.objects.filter(pk__in=sendable.values("campaign")).select_related("experiment")
    waiting = [row for row in campaigns if not recent.filter(arguments__campaign=row.pk).exists()]
    for campaign in waiting:
        send_later(campaign, by=None)
    return len(waiting)


@job(SEND)
def send(run: Run) -> None:
    """Send what is planned; killed and started again, it asks the platform about calls without an answer."""
    campaign = Campaign.objects.select_related("account", "experiment").get(pk=run.arguments["campaign"])
    total = PlatformCall.objects.filter(campaign=campaign, state=State.PLANNED).count()
    run.progress(0, total)
    tried = ledger.send_planned(campaign)
    with run.finishing() as result:
        for state in State.values:
            result[state] = sum(call.state == state for call in tried)
        if result[State.CONFIRMED]:
            emit(campaign.experiment, "submissions.sent", {"campaign": campaign.name, "calls": dict(result)})


# Fairness


def fairness(campaign: Campaign) -> list[Finding]:
    """Compare pay by median time, and rejections, with the platforms' rules."""
    findings = []
    taken = _minutes_taken(campaign)
    if taken and campaign.reward_minor:
        median = taken[len(taken) // 2]
        hourly = round(campaign.reward_minor * 60 / max(median, 0.5))
        promised = campaign.estimated_minutes
        text = (
            f"The median time of {plural(len(taken), 'person', 'people')} is {median:.1f} minutes: the reward"
            f" is {format_money(hourly, campaign.currency)} per hour."
        )
        is_longer = promised is not None and median > promised
        findings.append(
            Finding(
                Level.WARNING if is_longer else Level.NOTE,
                text,
                f"You announced {promised} minutes. Platforms count the time that people took: pay the"
                " difference as a bonus."
                if is_longer
                else "",
            )
        )
    return findings + _rejection_findings(campaign)


def _minutes_taken(campaign: Campaign) -> list[float]:
    """Minutes between start and submission, as the platform reports them, in ascending order."""
    times = Submission.objects.filter(
        campaign=campaign,
        status__in=[Status.SUBMITTED, Status.APPROVED, Status.REJECTED],
        started_at__isnull=False,
        submitted_at__isnull=False,
    ).values_list("started_at", "submitted_at")
    minutes = ((end - start) / timedelta(minutes=1) for start, end in times if start and end)
    return sorted(value for value in minutes if value >= 0)


def _rejection_findings(campaign: Campaign) -> list[Finding]:
    rows = list(Submission.objects.filter(campaign=campaign, decision=Decision.REJECT))
    if not rows:
        return []
    findings = [
        Finding(
            Level.NOTE,
            f"{plural(len(rows), 'submission')} to reject. A rejection lowers what the person can take part"
            " in from then on. Grounds are: work far too fast, questions left out that had to be answered,"
            " low effort that you can show, failed attention checks.",
            "A failed comprehension question, a screening answer or a wrong judgment is no ground: ask these"
            " people to return, or pay them and leave their answers out of the analysis.",
        )
    ]
    checks = [row for row in rows if row.category.upper() == "FAILED_CHECK"]
    if checks and (campaign.estimated_minutes or 0) >= SHORT_STUDY_MINUTES:
        findings.append(
            Finding(
                Level.WARNING,
                f"{plural(len(checks), 'rejection')} for failed checks in a study of"
                f" {campaign.estimated_minutes} minutes: from {SHORT_STUDY_MINUTES} minutes on, Prolific asks"
                " for two failed checks or more.",
                "Look at each session. Catch sentences are not attention checks there: use them for the"
                " analysis.",
            )
        )
    finished = [row for row in rows if row.session_id and not row.mismatches]
    if finished:
        findings.append(
            Finding(
                Level.WARNING,
                f"{plural(len(finished), 'person', 'people')} to reject finished the session with the right"
                " code and complete data.",
                "Be sure that you can show each of them the ground.",
            )
        )
    return findings
