"""Reconciliation: the platform's list of submissions beside our sessions.

The platform is right about its own statuses, and never about our data. Where both disagree, the submission
gets a mismatch, and a person looks at it: nothing is decided here.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from experiments.models import Campaign, Job
from experiments.operation.job_runner import Run, enqueue, job
from judgments.models import Payment, PlatformCall, Session, Submission
from judgments.recruitment.recruiter import (
    PlatformState,
    PlatformSubmission,
    Recruiter,
    RemoteState,
    get_recruiter,
)

RECONCILE = "judgments.reconcile_campaign"
Status = Submission.Status
READ_EVERY = timedelta(minutes=5)  # webhooks, where a platform has them, are quicker
GRACE = timedelta(minutes=10)  # between the last answer here and the submission there
BONUS_GRACE = timedelta(hours=24)  # until a confirmed bonus shows on the platform
MISMATCHES = {
    "no_data": "The platform has this submission, and no session here belongs to it.",
    "did_not_begin": "Led back before the study began: no consent, no place left, or took part before.",
    "incomplete": "Submitted on the platform, and the session here is not complete.",
    "not_submitted": "Complete here, and not submitted on the platform: the last step may have been missed.",
    "left_complete": "Complete here, and returned or timed out on the platform: consider a bonus.",
    "no_code": "Submitted on the platform without a completion code.",
    "other_code": "The code entered on the platform is not the session's.",
    "other_person": "The session belongs to another person than the submission.",
    "claimed_twice": "Several sessions here name this submission.",
    "not_listed": "The platform does not list this submission any more.",
    "undecided_here": "Approved or rejected on the platform without a decision here.",
    "bonus_elsewhere": "The platform reports more bonuses than the ledger.",
    "bonus_missing": "The ledger has more confirmed bonuses than the platform reports.",
}
CAMPAIGN_STATE = {
    RemoteState.RUNNING: Campaign.State.RUNNING,
    RemoteState.FULL: Campaign.State.RUNNING,
    RemoteState.PAUSED: Campaign.State.PAUSED,
    RemoteState.FINISHED: Campaign.State.FINISHED,
}
CHANGEABLE = (
    "session",
    "status",
    "platform_status",
    "entered_code",
    "started_at",
    "submitted_at",
    "decide_by",
    "paid_bonus_minor",
    "data",
    "mismatches",
)
NO_CODE = "NOCODE"  # what Prolific has of participants who submitted by hand without a code
WITHOUT_SESSION = ("refused", "over_quota", "repeated")  # outcomes of an arrival that began no session
UNFINISHED = {Session.Status.ACTIVE, Session.Status.ABANDONED}


@dataclass(frozen=True)
class Reconciliation:
    """Counts of a reconciliation."""

    state: PlatformState
    n_listed: int
    n_new: int
    n_changed: int
    n_mismatches: int


def reconcile(
    campaign: Campaign, *, recruiter: Recruiter | None = None, now: datetime | None = None
) -> Reconciliation:
    """Read the campaign and all its submissions from the platform, and store what changed.

    Raises ``PlatformError`` where the platform cannot be read; nothing is changed then.
    """
    recruiter = recruiter or get_recruiter(campaign)
    state = recruiter.state(campaign)
    listed = {row.id: row for row in recruiter.submissions(campaign)}  # read before anything is locked
    result = _store(campaign, state, listed, now=now or timezone.now())
    campaign.refresh_from_db(fields=["state", "reconciled_at"])
    return result


@transaction.atomic
def _store(
    campaign: Campaign, state: PlatformState, listed: Mapping[str, PlatformSubmission], *, now: datetime
) -> Reconciliation:
    # Race: of two reconciliations at once, such as a webhook and the periodic one, one follows the other.
    locked = Campaign.objects.select_for_update(of=("self",)).select_related("experiment").get(pk=campaign.pk)
    stored = Submission.objects.filter(campaign=locked).select_related("session__participant__identity")
    rows = {row.external_id: row for row in stored}
    facts = _LocalFacts(locked, now=now)
    new, changed = [], []
    for remote in listed.values():
        row = rows.get(remote.id)
        is_new = row is None
        row = row or Submission(campaign=locked, external_id=remote.id, last_seen_at=now)
        before = _values(row)
        _copy(remote, row)
        if row.session is None:
            row.session = facts.find_session(remote)
        row.mismatches = facts.mismatches(row, remote)
        if is_new:
            new.append(row)
        elif _values(row) != before:
            changed.append(row)
    missing = [row for row in rows.values() if row.external_id not in listed]
    for row in missing:
        if row.mismatches != ["not_listed"]:
            row.mismatches = ["not_listed"]
            changed.append(row)
    Submission.objects.bulk_create(new, batch_size=500)
    Submission.objects.bulk_update(changed, CHANGEABLE, batch_size=200)
    Submission.objects.filter(campaign=locked).exclude(pk__in=[row.pk for row in missing]).update(
        last_seen_at=now
    )
    _mirror_statuses([*new, *changed])
    if locked.state in {Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED}:
        locked.state = CAMPAIGN_STATE.get(state.state, Campaign.State(locked.state))
    locked.reconciled_at = now
    locked.save(update_fields=["state", "reconciled_at"])
    n_mismatches = sum(bool(row.mismatches) for row in [*rows.values(), *new])
    return Reconciliation(
        state, n_listed=len(listed), n_new=len(new), n_changed=len(changed), n_mismatches=n_mismatches
    )


def _values(row: Submission) -> tuple[object, ...]:
    return tuple(getattr(row, "session_id" if name == "session" else name) for name in CHANGEABLE)


def _copy(remote: PlatformSubmission, row: Submission) -> None:
    row.status, row.platform_status = remote.status, remote.word[:40]
    row.entered_code, row.started_at = remote.code[:100], remote.started_at
    row.submitted_at, row.decide_by = remote.submitted_at, remote.decide_by
    row.paid_bonus_minor, row.data = remote.paid_bonus_minor, dict(remote.data)


def _mirror_statuses(rows: Sequence[Submission]) -> None:
    """Store the platform's status with the session, because participants who left there hold no place."""
    sessions = []
    for row in rows:
        if row.session is not None and row.session.submission_status != row.status:
            row.session.submission_status = row.status
            sessions.append(row.session)
    Session.objects.bulk_update(sessions, ["submission_status"], batch_size=500)


@dataclass
class _Bonuses:
    """Bonuses of one submission in the ledger, in minor units."""

    sent: int = 0  # unknown ones included
    due: int = 0  # confirmed so long ago that the platform has to show them


class _LocalFacts:
    """Our side of a campaign: its sessions with their participants, bonuses, and decisions on pay."""

    def __init__(self, campaign: Campaign, *, now: datetime) -> None:
        self.campaign, self.now = campaign, now
        self.by_claim: dict[str, list[Session]] = defaultdict(list)
        self.by_person: dict[str, list[Session]] = defaultdict(list)
        sessions = Session.objects.filter(campaign=campaign, submission__isnull=True)
        for session in sessions.select_related("participant__identity").order_by("pk"):
            for claim in _claims(session):
                self.by_claim[claim].append(session)
            if _person(session) and session.participant.identity.is_verified:
                self.by_person[_person(session)].append(session)
        self.claims = _count_claims(campaign)
        self.bonuses = _bonuses(campaign, now=now)
        rewards = Payment.objects.filter(
            session__submission__campaign=campaign, kind__in=Payment.Kind.deciding(), reversal__isnull=True
        )
        self.decided_sessions = set(rewards.values_list("session", flat=True))
        calls = PlatformCall.objects.filter(
            campaign=campaign, kind__in=[PlatformCall.Kind.APPROVE, PlatformCall.Kind.REJECT]
        )
        self.sent = set(calls.values_list("submission", flat=True))
        study = campaign.experiment
        self.codes = {study.completion_code, study.screen_out_code, study.partial_code}
        self.has_codes = bool(campaign.options.get("codes"))
        for entry in campaign.options.get("codes", {}).values():
            self.codes.add(str(entry.get("code", "")) if isinstance(entry, dict) else str(entry))

    def find_session(self, remote: PlatformSubmission) -> Session | None:
        """The session of a submission: it names the submission and belongs to the person, or either."""
        candidates = self.by_claim.get(remote.id, [])
        session = next((row for row in candidates if _person(row) == remote.person), None)
        if session is None and candidates:
            session = candidates[0]  # of another person: linked, and a mismatch says so
        if session is None and remote.person:
            session = next(iter(self.by_person.get(remote.person, [])), None)
        if session is not None:  # a session belongs to one submission
            for rows in (self.by_claim.get(remote.id, []), self.by_person.get(_person(session), [])):
                if session in rows:
                    rows.remove(session)
        return session

    def mismatches(self, row: Submission, remote: PlatformSubmission) -> list[str]:
        """Codes of ``MISMATCHES`` that hold for a submission now."""
        session = row.session
        is_in = row.status in {Status.SUBMITTED, Status.APPROVED}
        was_complete = session is not None and session.completed_at is not None
        holds = {
            "no_data": is_in and session is None and not self._did_not_begin(row.entered_code),
            "did_not_begin": is_in and session is None and self._did_not_begin(row.entered_code),
            "incomplete": is_in and session is not None and session.status in UNFINISHED,
            "not_submitted": row.status == Status.ACTIVE
            and session is not None
            and session.completed_at is not None
            and session.completed_at < self.now - GRACE,
            "left_complete": row.status in {Status.RETURNED, Status.TIMED_OUT} and was_complete,
            "no_code": row.status == Status.SUBMITTED and self._is_without_code(row.entered_code),
            "other_code": session is not None and self._is_other_code(row.entered_code, session),
            "other_person": session is not None
            and bool(_person(session) and remote.person)
            and _person(session) != remote.person,
            "claimed_twice": self.claims.get(remote.id, 0) > 1,
            "undecided_here": row.status in {Status.APPROVED, Status.REJECTED}
            and not row.decision
            and row.pk not in self.sent
            and row.session_id not in self.decided_sessions,
            "bonus_elsewhere": (row.paid_bonus_minor or 0) > self.bonuses[row.external_id].sent,
            "bonus_missing": row.paid_bonus_minor is not None
            and row.paid_bonus_minor < self.bonuses[row.external_id].due,
        }
        return [code for code, is_true in holds.items() if is_true]

    def _is_without_code(self, entered: str) -> bool:
        """Whether nothing was entered: the platform says so, or has no code where the campaign has codes."""
        code = entered.strip().upper()
        return code == NO_CODE or (not code and self.has_codes)

    def _did_not_begin(self, entered: str) -> bool:
        """Whether the code is that of an outcome of which nothing is stored here."""
        code = entered.strip().casefold()
        return bool(code) and code in {
            self.campaign.completion_code(outcome).casefold() for outcome in WITHOUT_SESSION
        }

    def _is_other_code(self, entered: str, session: Session) -> bool:
        expected = {code.casefold() for code in {*self.codes, session.completion_code} if code}
        if entered.strip().upper() == NO_CODE:
            return False
        return bool(entered.strip() and expected) and entered.strip().casefold() not in expected


def _person(session: Session) -> str:
    """The platform's id of the session's participant, from the vault; empty if the vault has none."""
    identity = getattr(session.participant, "identity", None)
    return str(identity.external_id) if identity is not None else ""


def _claims(session: Session) -> set[str]:
    """Ids that a session's link named, among them that of its submission."""
    identity = getattr(session.participant, "identity", None)
    values = {str(value) for value in identity.parameters.values()} if identity is not None else set()
    return {session.external_id, *values} - {"", _person(session)}


def _count_claims(campaign: Campaign) -> dict[str, int]:
    """Count the sessions of a campaign by id."""
    counts: dict[str, int] = defaultdict(int)
    sessions = Session.objects.filter(campaign=campaign).select_related("participant__identity")
    for session in sessions:
        for claim in _claims(session):
            counts[claim] += 1
    return counts


def _bonuses(campaign: Campaign, *, now: datetime) -> dict[str, _Bonuses]:
    bonuses: dict[str, _Bonuses] = defaultdict(_Bonuses)
    State = PlatformCall.State
    calls = PlatformCall.objects.filter(
        campaign=campaign,
        kind=PlatformCall.Kind.PAY_BONUSES,
        state__in=[State.SENT, State.UNKNOWN, State.CONFIRMED],
    )
    for call in calls:
        is_due = call.state == State.CONFIRMED and call.settled_at and call.settled_at < now - BONUS_GRACE
        for row in call.request["bonuses"]:
            bonuses[row["submission"]].sent += row["amount_minor"]
            bonuses[row["submission"]].due += row["amount_minor"] if is_due else 0
    return bonuses


def reconcile_later(campaign: Campaign, *, by: User | None) -> Job:
    """Queue a reconciliation; while a job is waiting or running, return that job."""
    earlier = Job.objects.filter(kind=RECONCILE, arguments__campaign=campaign.pk)
    active = earlier.exclude(state__in=Job.State.final()).first()
    key = f"{RECONCILE}:{campaign.pk}:{earlier.count()}"
    arguments = {"campaign": campaign.pk}
    return active or enqueue(RECONCILE, arguments, user=by, experiment=campaign.experiment, key=key)


def reconcile_due(*, now: datetime | None = None) -> int:
    """Queue the reconciliation of campaigns that were not read lately; returns their number."""
    now = now or timezone.now()
    unread = Q(reconciled_at__isnull=True) | Q(reconciled_at__lt=now - READ_EVERY)
    campaigns = Campaign.objects.filter(
        unread,
        account__isnull=False,
        state__in=[Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED],
    )
    due = list(campaigns.select_related("experiment"))
    for campaign in due:
        reconcile_later(campaign, by=None)
    return len(due)


@job(RECONCILE)
def reconcile_campaign(run: Run) -> None:
    """Reconcile one campaign; repeated, it changes nothing more."""
    campaign = Campaign.objects.select_related("account", "experiment").get(pk=run.arguments["campaign"])
    reconciliation = reconcile(campaign)
    with run.finishing() as result:
        result["listed"] = reconciliation.n_listed
        result["new"] = reconciliation.n_new
        result["changed"] = reconciliation.n_changed
        result["mismatches"] = reconciliation.n_mismatches
