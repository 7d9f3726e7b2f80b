"""A closed campaign of the demo: stored as if it had run on Prolific, with simulated data.

It goes through the steps of every campaign (ledger, decisions, reconciliation) with a platform that answers
from the demo's own sessions. Its account is marked as simulated and has no token, so nothing can be sent.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import QuerySet

from experiments.models import AuditEntry, Campaign, Experiment, PlatformAccount
from judgments.models import PlatformCall, Session, Submission
from judgments.recruitment import campaigns, decisions, ledger, payments
from judgments.recruitment.credentials import simulated_account
from judgments.recruitment.prolific.drafts import completion_codes
from judgments.recruitment.prolific.recruiter import ProlificRecruiter
from judgments.recruitment.reconcile import reconcile
from judgments.recruitment.recruiter import (
    Bonus,
    Cost,
    Outcome,
    PlatformState,
    PlatformSubmission,
    PreparedBonuses,
    RemoteState,
)

NAME, LABEL = "example", "Demo"
REWARD_MINOR, BONUS_MINOR, CURRENCY, MINUTES = 120, 50, "GBP", 8
FEE = 1 / 3  # of rewards and bonuses, about Prolific's for universities
SUBMITS_AFTER = timedelta(seconds=40)  # between the last answer here and the code there
MISTYPED, WITHOUT_CODE = 7, 11  # places in the list of submissions
LEFT_AT_ONCE = {
    "refused": Submission.Status.RETURNED,
    "screened_out": Submission.Status.RETURNED,
    "idle": Submission.Status.TIMED_OUT,
}
WORDS = {  # Prolific's
    Submission.Status.SUBMITTED: "AWAITING REVIEW",
    Submission.Status.APPROVED: "APPROVED",
    Submission.Status.RETURNED: "RETURNED",
    Submission.Status.TIMED_OUT: "TIMED-OUT",
}


class StoredPlatform(ProlificRecruiter):
    """Answers as Prolific would have, from the study's simulated sessions; calls nothing."""

    is_stopped = False

    def __init__(self, account: PlatformAccount, sessions: Sequence[Session]) -> None:
        super().__init__(account)
        self.sessions = sessions
        self.bonuses: dict[str, int] = {}

    def cost(self, campaign: Campaign, *, places: int) -> Cost:
        """Rewards, and a third of them."""
        reward = campaign.reward_minor * places
        return Cost(reward, round(reward * FEE), campaign.currency)

    def bonus_fee(self, amount_minor: int) -> int:
        """A third."""
        return round(amount_minor * FEE)

    def create(self, campaign: Campaign, *, key: str) -> str:
        """Store the codes that the study would have had."""
        self._store_codes(campaign)
        return _number(campaign.name)

    def publish(self, campaign: Campaign, *, key: str) -> None:
        """Nothing is sent."""

    def stop(self, campaign: Campaign, *, key: str) -> None:
        """Admit no further participants."""
        self.is_stopped = True

    def state(self, campaign: Campaign) -> PlatformState:
        """Running until it is stopped."""
        state = RemoteState.FINISHED if self.is_stopped else RemoteState.RUNNING
        return PlatformState(state, places=campaign.places, places_taken=campaign.places)

    def submissions(self, campaign: Campaign) -> Iterator[PlatformSubmission]:
        """One for each session, and some of participants who left before they began."""
        code = completion_codes(campaign)["complete"]
        decided = dict(Submission.objects.filter(campaign=campaign).values_list("external_id", "status"))
        for place, session in enumerate(self.sessions):
            is_complete = session.completed_at is not None
            number = session.external_id
            status = _status(decided.get(number), is_complete=is_complete)
            yield PlatformSubmission(
                number,
                person="",
                status=status,
                word=WORDS[status],
                started_at=session.started_at,
                submitted_at=session.completed_at and session.completed_at + SUBMITS_AFTER,
                code={MISTYPED: code[:-1], WITHOUT_CODE: ""}.get(place, code) if is_complete else "",
                paid_bonus_minor=self.bonuses.get(number, 0),
            )
        first = self.sessions[0].started_at
        for name, status in LEFT_AT_ONCE.items():
            yield PlatformSubmission(
                _number(f"{campaign.name} {name}"), "", status, word=WORDS[status], started_at=first
            )

    def approve(self, submission: Submission, *, key: str) -> None:
        """Nothing is sent."""

    def prepare_bonuses(self, campaign: Campaign, bonuses: Sequence[Bonus], *, key: str) -> PreparedBonuses:
        """Add up."""
        total = sum(bonus.amount_minor for bonus in bonuses)
        return PreparedBonuses(_number(key), total, round(total * FEE))

    def pay_bonuses(
        self, campaign: Campaign, bonuses: Sequence[Bonus], *, key: str, prepared_id: str = ""
    ) -> None:
        """Remember what the list of submissions has to report."""
        self.bonuses = {bonus.submission: bonus.amount_minor for bonus in bonuses}

    def outcome(self, call: PlatformCall) -> Outcome:
        """Whatever was interrupted did not happen: there is no platform."""
        return Outcome.NOT_DONE


def _status(earlier: str | None, *, is_complete: bool) -> Submission.Status:
    if not is_complete:
        return Submission.Status.RETURNED
    is_approved = earlier == Submission.Status.APPROVED
    return Submission.Status.APPROVED if is_approved else Submission.Status.SUBMITTED


def _number(name: str) -> str:
    """An id of Prolific's form: 24 hexadecimal digits."""
    return hashlib.sha256(f"demo {name}".encode()).hexdigest()[:24]


def closed_campaign(study: Experiment, owner: User) -> Campaign:
    """The study's closed campaign with its simulated participants; an existing one is returned."""
    existing = Campaign.objects.filter(experiment=study, name=NAME).first()
    if existing is not None and existing.state == Campaign.State.CLOSED:
        return existing
    campaign = existing or _draft(study, owner)
    assert campaign.account is not None
    sessions = list(
        Session.objects.filter(experiment=study, participant__is_simulated=True, campaign=campaign).order_by(
            "started_at"
        )
    )
    platform = StoredPlatform(campaign.account, sessions)
    for kind in (PlatformCall.Kind.CREATE, PlatformCall.Kind.PUBLISH):
        _call(campaign, kind, platform, owner)
    _backdate(campaign, study)
    reconcile(campaign, recruiter=platform)
    _decide_and_pay(campaign, platform, owner)
    _call(campaign, PlatformCall.Kind.STOP, platform, owner)
    reconcile(campaign, recruiter=platform)
    if not campaigns.open_matters(campaign):
        campaigns.close(campaign, by=owner)
    return campaign


def _draft(study: Experiment, owner: User) -> Campaign:
    sessions = Session.objects.filter(experiment=study, participant__is_simulated=True, campaign=None)
    campaign = campaigns.create_draft(
        study,
        recruiter="prolific",
        name=NAME,
        by=owner,
        account=simulated_account(study, platform="prolific", label=LABEL, by=owner),
        places=sessions.count(),
        reward_minor=REWARD_MINOR,
        currency=CURRENCY,
        estimated_minutes=MINUTES,
        options={"title": study.title, "description": study.instructions},
    )
    for session in sessions:
        session.campaign, session.external_id = campaign, _number(f"session {session.participant.pseudonym}")
        session.save(update_fields=["campaign", "external_id"])
    return campaign


def _call(campaign: Campaign, kind: PlatformCall.Kind, platform: StoredPlatform, owner: User) -> None:
    call = ledger.plan(campaign, kind, key=f"demo-{kind}-{campaign.pk}", by=owner)
    if call.state == PlatformCall.State.PLANNED:
        ledger.carry_out(call, recruiter=platform)
    campaign.refresh_from_db()


def _decide_and_pay(campaign: Campaign, platform: StoredPlatform, owner: User) -> None:
    rows = Submission.objects.filter(campaign=campaign, status=Submission.Status.SUBMITTED)
    plain = rows.filter(mismatches=[], session__signals__isnull=True)
    decisions.approve(campaign, plain, by=owner, reason="Complete, without a remark.")
    decisions.approve(campaign, rows, by=owner, reason="Complete; no remark is a ground for a rejection.")
    for session in platform.sessions:
        if session.completed_at is None:
            payments.give_bonus(
                session,
                amount_minor=BONUS_MINOR,
                currency=CURRENCY,
                reason="Thank you for the part that you answered.",
                key="part",
                by=owner,
            )
    decisions.plan_sending(campaign, by=owner, recruiter=platform)
    ledger.send_planned(campaign, recruiter=platform)


def _backdate(campaign: Campaign, study: Experiment) -> None:
    """Publish the campaign when the study was opened."""
    at = study.opened_at
    Campaign.objects.filter(pk=campaign.pk).update(created_at=at, published_at=at)
    PlatformCall.objects.filter(campaign=campaign, kind__in=["create", "publish"]).update(
        created_at=at, sent_at=at, settled_at=at
    )
    # The demo's past is made up, its history with it; no other code changes entries.
    QuerySet(AuditEntry).filter(
        experiment=study, action="campaign drafted", details__campaign=campaign.name
    ).update(at=at)
    campaign.refresh_from_db()
