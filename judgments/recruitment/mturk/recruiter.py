"""MTurk as a recruiter: HITs of at most nine assignments, qualifications, decisions and bonuses.

A campaign is one HIT type and several HITs, because a HIT of ten or more assignments costs 40 % instead of
20 % and a smaller one never grows to ten. The HITs are recognized by their annotation, which workers do not
see: the campaign's key, the key of the call that made them, and their number in it.

The service's own documentation says that it closed on 30 September 2026. The adapter works with any service
that speaks the same interface (``MTURK_ENDPOINT``). It reads states by polling; notifications (SNS) are not
used, because the platform loses some of them.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import structlog
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from analysis.power.money import format_money
from experiments.models import Campaign, Experiment, Mode
from judgments.models import PlatformCall, Session, Submission
from judgments.recruitment.mturk.client import MTurkClient
from judgments.recruitment.mturk.external_question import (
    MTURK,
    arrival_address,
    framing_sites,
    hand_in_form,
    identify_worker,
    question_document,
    read_receipt,
    worker_sites,
)
from judgments.recruitment.recruiter import (
    AnswerLost,
    ArrivalLink,
    Bonus,
    Cost,
    Finding,
    HandInForm,
    Level,
    Money,
    Outcome,
    PlannedCall,
    PlatformError,
    PlatformState,
    PlatformSubmission,
    Recruiter,
    Refused,
    RemoteState,
)

log = structlog.get_logger(__name__)
Kind = PlatformCall.Kind
CURRENCY = "USD"
BATCH = 9  # assignments of a HIT; from ten on the fee doubles
FEE = Decimal("0.20")
LONGEST = {"title": 128, "description": 2000, "keywords": 1000}
LONGEST_FEEDBACK = 1024
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
DAY_S = 24 * 3600
MIN_DURATION_S, MAX_DURATION_S = 30, 365 * DAY_S
MAX_AUTO_APPROVAL_DAYS = 30
AUTO_APPROVE_DAYS, LIFETIME_DAYS, MAXIMUM_MINUTES = 7, 7, 60  # where the campaign says nothing
LONG_AGO = datetime.fromisoformat("2015-01-01T00:00:00+00:00")  # an expiration in the past: expire now
LOCALE, PERCENT_APPROVED, N_APPROVED = "00000000000000000071", "000000000000000000L0", "00000000000000000040"
MAX_COUNTRIES = 30
COUNTRY = re.compile("[A-Z]{2}")
TOOK_PART = "took_part"  # key of platform_data: our own qualification, which keeps workers from a second HIT
GRANTED = "granted"  # key of the vault: the qualification that the worker got
GROUP = "group"  # … the first part of the annotation of the campaign's HITs
PREVIEW_SITES = {Mode.TEST: "https://workersandbox.mturk.com", Mode.LIVE: "https://worker.mturk.com"}
CLOSED = (
    "AWS announced that MTurk closes on 30 September 2026, and takes no new customers since 30 July 2026."
    " Publishing may be refused."
)
MINIMUM_WAGE_MINOR = 725  # US federal, an hour; the platform itself has no minimum
STATUSES = {
    "Submitted": Submission.Status.SUBMITTED,
    "Approved": Submission.Status.APPROVED,
    "Rejected": Submission.Status.REJECTED,
}


class MTurkRecruiter(Recruiter):
    """One requester's account."""

    name, label = MTURK, "MTurk"
    is_framed = decides = pays_bonuses = True
    bonuses_per_call = 1
    reject_categories: Mapping[str, str] = {
        "no_data": "Submitted without taking part",
        "checks": "Failed attention checks",
        "low_effort": "Answered without reading",
        "other": "Another reason, given in the message",
    }
    longest_reject_message = LONGEST_FEEDBACK

    @cached_property
    def client(self) -> MTurkClient:
        """The client of the account."""
        if self.account is None:
            raise Refused("The campaign has no MTurk account.", remedy="Add one, and choose it.")
        return MTurkClient(self.account)

    # Arrivals and participants' pages

    @classmethod
    def identify(cls, request: HttpRequest, experiment: Experiment, detail: str) -> ArrivalLink | None:
        """Read the link of a worker."""
        return identify_worker(request, experiment)

    @classmethod
    def framing_sites(cls) -> tuple[str, ...]:
        """Return the hosts of the platform."""
        return framing_sites()

    @classmethod
    def form_sites(cls) -> tuple[str, ...]:
        """Return the worker sites, which take the form of a HIT."""
        return worker_sites()

    @classmethod
    def hand_in_form(cls, session: Session) -> HandInForm | None:
        """The form that submits the HIT."""
        return hand_in_form(session)

    # Checks and costs

    def check(self, campaign: Campaign) -> list[Finding]:
        """Errors and warnings before publishing."""
        findings = [Finding(Level.WARNING, CLOSED, "Prolific, or a panel by link, is the alternative.")]
        findings += _check_texts(campaign)
        findings += _check_numbers(campaign)
        findings += _check_address(campaign)
        findings += _check_qualifications(campaign)
        if not any(finding.level == Level.ERROR for finding in findings):
            findings += self._check_balance(campaign)
        return findings

    def _check_balance(self, campaign: Campaign) -> list[Finding]:
        try:
            balance = self.balance()
        except PlatformError as error:
            return [Finding(Level.ERROR, str(error), field="account")]
        cost = self.cost(campaign, places=campaign.places)
        if balance is not None and balance.amount_minor < cost.total_minor:
            text = (
                f"The account has {format_money(balance.amount_minor, CURRENCY)}; the places cost"
                f" {format_money(cost.total_minor, CURRENCY)} with fees."
            )
            return [Finding(Level.ERROR, text, "Add money to the account, or offer fewer places.", "places")]
        return []

    def cost(self, campaign: Campaign, *, places: int) -> Cost:
        """Rewards and the fee of 20 %, at least a cent for each assignment."""
        fee = self.bonus_fee(campaign.reward_minor) * places
        note = f"The fee is 20 %, because no HIT has more than {BATCH} assignments; from ten on it is 40 %."
        return Cost(campaign.reward_minor * places, fee, CURRENCY, note)

    def bonus_fee(self, amount_minor: int) -> int:
        """The fee of a reward or a bonus: 20 %, at least a cent."""
        return max(1, int((amount_minor * FEE).quantize(Decimal(1), ROUND_HALF_UP)))

    def balance(self) -> Money:
        """Money in the requester's account; in the sandbox always 10,000."""
        return Money(_minor(self.client.read("GetAccountBalance")["AvailableBalance"]), CURRENCY)

    # The campaign

    def create(self, campaign: Campaign, *, key: str) -> str:
        """Create the HIT type, and the qualification that keeps workers from a second HIT; nothing is public.

        The same values have the same HIT type, and the qualification is found by its name, so that a
        repetition creates nothing.
        """
        _check_currency(campaign.currency)
        if _options(campaign).get("no_repeat", True):
            campaign.platform_data[TOOK_PART] = self._took_part(campaign)
        campaign.platform_data[GROUP] = key
        campaign.save(update_fields=["platform_data"])
        kind: str = self.client.change("CreateHITType", **_hit_type_request(campaign))["HITTypeId"]
        return kind

    def publish(self, campaign: Campaign, *, key: str) -> None:
        """Create the HITs; workers find them at once."""
        self._create_hits(campaign, campaign.places, key=key)

    def add_places(self, campaign: Campaign, n: int, *, total: int, key: str) -> None:
        """Create further HITs for the places that are missing to the total."""
        existing = [row for row in self._hits(campaign) if _call_key(row) != key]
        missing = total - sum(row["MaxAssignments"] for row in existing)
        self._create_hits(campaign, missing, key=key)

    def pause(self, campaign: Campaign, *, key: str) -> None:
        """Expire the HITs; who has accepted one may submit until the assignment's own deadline."""
        for row in self._hits(campaign):
            if row["Expiration"] > timezone.now():
                self._expire_at(row, LONG_AGO)

    def resume(self, campaign: Campaign, *, key: str) -> None:
        """Extend the HITs that have assignments left."""
        until = timezone.now() + timedelta(days=_lifetime_days(campaign))
        for row in self._hits(campaign):
            if row["NumberOfAssignmentsAvailable"] and row["Expiration"] <= timezone.now():
                self._expire_at(row, until)

    def stop(self, campaign: Campaign, *, key: str) -> None:
        """Expire the HITs for good."""
        self.pause(campaign, key=key)

    def close(self, campaign: Campaign) -> None:
        """Delete the HITs whose work is all decided; MTurk itself deletes the others after 120 days."""
        for row in self._hits(campaign):
            if row["HITStatus"] == "Reviewing":
                self.client.change("UpdateHITReviewStatus", HITId=row["HITId"], Revert=True)
            if row["HITStatus"] in {"Reviewable", "Reviewing"}:
                try:
                    self.client.change("DeleteHIT", HITId=row["HITId"])
                except Refused as error:  # Race: deleted since it was listed, or work came in.
                    if error.code != "InvalidHITState":
                        raise

    def state(self, campaign: Campaign) -> PlatformState:
        """State, places and link, from the campaign's HITs."""
        rows = self._hits(campaign)
        places = sum(row["MaxAssignments"] for row in rows)
        available = sum(row["NumberOfAssignmentsAvailable"] for row in rows)
        is_open = any(row["Expiration"] > timezone.now() for row in rows)
        if not rows:
            state = RemoteState.MISSING if campaign.published_at else RemoteState.DRAFT
        elif not is_open:
            is_over = campaign.state in {Campaign.State.FINISHED, Campaign.State.CLOSED}
            state = RemoteState.FINISHED if is_over else RemoteState.PAUSED
        else:
            state = RemoteState.RUNNING if available else RemoteState.FULL
        words = ", ".join(sorted({row["HITStatus"] for row in rows}))
        link = f"{PREVIEW_SITES[Mode(campaign.mode)]}/mturk/preview?groupId={campaign.external_id}"
        return PlatformState(state, places, places - available, link if rows else "", words)

    def submissions(self, campaign: Campaign) -> Iterator[PlatformSubmission]:
        """Submitted work of all HITs. MTurk lists no accepted, returned or abandoned work."""
        for row in self._hits(campaign):
            for assignment in self.client.pages("ListAssignmentsForHIT", "Assignments", HITId=row["HITId"]):
                yield _submission(assignment)

    # Decisions and money

    def approve(self, submission: Submission, *, key: str) -> None:
        """Pay the reward; work that was rejected within the last 30 days is paid too."""
        assignment = submission.external_id
        try:
            self.client.change("ApproveAssignment", AssignmentId=assignment)
        except Refused as error:
            status = self._status_after(assignment, error)
            if status == "Rejected":
                self.client.change("ApproveAssignment", AssignmentId=assignment, OverrideRejection=True)
            elif status != "Approved":
                raise

    def reject(self, submission: Submission, *, category: str, message: str, key: str) -> None:
        """Refuse to pay, with a message to the worker."""
        request = _reject_request(submission.external_id, message)
        try:
            self.client.change("RejectAssignment", **request)
        except Refused as error:
            status = self._status_after(submission.external_id, error)
            if status == "Approved":
                raise Refused(
                    "MTurk approved this assignment before: it is paid, and cannot be rejected.",
                    remedy="Nothing needs to be done. Approved work is paid for good.",
                    code=error.code,
                ) from error
            if status != "Rejected":
                raise

    def _status_after(self, assignment: str, error: Refused) -> str:
        """The status of work that could not be decided, if that is the reason; else empty."""
        if error.code != "InvalidAssignmentState" and "status of" not in str(error):
            return ""
        return self._assignment_status(assignment)

    def _assignment_status(self, assignment: str) -> str:
        try:
            answer = self.client.read("GetAssignment", AssignmentId=assignment)
        except Refused:
            return ""
        return str(answer["Assignment"]["AssignmentStatus"])

    def pay_bonuses(
        self, campaign: Campaign, bonuses: Sequence[Bonus], *, key: str, prepared_id: str = ""
    ) -> None:
        """Pay a bonus. MTurk refuses a token that it remembers; then its list of bonuses decides."""
        for bonus in bonuses:
            _check_currency(bonus.currency)
            try:
                self.client.change("SendBonus", **_bonus_request(bonus, self._person(bonus)))
            except Refused:
                # The error of a repeated token is not documented, so every refusal is compared with the list.
                if not self._is_paid(bonus.submission, bonus.payment_key):
                    raise

    def _person(self, bonus: Bonus) -> str:
        if bonus.person:
            return bonus.person
        answer = self.client.read("GetAssignment", AssignmentId=bonus.submission)
        return str(answer["Assignment"]["WorkerId"])

    def _is_paid(self, assignment: str, payment_key: str) -> bool:
        rows = self.client.pages("ListBonusPayments", "BonusPayments", AssignmentId=assignment)
        return any(row["Reason"].endswith(_reference(payment_key)) for row in rows)

    def outcome(self, call: PlatformCall) -> Outcome:
        """Return MTurk's record of a call whose response was lost."""
        kind, campaign = call.kind, call.campaign
        if kind in {Kind.PUBLISH, Kind.ADD_PLACES}:
            return self._outcome_of_hits(call)
        if kind in {Kind.PAUSE, Kind.STOP}:
            is_done = all(row["Expiration"] <= timezone.now() for row in self._hits(campaign))
        elif kind == Kind.RESUME:
            is_done = not any(
                row["NumberOfAssignmentsAvailable"] and row["Expiration"] <= timezone.now()
                for row in self._hits(campaign)
            )
        elif kind in {Kind.APPROVE, Kind.REJECT} and call.submission is not None:
            status = self._assignment_status(call.submission.external_id)
            if not status:
                return Outcome.CANNOT_SAY
            is_done = status == ("Approved" if kind == Kind.APPROVE else "Rejected")
        elif kind == Kind.PAY_BONUSES:
            is_done = all(
                self._is_paid(row["submission"], row["payment_key"]) for row in call.request["bonuses"]
            )
        elif kind == Kind.CREATE:
            is_done = bool(campaign.external_id)
        else:
            return Outcome.CANNOT_SAY
        return Outcome.DONE if is_done else Outcome.NOT_DONE

    def _outcome_of_hits(self, call: PlatformCall) -> Outcome:
        """Whether all HITs of a call exist; sent again, the call creates those that are missing."""
        rows = self._hits(call.campaign)
        if call.kind == Kind.ADD_PLACES:
            n, wanted = sum(row["MaxAssignments"] for row in rows), call.request["total"]
        else:
            n = sum(row["MaxAssignments"] for row in rows if _call_key(row) == call.key)
            wanted = call.campaign.places
        return Outcome.DONE if n >= wanted else Outcome.NOT_DONE

    # Dry run

    def plan_calls(self, action: str, campaign: Campaign, **arguments: Any) -> list[PlannedCall]:
        """The requests that a call would send."""
        key = arguments.get("key", "")
        requests: list[tuple[str, Mapping[str, Any]]] = []
        if action == Kind.CREATE:
            if _options(campaign).get("no_repeat", True):
                requests.append(("CreateQualificationType", _qualification_request(campaign)))
            requests.append(("CreateHITType", _hit_type_request(campaign)))
        elif action in {Kind.PUBLISH, Kind.ADD_PLACES}:
            n = campaign.places if action == Kind.PUBLISH else int(arguments["n"])
            requests += [
                ("CreateHITWithHITType", _hit_request(campaign, size, number, key=key))
                for number, size in enumerate(_batches(n))
            ]
        elif action in {Kind.PAUSE, Kind.STOP, Kind.RESUME}:
            until = LONG_AGO
            if action == Kind.RESUME:
                until = timezone.now() + timedelta(days=_lifetime_days(campaign))
            requests += [
                ("UpdateExpirationForHIT", {"HITId": row["HITId"], "ExpireAt": until.isoformat()})
                for row in self._hits(campaign)
            ]
        elif action == Kind.CLOSE:
            requests += [
                ("DeleteHIT", {"HITId": row["HITId"]})
                for row in self._hits(campaign)
                if row["HITStatus"] in {"Reviewable", "Reviewing"}
            ]
        elif action == Kind.APPROVE:
            requests.append(("ApproveAssignment", {"AssignmentId": arguments["submission"].external_id}))
        elif action == Kind.REJECT:
            request = _reject_request(arguments["submission"].external_id, arguments["message"])
            requests.append(("RejectAssignment", request))
        elif action == Kind.PAY_BONUSES:
            requests += [
                ("SendBonus", _bonus_request(bonus, bonus.person or "…")) for bonus in arguments["bonuses"]
            ]
        else:
            raise self._unable(Kind(action).label)
        return [
            PlannedCall("POST", f"{self.client.endpoint} {operation}", request)
            for operation, request in requests
        ]

    # Qualifications

    def grant_took_part(self, campaign: Campaign, worker: str) -> None:
        """Grant the qualification that keeps a worker from the campaign's other HITs, without a mail."""
        kind = campaign.platform_data.get(TOOK_PART)
        if kind:
            self.client.change(
                "AssociateQualificationWithWorker",
                QualificationTypeId=kind,
                WorkerId=worker,
                IntegerValue=1,
                SendNotification=False,
            )

    def _took_part(self, campaign: Campaign) -> str:
        """Our qualification of the study: found by its name, or created."""
        request = _qualification_request(campaign)
        try:
            answer = self.client.change("CreateQualificationType", **request)
            return str(answer["QualificationType"]["QualificationTypeId"])
        except Refused as error:
            if "already created" not in str(error):
                raise
            rows = self.client.pages(
                "ListQualificationTypes",
                "QualificationTypes",
                MustBeRequestable=False,
                MustBeOwnedByCaller=True,
                Query=request["Name"],
            )
            existing = next((row for row in rows if row["Name"] == request["Name"]), None)
            if existing is None:  # its index is seconds late
                raise AnswerLost(
                    f"MTurk has the qualification “{request['Name']}” and does not list it yet.",
                    remedy="Try again in a minute.",
                ) from error
            return str(existing["QualificationTypeId"])

    # HITs

    def _hits(self, campaign: Campaign) -> list[dict[str, Any]]:
        """The campaign's HITs that are not deleted."""
        group = campaign.platform_data.get(GROUP)
        if not group:
            return []
        rows = self.client.pages("ListHITs", "HITs")
        return [row for row in rows if row.get("RequesterAnnotation", "").split(" ")[0] == group]

    def _create_hits(self, campaign: Campaign, n: int, *, key: str) -> None:
        """Create the HITs of a call that do not exist yet."""
        # Limit: MTurk remembers a token for a day; the list of HITs has them for longer.
        existing = {row["RequesterAnnotation"] for row in self._hits(campaign) if _call_key(row) == key}
        n_created = len(existing)
        for number, size in enumerate(_batches(n)):
            request = _hit_request(campaign, size, number, key=key)
            if request["RequesterAnnotation"] in existing:
                continue
            try:
                self.client.change("CreateHITWithHITType", **request)
            except PlatformError as error:
                if isinstance(error, Refused) and self._is_own_hit(error, request):
                    continue
                if n_created and not isinstance(error, AnswerLost):
                    raise AnswerLost(
                        f"{n_created} HITs were created and are open, then: {error}",
                        remedy="Sent again, the call creates the HITs that are missing, and no other.",
                        code=error.code,
                    ) from error
                raise
            n_created += 1

    def _is_own_hit(self, error: Refused, request: Mapping[str, Any]) -> bool:
        """Whether a token was refused because it created this very HIT before."""
        match = re.search(r"\b[A-Z0-9]{20,}\b", str(error))
        if error.code.lower() != "hitalreadyexists" or match is None:
            return False
        row = self.client.read("GetHIT", HITId=match[0])["HIT"]
        return bool(row.get("RequesterAnnotation") == request["RequesterAnnotation"])

    def _expire_at(self, row: Mapping[str, Any], at: datetime) -> None:
        try:
            self.client.change("UpdateExpirationForHIT", HITId=row["HITId"], ExpireAt=at)
        except Refused as error:  # Race: deleted since it was listed.
            if error.code not in {"InvalidHITState", "HITDoesNotExist"}:
                raise


def grant_missing_qualifications() -> int:
    """Grant our qualification to every worker who began and has not got it yet; returns how many got it."""
    began = Session.objects.filter(
        campaign__recruiter=MTURK,
        campaign__platform_data__has_key=TOOK_PART,
        participant__identity__isnull=False,
        participant__is_simulated=False,
    ).exclude(participant__identity__external_digest="")
    n_granted, stopped = 0, set()
    for session in began.select_related("campaign__account", "campaign__experiment", "participant__identity"):
        campaign, identity = session.campaign, session.participant.identity
        if campaign is None or campaign.pk in stopped or GRANTED in identity.parameters:
            continue
        try:
            MTurkRecruiter(campaign.account).grant_took_part(campaign, identity.external_id)
        except PlatformError as error:  # tried again at the next run
            log.warning("qualification not granted", campaign=campaign.pk, code=error.code)
            stopped.add(campaign.pk)
            continue
        identity.parameters[GRANTED] = campaign.platform_data[TOOK_PART]
        identity.save(update_fields=["parameters"])
        n_granted += 1
    return n_granted


def _minor(amount: str) -> int:
    """Cents of an amount such as 1.25; MTurk knows dollars only."""
    return int((Decimal(amount) * 100).to_integral_value())


def _amount(minor: int) -> str:
    return f"{minor // 100}.{minor % 100:02}"


def _check_currency(currency: str) -> None:
    if currency != CURRENCY:
        raise Refused(
            f"MTurk pays in {CURRENCY}, and this is in {currency}: nothing was sent.",
            remedy=f"Set the campaign's currency to {CURRENCY}, and its amounts.",
            code="currency",
        )


def _options(campaign: Campaign) -> dict[str, Any]:
    """Qualifications: ``countries``, ``percent_approved``, ``n_approved``, ``no_repeat``."""
    return dict(campaign.options.get("qualifications") or {})


def _lifetime_days(campaign: Campaign) -> int:
    return int(campaign.options.get("lifetime_days") or LIFETIME_DAYS)


def _auto_approve_days(campaign: Campaign) -> int:
    days = campaign.options.get("auto_approve_days")
    return AUTO_APPROVE_DAYS if days is None else int(days)


def _title(campaign: Campaign) -> str:
    return str(campaign.options.get("title") or campaign.experiment.shown_title)


def _duration_s(campaign: Campaign) -> int:
    return 60 * (campaign.maximum_minutes or MAXIMUM_MINUTES)


def _hit_type_request(campaign: Campaign) -> dict[str, Any]:
    return {
        "Title": _title(campaign),
        "Description": str(campaign.options.get("description", "")),
        "Keywords": str(campaign.options.get("keywords", "")),
        "Reward": _amount(campaign.reward_minor),
        "AssignmentDurationInSeconds": _duration_s(campaign),
        "AutoApprovalDelayInSeconds": _auto_approve_days(campaign) * DAY_S,
        "QualificationRequirements": _requirements(campaign),
    }


def _requirements(campaign: Campaign) -> list[dict[str, Any]]:
    options: dict[str, Any] = _options(campaign)
    rows: list[dict[str, Any]] = []
    if countries := options.get("countries"):
        rows.append(
            {
                "QualificationTypeId": LOCALE,
                "Comparator": "In",
                "LocaleValues": [{"Country": country} for country in countries],
            }
        )
    for kind, name in ((PERCENT_APPROVED, "percent_approved"), (N_APPROVED, "n_approved")):
        if options.get(name):
            rows.append(
                {
                    "QualificationTypeId": kind,
                    "Comparator": "GreaterThanOrEqualTo",
                    "IntegerValues": [int(options[name])],
                }
            )
    if took_part := campaign.platform_data.get(TOOK_PART):
        rows.append({"QualificationTypeId": took_part, "Comparator": "DoesNotExist"})
    # Hide HITs from workers who do not qualify.
    return [{**row, "ActionsGuarded": "DiscoverPreviewAndAccept"} for row in rows]


def _qualification_request(campaign: Campaign) -> dict[str, Any]:
    study = campaign.experiment
    # The name is unique in the account: another server may recruit with it for a study of the same address.
    tag = salted_hmac("mturk-took-part", str(study.pk)).hexdigest()[:8]
    return {
        "Name": f"Took part: {study.link_slug} {tag}",
        "Description": "You took part in this study before.",
        "QualificationTypeStatus": "Active",
    }


def _batches(n: int) -> list[int]:
    """Sizes of the HITs for so many places."""
    full, remainder = divmod(max(0, n), BATCH)
    return [BATCH] * full + ([remainder] if remainder else [])


def _hit_request(campaign: Campaign, size: int, number: int, *, key: str) -> dict[str, Any]:
    group = campaign.platform_data.get(GROUP, "")
    annotation = f"{group} {key} {number}"
    token = hashlib.sha256(annotation.encode()).hexdigest()[:40]
    return {
        "HITTypeId": campaign.external_id,
        "MaxAssignments": size,
        "LifetimeInSeconds": _lifetime_days(campaign) * DAY_S,
        "Question": question_document(arrival_address(campaign)),
        "RequesterAnnotation": annotation,
        "UniqueRequestToken": token,
    }


def _call_key(row: Mapping[str, Any]) -> str:
    """The key of the call that created a HIT, from its annotation."""
    return str(row["RequesterAnnotation"]).split(" ")[1]


def _reject_request(assignment: str, message: str) -> dict[str, str]:
    message = message.strip()
    if not message or len(message) > LONGEST_FEEDBACK or CONTROL_CHARACTERS.search(message):
        raise Refused(
            "MTurk was not called: the message to the worker is empty, too long or has control characters.",
            remedy=f"Write 1 to {LONGEST_FEEDBACK} characters.",
            code="message",
        )
    return {"AssignmentId": assignment, "RequesterFeedback": message}


def _bonus_request(bonus: Bonus, person: str) -> dict[str, str]:
    return {
        "WorkerId": person,
        "AssignmentId": bonus.submission,
        "BonusAmount": _amount(bonus.amount_minor),
        "Reason": f"{bonus.reason} {_reference(bonus.payment_key)}",
        "UniqueRequestToken": bonus.payment_key,
    }


def _reference(payment_key: str) -> str:
    """The end of a bonus's reason, by which MTurk's list shows that exactly this bonus was paid."""
    return f"(ref. {hashlib.sha256(payment_key.encode()).hexdigest()[:10]})"


def _submission(assignment: Mapping[str, Any]) -> PlatformSubmission:
    word = str(assignment["AssignmentStatus"])
    return PlatformSubmission(
        id=assignment["AssignmentId"],
        person=assignment["WorkerId"],
        status=STATUSES.get(word, Submission.Status.UNKNOWN),
        word=word,
        started_at=assignment.get("AcceptTime"),
        submitted_at=assignment.get("SubmitTime"),
        decide_by=assignment.get("AutoApprovalTime"),
        data={"hit": assignment["HITId"], "receipt": read_receipt(assignment.get("Answer", ""))},
    )


def _check_texts(campaign: Campaign) -> list[Finding]:
    texts = {"title": _title(campaign), **{name: str(campaign.options.get(name, "")) for name in LONGEST}}
    texts["title"] = texts["title"] or _title(campaign)
    findings = [
        Finding(Level.ERROR, f"The {name} is empty.", "Workers read it in the list of HITs.", name)
        for name in ("title", "description")
        if not texts[name].strip()
    ]
    return findings + [
        Finding(
            Level.ERROR,
            f"The {name} has {len(text)} characters, and MTurk takes {LONGEST[name]}.",
            field=name,
        )
        for name, text in texts.items()
        if len(text) > LONGEST[name]
    ]


def _check_numbers(campaign: Campaign) -> list[Finding]:
    findings = []
    if campaign.currency != CURRENCY:
        text = f"MTurk pays in {CURRENCY}, and the campaign is in {campaign.currency}."
        findings.append(Finding(Level.ERROR, text, f"Set the currency to {CURRENCY}.", "currency"))
    if not campaign.places:
        findings.append(Finding(Level.ERROR, "There are no places.", "Write how many.", "places"))
    if not campaign.reward_minor:
        findings.append(Finding(Level.ERROR, "There is no reward.", "Write for example 1.50.", "reward"))
    if not MIN_DURATION_S <= _duration_s(campaign) <= MAX_DURATION_S:
        text = "The time for an assignment must be between a minute and 365 days."
        findings.append(Finding(Level.ERROR, text, field="maximum_minutes"))
    if not 0 <= _auto_approve_days(campaign) <= MAX_AUTO_APPROVAL_DAYS:
        text = f"MTurk approves by itself after at most {MAX_AUTO_APPROVAL_DAYS} days."
        findings.append(Finding(Level.ERROR, text, field="auto_approve_days"))
    if not 1 <= _lifetime_days(campaign) <= 365:
        findings.append(Finding(Level.ERROR, "HITs are open for 1 to 365 days.", field="lifetime_days"))
    minutes = campaign.estimated_minutes
    if minutes and campaign.reward_minor * 60 < MINIMUM_WAGE_MINOR * minutes:
        hourly = format_money(campaign.reward_minor * 60 // minutes, CURRENCY)
        text = f"The pay is {hourly} an hour; the US federal minimum wage is 7.25. MTurk has no minimum."
        findings.append(Finding(Level.WARNING, text, "Raise the reward.", "reward"))
    return findings


def _check_address(campaign: Campaign) -> list[Finding]:
    address = urlsplit(arrival_address(campaign))
    if not address.netloc:
        text = "The address of this server is not stored with the campaign."
        return [Finding(Level.ERROR, text, "Save the campaign's settings once more.", "site")]
    if address.scheme != "https":
        text = f"MTurk opens addresses with https only, and this server's is {address.scheme}://{address.netloc}."
        level = Level.ERROR if campaign.mode == Mode.LIVE else Level.WARNING
        return [Finding(level, text, "Serve the platform over HTTPS.", "site")]
    return []


def _check_qualifications(campaign: Campaign) -> list[Finding]:
    options, findings = _options(campaign), []
    countries = options.get("countries") or []
    if len(countries) > MAX_COUNTRIES or not all(COUNTRY.fullmatch(str(name)) for name in countries):
        text = f"Countries are at most {MAX_COUNTRIES} codes of two letters, such as US or GB."
        findings.append(Finding(Level.ERROR, text, field="qualifications"))
    percent = options.get("percent_approved") or 0
    if not 0 <= int(percent) <= 100:
        findings.append(Finding(Level.ERROR, "The approval rate is 0 to 100 %.", field="qualifications"))
    if int(options.get("n_approved") or 0) < 0:
        findings.append(
            Finding(Level.ERROR, "The number of approved HITs is 0 or more.", field="qualifications")
        )
    if not options.get("no_repeat", True):
        text = "The same worker may take several of the campaign's HITs; this server turns them away."
        findings.append(Finding(Level.WARNING, text, "Keep repeats out by our own qualification."))
    text = "MTurk has no qualification for languages: ask for the native language in the questionnaire."
    return [*findings, Finding(Level.NOTE, text)]
