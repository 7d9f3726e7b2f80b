"""A platform in memory behind the interface, with a record of the money that people got."""

import itertools
from collections import Counter
from dataclasses import dataclass, field

from judgments.models import PlatformCall, Submission
from judgments.recruitment.recruiter import (
    AnswerLost,
    Busy,
    Cost,
    Money,
    Outcome,
    PlannedCall,
    PlatformState,
    PlatformSubmission,
    PreparedBonuses,
    Recruiter,
    Refused,
    RemoteState,
)

Kind, Status = PlatformCall.Kind, Submission.Status
FEE_SHARE = 3  # a third


@dataclass
class Platform:
    """What the platform knows; it survives a killed process of ours."""

    prepares: bool = True
    balance_minor: int = 1_000_000
    shows_bonuses_at_once: bool = True
    campaigns: dict[str, dict] = field(default_factory=dict)
    rows: dict[str, dict] = field(default_factory=dict)
    prepared: dict[str, list] = field(default_factory=dict)
    money: Counter = field(default_factory=Counter)
    tokens: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    numbers: itertools.count = field(default_factory=lambda: itertools.count(1))

    def arrive(self, campaign_id: str, person: str) -> str:
        """Somebody takes a place."""
        submission = f"{campaign_id}-s{next(self.numbers)}"
        self.rows[submission] = {
            "campaign": campaign_id,
            "person": person,
            "status": Status.ACTIVE,
            "bonuses": 0,
            "code": "",
        }
        return submission

    def submit(self, submission: str, code: str = "") -> None:
        """The person submits."""
        self.rows[submission].update(status=Status.SUBMITTED, code=code)


class MemoryRecruiter(Recruiter):
    """The adapter of that platform."""

    name, label = "memory", "Memory"
    decides = requests_returns = pays_bonuses = True
    reject_categories = {"LOW_EFFORT": "low effort", "FAILED_CHECK": "failed checks"}
    shortest_reject_message = 20

    def __init__(self, platform: Platform) -> None:
        super().__init__()
        self.platform = platform
        self.prepares_bonuses = platform.prepares
        self.bonuses_per_call = 2 if platform.prepares else 1

    def _call(self, name: str, act) -> None:
        """One request: a fault before it acts, the act, a fault after."""
        fault = self.platform.faults.pop(0) if self.platform.faults else ""
        self.platform.calls.append(name)
        if fault == "busy":
            raise Busy("The platform is busy.", remedy="Nothing was sent; try again.")
        if fault == "lost-before":
            raise AnswerLost("The connection was lost.")
        if fault == "no-money":
            raise Refused("The balance is too low.", ends_batch=True)
        if fault == "refused":
            raise Refused("The platform refused.")
        act()
        if fault == "lost-after":
            raise AnswerLost("The connection was lost.")

    def check(self, campaign):
        return []

    def cost(self, campaign, *, places):
        reward = campaign.reward_minor * places
        return Cost(reward, reward // FEE_SHARE, "GBP")

    def bonus_fee(self, amount_minor):
        return amount_minor // FEE_SHARE

    def balance(self):
        return Money(self.platform.balance_minor, "GBP")

    def state(self, campaign):
        remote = self.platform.campaigns.get(campaign.external_id)
        if remote is None:
            return PlatformState(RemoteState.MISSING, 0, 0)
        taken = sum(row["campaign"] == campaign.external_id for row in self.platform.rows.values())
        return PlatformState(remote["state"], remote["places"], taken)

    def submissions(self, campaign):
        for name, row in self.platform.rows.items():
            if row["campaign"] == campaign.external_id:
                bonuses = row["bonuses"] if self.platform.shows_bonuses_at_once else 0
                yield PlatformSubmission(
                    name, row["person"], row["status"], code=row["code"], paid_bonus_minor=bonuses
                )

    def plan_calls(self, action, campaign, **arguments):
        return [PlannedCall("POST", f"/{action}/", arguments)]

    def outcome(self, call):
        platform = self.platform
        if call.kind == Kind.PAY_BONUSES and not self.prepares_bonuses:
            (bonus,) = call.request["bonuses"]
            return Outcome.DONE if bonus["payment_key"] in platform.tokens else Outcome.NOT_DONE
        if call.kind == Kind.PAY_BONUSES:
            expected = call.request["expected_bonuses"]
            shown = all(platform.rows[name]["bonuses"] >= minor for name, minor in expected.items())
            return Outcome.DONE if shown and platform.shows_bonuses_at_once else Outcome.CANNOT_SAY
        if call.kind in {Kind.APPROVE, Kind.REJECT}:
            done = {Kind.APPROVE: Status.APPROVED, Kind.REJECT: Status.REJECTED}[call.kind]
            is_done = platform.rows[call.submission.external_id]["status"] == done
            return Outcome.DONE if is_done else Outcome.NOT_DONE
        if call.kind == Kind.ADD_PLACES:
            places = platform.campaigns[call.campaign.external_id]["places"]
            return Outcome.DONE if places >= call.request["total"] else Outcome.NOT_DONE
        reached = {
            Kind.PUBLISH: RemoteState.RUNNING,
            Kind.RESUME: RemoteState.RUNNING,
            Kind.PAUSE: RemoteState.PAUSED,
            Kind.STOP: RemoteState.FINISHED,
        }
        is_done = self.state(call.campaign).state == reached[call.kind]
        return Outcome.DONE if is_done else Outcome.NOT_DONE

    def create(self, campaign, *, key):
        made = {"state": RemoteState.DRAFT, "places": campaign.places}
        self._call("create", lambda: self.platform.campaigns.setdefault(key, made))
        return key

    def _move(self, campaign, state):
        self._call(state, lambda: self.platform.campaigns[campaign.external_id].update(state=state))

    def publish(self, campaign, *, key):
        self._move(campaign, RemoteState.RUNNING)

    def pause(self, campaign, *, key):
        self._move(campaign, RemoteState.PAUSED)

    def resume(self, campaign, *, key):
        self._move(campaign, RemoteState.RUNNING)

    def stop(self, campaign, *, key):
        self._move(campaign, RemoteState.FINISHED)

    def add_places(self, campaign, n, *, total, key):
        self._call("add", lambda: self.platform.campaigns[campaign.external_id].update(places=total))

    def approve(self, submission, *, key):
        row = self.platform.rows[submission.external_id]

        def act():
            if row["status"] == Status.APPROVED:
                return
            if row["status"] != Status.SUBMITTED:
                raise Refused("The submission waits for no decision.")
            row["status"] = Status.APPROVED
            self.platform.money[("reward", submission.external_id)] += 1

        self._call("approve", act)

    def reject(self, submission, *, category, message, key):
        row = self.platform.rows[submission.external_id]
        self._call("reject", lambda: row.update(status=Status.REJECTED))

    def request_return(self, submission, *, reason, key):
        self._call("return", lambda: None)

    def prepare_bonuses(self, campaign, bonuses, *, key):
        prepared = f"p{next(self.platform.numbers)}"
        self._call("prepare", lambda: self.platform.prepared.update({prepared: list(bonuses)}))
        amount = sum(bonus.amount_minor for bonus in bonuses)
        before = {bonus.submission: self.platform.rows[bonus.submission]["bonuses"] for bonus in bonuses}
        return PreparedBonuses(prepared, amount, amount // FEE_SHARE, before)

    def pay_bonuses(self, campaign, bonuses, *, key, prepared_id=""):
        def act():
            for bonus in self.platform.prepared[prepared_id] if prepared_id else bonuses:
                if not prepared_id:
                    if bonus.payment_key in self.platform.tokens:
                        return
                    self.platform.tokens.add(bonus.payment_key)
                self.platform.rows[bonus.submission]["bonuses"] += bonus.amount_minor
                self.platform.money[("bonus", bonus.submission, bonus.payment_key)] += 1

        self._call("pay", act)
