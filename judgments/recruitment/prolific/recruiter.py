"""Prolific behind the interface of recruiters: drafts, publishing, submissions, decisions and bonuses."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.dateparse import parse_datetime

from experiments.models import Campaign, Experiment
from judgments.models import PlatformCall, Submission
from judgments.recruitment.credentials import decrypt_secrets
from judgments.recruitment.prolific import arrivals
from judgments.recruitment.prolific.client import API, Json, ProlificClient, bonus_request, member
from judgments.recruitment.prolific.drafts import (
    PERSON_PARAMETER,
    SUBMISSION_PARAMETER,
    FilterOption,
    completion_codes,
    completion_paths,
    findings_of_texts,
    format_description,
    group_blocklist,
    group_name,
    is_double,
    resolved_filters,
    return_links,
    study_address,
)
from judgments.recruitment.recruiter import (
    AnswerLost,
    ArrivalLink,
    Bonus,
    Busy,
    Cost,
    Finding,
    Level,
    Message,
    Money,
    Outcome,
    PlannedCall,
    PlatformError,
    PlatformState,
    PlatformSubmission,
    PreparedBonuses,
    Recruiter,
    Refused,
    RemoteState,
)

BONUSES_PER_CALL = 200
DECIDE_WITHIN = timedelta(days=20)  # the platform approves by itself after 21 or 22 days
MIN_REJECTION_CHARACTERS = 100
MAX_REJECTION_CHARACTERS = 2_000
CATEGORIES = {
    "TOO_QUICKLY": "Exceptionally fast",
    "TOO_SLOWLY": "Too slow",
    "FAILED_INSTRUCTIONS": "Did not follow the instructions",
    "INCOMP_LONGITUDINAL": "Earlier part missing",
    "FAILED_CHECK": "Failed attention checks",
    "LOW_EFFORT": "Low effort",
    "MALINGERING": "Pretended to qualify",
    "NO_CODE": "No completion code",
    "BAD_CODE": "Wrong completion code",
    "NO_DATA": "No answers received",
    "UNSUPP_DEVICE": "Unsupported device",
    "OTHER": "Other",
}
STUDY_STATES = {
    "UNPUBLISHED": RemoteState.DRAFT,
    "SCHEDULED": RemoteState.STARTING,
    "PUBLISHING": RemoteState.STARTING,
    "PROCESSING": RemoteState.STARTING,
    "ACTIVE": RemoteState.RUNNING,
    "PAUSED": RemoteState.PAUSED,
    "AWAITING REVIEW": RemoteState.FULL,
    "COMPLETED": RemoteState.FINISHED,
}
PUBLISHED = {RemoteState.RUNNING, RemoteState.PAUSED, RemoteState.FULL, RemoteState.FINISHED}
STATUSES = {
    "RESERVED": Submission.Status.ACTIVE,
    "ACTIVE": Submission.Status.ACTIVE,
    "AWAITING REVIEW": Submission.Status.SUBMITTED,
    "APPROVED": Submission.Status.APPROVED,
    "PARTIALLY APPROVED": Submission.Status.APPROVED,
    "REJECTED": Submission.Status.REJECTED,
    "RETURNED": Submission.Status.RETURNED,
    "TIMED-OUT": Submission.Status.TIMED_OUT,
    "SCREENED OUT": Submission.Status.SCREENED_OUT,
}
#: What a call leads to: the states of the study that show its effect, and those that show that it had none.
EFFECTS = {
    "publish": (PUBLISHED, {RemoteState.DRAFT}),
    "pause": ({RemoteState.PAUSED}, {RemoteState.RUNNING}),
    "resume": ({RemoteState.RUNNING, RemoteState.FULL}, {RemoteState.PAUSED}),
    # A full study cannot be stopped; it is inactive until a place is returned, so the call is repeated.
    "stop": ({RemoteState.FINISHED}, {RemoteState.RUNNING, RemoteState.PAUSED, RemoteState.FULL}),
}
TRANSITIONS = {"publish": "PUBLISH", "pause": "PAUSE", "resume": "START", "stop": "STOP"}


class ProlificRecruiter(Recruiter):
    """A workspace on Prolific.

    Prolific has no sandbox: an account in test mode makes and checks drafts, and refuses whatever would spend
    money, unless ``PROLIFIC_URL`` leads to a double.
    """

    name = "prolific"
    label = "Prolific"
    decides = True
    requests_returns = True
    pays_bonuses = True
    has_messages = True
    bonuses_per_call = BONUSES_PER_CALL
    prepares_bonuses = True
    reject_categories = CATEGORIES
    shortest_reject_message = MIN_REJECTION_CHARACTERS
    longest_reject_message = MAX_REJECTION_CHARACTERS

    _client: ProlificClient | None = None

    @property
    def client(self) -> ProlificClient:
        """The API with the token of the account."""
        if self._client is None:
            if self.account is None:
                raise Refused(
                    "the campaign has no account.",
                    remedy="Add a Prolific account to the study and choose it.",
                )
            self._client = ProlificClient(decrypt_secrets(self.account)["token"])
        return self._client

    @classmethod
    def identify(cls, request: HttpRequest, experiment: Experiment, detail: str) -> ArrivalLink | None:
        """Read Prolific's link, or the encrypted ids in ``detail``."""
        return arrivals.identify(request, experiment, detail)

    # Reading

    def check(self, campaign: Campaign) -> list[Finding]:
        """Errors and warnings before publishing."""
        findings = findings_of_texts(campaign)
        try:
            findings += self._findings_of_filters(campaign)
            if campaign.reward_minor and campaign.places:
                findings += self._findings_of_money(campaign)
        except PlatformError as error:
            findings.append(Finding(Level.ERROR, error.message, error.remedy, "account"))
        if self.is_test and not is_double():
            findings.append(
                Finding(
                    Level.NOTE,
                    "The account is in test mode: the draft can be made and previewed on Prolific, which has"
                    " no sandbox; it cannot be published.",
                    "Choose a live account to publish.",
                    "account",
                )
            )
        return findings

    def cost(self, campaign: Campaign, *, places: int) -> Cost:
        """Return the cost of places by the platform's calculator."""
        reward = campaign.reward_minor * places
        total = self.client.total_cost(campaign.reward_minor, places) if reward else 0
        return Cost(reward, total - reward, campaign.currency, "By Prolific's calculator, with its taxes.")

    def state(self, campaign: Campaign) -> PlatformState:
        """The study as the platform reports it."""
        try:
            study = self.client.study(campaign.external_id)
        except Refused as error:
            if error.code == "404":
                return PlatformState(RemoteState.MISSING, 0, 0)
            raise
        word = str(study.get("status", ""))
        return PlatformState(
            STUDY_STATES.get(word, RemoteState.UNKNOWN),
            int(study.get("total_available_places") or 0),
            int(study.get("places_taken") or 0),
            f"{settings.PROLIFIC_WEB_URL}/researcher/workspaces/studies/{campaign.external_id}",
            word,
        )

    def submissions(self, campaign: Campaign) -> Iterator[PlatformSubmission]:
        """All submissions from all pages, each once."""
        numbers = set()
        for row in self.client.submissions(campaign.external_id):
            submission = read_submission(row)
            # Race: a row moves to the next page when another one is inserted before it.
            if submission.id not in numbers:
                numbers.add(submission.id)
                yield submission

    def submission(self, number: str) -> PlatformSubmission:
        """One submission with its bonuses."""
        return read_submission(self.client.submission(number))

    def balance(self) -> Money:
        """Return the balance of the workspace."""
        return Money(self.client.balance(self._workspace()), self._currency())

    def outcome(self, call: PlatformCall) -> Outcome:
        """Return the platform's record of a call whose response was lost."""
        kind, campaign = call.kind, call.campaign
        if kind == PlatformCall.Kind.CREATE:
            return Outcome.DONE if self._study_with(campaign, call.key) else Outcome.NOT_DONE
        if kind in EFFECTS:
            return self._outcome_of_state(call)
        if kind == PlatformCall.Kind.ADD_PLACES:
            is_there = self.state(campaign).places >= int(call.request["total"])
            return Outcome.DONE if is_there else Outcome.NOT_DONE
        if kind == PlatformCall.Kind.PAY_BONUSES:
            return self._outcome_of_bonuses(call)
        if kind == PlatformCall.Kind.PREPARE_BONUSES:
            return Outcome.NOT_DONE  # what is set up and not paid has no effect
        if kind == PlatformCall.Kind.MESSAGE:
            return self._outcome_of_message(call)
        if call.submission is None:
            return Outcome.CANNOT_SAY
        row = self.client.submission(call.submission.external_id)
        if kind == PlatformCall.Kind.REQUEST_RETURN:
            is_done = bool(row.get("return_requested"))
        else:
            wanted = {"approve": Submission.Status.APPROVED, "reject": Submission.Status.REJECTED}[kind]
            is_done = STATUSES.get(str(row.get("status"))) == wanted
        return Outcome.DONE if is_done else Outcome.NOT_DONE

    def plan_calls(self, action: str, campaign: Campaign, **arguments: Any) -> list[PlannedCall]:
        """The requests that a kind of call would send."""
        study = campaign.external_id or "STUDY"
        if action == PlatformCall.Kind.CREATE:
            return self._planned_creation(campaign)
        if action == PlatformCall.Kind.CLOSE:
            return []  # a study that is stopped stays on Prolific as it is
        if action in TRANSITIONS:
            return [_plan_call("POST", f"/studies/{study}/transition/", {"action": TRANSITIONS[action]})]
        if action == PlatformCall.Kind.ADD_PLACES:
            total = arguments.get("total", campaign.places + int(arguments.get("n", 0)))
            return [_plan_call("PATCH", f"/studies/{study}/", {"total_available_places": total})]
        if action in {PlatformCall.Kind.PREPARE_BONUSES, PlatformCall.Kind.PAY_BONUSES}:
            rows = [(bonus.submission, bonus.amount_minor) for bonus in arguments.get("bonuses", ())]
            set_up = arguments.get("prepared_id") or "SET-UP"
            preparation = _plan_call("POST", "/submissions/bonus-payments/", bonus_request(study, rows))
            payment = _plan_call("POST", f"/bulk-bonus-payments/{set_up}/pay/", {})
            return [payment] if arguments.get("prepared_id") else [preparation, payment]
        submission = arguments.get("submission")
        number = submission.external_id if submission is not None else "SUBMISSION"
        if action == PlatformCall.Kind.REQUEST_RETURN:
            body: Json = {"request_return_reasons": [arguments.get("reason", "")]}
            return [_plan_call("POST", f"/submissions/{number}/request-return/", body)]
        if action == PlatformCall.Kind.MESSAGE:
            body = {"recipient_id": "PARTICIPANT", "body": arguments.get("text", ""), "study_id": study}
            return [_plan_call("POST", "/messages/", body)]
        body = {"action": "APPROVE"}
        if action == PlatformCall.Kind.REJECT:
            body = _rejection(str(arguments.get("category", "")), str(arguments.get("message", "")))
        return [_plan_call("POST", f"/submissions/{number}/transition/", body)]

    # The study on the platform

    def create(self, campaign: Campaign, *, key: str) -> str:
        """Create the draft, or find the one that an earlier attempt with this key created."""
        number = self._study_with(campaign, key)
        if not number:
            values = self._study_values(campaign, key=key, group=self._group(campaign, is_created=True))
            number = member(self.client.create_study(values), "id")
        self._store_codes(campaign)
        return number

    def publish(self, campaign: Campaign, *, key: str) -> None:
        """Publish the draft; the platform reserves the cost of its places."""
        self._check_live("publish")
        self._transition(campaign, "publish")

    def add_places(self, campaign: Campaign, n: int, *, total: int, key: str) -> None:
        """Raise the number of places to ``total``."""
        self._check_live("add places")
        if self.state(campaign).places < total:
            self.client.change_study(campaign.external_id, {"total_available_places": total})

    def pause(self, campaign: Campaign, *, key: str) -> None:
        """Pause admission."""
        self._transition(campaign, "pause")

    def resume(self, campaign: Campaign, *, key: str) -> None:
        """Admit participants again."""
        self._check_live("resume")
        self._transition(campaign, "resume")

    def stop(self, campaign: Campaign, *, key: str) -> None:
        """End admission; a full study admits no participants already."""
        try:
            self._transition(campaign, "stop")
        except Refused:
            if self.state(campaign).state != RemoteState.FULL:
                raise

    # Decisions

    def approve(self, submission: Submission, *, key: str) -> None:
        """Approve a submission."""
        self._check_live("approve")
        self._decide(submission, {"action": "APPROVE"}, reached=Submission.Status.APPROVED)

    def reject(self, submission: Submission, *, category: str, message: str, key: str) -> None:
        """Reject a submission with a category and a message of legal length."""
        if category not in CATEGORIES:
            raise Refused(
                f"Prolific has no ground {category!r} for a rejection: nothing was sent.",
                remedy=f"Choose one of: {', '.join(CATEGORIES)}.",
            )
        if len(message.strip()) < MIN_REJECTION_CHARACTERS:
            raise Refused(
                f"The message has {len(message.strip())} characters: nothing was sent.",
                remedy=f"Prolific asks for {MIN_REJECTION_CHARACTERS} or more. Say what was wrong and where.",
            )
        self._decide(submission, _rejection(category, message), reached=Submission.Status.REJECTED)

    def request_return(self, submission: Submission, *, reason: str, key: str) -> None:
        """Ask the participant to return the submission."""
        row = self.client.submission(submission.external_id)
        if not row.get("return_requested") and row.get("status") != "RETURNED":
            self.client.request_return(submission.external_id, reason)

    # Money

    def prepare_bonuses(self, campaign: Campaign, bonuses: Sequence[Bonus], *, key: str) -> PreparedBonuses:
        """Set up bonuses by submission; nothing is paid."""
        self._check_live("pay bonuses")
        self._check_currency(campaign, bonuses)
        paid_before = {
            bonus.submission: sum(self.client.submission(bonus.submission).get("bonus_payments") or [])
            for bonus in bonuses
        }
        rows = [(bonus.submission, bonus.amount_minor) for bonus in bonuses]
        answer = self.client.set_up_bonuses(campaign.external_id, rows)
        number, amount = member(answer, "id"), int(answer.get("amount") or 0)
        expected = sum(amount_minor for _, amount_minor in rows)
        if amount != expected:
            raise Refused(
                f"Prolific set up bonuses of {amount} minor units instead of {expected}: nothing was paid.",
                remedy="Compare the currency of the campaign with that of the workspace.",
            )
        fees = int(answer.get("total_amount") or amount) - amount
        return PreparedBonuses(number, amount, fees, paid_before=paid_before)

    def pay_bonuses(
        self, campaign: Campaign, bonuses: Sequence[Bonus], *, key: str, prepared_id: str = ""
    ) -> None:
        """Pay what was set up; the platform pays once more with each call, so it is sent once."""
        self._check_live("pay bonuses")
        if not prepared_id:
            raise Refused("The bonuses are not set up: nothing was sent.", remedy="Set them up first.")
        self.client.pay_bonuses(prepared_id)

    # Messages

    def messages(self, campaign: Campaign, *, person: str) -> list[Message]:
        """Messages with a participant of the last 30 days."""
        rows = [
            Message(
                str(row.get("id", "")),
                person,
                row.get("sender_id") != person,
                str(row.get("body", "")),
                sent_at,
            )
            for row in self.client.messages_with(person)
            if (sent_at := _moment(row.get("sent_at"))) is not None
        ]
        return sorted(rows, key=lambda message: message.sent_at)

    def recent_messages(self, campaign: Campaign, *, since: datetime) -> list[Message]:
        """Return messages of the study's participants since then, without other studies."""
        rows = [
            Message(
                str(row.get("id", "")), str(row.get("sender_id", "")), False, str(row.get("body", "")), at
            )
            for row in self.client.messages_since(since)
            if row.get("study_id") in {campaign.external_id, None, ""}
            and (at := _moment(row.get("sent_at"))) is not None
        ]
        return sorted(rows, key=lambda message: message.sent_at, reverse=True)

    def send_message(self, campaign: Campaign, *, person: str, text: str, key: str) -> None:
        """Send a message to a participant of the study."""
        self.client.send_message(person, campaign.external_id, text)

    # Filters

    def filters(self) -> list[FilterOption]:
        """The platform's own list of filters, with titles and choices."""
        return [
            FilterOption(
                str(row["filter_id"]),
                str(row.get("title") or row["filter_id"]),
                str(row.get("type") or "select"),
                {str(key): str(text) for key, text in (row.get("choices") or {}).items()},
                row.get("min"),
                row.get("max"),
            )
            for row in self.client.filters(self._workspace())
            if row.get("filter_id")
        ]

    def eligible(self, campaign: Campaign) -> int:
        """Return the number of eligible participants; 0 means fewer than 25."""
        return self.client.eligible(self._filters(campaign), self._workspace())

    # Account

    def workspaces(self) -> list[tuple[str, str]]:
        """Ids and titles of the workspaces that the token reaches."""
        return [(str(row["id"]), str(row.get("title", ""))) for row in self.client.workspaces()]

    def projects(self, workspace: str) -> list[tuple[str, str]]:
        """Ids and titles of the projects of a workspace."""
        return [(str(row["id"]), str(row.get("title", ""))) for row in self.client.projects(workspace)]

    def hourly_pay(self) -> dict[str, tuple[int, int]] | None:
        """The minimum and the recommended reward of an hour by currency; None if the platform has none."""
        currency = self._currency()
        row = self.client.reward_recommendations(self._workspace(), currency)
        if not row:
            return None
        return {currency: (int(row["min_reward_per_hour"]), int(row["recommended_reward_per_hour"]))}

    # Inside

    def _workspace(self) -> str:
        return self._option("workspace", "workspace", self.client.workspaces)

    def _project(self) -> str:
        workspace = self._workspace()
        return self._option("project", "project", lambda: self.client.projects(workspace))

    def _option(self, name: str, word: str, read: Any) -> str:
        """An option of the account, or the only or first one that the platform lists."""
        if self.account is not None and self.account.options.get(name):
            return str(self.account.options[name])
        rows = read()
        if not rows:
            raise Refused(f"The token reaches no {word}.", remedy=f"Create a {word} on Prolific first.")
        number = str(rows[0]["id"])
        if self.account is not None:
            self.account.options[name] = number
            self.account.save(update_fields=["options"])
        return number

    def _currency(self, campaign: Campaign | None = None) -> str:
        """The currency of the workspace, which the cost of a study shows; before its draft, as set."""
        account = self.account
        if account is None:
            return "GBP"
        if campaign is not None and campaign.external_id and not account.options.get("currency_of_cost"):
            cost = self.client.study_cost(campaign.external_id)
            currency = str(((cost.get("rewards") or {}).get("rewards") or {}).get("currency") or "")
            if currency:
                account.options |= {"currency": currency, "currency_of_cost": True}
                account.save(update_fields=["options"])
        return str(account.options.get("currency") or "GBP")

    def _check_live(self, action: str) -> None:
        if self.is_test and not is_double():
            raise Refused(
                f"The account is in test mode, and Prolific has no sandbox, so “{action}” would spend money:"
                " nothing was sent.",
                remedy="Use a live account.",
            )

    def _check_currency(self, campaign: Campaign, bonuses: Sequence[Bonus]) -> None:
        currencies = {bonus.currency for bonus in bonuses} | {campaign.currency}
        if currencies != {currency := self._currency(campaign)}:
            raise Refused(
                f"The amounts are in {', '.join(sorted(currencies))} and the workspace pays in"
                f" {currency}: nothing was sent.",
                remedy="Prolific converts nothing. Give all amounts in the workspace's currency.",
            )

    def _transition(self, campaign: Campaign, action: str) -> None:
        reached, _ = EFFECTS[action]
        if self.state(campaign).state in reached:
            return
        try:
            self.client.transition(campaign.external_id, TRANSITIONS[action])
        except Refused:
            # Race: the study may have reached the state since it was read, by itself or on the site.
            if self.state(campaign).state not in reached:
                raise

    def _decide(self, submission: Submission, body: Json, *, reached: Submission.Status) -> None:
        try:
            self.client.decide(submission.external_id, **body)
        except Refused as error:
            if error.code in {"401", "403"}:
                raise
            row = read_submission(self.client.submission(submission.external_id))
            if row.status == reached:
                return
            raise Refused(
                f"Prolific reports this submission as “{row.word}”. {error.message}",
                remedy="Wait until the participant has submitted."
                if row.status == Submission.Status.ACTIVE
                else "Reconcile, and decide anew.",
                code=error.code,
            ) from None

    def _outcome_of_state(self, call: PlatformCall) -> Outcome:
        reached, before = EFFECTS[call.kind]
        state = self.state(call.campaign).state
        if state in reached:
            return Outcome.DONE
        return Outcome.NOT_DONE if state in before else Outcome.CANNOT_SAY

    def _outcome_of_bonuses(self, call: PlatformCall) -> Outcome:
        """DONE once every submission shows its bonus: the platform pays minutes after it answers.

        More than expected, or other amounts, indicate a payment on the site: this proves nothing.
        """
        expected: Mapping[str, int] = call.request.get("expected_bonuses") or {}
        if not expected:
            return Outcome.CANNOT_SAY
        paid = {
            number: list(self.client.submission(number).get("bonus_payments") or []) for number in expected
        }
        is_paid = all(sum(paid[number]) == total for number, total in expected.items())
        due: dict[str, Counter[int]] = defaultdict(Counter)
        for row in call.request.get("bonuses") or []:
            due[row["submission"]][row["amount_minor"]] += 1
        is_paid = is_paid and all(amounts <= Counter(paid[number]) for number, amounts in due.items())
        return Outcome.DONE if is_paid else Outcome.CANNOT_SAY

    def _outcome_of_message(self, call: PlatformCall) -> Outcome:
        person = str(call.request.get("person") or "")
        if not person and call.submission is not None:
            person = str(self.client.submission(call.submission.external_id).get("participant") or "")
        if not person:
            return Outcome.CANNOT_SAY
        sent = [
            row for row in self.client.messages_with(person) if row.get("body") == call.request.get("text")
        ]
        times = [moment for row in sent if (moment := _moment(row.get("sent_at"))) is not None]
        since = (call.sent_at or call.created_at) - timedelta(minutes=5)  # clocks differ
        return Outcome.DONE if any(moment >= since for moment in times) else Outcome.NOT_DONE

    def _study_with(self, campaign: Campaign, key: str) -> str:
        """The study whose own data have this key; empty if there is none."""
        for row in self.client.studies(self._project()):
            is_short = "internal_name" not in row and row.get("status") == "UNPUBLISHED"
            study = self.client.study(str(row["id"])) if is_short else row
            is_named = str(study.get("internal_name", "")).split()[-1:] == [key]
            if is_named or study.get("metadata") == _metadata(key):
                return str(row["id"])
        return ""

    def _group(self, campaign: Campaign, *, is_created: bool = False) -> str:
        """Return the participant group that prevents repeated participation; empty if it does not exist."""
        name = group_name(campaign)
        workspace = self._workspace()
        for row in self.client.groups(workspace):
            if row.get("name") == name:
                return str(row["id"])
        return member(self.client.create_group(name, workspace), "id") if is_created else ""

    def add_to_group(self, campaign: Campaign, people: Sequence[str]) -> str:
        """Add participants to the group that excludes them, and return its id; idempotent."""
        group = self._group(campaign, is_created=True)
        self.client.add_to_group(group, people)
        return group

    def _filters(self, campaign: Campaign) -> list[Json]:
        chosen = campaign.options.get("filters") or []
        return resolved_filters(chosen, self.filters()) if chosen else []

    def _study_values(self, campaign: Campaign, *, key: str, group: str) -> Json:
        options = campaign.options
        filters = self._filters(campaign)
        if group:
            filters.append({"filter_id": group_blocklist(self.filters()), "selected_values": [group]})
        values: Json = {
            "name": str(options.get("title") or campaign.experiment.shown_title),
            "internal_name": f"{campaign.experiment.slug} {campaign.name} {key}",
            "description": format_description(str(options.get("description") or "")),
            "external_study_url": study_address(campaign),
            "prolific_id_option": "url_parameters",
            "completion_codes": completion_paths(campaign, group=group),
            "total_available_places": campaign.places,
            "estimated_completion_time": campaign.estimated_minutes or 0,
            "reward": campaign.reward_minor,
            "device_compatibility": list(options.get("device_compatibility") or []),
            "filters": filters,
            "project": self._project(),
            "submissions_config": {"max_submissions_per_participant": 1},
            "study_labels": [str(options.get("label") or "annotation")],
            "metadata": _metadata(key),
        }
        if campaign.maximum_minutes:
            values["maximum_allowed_time"] = campaign.maximum_minutes
        if options.get("naivety") is not None:
            values["naivety_distribution_rate"] = options["naivety"]
        if options.get("signed_links"):
            values["is_external_study_url_secure"] = True
        return values

    def _planned_creation(self, campaign: Campaign) -> list[PlannedCall]:
        group = self._group(campaign)
        calls = []
        if not group:
            body = {"name": group_name(campaign), "workspace_id": self._workspace()}
            calls.append(_plan_call("POST", "/participant-groups/", body))
        values = self._study_values(campaign, key="KEY", group=group or "GROUP")
        return [*calls, _plan_call("POST", "/studies/", values)]

    def _store_codes(self, campaign: Campaign) -> None:
        """Store the return link of each outcome, with the names of the link's parameters."""
        options = campaign.options
        options["returns"] = return_links(campaign)
        options["codes"] = {
            outcome: {**(options.get("codes") or {}).get(outcome, {}), "code": code}
            for outcome, code in completion_codes(campaign).items()
        }
        options["id_parameter"], options["submission_parameter"] = PERSON_PARAMETER, SUBMISSION_PARAMETER
        campaign.save(update_fields=["options"])

    def _findings_of_filters(self, campaign: Campaign) -> list[Finding]:
        try:
            count = self.eligible(campaign)
        except PlatformError as error:
            if isinstance(error, Busy | AnswerLost) or error.code in {"401", "403"}:
                raise
            return [Finding(Level.ERROR, error.message, error.remedy, "filters")]
        if count < campaign.places:
            text = "Fewer than 25 people" if count == 0 else f"{count:,} people"
            return [
                Finding(
                    Level.ERROR if count == 0 else Level.WARNING,
                    f"{text} on Prolific match the filters; {campaign.places:,} places are planned.",
                    "Loosen the filters, or plan fewer places.",
                    "filters",
                )
            ]
        return []

    def _findings_of_money(self, campaign: Campaign) -> list[Finding]:
        findings, currency = [], self._currency(campaign)
        if campaign.currency != currency:
            findings.append(
                Finding(
                    Level.ERROR,
                    f"The reward is in {campaign.currency}, and the workspace pays in {currency}.",
                    "Prolific converts nothing: give the reward in the workspace's currency.",
                    "currency",
                )
            )
        rates = self.client.reward_recommendations(self._workspace(), currency)
        if campaign.estimated_minutes and rates:
            findings += _findings_of_pay(campaign, rates)
        cost, balance = self.cost(campaign, places=campaign.places), self.balance()
        if cost.total_minor > balance.amount_minor:
            findings.append(
                Finding(
                    Level.ERROR,
                    f"The places cost {_format_amount(cost.total_minor, cost.currency)} with fees;"
                    f" the workspace has {_format_amount(balance.amount_minor, balance.currency)}.",
                    "Top up the workspace on Prolific, or plan fewer places.",
                    "places",
                )
            )
        return findings


def read_submission(row: Json) -> PlatformSubmission:
    """A submission from the list or from its own address, which name the same members differently."""
    word = str(row.get("status", ""))
    submitted_at = _moment(row.get("completed_at"))
    bonuses = row.get("bonus_payments")
    return PlatformSubmission(
        id=str(row["id"]),
        person=str(row.get("participant_id") or row.get("participant") or ""),
        status=STATUSES.get(word, Submission.Status.UNKNOWN),
        word=word,
        started_at=_moment(row.get("started_at")),
        submitted_at=submitted_at,
        code=str(row.get("study_code") or row.get("entered_code") or ""),
        decide_by=submitted_at + DECIDE_WITHIN if submitted_at else None,
        paid_bonus_minor=sum(bonuses) if isinstance(bonuses, list) else None,
        data={"return_requested": row["return_requested"]} if row.get("return_requested") else {},
    )


def _findings_of_pay(campaign: Campaign, rates: Json) -> list[Finding]:
    """Compare the pay per hour with the platform's minimum and its recommendation."""
    assert campaign.estimated_minutes
    hourly = campaign.reward_minor * 60 / campaign.estimated_minutes
    minimum, recommended = (
        rates.get("min_reward_per_hour") or 0,
        rates.get("recommended_reward_per_hour") or 0,
    )
    shown = _format_amount(round(hourly), campaign.currency)
    if hourly < minimum:
        least = math.ceil(minimum * campaign.estimated_minutes / 60)
        limit = _format_amount(minimum, campaign.currency)
        text = f"The reward is {shown} an hour, below Prolific's minimum of {limit}."
        remedy = f"Pay {_format_amount(least, campaign.currency)} or more."
        return [Finding(Level.ERROR, text, remedy, "reward")]
    if hourly < recommended:
        advised = _format_amount(recommended, campaign.currency)
        text = f"The reward is {shown} an hour; Prolific recommends {advised}."
        remedy = "The minimum holds for the median of the times that people really take."
        return [Finding(Level.WARNING, text, remedy, "reward")]
    return []


def _rejection(category: str, message: str) -> Json:
    return {"action": "REJECT", "rejection_category": category, "message": message.strip()}


def _metadata(key: str) -> str:
    """Our own data in a study, by which it is found again."""
    return json.dumps({"campaign": key})


def _plan_call(method: str, path: str, body: Json) -> PlannedCall:
    return PlannedCall(method, f"{settings.PROLIFIC_URL.rstrip('/')}{API}{path}", body)


def _moment(text: Any) -> datetime | None:
    try:
        moment = parse_datetime(str(text)) if text else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo else None


def _format_amount(amount_minor: int, currency: str) -> str:
    return f"{amount_minor / 100:.2f} {currency}"
