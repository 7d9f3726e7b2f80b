"""The interface that every recruitment platform implements, with its value types and errors.

An adapter translates; it decides nothing and stores nothing but ``campaign.platform_data``. Everything that
changes something on a platform goes through ``ledger.carry_out``, which commits a row before the call.
Adapters send each request once: they never repeat a request whose answer is missing.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any

from django.utils.module_loading import import_string

from analysis.errors import BadInput, UnknownName
from experiments.models import Campaign, Mode, PlatformAccount
from judgments.models import PlatformCall, Submission

#: Adapters by ``Campaign.recruiter``, imported when first used.
RECRUITERS = {
    "direct": "judgments.recruitment.direct.DirectLink",
    "panel": "judgments.recruitment.direct.Panel",
    "prolific": "judgments.recruitment.prolific.recruiter.ProlificRecruiter",
    "mturk": "judgments.recruitment.mturk.recruiter.MTurkRecruiter",
}


class PlatformError(BadInput):
    """A call to a platform that did not succeed; the text says what happened, what is safe and what to do.

    ``code`` is the platform's own code. ``ends_batch`` is whether further calls of a batch would fail alike:
    no money, a token that is not accepted, a service that is down.
    """

    def __init__(self, message: str, *, remedy: str = "", code: str = "", ends_batch: bool = False) -> None:
        super().__init__(message, remedy=remedy)
        self.code, self.ends_batch = code, ends_batch


class Refused(PlatformError):
    """The platform understood and refused: nothing happened there."""


class Busy(PlatformError):
    """The platform did not act (429, 503, no connection): the same call may be sent later."""

    def __init__(
        self, message: str, *, remedy: str = "", code: str = "", retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, remedy=remedy, code=code, ends_batch=True)
        self.retry_after_s = retry_after_s


class AnswerLost(PlatformError):
    """The request was sent, and no usable answer came: the platform may have acted."""

    def __init__(self, message: str, *, remedy: str = "", code: str = "") -> None:
        super().__init__(message, remedy=remedy, code=code, ends_batch=True)


class Outcome(Enum):
    """What the platform says about a call whose answer was lost."""

    DONE = "done"
    NOT_DONE = "not_done"
    CANNOT_SAY = "cannot_say"


class Level(StrEnum):
    """How serious a finding is."""

    ERROR = "error"  # publishing is refused
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """One result of a check, with the setting it is about (a name of the campaign's form)."""

    level: Level
    text: str
    remedy: str = ""
    field: str = ""


@dataclass(frozen=True)
class Money:
    """An amount in minor units."""

    amount_minor: int
    currency: str


@dataclass(frozen=True)
class Cost:
    """What places cost: what participants get, the platform's fees (taxes included) and their sum."""

    reward_minor: int
    fee_minor: int
    currency: str
    note: str = ""

    @property
    def total_minor(self) -> int:
        """Reward and fees."""
        return self.reward_minor + self.fee_minor


class RemoteState(StrEnum):
    """State of a campaign on the platform, in the same words for all platforms."""

    DRAFT = "draft"
    STARTING = "starting"  # scheduled, or being published
    RUNNING = "running"
    PAUSED = "paused"
    FULL = "full"  # every place is taken; may run on when a place is freed
    FINISHED = "finished"
    MISSING = "missing"  # the platform has no campaign with this id
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class PlatformState:
    """A campaign as the platform reports it; ``word`` is the platform's own."""

    state: RemoteState
    places: int
    places_taken: int
    link: str = ""
    word: str = ""


@dataclass(frozen=True)
class PlatformSubmission:
    """A submission as the platform reports it; ``person`` is the platform's id of the participant."""

    id: str
    person: str
    status: Submission.Status
    word: str = ""
    started_at: datetime | None = None
    submitted_at: datetime | None = None
    code: str = ""
    decide_by: datetime | None = None
    paid_bonus_minor: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Bonus:
    """A bonus for one submission.

    ``person`` is the platform's id of the participant from the vault; empty if the vault has none, and then
    the adapter looks it up by the submission. ``payment_key`` is the same for the same payment, at most 64
    characters: the idempotency token where the platform has one.
    """

    submission: str
    person: str
    amount_minor: int
    currency: str
    reason: str
    payment_key: str


@dataclass(frozen=True)
class PreparedBonuses:
    """Bonuses that the platform has set up and not paid.

    ``paid_before`` is, by submission, the sum of bonuses that the platform reports at this moment.
    """

    id: str
    amount_minor: int
    fee_minor: int
    paid_before: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Message:
    """A message between us and a participant."""

    id: str
    person: str
    is_ours: bool
    text: str
    sent_at: datetime


@dataclass(frozen=True)
class PlannedCall:
    """A request that would be sent; the body has no secrets."""

    method: str
    address: str
    body: Mapping[str, Any] = field(default_factory=dict)


class Recruiter(ABC):
    """One platform with one account.

    Every method that changes something either returns (the platform confirmed), or raises ``Refused``,
    ``Busy`` or ``AnswerLost``; it raises ``AnswerLost`` whenever the platform may have acted. A state that
    was reached already (approved twice, paused twice) counts as confirmed.
    """

    name: str
    label: str
    #: What the platform can do beyond recruiting; a method without its feature raises ``Refused``.
    decides: bool = False  # approve and reject
    requests_returns: bool = False
    pays_bonuses: bool = False
    has_messages: bool = False
    #: Bonuses in one call; with ``prepares_bonuses`` two calls pay: ``prepare_bonuses``, ``pay_bonuses``.
    bonuses_per_call: int = 1
    prepares_bonuses: bool = False
    reject_categories: Mapping[str, str] = {}
    shortest_reject_message: int = 1
    longest_reject_message: int = 1000

    def __init__(self, account: PlatformAccount | None = None) -> None:
        self.account = account

    @property
    def is_test(self) -> bool:
        """Whether nothing here spends money: a sandbox or test mode."""
        return self.account is not None and self.account.mode == Mode.TEST

    # Reading

    @abstractmethod
    def check(self, campaign: Campaign) -> list[Finding]:
        """Errors and warnings before publishing: texts, places, codes, filters, pay per hour, balance."""

    @abstractmethod
    def cost(self, campaign: Campaign, *, places: int) -> Cost:
        """What so many places cost, with the platform's fees."""

    @abstractmethod
    def state(self, campaign: Campaign) -> PlatformState:
        """The campaign as the platform reports it."""

    @abstractmethod
    def submissions(self, campaign: Campaign) -> Iterator[PlatformSubmission]:
        """All submissions, from all pages of the platform's list."""

    @abstractmethod
    def outcome(self, call: PlatformCall) -> Outcome:
        """Ask the platform whether a call whose answer was lost took effect.

        ``call.request`` has the arguments, ``call.key`` the idempotency key, ``call.submission`` the
        submission. Of ``pay_bonuses``, ``call.request["prepared_id"]`` is the id of the prepared bonuses, and
        ``call.request["expected_bonuses"]`` the sum by submission that the platform reports if, and only if,
        these were paid. Money: DONE and NOT_DONE only if the platform's answer proves it; whatever is in
        progress there is CANNOT_SAY.
        """

    @abstractmethod
    def planned(self, action: str, campaign: Campaign, **arguments: Any) -> list[PlannedCall]:
        """Dry run: the requests that a kind of call (``PlatformCall.Kind``) would send, in their order."""

    def bonus_fee(self, amount_minor: int) -> int:
        """The platform's fee on a bonus in minor units, as far as it is known beforehand."""
        return 0

    def balance(self) -> Money | None:
        """Money available in the account; None where the platform does not report it."""
        return None

    # The campaign

    @abstractmethod
    def create(self, campaign: Campaign, *, key: str) -> str:
        """Create the draft on the platform and return its id; with the same key again, the same draft."""

    @abstractmethod
    def publish(self, campaign: Campaign, *, key: str) -> None:
        """Let participants find the campaign; from here on money is spent."""

    @abstractmethod
    def add_places(self, campaign: Campaign, n: int, *, total: int, key: str) -> None:
        """Add ``n`` places, so that there are ``total``; repeated with the same total, nothing is added."""

    @abstractmethod
    def pause(self, campaign: Campaign, *, key: str) -> None:
        """Admit nobody else for now; who has begun may finish."""

    @abstractmethod
    def resume(self, campaign: Campaign, *, key: str) -> None:
        """Admit participants again."""

    @abstractmethod
    def stop(self, campaign: Campaign, *, key: str) -> None:
        """Admit nobody else for good."""

    def close(self, campaign: Campaign) -> None:
        """Tidy up on the platform when everybody is decided and paid; repeated, it changes nothing."""
        return None

    # Decisions and money

    def approve(self, submission: Submission, *, key: str) -> None:
        """Approve a submission: the platform pays the reward."""
        raise self._unable("approve a submission")

    def reject(self, submission: Submission, *, category: str, message: str, key: str) -> None:
        """Reject a submission with a ground of ``reject_categories`` and a message to the participant."""
        raise self._unable("reject a submission")

    def request_return(self, submission: Submission, *, reason: str, key: str) -> None:
        """Ask the participant to return the submission."""
        raise self._unable("ask to return a submission")

    def prepare_bonuses(
        self, campaign: Campaign, bonuses: Sequence[Bonus], *, key: str
    ) -> PreparedBonuses | None:
        """Set up bonuses without paying them; None if the platform pays at once."""
        return None

    def pay_bonuses(
        self, campaign: Campaign, bonuses: Sequence[Bonus], *, key: str, prepared_id: str = ""
    ) -> None:
        """Pay at most ``bonuses_per_call`` bonuses, or those prepared; never repeated before ``outcome``."""
        raise self._unable("pay a bonus")

    # Messages

    def messages(self, campaign: Campaign, *, person: str) -> list[Message]:
        """Messages between us and a participant, the oldest first."""
        raise self._unable("show messages")

    def recent_messages(self, campaign: Campaign, *, since: datetime) -> list[Message]:
        """What participants of the campaign wrote since then, the newest first."""
        raise self._unable("show messages")

    def send_message(self, campaign: Campaign, *, person: str, text: str, key: str) -> None:
        """Send a message to a participant."""
        raise self._unable("send a message")

    def _unable(self, action: str) -> Refused:
        return Refused(
            f"{self.label} cannot {action} from here: nothing was sent.", remedy="Do this on the site itself."
        )


def recruiter_of(campaign: Campaign) -> Recruiter:
    """The adapter of a campaign with the campaign's account."""
    return adapter(campaign.recruiter)(campaign.account)


def adapter(name: str) -> type[Recruiter]:
    """The adapter class of a platform."""
    if name not in RECRUITERS:
        raise UnknownName("recruiter", name, sorted(RECRUITERS))
    recruiter: type[Recruiter] = import_string(RECRUITERS[name])
    return recruiter
