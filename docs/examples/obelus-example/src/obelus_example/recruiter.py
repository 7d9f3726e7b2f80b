"""A recruiter: a participant pool with an HTTP interface.

The platform stores a row before each call that changes something, and sends it once. The errors say what is
safe: after ``Refused`` and ``Busy`` nothing happened, after ``AnswerLost`` the pool may have acted, and the
platform asks ``outcome`` before it sends anything again.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from experiments.models import Campaign
from judgments.models import PlatformCall, Submission
from judgments.recruitment.credentials import decrypt_secrets
from judgments.recruitment.panel import campaign_link
from judgments.recruitment.recruiter import (
    AnswerLost,
    Bonus,
    Busy,
    Cost,
    Finding,
    Level,
    Money,
    Outcome,
    PlannedCall,
    PlatformState,
    PlatformSubmission,
    Recruiter,
    Refused,
    RemoteState,
)

Kind, Status = PlatformCall.Kind, Submission.Status
LIVE, SANDBOX = "https://pool.invalid/api", "https://sandbox.pool.invalid/api"  # of your platform
FEE_PERCENT = 10
TIMEOUT_S = 30.0  # the platform asks about a lost answer after five minutes: stay well below
STATES = {state.value: state for state in RemoteState}
STATUSES = {status.value: status for status in Status}
REACHED = {
    Kind.PUBLISH: RemoteState.RUNNING,
    Kind.RESUME: RemoteState.RUNNING,
    Kind.PAUSE: RemoteState.PAUSED,
    Kind.STOP: RemoteState.FINISHED,
}
transport: httpx.BaseTransport | None = None  # tests set one that needs no network


class ExampleRecruiter(Recruiter):
    """The pool with one account."""

    name, label = "example", "Example pool"
    secrets = {"token": "API token"}  # stored encrypted
    secrets_help = "On the site of the pool: Settings, API."
    currencies = ("EUR",)
    has_sandbox = True  # else the platform refuses, in test mode, whatever admits people or costs money
    link_parameters = {"participant": "{participant}", "submission": "{submission}"}
    decides = True
    pays_bonuses = True
    reject_categories = {"no_effort": "No effort", "failed_checks": "Failed checks"}

    # Reading

    def check(self, campaign: Campaign) -> list[Finding]:
        """What is wrong before publishing."""
        if campaign.reward_minor:
            return []
        remedy = "Set a reward under places and pay."
        return [Finding(Level.ERROR, "The pool asks for a reward.", remedy, field="reward_minor")]

    def cost(self, campaign: Campaign, *, places: int) -> Cost:
        """Rewards and the fee of the pool, in minor units."""
        reward = campaign.reward_minor * places
        return Cost(reward, -(-reward * FEE_PERCENT // 100), campaign.currency)

    def bonus_fee(self, amount_minor: int) -> int:
        """The fee on a bonus."""
        return -(-amount_minor * FEE_PERCENT // 100)

    def balance(self) -> Money:
        """The money in the account: the smallest call that needs the token."""
        row = self._call("GET", "/balance")
        return Money(int(row["amount_minor"]), str(row["currency"]))

    def state(self, campaign: Campaign) -> PlatformState:
        """The campaign as the pool reports it."""
        try:
            row = self._call("GET", f"/campaigns/{campaign.external_id}")
        except Refused as error:
            if error.code == "404":
                return PlatformState(RemoteState.MISSING, 0, 0)
            raise
        state = STATES.get(row["state"], RemoteState.UNKNOWN)
        return PlatformState(state, int(row["places"]), int(row["taken"]), word=row["state"])

    def submissions(self, campaign: Campaign) -> Iterator[PlatformSubmission]:
        """All submissions of the campaign."""
        for row in self._call("GET", f"/campaigns/{campaign.external_id}/submissions")["submissions"]:
            yield PlatformSubmission(
                row["id"],
                row["person"],
                STATUSES.get(row["status"], Status.UNKNOWN),
                word=row["status"],
                paid_bonus_minor=row["bonus_minor"],
            )

    def outcome(self, call: PlatformCall) -> Outcome:
        """Whether a call whose answer was lost took effect."""
        if call.kind == Kind.PAY_BONUSES:
            (bonus,) = call.request["bonuses"]
            is_done = self._exists(f"/bonuses/{bonus['payment_key']}")
        elif call.kind == Kind.CREATE:
            return Outcome.NOT_DONE  # sent again with the same key, the pool returns the same campaign
        elif call.kind == Kind.ADD_PLACES:
            is_done = self.state(call.campaign).places >= int(call.request["total"])
        elif call.kind in REACHED:
            is_done = self.state(call.campaign).state == REACHED[Kind(call.kind)]
        elif call.kind in {Kind.APPROVE, Kind.REJECT} and call.submission is not None:
            decided = Status.APPROVED if call.kind == Kind.APPROVE else Status.REJECTED
            is_done = self._call("GET", f"/submissions/{call.submission.external_id}")["status"] == decided
        else:
            return Outcome.CANNOT_SAY
        return Outcome.DONE if is_done else Outcome.NOT_DONE

    def plan_calls(self, action: str, campaign: Campaign, **arguments: Any) -> list[PlannedCall]:
        """Dry run: the requests that an action would send, without secrets."""
        if action == Kind.CREATE:
            return [PlannedCall("POST", "/campaigns", self._values(campaign))]
        path = f"/campaigns/{campaign.external_id or 'ID'}"
        if action in REACHED:
            return [PlannedCall("PUT", path, {"state": REACHED[Kind(action)].value})]
        return [PlannedCall("PUT", path, {"action": action})]

    # The campaign: every request may be sent twice with one effect

    def create(self, campaign: Campaign, *, key: str) -> str:
        """Create the draft; with the same key again, the same draft."""
        return str(self._call("POST", "/campaigns", self._values(campaign), key=key)["id"])

    def publish(self, campaign: Campaign, *, key: str) -> None:
        """Let people find the campaign."""
        self._move(campaign, RemoteState.RUNNING)

    def pause(self, campaign: Campaign, *, key: str) -> None:
        """Admit nobody else for now."""
        self._move(campaign, RemoteState.PAUSED)

    def resume(self, campaign: Campaign, *, key: str) -> None:
        """Admit people again."""
        self._move(campaign, RemoteState.RUNNING)

    def stop(self, campaign: Campaign, *, key: str) -> None:
        """Admit nobody else for good."""
        self._move(campaign, RemoteState.FINISHED)

    def add_places(self, campaign: Campaign, n: int, *, total: int, key: str) -> None:
        """State the total, not the difference: repeated, nothing is added."""
        self._call("PUT", f"/campaigns/{campaign.external_id}", {"places": total})

    # Decisions and money

    def approve(self, submission: Submission, *, key: str) -> None:
        """Pay the reward."""
        self._call("PUT", f"/submissions/{submission.external_id}", {"status": "approved"})

    def reject(self, submission: Submission, *, category: str, message: str, key: str) -> None:
        """Reject with a ground and a message to the person."""
        body = {"status": "rejected", "ground": category, "message": message}
        self._call("PUT", f"/submissions/{submission.external_id}", body)

    def pay_bonuses(
        self, campaign: Campaign, bonuses: Sequence[Bonus], *, key: str, prepared_id: str = ""
    ) -> None:
        """Pay one bonus; its payment key is the address, so that it is paid once."""
        (bonus,) = bonuses
        body = {"submission": bonus.submission, "amount_minor": bonus.amount_minor, "reason": bonus.reason}
        self._call("PUT", f"/bonuses/{bonus.payment_key}", body)

    # Requests

    def _values(self, campaign: Campaign) -> dict[str, Any]:
        return {
            "title": campaign.options.get("title", ""),
            "description": campaign.options.get("description", ""),
            "link": campaign_link(campaign),
            "places": campaign.places,
            "reward_minor": campaign.reward_minor,
            "currency": campaign.currency,
        }

    def _move(self, campaign: Campaign, state: RemoteState) -> None:
        self._call("PUT", f"/campaigns/{campaign.external_id}", {"state": state.value})

    def _exists(self, path: str) -> bool:
        try:
            self._call("GET", path)
        except Refused as error:
            if error.code == "404":
                return False
            raise
        return True

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None, *, key: str = "") -> Any:
        """Send one request once; the error says whether the pool may have acted."""
        if self.account is None:
            raise Refused("the campaign has no account.", remedy="Connect one and choose it.")
        headers = {"Authorization": f"Token {decrypt_secrets(self.account)['token']}"}
        if key:
            headers["Idempotency-Key"] = key
        address = f"{SANDBOX if self.is_test else LIVE}{path}"
        try:
            with httpx.Client(timeout=TIMEOUT_S, transport=transport, headers=headers) as client:
                response = client.request(method, address, json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            message = f"{self.label} cannot be reached: nothing was sent."
            raise Busy(message, remedy="Try again in some minutes.") from error
        except httpx.HTTPError as error:
            raise AnswerLost(f"The answer of {self.label} was lost: it may have acted.") from error
        code = response.status_code
        if code in {429, 503}:
            raise Busy(f"{self.label} is busy: nothing happened.", remedy="Try again in some minutes.")
        if 400 <= code < 500:
            message = f"{self.label} refused ({code}): {response.text[:200]}"
            raise Refused(message, remedy="See the account on its site.", code=str(code))
        try:
            return response.raise_for_status().json()
        except (httpx.HTTPStatusError, ValueError) as error:
            raise AnswerLost(f"{self.label} answered with {code}: it may have acted.") from error
