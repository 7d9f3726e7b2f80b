"""State of the Prolific double: studies, submissions, groups, money, messages and webhooks.

Every public method takes the lock, so that counts and money are exact with parallel requests.
"""

import base64
import hashlib
import hmac
import json
import math
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from threading import RLock
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tools.doubles.prolific_shapes import (
    CHANGEABLE_AFTER_PUBLISHING,
    MAX_BONUS_LINES,
    STUDY_OF_LIST,
    SUBMISSION_STATUSES,
)

HOLDING = {"RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED"}  # statuses with a place
TERMINAL = {"APPROVED", "PARTIALLY APPROVED", "RETURNED", "TIMED-OUT", "REJECTED", "SCREENED OUT"}
ISSUER = "https://www.prolific.com"
TOKEN_LIFE = timedelta(minutes=2)
FEE_RATE, TAX_RATE = Fraction(1, 3), Fraction(1, 5)
MINIMUM_PER_HOUR = {"GBP": (600, 900), "USD": (800, 1200)}
MAX_DELIVERIES = 12
ALLOWED_TAGS = {"b", "i", "em", "strong", "s", "u", "h1", "h2", "ol", "ul", "li", "p"}
PLACEHOLDERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
FILTERS: list[dict[str, Any]] = [
    {"filter_id": "age", "title": "Age", "type": "range", "data_type": "integer", "min": 18, "max": 100},
    {
        "filter_id": "first-language",
        "title": "First Language",
        "type": "select",
        "data_type": "ChoiceID",
        "choices": {"0": "Rather not say", "4": "Arabic", "19": "English", "23": "French", "25": "German"},
    },
    {
        "filter_id": "fluent-languages",
        "title": "Fluent languages",
        "type": "select",
        "data_type": "ChoiceID",
        "choices": {"4": "Arabic", "19": "English", "23": "French", "25": "German"},
    },
    {
        "filter_id": "current-country-of-residence",
        "title": "Current Country of Residence",
        "type": "select",
        "data_type": "ChoiceID",
        "choices": {"0": "United Kingdom", "1": "United States", "9": "Germany"},
    },
    {
        "filter_id": "approval_rate",
        "title": "Approval Rate",
        "type": "range",
        "data_type": "integer",
        "min": 0,
        "max": 100,
    },
    {
        "filter_id": "handedness",
        "title": "Handedness",
        "type": "select",
        "data_type": "ChoiceID",
        "choices": {"0": "Left-handed", "1": "Right-handed"},
    },
    *(
        {"filter_id": name, "title": title, "type": "select", "data_type": data_type}
        for name, title, data_type in (
            ("participant_group_allowlist", "Participant group allowlist", "ParticipantGroupID"),
            ("participant_group_blocklist", "Participant group blocklist", "ParticipantGroupID"),
            ("previous_studies_blocklist", "Exclude participants from previous studies", "StudyID"),
            ("custom_allowlist", "Custom allowlist", "ParticipantID"),
        )
    ),
]
EVENT_TYPES = {
    "study.status.change": "The status of a study has changed",
    "submission.status.change": "The status of a submission has changed",
}


class ApiError(Exception):
    """An answer other than success."""

    def __init__(self, status: int, title: str, detail: Any = "", *, code: int = 140000) -> None:
        self.status, self.title, self.detail, self.code = status, title, detail, code
        super().__init__(f"{status} {title}: {detail}")


class PlayError(Exception):
    """A participant attempts what the platform does not allow."""


@dataclass(frozen=True)
class Movement:
    """Money that left the wallet."""

    kind: str  # reward, bonus, screen-out
    study: str
    submission: str
    participant: str
    amount: int
    fees: int
    tax: int
    cause: str = ""  # the id of the bulk payment
    at: str = ""


@dataclass
class Subscription:
    """An address that gets events of one type."""

    id: str
    event_type: str
    target_url: str
    secret: str
    is_enabled: bool = False


@dataclass
class HookEvent:
    """An event with its deliveries."""

    id: str
    subscription: Subscription
    body: bytes
    at: float
    attempts: int = 0
    is_delivered: bool = False
    answers: list[int] = field(default_factory=list)


def new_id() -> str:
    """An id as Prolific writes them: 24 hexadecimal digits."""
    return secrets.token_hex(12)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def fees_of(amount: int) -> tuple[int, int]:
    """Fees and tax on an amount in minor units."""
    fees = math.ceil(amount * FEE_RATE)
    return fees, math.ceil(fees * TAX_RATE)


@lru_cache(maxsize=1)
def _signing_key() -> rsa.RSAPrivateKey:
    """Return the key that signs links, one in a process: making one takes 65 ms."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class ProlificPlatform:
    """One workspace of the platform."""

    def __init__(
        self, *, token: str = "double-token", currency: str = "GBP", balance: int = 1_000_000
    ) -> None:
        self.lock = RLock()
        self.token, self.currency, self.balance = token, currency, balance
        self.user_id, self.workspace_id, self.project_id = new_id(), new_id(), new_id()
        self.workspace_secret = ""
        self.studies: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}
        self.groups: dict[str, dict[str, Any]] = {}
        self.members: dict[str, dict[str, str]] = {}
        self.set_ups: dict[str, dict[str, Any]] = {}
        self.messages: list[dict[str, Any]] = []
        self.subscriptions: dict[str, Subscription] = {}
        self.events: list[HookEvent] = []
        self.movements: list[Movement] = []
        self.background_delay_s = 0.0  # of bulk approvals and bonuses, which the platform carries out later
        self.can_sign_urls, self.can_pay_screen_out = True, True
        self._due: list[tuple[float, Callable[[], None]]] = []
        self._key = _signing_key()
        self._key_id = secrets.token_hex(8)

    # Researcher's side

    def balance_of(self) -> dict[str, Any]:
        """What is left in the wallet."""
        return {"available_balance": self.balance}

    def check_workspace(self, workspace_id: str) -> None:
        """Refuse another workspace."""
        if workspace_id != self.workspace_id:
            raise ApiError(404, "Not found", "Workspace not found.")

    def new_study(self, values: dict[str, Any]) -> dict[str, Any]:
        """Store a draft."""
        with self.lock:
            values = {"project": self.project_id, "internal_name": "", **values}
            self._check_study(values)
            study = {
                **values,
                "id": new_id(),
                "status": "UNPUBLISHED",
                "is_ready_to_publish": True,
                "_reserved": 0,
                "_stopped": False,
                "_slots_used": 0,
            }
            self.studies[study["id"]] = study
            return self.study(study["id"])

    def study(self, study_id: str) -> dict[str, Any]:
        """A study as its detail endpoint shows it."""
        with self.lock:
            study = self._study(study_id)
            rows = self._submissions_of(study_id)
            reward = study["reward"] * study["total_available_places"]
            return {
                **{name: value for name, value in study.items() if not name.startswith("_")},
                "places_taken": sum(row["status"] in HOLDING for row in rows),
                "number_of_submissions": len(rows),
                "total_cost": reward + sum(fees_of(reward)),
            }

    def studies_of_project(self, project_id: str) -> list[dict[str, Any]]:
        """The studies as the list shows them, newest first."""
        with self.lock:
            if project_id != self.project_id:
                raise ApiError(404, "Not found", "Project not found.")
            rows = [self.study(study_id) for study_id in reversed(self.studies)]
            return [{name: row[name] for name in STUDY_OF_LIST["properties"]} for row in rows]

    def change_study(self, study_id: str, values: dict[str, Any]) -> dict[str, Any]:
        """Change a draft, or the few members that may change after publishing."""
        with self.lock:
            study = self._study(study_id)
            if study["status"] != "UNPUBLISHED":
                if frozen := set(values) - CHANGEABLE_AFTER_PUBLISHING:
                    raise ApiError(
                        400,
                        "Validation error",
                        {name: ["Cannot be changed after the study has been published."] for name in frozen},
                    )
                if values.get("total_available_places", math.inf) < study["total_available_places"]:
                    raise ApiError(
                        400, "Validation error", {"total_available_places": ["Places cannot be decreased."]}
                    )
                if "completion_codes" in values:
                    self._check_slots_only(study, values["completion_codes"])
            self._check_study({**study, **values})
            more = values.get("total_available_places", 0) - study["total_available_places"]
            if study["status"] != "UNPUBLISHED" and more > 0:
                self._reserve(study, more)
                if study["status"] == "COMPLETED":
                    study["_stopped"] = False
                    self._set_status(study, "ACTIVE")
            study.update(values)
            self._settle(study)
            return self.study(study_id)

    def delete_study(self, study_id: str) -> None:
        """Delete a draft."""
        with self.lock:
            if self._study(study_id)["status"] != "UNPUBLISHED":
                raise ApiError(400, "Validation error", "Only unpublished studies can be deleted.")
            del self.studies[study_id]

    def transition(self, study_id: str, action: str) -> dict[str, Any]:
        """Publish, pause, start or stop a study."""
        allowed = {
            "PUBLISH": ({"UNPUBLISHED"}, "ACTIVE"),
            "PAUSE": ({"ACTIVE"}, "PAUSED"),
            "START": ({"PAUSED"}, "ACTIVE"),
            "STOP": ({"ACTIVE", "PAUSED"}, "COMPLETED"),
        }
        with self.lock:
            study = self._study(study_id)
            before, after = allowed[action]
            if study["status"] not in before:
                raise ApiError(
                    400,
                    "Validation error",
                    f"Transition {action} is not possible from the status {study['status']}.",
                )
            if action == "PUBLISH":
                self._reserve(study, study["total_available_places"])
            if action == "STOP":
                study["_stopped"] = True
                self._release(study)
            self._set_status(study, after)
            self._settle(study)
            return self.study(study_id)

    def cost_of(self, study_id: str) -> dict[str, Any]:
        """Rewards and bonuses that were paid, with fees and tax."""
        with self.lock:
            self._study(study_id)

            def total(kinds: set[str]) -> dict[str, Any]:
                rows = [row for row in self.movements if row.study == study_id and row.kind in kinds]
                sums = {
                    "rewards": sum(row.amount for row in rows),
                    "fees": sum(row.fees for row in rows),
                    "tax": sum(row.tax for row in rows),
                }
                return {name: {"amount": amount, "currency": self.currency} for name, amount in sums.items()}

            return {"rewards": total({"reward", "screen-out"}), "bonuses": total({"bonus"})}

    def counts(self, study_id: str) -> dict[str, int]:
        """Number of submissions by status."""
        with self.lock:
            self._study(study_id)
            statuses = Counter(row["status"] for row in self._submissions_of(study_id))
            return {**{status: statuses[status] for status in SUBMISSION_STATUSES}, "TOTAL": statuses.total()}

    def cost_before(self, reward: int, places: int) -> dict[str, int]:
        """Total cost of so many places."""
        return {"total_cost": reward * places + sum(fees_of(reward * places))}

    def recommendations(self, currency: str) -> list[dict[str, Any]]:
        """Minimum and recommended reward of an hour."""
        if currency not in MINIMUM_PER_HOUR:
            raise ApiError(400, "Validation error", {"currency": ["Unknown currency."]})
        minimum, recommended = MINIMUM_PER_HOUR[currency]
        return [
            {
                "currency": currency,
                "min_reward_per_hour": minimum,
                "recommended_reward_per_hour": recommended,
            }
        ]

    def eligible(self, filters: list[dict[str, Any]]) -> dict[str, int]:
        """Number of eligible participants: each filter keeps a share; below 25 it is shown as 0."""
        with self.lock:
            self._check_filters(filters)
            count = 120_000
            for row in filters:
                if "selected_values" in row and not row["filter_id"].endswith("blocklist"):
                    count = count * len(row["selected_values"]) // 10
                elif "selected_range" in row:
                    count = count * 6 // 10
            return {"count": count if count >= 25 else 0}

    # Participant groups

    def new_group(self, values: dict[str, Any]) -> dict[str, Any]:
        """Store a participant group."""
        with self.lock:
            self.check_workspace(values["workspace_id"])
            group = {
                "id": new_id(),
                "name": values["name"],
                "workspace_id": self.workspace_id,
                "description": values.get("description", ""),
            }
            self.groups[group["id"]], self.members[group["id"]] = group, {}
            self.add_members(group["id"], values.get("participant_ids", []))
            return group

    def members_of(self, group_id: str) -> list[dict[str, str]]:
        """The participants of a group."""
        with self.lock:
            if group_id not in self.groups:
                raise ApiError(404, "Not found", "Participant group not found.")
            return [
                {"participant_id": person, "datetime_created": at}
                for person, at in self.members[group_id].items()
            ]

    def add_members(self, group_id: str, people: Iterable[str]) -> list[dict[str, str]]:
        """Add participants to a group; those in it stay."""
        with self.lock:
            self.members_of(group_id)
            for person in people:
                self.members[group_id].setdefault(person, _now())
            return self.members_of(group_id)

    def remove_members(self, group_id: str, people: Iterable[str]) -> list[dict[str, str]]:
        """Take participants out of a group."""
        with self.lock:
            self.members_of(group_id)
            for person in people:
                self.members[group_id].pop(person, None)
            return self.members_of(group_id)

    # Submissions

    def submission(self, submission_id: str) -> dict[str, Any]:
        """A submission as its detail endpoint shows it."""
        with self.lock:
            row = self._submission(submission_id)
            return {
                "id": row["id"],
                "participant": row["participant"],
                "status": row["status"],
                "study_id": row["study"],
                "started_at": row["started_at"],
                "completed_at": row["completed_at"],
                "entered_code": row["code"],
                "bonus_payments": list(row["bonuses"]),
                "return_requested": row["return_requested"],
            }

    def submissions_of_list(self, study_id: str) -> list[dict[str, Any]]:
        """The submissions of a study as the list shows them."""
        with self.lock:
            self._study(study_id)
            return [
                {
                    "id": row["id"],
                    "participant_id": row["participant"],
                    "status": row["status"],
                    "started_at": row["started_at"],
                    "completed_at": row["completed_at"],
                    "study_code": row["code"],
                    "return_requested": row["return_requested"],
                    "has_siblings": False,
                }
                for row in self._submissions_of(study_id)
            ]

    def decide(self, submission_id: str, values: dict[str, Any]) -> dict[str, Any]:
        """Approve or reject a submission; a repeated decision changes nothing."""
        with self.lock:
            row, action = self._submission(submission_id), values["action"]
            after = {"APPROVE": "APPROVED", "REJECT": "REJECTED", "UNREJECT": "AWAITING REVIEW"}[action]
            before = {"REJECTED"} if action == "UNREJECT" else {"AWAITING REVIEW"}
            if row["status"] != after:
                if row["status"] not in before:
                    raise ApiError(
                        400,
                        "Validation error",
                        f"The submission has the status {row['status']}: {action} is not possible.",
                    )
                self._set_submission(row, after)
            return self.submission(submission_id)

    def bulk_approve(self, submission_ids: list[str]) -> dict[str, str]:
        """Approve submissions a little later."""
        with self.lock:
            if unknown := [number for number in submission_ids if number not in self.submissions]:
                raise ApiError(400, "Validation error", f"Unknown submissions: {', '.join(unknown)}")

            def approve() -> None:
                for number in submission_ids:
                    row = self.submissions[number]
                    if row["status"] == "AWAITING REVIEW":
                        self._set_submission(row, "APPROVED")

            self._later(approve)
            return {"message": "The submissions will be approved."}

    def request_return(self, submission_id: str) -> dict[str, Any]:
        """Ask a participant to return the submission."""
        with self.lock:
            row = self._submission(submission_id)
            if row["status"] not in {"ACTIVE", "AWAITING REVIEW"}:
                raise ApiError(400, "Validation error", f"The submission has the status {row['status']}.")
            row["return_requested"] = row["return_requested"] or _now()
            return self.submission(submission_id)

    # Bonuses

    def set_up_bonuses(self, study_id: str, table: str) -> dict[str, Any]:
        """Read ``id,amount`` rows with amounts in major units; nothing is paid yet."""
        with self.lock:
            self._study(study_id)
            lines = [line.strip() for line in table.strip().splitlines() if line.strip()]
            if not 1 <= len(lines) <= MAX_BONUS_LINES:
                raise ApiError(400, "Validation error", f"Between 1 and {MAX_BONUS_LINES} lines are allowed.")
            rows, unknown = [], []
            for line in lines:
                name, _, amount = line.partition(",")
                row = self._bonus_submission(study_id, name.strip())
                if row is None:
                    unknown.append(name.strip())
                    continue
                rows.append((row["id"], _minor(amount)))
            if unknown:
                raise ApiError(400, "Validation error", f"Unknown participants: {', '.join(unknown)}")
            amount = sum(value for _, value in rows)
            fees, tax = fees_of(amount)
            set_up = {
                "id": new_id(),
                "study": study_id,
                "amount": amount,
                "fees": fees,
                "vat": tax,
                "total_amount": amount + fees + tax,
            }
            self.set_ups[set_up["id"]] = {**set_up, "_rows": rows}
            return set_up

    def pay_bonuses(self, set_up_id: str) -> dict[str, str]:
        """Pay what was set up, once more with each call."""
        with self.lock:
            set_up = self.set_ups.get(set_up_id)
            if set_up is None:
                raise ApiError(404, "Not found", "Bulk bonus payment not found.")
            if set_up["total_amount"] > self.balance:
                raise ApiError(400, "Insufficient funds", "Your balance is too low to pay these bonuses.")
            self.balance -= set_up["total_amount"]

            def pay() -> None:
                for number, amount in set_up["_rows"]:
                    row = self.submissions[number]
                    row["bonuses"].append(amount)
                    self._move("bonus", row, amount, cause=set_up_id)

            self._later(pay)
            return {"message": "The bonuses will be paid."}

    # Messages and webhooks

    def send_message(self, values: dict[str, Any], *, sender: str = "") -> None:
        """Store a message of the researcher or, with ``sender``, of a participant."""
        with self.lock:
            people = {row["participant"] for row in self._submissions_of(values["study_id"])}
            if (sender or values["recipient_id"]) not in people:
                raise ApiError(400, "Validation error", {"recipient_id": ["Not a participant of the study."]})
            self.messages.append(
                {
                    "id": new_id(),
                    "sender_id": sender or self.user_id,
                    "sent_at": _now(),
                    **values,
                    "recipient_id": self.user_id if sender else values["recipient_id"],
                }
            )

    def messages_with(self, user_id: str, created_after: str) -> list[dict[str, Any]]:
        """Messages from and to a participant, or all after a moment."""
        if not user_id and not created_after:
            raise ApiError(400, "Validation error", "Give user_id or created_after.")
        with self.lock:
            return [
                row
                for row in self.messages
                if (not user_id or user_id in {row["sender_id"], row["recipient_id"]})
                and row["sent_at"] >= created_after
            ]

    def new_secret(self, workspace_id: str) -> dict[str, str]:
        """Replace the secret that signs deliveries."""
        with self.lock:
            self.check_workspace(workspace_id)
            self.workspace_secret = secrets.token_urlsafe(32)
            return {"id": new_id(), "value": self.workspace_secret, "workspace_id": workspace_id}

    def subscribe(self, values: dict[str, Any]) -> Subscription:
        """Store a subscription, which starts with its confirmation."""
        with self.lock:
            self.check_workspace(values["workspace_id"])
            if not self.workspace_secret:
                raise ApiError(400, "Validation error", "Create a secret for the workspace first.")
            if values["event_type"] not in EVENT_TYPES:
                raise ApiError(400, "Validation error", {"event_type": ["Unknown event type."]})
            address = urlsplit(values["target_url"])
            is_local = address.hostname in {"127.0.0.1", "localhost"}  # the double runs beside the product
            if address.scheme != "https" and not is_local:
                raise ApiError(400, "Validation error", {"target_url": ["An https address is required."]})
            subscription = Subscription(
                new_id(), values["event_type"], values["target_url"], secrets.token_urlsafe(16)
            )
            self.subscriptions[subscription.id] = subscription
            return subscription

    def subscription(self, number: str) -> Subscription:
        """A subscription by its id."""
        subscription = self.subscriptions.get(number)
        if subscription is None:
            raise ApiError(404, "Not found", "Subscription not found.")
        return subscription

    def confirm(self, number: str, secret: str) -> Subscription:
        """Start a subscription with the secret of the answer to its creation."""
        with self.lock:
            subscription = self.subscription(number)
            if not hmac.compare_digest(secret, subscription.secret):
                raise ApiError(400, "Validation error", {"secret": ["The secret is wrong."]})
            subscription.is_enabled = True
            return subscription

    def signed_headers(self, event: HookEvent, *, at: float | None = None) -> dict[str, str]:
        """Headers of a delivery, signed over the time and the raw body."""
        moment = str(int(at if at is not None else time.time()))
        digest = hmac.new(self.workspace_secret.encode(), moment.encode() + event.body, hashlib.sha256)
        return {
            "Content-Type": "application/json",
            "X-Prolific-Request-Signature": base64.b64encode(digest.digest()).decode(),
            "X-Prolific-Request-Timestamp": moment,
            "X-Event-ID": event.id,
            "X-Timestamp": str(int(event.at)),
        }

    def deliver(self) -> int:
        """Deliver the events that are not delivered yet, in one attempt each; returns the successes."""
        with self.lock:
            waiting = [
                event
                for event in self.events
                if not event.is_delivered
                and event.attempts < MAX_DELIVERIES
                and event.subscription.is_enabled
            ]
            for event in waiting:
                event.attempts += 1
        successes = 0
        for event in waiting:
            try:
                answer = httpx.post(
                    event.subscription.target_url,
                    content=event.body,
                    headers=self.signed_headers(event),
                    timeout=10,
                ).status_code
            except httpx.HTTPError:
                answer = 0
            with self.lock:
                event.answers.append(answer)
                event.is_delivered = 200 <= answer < 300
                successes += event.is_delivered
        return successes

    # Participants' side

    def take_place(self, study_id: str, participant: str = "") -> dict[str, str]:
        """Take a place; returns the submission, the participant and the address of the study."""
        with self.lock:
            study, participant = self._study(study_id), participant or new_id()
            if study["status"] != "ACTIVE":
                raise PlayError(f"the study is {study['status']}")
            if any(row["participant"] == participant for row in self._submissions_of(study_id)):
                raise PlayError("the participant took part before")
            if not self._is_eligible(study, participant):
                raise PlayError("the participant is not eligible")
            row = {
                "id": new_id(),
                "study": study_id,
                "participant": participant,
                "status": "",
                "started_at": _now(),
                "completed_at": None,
                "code": None,
                "bonuses": [],
                "return_requested": None,
            }
            self.submissions[row["id"]] = row
            self._set_submission(row, "ACTIVE")
            return {
                "submission": row["id"],
                "participant": participant,
                "url": self.study_address(study, row),
            }

    def study_address(
        self, study: dict[str, Any], row: dict[str, Any], *, lifetime: timedelta = TOKEN_LIFE, **changes: Any
    ) -> str:
        """The address that a participant opens, signed where the study asks for it."""
        values = {"PROLIFIC_PID": row["participant"], "STUDY_ID": study["id"], "SESSION_ID": row["id"]}
        address: str = study["external_study_url"]
        for name in PLACEHOLDERS:
            address = address.replace("{{%" + name + "%}}", values[name])
        if not study.get("is_external_study_url_secure"):
            return address
        now = datetime.now(UTC)
        claims = {
            "iss": ISSUER,
            "iat": now,
            "exp": now + lifetime,
            "aud": address,
            "sub": row["id"],
            "prolific": {**dict(parse_qsl(urlsplit(address).query)), "workspace_id": self.workspace_id},
            **changes,
        }
        token = jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": self._key_id})
        parts = urlsplit(address)
        query = urlencode([*parse_qsl(parts.query), ("prolific_token", token)])
        return urlunsplit(parts._replace(query=query))

    def public_keys(self) -> dict[str, Any]:
        """The keys that sign addresses."""
        key = jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
        return {"keys": [{**key, "kid": self._key_id, "use": "sig", "alg": "RS256"}]}

    def enter_code(self, submission_id: str, code: str) -> dict[str, Any]:
        """Submit with a completion code, whose actions follow; an empty code submits without one."""
        with self.lock:
            row = self._submission(submission_id)
            if row["status"] not in {"RESERVED", "ACTIVE"}:
                raise PlayError(f"the submission is {row['status']}")
            study = self._study(row["study"])
            row["code"], row["completed_at"] = code or "NOCODE", _now()
            actions = next(
                (path["actions"] for path in study["completion_codes"] if path["code"] == code), []
            )
            self._set_submission(row, "AWAITING REVIEW")
            for action in actions:
                self._act(study, row, action)
            return self.submission(submission_id)

    def return_submission(self, submission_id: str) -> None:
        """Return a submission before its decision."""
        with self.lock:
            row = self._submission(submission_id)
            if row["status"] in TERMINAL:
                raise PlayError(f"the submission is {row['status']}")
            self._set_submission(row, "RETURNED")

    def time_out(self, submission_id: str) -> None:
        """Let the maximum time pass."""
        with self.lock:
            row = self._submission(submission_id)
            if row["status"] not in {"RESERVED", "ACTIVE"}:
                raise PlayError(f"the submission is {row['status']}")
            self._set_submission(row, "TIMED-OUT")

    def current_submission(self, participant: str) -> str:
        """The newest submission of a participant; empty if there is none."""
        with self.lock:
            numbers = [row["id"] for row in self.submissions.values() if row["participant"] == participant]
            return numbers[-1] if numbers else ""

    def paid(self, kind: str = "") -> Counter[str]:
        """Amounts paid by submission."""
        with self.lock:
            self.run_due()
            totals: Counter[str] = Counter()
            for row in self.movements:
                if kind in {"", row.kind}:
                    totals[row.submission] += row.amount
            return totals

    def run_due(self, *, all_of_them: bool = False) -> None:
        """Carry out what the platform does in the background."""
        with self.lock:
            now = math.inf if all_of_them else time.monotonic()
            due = [job for at, job in self._due if at <= now]
            self._due = [(at, job) for at, job in self._due if at > now]
            for job in due:
                job()

    # Inside

    def _later(self, job: Callable[[], None]) -> None:
        self._due.append((time.monotonic() + self.background_delay_s, job))

    def _study(self, study_id: str) -> dict[str, Any]:
        study = self.studies.get(study_id)
        if study is None:
            raise ApiError(404, "Not found", "Study not found.")
        return study

    def _submission(self, submission_id: str) -> dict[str, Any]:
        row = self.submissions.get(submission_id)
        if row is None:
            raise ApiError(404, "Not found", "Submission not found.")
        return row

    def _submissions_of(self, study_id: str) -> list[dict[str, Any]]:
        return [row for row in self.submissions.values() if row["study"] == study_id]

    def _bonus_submission(self, study_id: str, name: str) -> dict[str, Any] | None:
        rows = self._submissions_of(study_id)
        return next((row for row in rows if name in {row["id"], row["participant"]}), None)

    def _check_study(self, values: dict[str, Any]) -> None:
        problems: dict[str, list[str]] = {}
        minutes = values["estimated_completion_time"]
        least = 2 + 2 * minutes + 2 * math.sqrt(minutes)
        if values.get("maximum_allowed_time", math.inf) < least:
            problems["maximum_allowed_time"] = [f"Ensure this value is greater than or equal to {least:.0f}."]
        tags = {tag.lower() for tag in re.findall(r"</?\s*([a-zA-Z0-9]+)", values["description"])}
        if tags - ALLOWED_TAGS:
            problems["description"] = [f"Tags not allowed: {', '.join(sorted(tags - ALLOWED_TAGS))}"]
        address = urlsplit(values["external_study_url"])
        if address.scheme not in {"http", "https"} or not address.netloc:
            problems["external_study_url"] = ["Enter a valid URL."]
        if values.get("is_external_study_url_secure") and not self.can_sign_urls:
            problems["is_external_study_url_secure"] = ["Not available in this workspace."]
        if values["project"] != self.project_id:
            problems["project"] = ["Project not found."]
        problems |= self._problems_of_codes(values)
        if problems:
            raise ApiError(400, "Validation error", problems)
        self._check_filters(values["filters"])

    def _problems_of_codes(self, values: dict[str, Any]) -> dict[str, list[str]]:
        problems: list[str] = []
        codes = [path["code"] for path in values["completion_codes"]]
        if len(set(codes)) < len(codes):
            problems.append("Codes must be unique within a study.")
        if None in codes and len(codes) > 1:
            problems.append("An empty code must be the only one.")
        screen_outs = 0
        for path in values["completion_codes"]:
            names = [action["action"] for action in path["actions"]]
            if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= set(names):
                problems.append("A code is approved automatically or reviewed, not both.")
            for action in path["actions"]:
                group = action.get("participant_group")
                if group is not None and group not in self.groups:
                    problems.append(f"Participant group {group} not found.")
                if action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
                    screen_outs += 1
                    if not self.can_pay_screen_out:
                        problems.append("Paid screen-out is not available in this workspace.")
                    if action["fixed_screen_out_reward"] >= values["reward"]:
                        problems.append("The screen-out reward must be less than the reward.")
        if screen_outs > 1:
            problems.append("At most one code may pay for a screen-out.")
        return {"completion_codes": problems} if problems else {}

    def _check_slots_only(self, study: dict[str, Any], codes: list[dict[str, Any]]) -> None:
        def without_slots(paths: list[dict[str, Any]]) -> str:
            text = json.dumps(paths, sort_keys=True)
            return re.sub(r'"slots": \d+', "", text)

        if without_slots(codes) != without_slots(study["completion_codes"]):
            raise ApiError(400, "Validation error", {"completion_codes": ["Only the slots can be changed."]})

    def _check_filters(self, filters: list[dict[str, Any]]) -> None:
        platform = {row["filter_id"]: row for row in FILTERS}
        for row in filters:
            if row["filter_id"] in {"and", "or"}:
                self._check_filters(row["selected_filters"])
                continue
            definition = platform.get(row["filter_id"])
            if definition is None:
                raise ApiError(400, "Validation error", {"filters": [f"Unknown filter {row['filter_id']}."]})
            if (definition["type"] == "range") != ("selected_range" in row):
                raise ApiError(400, "Validation error", {"filters": [f"{row['filter_id']}: wrong type."]})
            if unknown := set(row.get("selected_values", [])) - self._choices(definition, row):
                detail = f"{row['filter_id']}: unknown choices {', '.join(sorted(unknown))}."
                raise ApiError(400, "Validation error", {"filters": [detail]})

    def _choices(self, definition: dict[str, Any], row: dict[str, Any]) -> set[str]:
        kinds: dict[str, Any] = {"ParticipantGroupID": self.groups, "StudyID": self.studies}
        if definition["data_type"] == "ParticipantID":
            return set(row["selected_values"])
        return set(kinds.get(definition["data_type"], definition.get("choices", {})))

    def _is_eligible(self, study: dict[str, Any], participant: str) -> bool:
        for row in study["filters"]:
            groups = row.get("selected_values", [])
            is_member = any(participant in self.members.get(group, {}) for group in groups)
            if row["filter_id"] == "participant_group_blocklist" and is_member:
                return False
            if row["filter_id"] == "participant_group_allowlist" and not is_member:
                return False
            if row["filter_id"] == "custom_allowlist" and participant not in groups:
                return False
            if row["filter_id"] == "previous_studies_blocklist" and any(
                other["participant"] == participant and other["study"] in groups
                for other in self.submissions.values()
            ):
                return False
        return True

    def _act(self, study: dict[str, Any], row: dict[str, Any], action: dict[str, Any]) -> None:
        kind = action["action"]
        if kind == "AUTOMATICALLY_APPROVE":
            self._set_submission(row, "APPROVED")
        elif kind == "ADD_TO_PARTICIPANT_GROUP":
            self.add_members(action["participant_group"], [row["participant"]])
        elif kind == "REMOVE_FROM_PARTICIPANT_GROUP":
            self.remove_members(action["participant_group"], [row["participant"]])
        elif kind == "REQUEST_RETURN":
            row["return_requested"] = _now()
        elif kind == "FIXED_SCREEN_OUT_PAYMENT":
            amount = action["fixed_screen_out_reward"]
            self.balance -= amount + sum(fees_of(amount))
            self._move("screen-out", row, amount)
            study["_slots_used"] += 1
            self._set_submission(row, "SCREENED OUT")
            if study["_slots_used"] >= action["slots"] and study["status"] == "ACTIVE":
                self._set_status(study, "PAUSED")

    def _set_submission(self, row: dict[str, Any], status: str) -> None:
        study = self.studies[row["study"]]
        if status == "APPROVED":
            self._move("reward", row, study["reward"])
            study["_reserved"] -= study["reward"] + sum(fees_of(study["reward"]))
        row["status"] = status
        self._emit("submission.status.change", row["id"], status, participant_id=row["participant"])
        self._settle(study)

    def _settle(self, study: dict[str, Any]) -> None:
        """Let a full study await its review, and an open place activate it again."""
        rows = [row for row in self._submissions_of(study["id"]) if row["status"] in HOLDING]
        is_full = len(rows) >= study["total_available_places"]
        if study["status"] == "ACTIVE" and is_full:
            self._set_status(study, "AWAITING REVIEW")
        elif study["status"] == "AWAITING REVIEW" and not is_full:
            self._set_status(study, "ACTIVE")
        if study["status"] == "AWAITING REVIEW" and all(row["status"] in TERMINAL for row in rows):
            self._set_status(study, "COMPLETED")

    def _set_status(self, study: dict[str, Any], status: str) -> None:
        if study["status"] != status:
            study["status"] = status
            self._emit("study.status.change", study["id"], status)

    def _reserve(self, study: dict[str, Any], places: int) -> None:
        cost = self.cost_before(study["reward"], places)["total_cost"]
        if cost > self.balance:
            raise ApiError(400, "Insufficient funds", "Your balance is too low to publish this study.")
        self.balance -= cost
        study["_reserved"] += cost

    def _release(self, study: dict[str, Any]) -> None:
        waiting = [
            row
            for row in self._submissions_of(study["id"])
            if row["status"] in {"RESERVED", "ACTIVE", "AWAITING REVIEW"}
        ]
        needed = len(waiting) * (study["reward"] + sum(fees_of(study["reward"])))
        released = max(0, study["_reserved"] - needed)
        self.balance += released
        study["_reserved"] -= released

    def _move(self, kind: str, row: dict[str, Any], amount: int, *, cause: str = "") -> None:
        fees, tax = fees_of(amount)
        self.movements.append(
            Movement(kind, row["study"], row["id"], row["participant"], amount, fees, tax, cause, _now())
        )

    def _emit(self, event_type: str, resource_id: str, status: str, **more: str) -> None:
        body = {"event_type": event_type, "resource_id": resource_id, "status": status, **more}
        for subscription in self.subscriptions.values():
            if subscription.is_enabled and subscription.event_type == event_type:
                raw = json.dumps(body, separators=(",", ":")).encode()
                self.events.append(HookEvent(new_id(), subscription, raw, time.time()))


def _minor(text: str) -> int:
    """An amount in minor units of one written in major units."""
    try:
        amount = Decimal(text.strip())
    except InvalidOperation:
        raise ApiError(400, "Validation error", f"Not an amount: {text!r}") from None
    if not amount.is_finite() or amount <= 0 or amount != amount.quantize(Decimal("0.01")):
        raise ApiError(400, "Validation error", f"Not an amount with at most two decimals: {text!r}")
    return int(amount * 100)
