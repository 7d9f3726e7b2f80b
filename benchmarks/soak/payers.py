"""Money under trouble: people come over doubles of Prolific and MTurk; Ada approves and pays them.

Ada presses buttons in a browser, and presses again when no answer comes. The doubles count what they were
told to pay; at the end their record is compared with the ledger.
"""

import http.client
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

from benchmarks.soak.people import CODE
from tools.doubles.mturk import DoubleServer
from tools.doubles.mturk_service import TurkService
from tools.doubles.mturk_validation import TurkError, external_url
from tools.doubles.prolific import ProlificDouble
from tools.doubles.prolific_platform import ProlificPlatform

RECEIPT = re.compile(r'name="receipt" value="([0-9a-f]+)"')
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
REST_S = 15.0
BONUS = {"action": "bonus", "amount": "0.50", "reason": "Thank you", "key": "soak"}
BALANCE = 1_000_000_000


@dataclass
class Place:
    """A place on a platform, with the link that its participant opens."""

    platform: "Platform"
    submission: str
    link: str
    code_on_page: re.Pattern[str] = CODE
    is_submitted: bool = False

    def submit(self, code: str) -> None:
        """Return with what the last page shows."""
        self.is_submitted = self.platform.submit(self.submission, code)


class Platform(Protocol):
    """A double that serves until the process ends, with money enough, and a campaign on it."""

    recruiter: str
    currency: str
    n_places: int
    campaign: dict[str, Any]  # its number here, and the id of its study there

    @property
    def secrets(self) -> dict[str, str]:
        """Of the account."""

    @property
    def settings(self) -> dict[str, str]:
        """That lead web server and worker to the double."""

    def take_place(self) -> Place:
        """Let somebody new take a place."""

    def submit(self, submission: str, code: str) -> bool:
        """Hand work in; whether the platform took it."""

    def paid(self) -> Counter[tuple[str, str]]:
        """How often each submission got its reward and a bonus."""

    def n_malformed(self) -> int:
        """Requests and responses unlike the platform's."""


class Prolific:
    """The double of Prolific."""

    recruiter, currency, n_places = "prolific", "GBP", 5_000

    def __init__(self) -> None:
        self.server = ProlificDouble(ProlificPlatform(balance=BALANCE))
        self.campaign: dict[str, Any] = {}
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def secrets(self) -> dict[str, str]:
        """The token."""
        return {"token": self.server.platform.token}

    @property
    def settings(self) -> dict[str, str]:
        """The API and the site."""
        return {"PROLIFIC_URL": self.server.url}

    def take_place(self) -> Place:
        """A submission, with the link that Prolific shows."""
        place = self.server.platform.take_place(self.campaign["study"])
        parts = urlsplit(place["url"])
        return Place(self, place["submission"], f"{parts.path}?{parts.query}")

    def submit(self, submission: str, code: str) -> bool:
        """Enter the code of completion."""
        self.server.submit(submission, code)
        return True

    def paid(self) -> Counter[tuple[str, str]]:
        """Rewards and bonuses."""
        return paid_by(self.server.money())

    def n_malformed(self) -> int:
        """Shapes unlike Prolific's."""
        return len(self.server.shape_errors)


class MTurk:
    """The double of MTurk: workers accept assignments and hand in the receipt of our last page."""

    recruiter, currency, n_places = "mturk", "USD", 900  # 100 HITs of nine places

    def __init__(self) -> None:
        self.service = TurkService(balance_minor=BALANCE)
        self.server = DoubleServer(self.service)
        self.campaign: dict[str, Any] = {}
        self.n_workers = 0
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def secrets(self) -> dict[str, str]:
        """The access key."""
        key, secret = next(iter(self.service.keys.items()))
        return {"access_key_id": key, "secret_access_key": secret}

    @property
    def settings(self) -> dict[str, str]:
        """The API, and the site whose frame shows our pages."""
        return {"MTURK_ENDPOINT": self.server.url, "MTURK_WORKER_SITES": self.server.url}

    def take_place(self) -> Place:
        """An assignment, with the address that its frame opens."""
        service = self.service
        with service.lock:
            hits = [hit for hit in service.hits.values() if hit.type.id == self.campaign["study"]]
            hit = next(hit for hit in hits if service.status_of(hit) == "Assignable")
            self.n_workers += 1
            assignment = service.accept(hit.id, f"ASOAK{self.n_workers}")
        address = urlsplit(external_url(hit.question))
        query = {
            "assignmentId": assignment.id,
            "hitId": hit.id,
            "workerId": assignment.worker,
            "turkSubmitTo": f"{self.server.url}/",
        }
        return Place(
            self, assignment.id, f"{address.path}?{address.query}&{urlencode(query)}", code_on_page=RECEIPT
        )

    def submit(self, submission: str, code: str) -> bool:
        """Send the form of our last page; work whose time is over is not taken."""
        try:
            self.service.submit({"assignmentId": submission, "receipt": code})
        except TurkError:
            return False
        return True

    def paid(self) -> Counter[tuple[str, str]]:
        """Rewards and bonuses."""
        with self.service.lock:
            return Counter((row.kind, row.assignment) for row in self.service.transfers)

    def n_malformed(self) -> int:
        """Requests that MTurk's service model refuses."""
        return len(self.service.refusals)


class Browser:
    """Ada's: it keeps cookies, and repeats a request until it is answered."""

    def __init__(self, port: int, is_over: Callable[[], bool]) -> None:
        self.port, self.is_over = port, is_over
        self.cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Status, text and location of the first answer that is none of the server's failures."""
        while True:
            with suppress(OSError, http.client.HTTPException):
                status, text, location = self._once(method, path, form)
                if status < 500 and status != 429:
                    return status, text, location
            if self.is_over():
                raise TimeoutError(path)
            time.sleep(1)

    def _once(self, method: str, path: str, form: dict[str, str] | None) -> tuple[int, str, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"Cookie": cookies, "Content-Type": "application/x-www-form-urlencoded"}
        body = urlencode({**form, "csrfmiddlewaretoken": self.cookies.get("csrftoken", "")}) if form else None
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            for name, value in answer.getheaders():
                if name.lower() == "set-cookie":
                    cookie, _, content = value.partition(";")[0].partition("=")
                    self.cookies[cookie] = content
            return answer.status, answer.read().decode(), answer.getheader("Location") or ""
        finally:
            connection.close()

    def log_in(self, name: str) -> None:
        """Log in with the password of the cast."""
        page = "/accounts/login/"
        self.ask("GET", page)
        status, _, location = self.ask("POST", page, {"login": name, "password": f"{name}-password"})
        if status != 302 or page in location:
            raise RuntimeError(f"{name} cannot log in: {status}")


@dataclass(eq=False)  # a thread is hashed by identity
class Ada(threading.Thread):
    """Reads the platform, approves all who submitted, gives each a bonus and sends, again and again."""

    port: int
    campaign: str  # path of its pages
    n_rounds: int = 0
    problems: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.is_told_to_stop = threading.Event()
        self.browser = Browser(self.port, self.is_told_to_stop.is_set)

    def run(self) -> None:
        """Until told to stop."""
        with suppress(TimeoutError):
            self.browser.log_in("ada")
            while not self.is_told_to_stop.wait(REST_S):
                self.round()

    def round(self) -> None:
        """What she does about every quarter of a minute."""
        undecided = {"scope": "matching", "newest": str(10**9), "return_query": "show=undecided"}
        approved = {**undecided, "return_query": "show=decided"}
        self._press("read/", {"go": "1"})
        self._press("submissions/decide/", {**approved, **BONUS})
        self._press("submissions/decide/", {**undecided, "action": "approve"})
        self._press("submissions/decide/", {**approved, **BONUS})
        self._press("send/", {"go": "1"})
        self.n_rounds += 1

    def _press(self, button: str, form: dict[str, str]) -> None:
        status, _, _ = self.browser.ask("POST", f"{self.campaign}{button}", form)
        if status != 302:
            self.problems[f"{button} answered {status}"] += 1

    def stop(self) -> None:
        """End after the request under way."""
        self.is_told_to_stop.set()
        self.join(60)


def paid_by(money: Counter[tuple[object, ...]]) -> Counter[tuple[str, str]]:
    """How often each submission got its reward and a bonus, whatever its amount."""
    paid: Counter[tuple[str, str]] = Counter()
    for fact, times in money.items():
        paid[str(fact[0]), str(fact[1])] += times
    return paid


def audit_money(paid: Counter[tuple[str, str]], submitted: set[str], facts: dict[str, Any]) -> dict[str, int]:
    """What the platform paid against the ledger and those who submitted, by kind of disagreement."""
    confirmed = {(kind, submission) for kind, submission in facts["confirmed"]}
    open_ones = {(kind, submission) for kind, submission in facts["open"]}
    due = {(kind, submission) for kind in ("reward", "bonus") for submission in submitted}
    return {
        "payments doubled": sum(times - 1 for times in paid.values()),
        "payments missing": sum(fact not in paid for fact in due),
        "payments made and not in the ledger": sum(fact not in confirmed | open_ones for fact in paid),
        "payments in the ledger and not made": sum(fact not in paid for fact in confirmed),
        "payments left open": len(open_ones),
    }


def address_of(slug: str, campaign: int) -> str:
    """The path of a campaign's pages."""
    return f"/studies/{quote(slug)}/campaigns/{campaign}/"
