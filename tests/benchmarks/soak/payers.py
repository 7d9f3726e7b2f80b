"""Money under trouble: people who come over a double of Prolific, and Ada, who approves and pays them.

Ada presses buttons in a browser, and presses again when no answer comes. The double counts what it was told
to pay; at the end its record is compared with the ledger.
"""

import http.client
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tests.doubles.prolific import ProlificDouble
from tests.doubles.prolific_platform import ProlificPlatform

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
REST_S = 15.0
BONUS = {"action": "bonus", "amount": "0.50", "reason": "Thank you", "key": "soak"}
BALANCE = 1_000_000_000


def double() -> ProlificDouble:
    """A platform that serves until the process ends, with money enough."""
    server = ProlificDouble(ProlificPlatform(balance=BALANCE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@dataclass
class Place:
    """A place on the platform, with the link that its participant opens."""

    server: ProlificDouble
    submission: str
    link: str
    code: str
    is_submitted: bool = False

    @classmethod
    def take(cls, server: ProlificDouble, campaign: dict[str, str]) -> "Place":
        """Let somebody new take a place."""
        place = server.platform.take_place(campaign["study"])
        parts = urlsplit(place["url"])
        return cls(server, place["submission"], f"{parts.path}?{parts.query}", campaign["code"])

    def submit(self) -> None:
        """Return with the code of completion."""
        self.server.submit(self.submission, self.code)
        self.is_submitted = True


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


def paid_by(server: ProlificDouble) -> Counter[tuple[str, str]]:
    """How often each submission got its reward and a bonus."""
    paid: Counter[tuple[str, str]] = Counter()
    for fact, times in server.money().items():
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
