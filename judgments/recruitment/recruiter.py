"""The interface that every recruitment platform implements, with its value types and errors.

An adapter translates; it decides nothing and stores nothing but ``campaign.platform_data``. Everything that
changes something on a platform goes through ``ledger.carry_out``, which commits a row before the call.
Adapters send each request once: they never repeat a request whose answer is missing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from functools import wraps
from typing import Any, ClassVar

from django import forms
from django.http import HttpRequest
from django.utils.module_loading import import_string

from analysis.errors import BadInput
from analysis.plugins.registry import Plugin, PluginFailure, Registry
from experiments.models import Campaign, Experiment, Mode, PlatformAccount
from experiments.studies.completion_url import filled_address
from judgments.models import PlatformCall, PlatformIdentity, Session, Submission

#: Built-in adapters by ``Campaign.recruiter``, imported when first used.
BUILT_IN: dict[str, "str | type[Recruiter]"] = {
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
    """The platform's record of a call whose response was lost."""

    DONE = "done"
    NOT_DONE = "not_done"
    CANNOT_SAY = "cannot_say"


class Level(StrEnum):
    """Severity of a finding."""

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
    """Cost of places: what participants get, the platform's fees (taxes included) and their sum."""

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


@dataclass(frozen=True)
class HandInForm:
    """The form that hands in a session on the platform's site; without an assignment, the work is returned.

    It has no token of ours: the other site would store it.
    """

    assignment: str = ""
    receipt: str = ""
    action: str = ""


@dataclass(frozen=True)
class ArrivalLink:
    """Parameters of an arrival's link: the id that it claims or proves, other personal ones, and the rest."""

    external_id: str = ""
    is_verified: bool = False
    personal: dict[str, str] = field(default_factory=dict)
    other: dict[str, str] = field(default_factory=dict)
    channel: Campaign | None = None
    submission: str = ""
    submission_parameter: str = ""  # key in ``personal``, where each submission has a session of its own
    is_expired: bool = False
    is_preview: bool = False  # nothing may be stored
    key: str = ""  # the same for the same submission, where the platform names it; else of the consent form
    clean_address: str = ""  # where the arrival continues, without the ids of the link
    hand_in: HandInForm | None = None

    def return_address(self, outcome: str) -> str:
        """The channel's return link of a participant without a session; empty if there is none."""
        template = self.channel.return_template(outcome) if self.channel else ""
        return filled_address(template, participant=self.external_id, session=self.submission)

    def is_same_submission(self, identity: PlatformIdentity) -> bool:
        """Whether the submission of this link is the one with which the participant began."""
        return bool(identity.parameters.get(self.submission_parameter) == self.submission)


class Recruiter(ABC):
    """One platform with one account.

    Every method that changes something either returns (the platform confirmed), or raises ``Refused``,
    ``Busy`` or ``AnswerLost``; it raises ``AnswerLost`` whenever the platform may have acted. A state that
    was reached already (approved twice, paused twice) counts as confirmed.
    """

    name: str
    label: str
    #: Of recruiters that packages offer. Secrets of an account: the name of each and its label on the form.
    secrets: ClassVar[Mapping[str, str]] = {}
    secrets_help: ClassVar[str] = ""  # where a person gets them on the platform's own site
    currencies: ClassVar[tuple[str, ...]] = ("USD",)
    #: Whether calls of an account in test mode go to a sandbox. Without one,
    #: calls that admit participants or spend money are refused in test mode before they reach the adapter.
    has_sandbox: ClassVar[bool] = False
    #: Parameters of the participants' link with the placeholders that the platform fills in: the first is the
    #: id of the participant, the second, if any, that of the submission.
    link_parameters: ClassVar[Mapping[str, str]] = {"participant": ""}
    #: Where participants are led afterwards, by outcome (``panel.OUTCOMES``); may have ``{participant}`` and
    #: ``{session}``, the id of the submission.
    return_links: ClassVar[Mapping[str, str]] = {}
    longest_title: ClassVar[int] = 120
    longest_description: ClassVar[int] = 3000
    #: Whether the platform's site shows our pages in a frame, without cookies, and takes a form at the end.
    is_framed: ClassVar[bool] = False
    plugin: ClassVar[Plugin | None] = None
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

    # Arrivals and participants' pages

    @classmethod
    def identify(cls, request: HttpRequest, experiment: Experiment, detail: str) -> ArrivalLink | None:
        """Read the link of an arrival with the last part of its address; None if it leads to no campaign."""
        return None

    @classmethod
    def framing_sites(cls) -> tuple[str, ...]:
        """Sites that may show participants' pages in a frame."""
        return ()

    @classmethod
    def form_sites(cls) -> tuple[str, ...]:
        """Sites to which the form of :meth:`hand_in_form` may be sent."""
        return ()

    @classmethod
    def hand_in_form(cls, session: Session) -> HandInForm | None:
        """The form that ends a session; None where none is needed."""
        return None

    # Reading

    def setting_fields(self, campaign: Campaign) -> dict[str, forms.Field]:
        """Form fields of the platform's own settings, stored in ``campaign.options["settings"]``."""
        return {}

    @abstractmethod
    def check(self, campaign: Campaign) -> list[Finding]:
        """Errors and warnings before publishing: texts, places, codes, filters, pay per hour, balance."""

    @abstractmethod
    def cost(self, campaign: Campaign, *, places: int) -> Cost:
        """Return the cost of places, with the platform's fees."""

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
    def plan_calls(self, action: str, campaign: Campaign, **arguments: Any) -> list[PlannedCall]:
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
        """Pause admission; participants who have begun may finish."""

    @abstractmethod
    def resume(self, campaign: Campaign, *, key: str) -> None:
        """Admit participants again."""

    @abstractmethod
    def stop(self, campaign: Campaign, *, key: str) -> None:
        """End admission."""

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
        """Return messages of the campaign's participants since then, the newest first."""
        raise self._unable("show messages")

    def send_message(self, campaign: Campaign, *, person: str, text: str, key: str) -> None:
        """Send a message to a participant."""
        raise self._unable("send a message")

    def _unable(self, action: str) -> Refused:
        return Refused(
            f"{self.label} cannot {action} from here: nothing was sent.", remedy="Do this on the site itself."
        )


class PluginPlatformError(PlatformError, PluginFailure):
    """A plugin's recruiter failed while it read from its platform."""


class PluginAnswerLost(AnswerLost, PluginFailure):
    """A plugin's recruiter failed while it changed something: its platform may have acted."""


#: Methods of a plugin's recruiter that read, and those that change something, with the type of their results.
READING: Mapping[str, type | tuple[type, ...]] = {
    "setting_fields": dict,
    "check": list,
    "cost": Cost,
    "state": PlatformState,
    "submissions": object,
    "outcome": Outcome,
    "plan_calls": list,
    "bonus_fee": int,
    "balance": (Money, type(None)),
    "messages": list,
    "recent_messages": list,
}
CHANGING: Mapping[str, type | tuple[type, ...]] = {
    "create": str,
    "publish": object,
    "add_places": object,
    "pause": object,
    "resume": object,
    "stop": object,
    "close": object,
    "approve": object,
    "reject": object,
    "request_return": object,
    "prepare_bonuses": (PreparedBonuses, type(None)),
    "pay_bonuses": object,
    "send_message": object,
}
#: Calls that admit participants or move money: refused in test mode where the platform has no sandbox.
LIVE_ONLY = {"publish", "add_places", "resume", "approve", "prepare_bonuses", "pay_bonuses", "send_message"}


def _adopt(plugin: Plugin) -> "type[Recruiter]":
    """The recruiter of a plugin, checked for what the forms need, with its errors as those of a platform."""
    recruiter = plugin.component
    if not (isinstance(recruiter, type) and issubclass(recruiter, Recruiter)):
        raise TypeError("a recruiter is a subclass of judgments.recruitment.recruiter.Recruiter")
    if missing := sorted(recruiter.__abstractmethods__):
        raise TypeError(f"it lacks {', '.join(missing)}")
    if getattr(recruiter, "name", "") != plugin.name or not getattr(recruiter, "label", ""):
        raise ValueError("it needs a label, and its name has to equal the entry point's")
    if not recruiter.secrets or not recruiter.link_parameters or not recruiter.currencies:
        raise ValueError("it needs secrets, currencies and link_parameters")
    members: dict[str, Any] = {"plugin": plugin}
    members |= {name: _guarded_read(plugin, recruiter, name) for name in READING}
    members |= {name: _guarded_change(plugin, recruiter, name) for name in CHANGING}
    guarded: type[Recruiter] = type(recruiter.__name__, (recruiter,), members)
    return guarded


def _guarded_read(plugin: Plugin, recruiter: "type[Recruiter]", name: str) -> Callable[..., Any]:
    method = getattr(recruiter, name)

    @wraps(method)
    def call(self: Recruiter, *args: Any, **kwargs: Any) -> Any:
        try:
            result = method(self, *args, **kwargs)
            if name == "submissions":  # read to the end, so that nothing is raised later
                return iter(_of_type(list(result), PlatformSubmission))
            return _of_type([result], READING[name])[0]
        except PlatformError:
            raise
        except Exception as error:
            failure = plugin.failure(error)
            raise PluginPlatformError(failure.message, remedy=failure.remedy) from error

    return call


def _guarded_change(plugin: Plugin, recruiter: "type[Recruiter]", name: str) -> Callable[..., Any]:
    method = getattr(recruiter, name)

    @wraps(method)
    def call(self: Recruiter, *args: Any, **kwargs: Any) -> Any:
        if name in LIVE_ONLY and self.is_test and not self.has_sandbox:
            raise Refused(
                f"The account is in test mode, and {self.label} has no sandbox: nothing was sent.",
                remedy="Connect an account in live mode for real participants and real money.",
            )
        try:
            return _of_type([method(self, *args, **kwargs)], CHANGING[name])[0]
        except (Refused, Busy, AnswerLost):
            raise
        except Exception as error:
            failure = plugin.failure(error)
            raise PluginAnswerLost(f"{failure.message} {failure.remedy} It may have acted.") from error

    return call


def _of_type(results: list[Any], returns: type | tuple[type, ...]) -> list[Any]:
    for result in results:
        if not isinstance(result, returns):
            raise TypeError(f"it returned {type(result).__name__}")
    return results


RECRUITERS: "Registry[str | type[Recruiter]]" = Registry("recruiters", BUILT_IN, adopt=_adopt)


def plugin_recruiters() -> dict[str, type[Recruiter]]:
    """Return the recruiters that installed packages offer, by name."""
    return {name: adapter(name) for name in RECRUITERS if name not in BUILT_IN}


def get_recruiter(campaign: Campaign) -> Recruiter:
    """The adapter of a campaign with the campaign's account."""
    return adapter(campaign.recruiter)(campaign.account)


def adapter(name: str) -> type[Recruiter]:
    """The adapter class of a platform; without its package, the error names the remedy."""
    if name not in RECRUITERS and all(plugin.name != name for plugin in RECRUITERS.plugins()):
        raise PluginPlatformError(
            f"unknown recruiter {name!r}: no installed package offers it.",
            remedy="Install the package again, and restart the processes.",
        )
    recruiter = RECRUITERS.find(name, noun="recruiter")
    return import_string(recruiter) if isinstance(recruiter, str) else recruiter


def framing_adapter(campaign: Campaign | None) -> type[Recruiter] | None:
    """The adapter whose site shows the campaign's pages in a frame; None for other campaigns."""
    if campaign is None or campaign.recruiter not in RECRUITERS:
        return None
    recruiter = adapter(campaign.recruiter)
    return recruiter if recruiter.is_framed else None


def hand_in_form(session: Session) -> HandInForm | None:
    """The form that hands in a session on its platform's site; None for platforms without one."""
    recruiter = framing_adapter(session.campaign)
    return recruiter.hand_in_form(session) if recruiter else None


def platform_label(name: str) -> str:
    """The label of a platform; its name where its package is not installed."""
    return adapter(name).label if name in RECRUITERS else name
