"""States of the MTurk double: HITs, assignments, qualifications, bonuses and the money moved.

Every request and every answer is checked against botocore's service model, and requests also against the text
limits of the documentation that the model does not have. Operations are methods named as boto3 names them.
"""

import re
import secrets
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from botocore import xform_name

from tools.doubles.mturk_validation import (
    LOCALE,
    MODEL,
    THIRTY_DAYS_S,
    TurkError,
    check,
    check_documented_limits,
    external_url,
    invalid,
)

ANSWERS = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"
)
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
TOKEN_MEMORY_S = 24 * 3600
PERCENT_APPROVED, N_APPROVED = "000000000000000000L0", "00000000000000000040"
ADULT, MASTERS = "00000000000000000060", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"  # that of the sandbox
REVIEWABLE = {"Submitted", "Approved", "Rejected"}


def cents(amount: str) -> int:
    """The cents of an amount such as 1.25."""
    return int(Decimal(amount) * 100)


def dollars(amount: int) -> str:
    """An amount such as 1.25."""
    return f"{amount // 100}.{amount % 100:02}"


@dataclass
class HITType:
    """What HITs of one kind share."""

    id: str
    fields: dict


@dataclass
class HIT:
    """A HIT; its status follows from its assignments."""

    id: str
    type: HITType
    question: str
    max_assignments: int
    created_at: float
    expires_at: float
    annotation: str = ""
    is_reviewing: bool = False
    is_disposed: bool = False


@dataclass
class Assignment:
    """One worker's work on a HIT; a returned assignment goes to the next worker with the same id."""

    id: str
    hit: HIT
    worker: str
    accepted_at: float
    status: str = "Accepted"
    submitted_at: float = 0
    approved_at: float = 0
    rejected_at: float = 0
    feedback: str = ""
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def deadline(self) -> float:
        """When an accepted assignment is abandoned."""
        return self.accepted_at + self.hit.type.fields["AssignmentDurationInSeconds"]

    @property
    def auto_approval_at(self) -> float:
        """When submitted work is approved without the requester."""
        return self.submitted_at + self.hit.type.fields.get("AutoApprovalDelayInSeconds", THIRTY_DAYS_S)


@dataclass(frozen=True)
class Transfer:
    """Money that left the account."""

    kind: str  # reward or bonus
    worker: str
    assignment: str
    amount_minor: int
    fee_minor: int
    reason: str
    at: float


@dataclass
class Worker:
    """What the system qualifications read of a worker, and the qualifications granted."""

    country: str = "US"
    percent_approved: int = 99
    n_approved: int = 5000
    granted: dict[str, int] = field(default_factory=dict)


CHANGES = "changes"  # every operation that is no Get or List


@dataclass
class Fault:
    """A failure of the next matching requests; see ``KINDS``."""

    kind: str
    operation: str = ""  # empty = any; see CHANGES
    times: int = 1
    seconds: float = 0


#: Kinds of fault, and whether the request takes effect before it fails.
KINDS = {
    "before": False,  # the connection is closed before the service acts
    "after": True,  # … after it acted, without an answer
    "throttled": False,
    "unavailable": False,  # 503 with HTML
    "expired_token": False,  # temporary credentials that are over
    "service_fault": False,  # 500 with ServiceFault
    "service_fault_after": True,
    "malformed": True,  # 200 with half a JSON document
    "slow": True,  # the answer comes after `seconds`
}


class TurkService:
    """The account of one requester in the sandbox.

    ``ends_with_empty_page`` is whether every page with rows has a NextToken, as the platform does it, so that
    the last page is empty; else the last page with rows has none.
    """

    def __init__(self, *, balance_minor: int = 1_000_000, ends_with_empty_page: bool = True) -> None:
        self.lock = threading.RLock()
        self.balance_minor, self.ends_with_empty_page = balance_minor, ends_with_empty_page
        self.bonus_token_memory_s = TOKEN_MEMORY_S  # not documented
        self.keys = {"DOUBLEKEY": "double-secret"}
        self.clock_offset_s = 0.0
        self.types: dict[str, HITType] = {}
        self.hits: dict[str, HIT] = {}
        self.assignments: dict[str, Assignment] = {}
        self.workers: dict[str, Worker] = {}
        self.qualifications: dict[str, dict] = {}
        self.blocks: dict[str, str] = {}
        self.notified: list[dict] = []
        self.transfers: list[Transfer] = []
        self.tokens: dict[tuple[str, str], tuple[float, str]] = {}
        self.faults: list[Fault] = []
        self.requests: list[tuple[str, dict]] = []  # of operations that passed validation
        self.counts: Counter[str] = Counter()  # of all requests, by operation
        self.refusals: list[str] = []  # messages of requests that were not valid

    # What a test or a person at the keyboard may do

    def fail_next(self, kind: str, *, operation: str = "", times: int = 1, seconds: float = 0) -> None:
        """Make the next requests fail, all of them or those of one operation."""
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no fault: {', '.join(KINDS)}.")
        with self.lock:
            self.faults.append(Fault(kind, operation, times, seconds))

    def next_fault(self, operation: str) -> Fault | None:
        """The fault for this request, which is used up."""
        with self.lock:
            for fault in self.faults:
                is_change = not operation.startswith(("Get", "List"))
                if fault.operation in ("", operation) or (fault.operation == CHANGES and is_change):
                    fault.times -= 1
                    if fault.times < 1:
                        self.faults.remove(fault)
                    return fault
        return None

    def advance(self, seconds: float) -> None:
        """Move the clock of the states; signatures are compared with the machine's own."""
        with self.lock:
            self.clock_offset_s += seconds
            self.settle()

    def now(self) -> float:
        """The time of the states."""
        return time.time() + self.clock_offset_s

    def worker(self, worker: str) -> Worker:
        """A worker, who is new to us or not."""
        return self.workers.setdefault(worker, Worker())

    def accept(self, hit_id: str, worker: str) -> Assignment:
        """A worker accepts a HIT."""
        check(MODEL.shape_for("CustomerId"), worker, "workerId")
        with self.lock:
            self.settle()
            hit = self._hit(hit_id)
            own = [row for row in self._of(hit) if row.worker == worker and row.status != "Abandoned"]
            if own and own[-1].status != "Returned":
                return own[-1]
            if self.status_of(hit) != "Assignable":
                raise TurkError("AWS.MechanicalTurk.InvalidHITState", "There are no more of these HITs.")
            if not self.may_accept(hit, worker):
                raise TurkError(
                    "AWS.MechanicalTurk.DoesNotMeetRequirements",
                    "Your Qualifications do not meet the requirements.",
                )
            # The id of a returned assignment goes to the next worker.
            returned = [row for row in self._of(hit) if row.status in {"Returned", "Abandoned"}]
            assignment = Assignment(returned[0].id if returned else new_id(), hit, worker, self.now())
            self.assignments[assignment.id] = assignment
            return assignment

    def give_back(self, assignment_id: str) -> None:
        """A worker returns an assignment."""
        with self.lock:
            assignment = self._open_assignment(assignment_id)
            assignment.status = "Returned"

    def submit(self, fields: dict[str, str]) -> Assignment:
        """The form of a worker's page is sent to externalSubmit."""
        with self.lock:
            self.settle()
            assignment = self._open_assignment(fields.get("assignmentId", ""))
            answers = {name: text for name, text in fields.items() if name not in {"assignmentId", "hitId"}}
            if not answers:
                raise invalid("There was a problem submitting your results: the form has no other field.")
            assignment.fields, assignment.submitted_at = answers, self.now()
            assignment.status = "Submitted"
            return assignment

    def may_accept(self, hit: HIT, worker: str) -> bool:
        """Whether the worker meets all requirements of the HIT."""
        requirements = hit.type.fields.get("QualificationRequirements", [])
        return worker not in self.blocks and all(
            meets(requirement, self.worker(worker)) for requirement in requirements
        )

    def may_preview(self, hit: HIT, worker: str) -> bool:
        """Whether the worker meets the requirements that guard the preview."""
        guarding = [
            requirement
            for requirement in hit.type.fields.get("QualificationRequirements", [])
            if requirement.get("ActionsGuarded", "Accept") != "Accept"
        ]
        return all(meets(requirement, self.worker(worker)) for requirement in guarding)

    def paid_minor(self, worker: str = "") -> int:
        """Rewards and bonuses without fees, of one worker or of all."""
        with self.lock:
            return sum(row.amount_minor for row in self.transfers if worker in ("", row.worker))

    def state(self) -> dict:
        """Everything that a person who plays with the double may want to see."""
        with self.lock:
            self.settle()
            return {
                "balance": dollars(self.balance_minor),
                "hits": [self._hit_structure(hit) for hit in self.hits.values()],
                "assignments": [
                    {"id": row.id, "hit": row.hit.id, "worker": row.worker, "status": row.status}
                    for row in self.assignments.values()
                ],
                "transfers": [asdict(row) for row in self.transfers],
                "requests": dict(self.counts),
                "refusals": list(self.refusals),
            }

    # Requests

    def answer(self, operation: str, request: dict) -> dict:
        """Validate a request, carry it out and validate the answer."""
        with self.lock:
            self.settle()
            method: Callable[..., dict] | None = (
                getattr(self, xform_name(operation), None) if operation in MODEL.operation_names else None
            )
            if method is None:
                raise TurkError("", f"{operation} is not here.", kind="UnknownOperationException")
            shapes = MODEL.operation_model(operation)
            try:
                check(shapes.input_shape, request, operation)
                check_documented_limits(request)
            except TurkError as error:
                self.refusals.append(error.message)
                raise
            self.requests.append((operation, request))
            response = method(request)
            check(shapes.output_shape, response, f"{operation}Response")
            return response

    def settle(self) -> None:
        """What happens by time: assignments are abandoned or approved."""
        now = self.now()
        for assignment in self.assignments.values():
            if assignment.status == "Accepted" and now > assignment.deadline:
                assignment.status = "Abandoned"
            elif assignment.status == "Submitted" and now >= assignment.auto_approval_at:
                with suppress(TurkError):  # without funds the work waits
                    self._pay_reward(assignment)

    def get_account_balance(self, request: dict) -> dict:
        """The money left."""
        return {"AvailableBalance": dollars(self.balance_minor), "OnHoldBalance": "0.00"}

    def create_hit_type(self, request: dict) -> dict:
        """The same values get the same id."""
        existing = next((row for row in self.types.values() if row.fields == request), None)
        kind = existing or HITType(new_id(), request)
        self.types[kind.id] = kind
        return {"HITTypeId": kind.id}

    def create_hit_with_hit_type(self, request: dict) -> dict:
        """A HIT of a kind; a token used within a day is refused with the id of its HIT."""
        kind = self.types.get(request["HITTypeId"])
        if kind is None:
            raise TurkError("AWS.MechanicalTurk.HITTypeDoesNotExist", f"Hit type {request['HITTypeId']}.")
        if "Question" not in request:
            raise invalid("a Question is required; layouts are not here.")
        external_url(request["Question"])
        if earlier := self._used(f"hit:{request.get('UniqueRequestToken', '')}", TOKEN_MEMORY_S):
            raise TurkError(
                "AWS.MechanicalTurk.HitAlreadyExists",
                f"The HIT with ID {earlier} already exists for this UniqueRequestToken.",
            )
        n = request.get("MaxAssignments", 1)
        self._check_funds(n * self._cost(kind, n))
        hit = HIT(
            new_id(),
            kind,
            request["Question"],
            n,
            self.now(),
            self.now() + request["LifetimeInSeconds"],
            request.get("RequesterAnnotation", ""),
        )
        self.hits[hit.id] = hit
        self._remember(f"hit:{request.get('UniqueRequestToken', '')}", hit.id)
        return {"HIT": self._hit_structure(hit)}

    def get_hit(self, request: dict) -> dict:
        """One HIT, also a disposed one."""
        return {"HIT": self._hit_structure(self._hit(request["HITId"]))}

    def list_hits(self, request: dict) -> dict:
        """HITs that are not disposed, newest first."""
        rows = [self._hit_structure(hit) for hit in reversed(self.hits.values()) if not hit.is_disposed]
        return self._page(request, "HITs", rows)

    def list_reviewable_hits(self, request: dict) -> dict:
        """HITs in the state Reviewable or Reviewing."""
        wanted, kind = request.get("Status", "Reviewable"), request.get("HITTypeId", "")
        hits = [hit for hit in self.hits.values() if kind in ("", hit.type.id)]
        rows = [self._hit_structure(hit) for hit in hits if self.status_of(hit) == wanted]
        return self._page(request, "HITs", rows)

    def list_assignments_for_hit(self, request: dict) -> dict:
        """Submitted work; what is only accepted is not listed."""
        wanted = set(request.get("AssignmentStatuses") or REVIEWABLE)
        rows = [row for row in self._of(self._hit(request["HITId"])) if row.status in wanted]
        return self._page(request, "Assignments", [self._assignment_structure(row) for row in rows])

    def get_assignment(self, request: dict) -> dict:
        """Submitted work with its HIT."""
        assignment = self._reviewable(request["AssignmentId"])
        return {
            "Assignment": self._assignment_structure(assignment),
            "HIT": self._hit_structure(assignment.hit),
        }

    def approve_assignment(self, request: dict) -> dict:
        """Pay the reward, once; rejected work only with OverrideRejection within 30 days."""
        assignment = self._reviewable(request["AssignmentId"])
        may_override = (
            request.get("OverrideRejection", False)
            and not assignment.hit.is_disposed
            and self.now() - assignment.submitted_at <= THIRTY_DAYS_S
        )
        allowed = {"Submitted", "Rejected"} if may_override else {"Submitted"}
        if assignment.status not in allowed:
            raise wrong_state(assignment.status)
        self._pay_reward(assignment)
        assignment.feedback = request.get("RequesterFeedback", "")
        return {}

    def reject_assignment(self, request: dict) -> dict:
        """Refuse to pay submitted work."""
        assignment = self._reviewable(request["AssignmentId"])
        if assignment.status != "Submitted":
            raise wrong_state(assignment.status)
        assignment.status, assignment.rejected_at = "Rejected", self.now()
        assignment.feedback = request["RequesterFeedback"]
        return {}

    def send_bonus(self, request: dict) -> dict:
        """Pay a bonus; a token used before is refused."""
        assignment = self._reviewable(request["AssignmentId"])
        if assignment.worker != request["WorkerId"]:
            raise invalid(f"The worker {request['WorkerId']} did not work on this assignment.")
        amount = cents(request["BonusAmount"])
        if not amount:
            raise invalid("BonusAmount must be above zero.")
        name = f"bonus:{request.get('UniqueRequestToken', '')}"
        if earlier := self._used(name, self.bonus_token_memory_s):
            # The code of this error is not documented, so no client may rely on it.
            raise TurkError("AWS.MechanicalTurk.DuplicateRequest", f"The request {earlier} was carried out.")
        self._move("bonus", assignment, amount, fee(amount), reason=request["Reason"])
        self._remember(name, new_id())
        return {}

    def list_bonus_payments(self, request: dict) -> dict:
        """Bonuses of a HIT or an assignment."""
        hit, assignment = request.get("HITId"), request.get("AssignmentId")
        if bool(hit) == bool(assignment):
            raise invalid("give a HITId or an AssignmentId.")
        rows = [
            {
                "WorkerId": row.worker,
                "BonusAmount": dollars(row.amount_minor),
                "AssignmentId": row.assignment,
                "Reason": row.reason,
                "GrantTime": row.at,
            }
            for row in self.transfers
            if row.kind == "bonus"
            and (row.assignment == assignment or self.assignments[row.assignment].hit.id == hit)
        ]
        return self._page(request, "BonusPayments", rows)

    def create_additional_assignments_for_hit(self, request: dict) -> dict:
        """More assignments; a HIT of fewer than ten cannot get ten or more."""
        hit, n = self._hit(request["HITId"]), request["NumberOfAdditionalAssignments"]
        name = f"more:{request.get('UniqueRequestToken', '')}"
        if earlier := self._used(name, TOKEN_MEMORY_S):
            raise TurkError("AWS.MechanicalTurk.DuplicateRequest", f"The request {earlier} was carried out.")
        if n < 1:
            raise invalid("NumberOfAdditionalAssignments must be above zero.")
        if hit.is_disposed:
            raise wrong_hit_state(self.status_of(hit))
        if hit.max_assignments < 10 <= hit.max_assignments + n:
            raise TurkError(
                "AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease",
                f"The HIT {hit.id} was created with fewer than 10 assignments.",
            )
        self._check_funds(n * self._cost(hit.type, hit.max_assignments))
        hit.max_assignments += n
        self._remember(name, new_id())
        return {}

    def update_expiration_for_hit(self, request: dict) -> dict:
        """A time in the past expires the HIT; who accepted it may still submit."""
        hit = self._hit(request["HITId"])
        if hit.is_disposed:
            raise wrong_hit_state("Disposed")
        hit.expires_at = float(request["ExpireAt"])
        return {}

    def update_hit_review_status(self, request: dict) -> dict:
        """From Reviewable to Reviewing, or back."""
        hit, is_back = self._hit(request["HITId"]), request.get("Revert", False)
        if self.status_of(hit) != ("Reviewing" if is_back else "Reviewable"):
            raise wrong_hit_state(self.status_of(hit))
        hit.is_reviewing = not is_back
        return {}

    def delete_hit(self, request: dict) -> dict:
        """Dispose of a reviewable HIT whose work is all approved or rejected."""
        hit = self._hit(request["HITId"])
        status = self.status_of(hit)
        if status != "Reviewable":
            raise wrong_hit_state(status)
        if any(row.status == "Submitted" for row in self._of(hit)):
            raise TurkError(
                "AWS.MechanicalTurk.InvalidHITState", f"The HIT {hit.id} has assignments to be reviewed."
            )
        hit.is_disposed = True
        return {}

    def create_qualification_type(self, request: dict) -> dict:
        """A name can be used once."""
        if any(row["Name"] == request["Name"] for row in self.qualifications.values()):
            raise TurkError(
                "AWS.MechanicalTurk.QualificationTypeAlreadyExists",
                "You have already created a QualificationType with this name.",
            )
        row = {
            "QualificationTypeId": new_id(),
            "CreationTime": self.now(),
            "Name": request["Name"],
            "Description": request["Description"],
            "Keywords": request.get("Keywords", ""),
            "QualificationTypeStatus": request["QualificationTypeStatus"],
            "IsRequestable": True,
            "AutoGranted": request.get("AutoGranted", False),
        }
        self.qualifications[row["QualificationTypeId"]] = row
        return {"QualificationType": row}

    def list_qualification_types(self, request: dict) -> dict:
        """A search in names and descriptions."""
        text = request.get("Query", "").lower()
        rows = [
            row
            for row in self.qualifications.values()
            if text in f"{row['Name']} {row['Description']} {row['Keywords']}".lower()
        ]
        return self._page(request, "QualificationTypes", rows)

    def associate_qualification_with_worker(self, request: dict) -> dict:
        """Grant a qualification; the last value counts."""
        self._qualification(request["QualificationTypeId"])
        worker = self.worker(request["WorkerId"])
        worker.granted[request["QualificationTypeId"]] = request.get("IntegerValue", 1)
        if request.get("SendNotification", True):
            self.notified.append({"worker": request["WorkerId"], "subject": "qualification"})
        return {}

    def disassociate_qualification_from_worker(self, request: dict) -> dict:
        """Revoke a qualification."""
        kind = self._qualification(request["QualificationTypeId"])
        if self.worker(request["WorkerId"]).granted.pop(kind, None) is None:
            raise TurkError(
                "AWS.MechanicalTurk.InvalidQualificationState",
                "This operation can be called with a status of: Granted",
            )
        return {}

    def list_workers_with_qualification_type(self, request: dict) -> dict:
        """Workers who have a qualification."""
        kind = self._qualification(request["QualificationTypeId"])
        rows = [
            {
                "QualificationTypeId": kind,
                "WorkerId": name,
                "IntegerValue": worker.granted[kind],
                "Status": "Granted",
            }
            for name, worker in self.workers.items()
            if kind in worker.granted and request.get("Status", "Granted") == "Granted"
        ]
        return self._page(request, "Qualifications", rows)

    def notify_workers(self, request: dict) -> dict:
        """A mail to workers with reviewed work; failures are in an answer with status 200."""
        reviewed = {row.worker for row in self.assignments.values() if row.status in {"Approved", "Rejected"}}
        failures = []
        for worker in request["WorkerIds"]:
            if worker in reviewed:
                self.notified.append({"worker": worker, "subject": request["Subject"]})
            else:
                failures.append(
                    {
                        "WorkerId": worker,
                        "NotifyWorkersFailureCode": "HardFailure",
                        "NotifyWorkersFailureMessage": "You have not reviewed work of this worker.",
                    }
                )
        return {"NotifyWorkersFailureStatuses": failures}

    # Parts

    def status_of(self, hit: HIT) -> str:
        """Status of a HIT by its assignments and its expiration."""
        if hit.is_disposed:
            return "Disposed"
        if hit.is_reviewing:
            return "Reviewing"
        n = Counter(row.status for row in self._of(hit))
        n_left = hit.max_assignments - n["Accepted"] - sum(n[status] for status in REVIEWABLE)
        if n_left > 0 and self.now() < hit.expires_at:
            return "Assignable"
        return "Unassignable" if n["Accepted"] else "Reviewable"

    def _of(self, hit: HIT) -> list[Assignment]:
        return [row for row in self.assignments.values() if row.hit is hit]

    def _hit(self, hit_id: str) -> HIT:
        hit = self.hits.get(hit_id)
        if hit is None:
            raise TurkError("AWS.MechanicalTurk.HITDoesNotExist", f"Hit {hit_id} does not exist.")
        return hit

    def _qualification(self, kind: str) -> str:
        if kind not in self.qualifications:
            raise TurkError(
                "AWS.MechanicalTurk.QualificationTypeDoesNotExist",
                f"QualificationType {kind} does not exist.",
            )
        return kind

    def _open_assignment(self, assignment_id: str) -> Assignment:
        """An accepted assignment; the error is that of the worker's site."""
        assignment = self.assignments.get(assignment_id)
        if assignment is None or assignment.status != "Accepted":
            raise invalid("There was a problem submitting your results for this HIT.")
        return assignment

    def _reviewable(self, assignment_id: str) -> Assignment:
        assignment = self.assignments.get(assignment_id)
        if assignment is None:
            raise TurkError(
                "AWS.MechanicalTurk.AssignmentDoesNotExist", f"Assignment {assignment_id} does not exist."
            )
        if assignment.status not in REVIEWABLE:
            raise TurkError(
                "AWS.MechanicalTurk.InvalidAssignmentState",
                "This operation can be called with a status of: Reviewable,Approved,Rejected",
            )
        return assignment

    def _cost(self, kind: HITType, n_assignments: int) -> int:
        reward = cents(kind.fields["Reward"])
        return reward + fee(reward, n_assignments=n_assignments, has_masters=has_masters(kind))

    def _check_funds(self, amount: int) -> None:
        if amount > self.balance_minor:
            raise TurkError(
                "AWS.MechanicalTurk.InsufficientFunds",
                "This Requester has insufficient funds in their account to complete this transaction.",
            )

    def _pay_reward(self, assignment: Assignment) -> None:
        kind = assignment.hit.type
        reward = cents(kind.fields["Reward"])
        n = assignment.hit.max_assignments
        self._move("reward", assignment, reward, fee(reward, n_assignments=n, has_masters=has_masters(kind)))
        assignment.status, assignment.approved_at = "Approved", self.now()

    def _move(self, kind: str, assignment: Assignment, amount: int, fees: int, *, reason: str = "") -> None:
        self._check_funds(amount + fees)
        self.balance_minor -= amount + fees
        self.transfers.append(
            Transfer(kind, assignment.worker, assignment.id, amount, fees, reason, self.now())
        )

    def _used(self, name: str, memory_s: float) -> str:
        """What a token was used for, while it is remembered."""
        at, reference = self.tokens.get(tuple(name.split(":", 1)), (0.0, ""))
        return reference if self.now() - at < memory_s else ""

    def _remember(self, name: str, reference: str) -> None:
        kind, _, token = name.partition(":")
        if token:
            self.tokens[kind, token] = (self.now(), reference)

    def _page(self, request: dict, name: str, rows: list[dict]) -> dict:
        token = request.get("NextToken", "p0")
        start = int(token[1:]) if re.fullmatch(r"p\d+", token) else -1
        if not 0 <= start <= len(rows):
            raise invalid(f"{token!r} is no valid NextToken.")
        size = request.get("MaxResults", 10)
        page = rows[start : start + size]
        goes_on = bool(page) if self.ends_with_empty_page else start + size < len(rows)
        return {
            "NumResults": len(page),
            name: page,
            **({"NextToken": f"p{start + len(page)}"} if goes_on else {}),
        }

    def _hit_structure(self, hit: HIT) -> dict:
        n = Counter(row.status for row in self._of(hit))
        taken = n["Accepted"] + sum(n[status] for status in REVIEWABLE)
        return {
            "HITId": hit.id,
            "HITTypeId": hit.type.id,
            "HITGroupId": group_of(hit.type),
            "CreationTime": hit.created_at,
            **hit.type.fields,
            "Question": hit.question,
            "HITStatus": self.status_of(hit),
            "HITReviewStatus": "NotReviewed",
            "MaxAssignments": hit.max_assignments,
            "Expiration": hit.expires_at,
            **({"RequesterAnnotation": hit.annotation} if hit.annotation else {}),
            "NumberOfAssignmentsPending": n["Accepted"],
            "NumberOfAssignmentsAvailable": hit.max_assignments - taken,
            "NumberOfAssignmentsCompleted": n["Approved"] + n["Rejected"],
        }

    def _assignment_structure(self, assignment: Assignment) -> dict:
        times = {
            "ApprovalTime": assignment.approved_at,
            "RejectionTime": assignment.rejected_at,
        }
        return {
            "AssignmentId": assignment.id,
            "WorkerId": assignment.worker,
            "HITId": assignment.hit.id,
            "AssignmentStatus": assignment.status,
            "AutoApprovalTime": assignment.auto_approval_at,
            "AcceptTime": assignment.accepted_at,
            "SubmitTime": assignment.submitted_at,
            "Deadline": assignment.deadline,
            **{name: value for name, value in times.items() if value},
            "Answer": answer_document(assignment.fields),
            **({"RequesterFeedback": assignment.feedback} if assignment.feedback else {}),
        }


def new_id() -> str:
    """An id as the platform makes them."""
    return "3" + secrets.token_hex(14).upper()


def group_of(kind: HITType) -> str:
    """The HITGroupId of a kind of HIT."""
    return f"3G{kind.id[2:]}"


def wrong_state(status: str) -> TurkError:
    """The error for work that was reviewed before."""
    return TurkError(
        "AWS.MechanicalTurk.InvalidAssignmentState",
        f"This operation can be called with a status of: Submitted (the assignment is {status}).",
    )


def wrong_hit_state(status: str) -> TurkError:
    """The error for a HIT in a state that the operation does not take."""
    return TurkError(
        "AWS.MechanicalTurk.InvalidHITState",
        f"This HIT is currently in the state '{status}', which does not allow this operation.",
    )


def has_masters(kind: HITType) -> bool:
    """Whether a kind of HIT is for Masters, who cost more."""
    requirements = kind.fields.get("QualificationRequirements", [])
    return any(row["QualificationTypeId"] == MASTERS for row in requirements)


def fee(amount: int, *, n_assignments: int = 1, has_masters: bool = False) -> int:
    """Fee in cents: 20 %, 40 % from ten assignments on, 5 % more for Masters; at least a cent."""
    percent = 20 + (20 if n_assignments >= 10 else 0) + (5 if has_masters else 0)
    return max(1, int((Decimal(amount) * percent / 100).quantize(Decimal(1), ROUND_HALF_UP)))


def meets(requirement: dict, worker: Worker) -> bool:
    """Whether a worker meets one requirement."""
    kind, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
    values: Iterable = requirement.get("IntegerValues") or [
        locale["Country"] for locale in requirement.get("LocaleValues", [])
    ]
    system = {
        LOCALE: worker.country,
        PERCENT_APPROVED: worker.percent_approved,
        N_APPROVED: worker.n_approved,
        ADULT: 1,
    }
    value = system.get(kind, worker.granted.get(kind))
    if comparator in {"Exists", "DoesNotExist"}:
        return (value is not None) == (comparator == "Exists")
    if comparator in {"NotEqualTo", "NotIn"}:
        return value not in values
    if value is None:
        return False
    limit = next(iter(values))
    return {
        "EqualTo": value == limit,
        "In": value in values,
        "LessThan": value < limit,
        "LessThanOrEqualTo": value <= limit,
        "GreaterThan": value > limit,
        "GreaterThanOrEqualTo": value >= limit,
    }[comparator]


def answer_document(fields: dict[str, str]) -> str:
    """The fields of a worker's form as QuestionFormAnswers."""
    root = ElementTree.Element("QuestionFormAnswers", xmlns=ANSWERS)
    for name, text in fields.items():
        answer = ElementTree.SubElement(root, "Answer")
        ElementTree.SubElement(answer, "QuestionIdentifier").text = name
        ElementTree.SubElement(answer, "FreeText").text = text
    return '<?xml version="1.0" encoding="ASCII"?>' + ElementTree.tostring(root, encoding="unicode")
