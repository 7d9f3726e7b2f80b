"""Client of Prolific's REST API: calls, retries of reads, pages, money units and errors.

Reads are repeated a few times. A request that changes something is sent once: after a lost answer the caller
asks the platform what happened. Amounts are integers in minor units everywhere but in the rows of bonuses,
which have decimals in major units.
"""

import random
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import httpx
import structlog
from django.conf import settings
from django.utils import timezone

from judgments.recruitment.recruiter import AnswerLost, Busy, Refused

log = structlog.get_logger(__name__)
Json = dict[str, Any]

API = "/api/v1"
PAGE_SIZE = 100
MAX_PAGES = 1_000  # a list that goes on for longer is a loop of links
READ_ATTEMPTS = 3
BACKOFF_S = 0.3
MAX_WAIT_S = 5.0  # a longer Retry-After is left to the caller: a page may be waiting
TIMEOUT = httpx.Timeout(20.0, connect=5.0)
SHORT_TIMEOUT = httpx.Timeout(3.0, connect=2.0)  # while a participant waits
MAX_DETAIL_CHARACTERS = 500
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
NEW_TOKEN = "Create a new token on Prolific under Settings, API tokens, and replace it in the account."  # noqa: S105 - a sentence
TRY_LATER = "Try again in a few minutes."
ASK_FIRST = "Reconcile first: the platform is asked what happened before anything is sent again."


@dataclass(frozen=True)
class Page:
    """One page of a list and the address of the next."""

    rows: list[Json]
    next: str


class ProlificClient:
    """The API with one token."""

    def __init__(
        self, token: str, *, timeout: httpx.Timeout = TIMEOUT, attempts: int = READ_ATTEMPTS
    ) -> None:
        self._headers = {"Authorization": f"Token {token}", "Accept": "application/json"}
        self._timeout, self._attempts = timeout, attempts
        self._http: httpx.Client | None = None

    # Account

    def workspaces(self) -> list[Json]:
        """The workspaces of the token."""
        return _rows(self.read("/workspaces/", limit=100))

    def projects(self, workspace: str) -> list[Json]:
        """The projects of a workspace."""
        return _rows(self.read(f"/workspaces/{workspace}/projects/"))

    def balance(self, workspace: str) -> int:
        """The available balance in minor units."""
        return _number(self.read(f"/workspaces/{workspace}/balance/"), "available_balance")

    def filters(self, workspace: str) -> list[Json]:
        """The platform's list of filters."""
        return _rows(self.read("/filters/", workspace_id=workspace))

    def reward_recommendations(self, workspace: str, currency: str) -> Json:
        """The minimum and the recommended reward of an hour in minor units; empty if there are none."""
        rows = self.read("/reward-recommendations/", workspace_id=workspace, currency=currency)
        entries = rows if isinstance(rows, list) else _rows(rows)
        return next((row for row in entries if row.get("currency") == currency), {})

    # Studies

    def create_study(self, values: Json) -> Json:
        """Create a draft."""
        return self.send("POST", "/studies/", values)

    def study(self, number: str) -> Json:
        """A study with all its members."""
        return self.read_one(f"/studies/{number}/")

    def studies(self, project: str) -> Iterator[Json]:
        """The studies of a project in short, from all pages."""
        return self.pages(f"/projects/{project}/studies/")

    def change_study(self, number: str, values: Json) -> Json:
        """Change members of a study."""
        return self.send("PATCH", f"/studies/{number}/", values)

    def transition(self, number: str, action: str) -> Json:
        """Publish, pause, start or stop a study."""
        return self.send("POST", f"/studies/{number}/transition/", {"action": action})

    def study_cost(self, number: str) -> Json:
        """Return the cost of a study so far, with its currency."""
        return self.read_one(f"/studies/{number}/cost/")

    def total_cost(self, reward: int, places: int) -> int:
        """Total of so many places with fees and taxes, by the platform's calculator, in minor units."""
        body = {"reward": reward, "total_available_places": places}
        answer = self._repeat("POST", "/study-cost-calculator/", body=body)
        return _number(answer, "total_cost")

    def eligible(self, filters: Sequence[Json], workspace: str) -> int:
        """Number of eligible participants; 0 means fewer than 25."""
        body = {"filters": list(filters), "workspace_id": workspace}
        return _number(self._repeat("POST", "/eligibility-count/", body=body), "count")

    # Participant groups

    def groups(self, workspace: str) -> list[Json]:
        """The participant groups of a workspace."""
        return _rows(self.read("/participant-groups/", workspace_id=workspace))

    def create_group(self, name: str, workspace: str) -> Json:
        """Create a participant group."""
        return self.send("POST", "/participant-groups/", {"name": name, "workspace_id": workspace})

    def add_to_group(self, group: str, people: Sequence[str]) -> None:
        """Add participants to a group; repeated, nothing changes."""
        self.send("POST", f"/participant-groups/{group}/participants/", {"participant_ids": list(people)})

    # Submissions

    def submissions(self, study: str) -> Iterator[Json]:
        """The submissions of a study in short, from all pages."""
        return self.pages("/submissions/", study=study)

    def submission(self, number: str) -> Json:
        """A submission with all its members."""
        return self.read_one(f"/submissions/{number}/")

    def decide(self, number: str, action: str, **more: str) -> Json:
        """Approve or reject a submission."""
        return self.send("POST", f"/submissions/{number}/transition/", {"action": action, **more})

    def request_return(self, number: str, reason: str) -> None:
        """Ask a participant to return a submission."""
        self.send("POST", f"/submissions/{number}/request-return/", {"request_return_reasons": [reason]})

    # Money

    def set_up_bonuses(self, study: str, rows: Sequence[tuple[str, int]]) -> Json:
        """Set up bonuses of (submission, amount in minor units); nothing is paid yet."""
        return self.send("POST", "/submissions/bonus-payments/", bonus_request(study, rows))

    def pay_bonuses(self, set_up: str) -> None:
        """Pay what was set up; called twice, it pays twice."""
        self.send("POST", f"/bulk-bonus-payments/{set_up}/pay/", None)

    # Messages

    def messages_with(self, person: str) -> list[Json]:
        """Messages with a participant of the last 30 days."""
        return _rows(self.read("/messages/", user_id=person))

    def messages_since(self, moment: datetime) -> list[Json]:
        """Messages from and to everybody since a moment of the last 30 days."""
        return _rows(self.read("/messages/", created_after=moment.astimezone(UTC).isoformat()))

    def send_message(self, person: str, study: str, text: str) -> None:
        """Send a message to a participant of a study."""
        self.send("POST", "/messages/", {"recipient_id": person, "body": text, "study_id": study})

    # Webhooks

    def create_webhook_secret(self, workspace: str) -> str:
        """Create the secret that signs deliveries; it replaces the one before."""
        return member(self.send("POST", "/hooks/secrets/", {"workspace_id": workspace}), "value")

    def subscriptions(self, workspace: str) -> list[Json]:
        """The webhook subscriptions of a workspace."""
        return _rows(self.read("/hooks/subscriptions/", workspace_id=workspace))

    def subscribe(self, workspace: str, event_type: str, address: str) -> str:
        """Subscribe an address to events of a type and confirm it; returns the id of the subscription."""
        body = {"workspace_id": workspace, "event_type": event_type, "target_url": address}
        response = self._send_once("POST", "/hooks/subscriptions/", body)
        number = member(self._content(response, is_read=False), "id")
        secret = response.headers.get("X-Hook-Secret", "")
        self.send("POST", f"/hooks/subscriptions/{number}/", {"secret": secret})
        return number

    def unsubscribe(self, number: str) -> None:
        """Delete a subscription."""
        self.send("DELETE", f"/hooks/subscriptions/{number}/", None)

    # Requests

    def read(self, path: str, **query: Any) -> Any:
        """GET, repeated after faults; raises ``Refused`` or ``Busy``."""
        return self._repeat("GET", path, query=query)

    def read_one(self, path: str, **query: Any) -> Json:
        """GET of one object."""
        content = self.read(path, **query)
        if not isinstance(content, dict):
            raise _uncertain("Prolific's answer is not an object", is_read=True, code="")
        return content

    def pages(self, path: str, **query: Any) -> Iterator[Json]:
        """The rows of all pages; the list ends where a page has no link to the next."""
        address, query = path, {**query, "page": 1, "page_size": PAGE_SIZE}
        for _ in range(MAX_PAGES):
            page = _page(self._repeat("GET", address, query=query))
            yield from page.rows
            if not page.next:
                return
            address, query = _own_path(page.next), {}
        raise Busy(f"Prolific's list at {path} does not end.", remedy=TRY_LATER)

    def send(self, method: str, path: str, body: Json | None) -> Json:
        """A request that changes something, sent once."""
        content = self._content(self._send_once(method, path, body), is_read=False)
        return content if isinstance(content, dict) else {}

    def _repeat(self, method: str, path: str, *, query: Mapping[str, Any] = {}, body: Any = None) -> Any:
        """A request that changes nothing, repeated after faults with a growing pause."""
        for attempt in range(1, self._attempts + 1):
            try:
                return self._content(self._request(method, path, query=query, body=body), is_read=True)
            except httpx.RequestError as error:
                busy = Busy(f"Prolific could not be reached ({_kind(error)}).", remedy=TRY_LATER)
            except Busy as error:
                busy = error
            wait_s = busy.retry_after_s
            if wait_s is None:
                wait_s = BACKOFF_S * 2 ** (attempt - 1) * random.uniform(0.5, 1.5)  # noqa: S311 - a wait, no secret
            if attempt == self._attempts or wait_s > MAX_WAIT_S:
                break
            time.sleep(wait_s)
        raise busy

    def _send_once(self, method: str, path: str, body: Json | None) -> httpx.Response:
        try:
            return self._request(method, path, body=body)
        except NOT_SENT as error:
            raise Busy(
                f"Prolific could not be reached ({_kind(error)}): nothing was sent.", remedy=TRY_LATER
            ) from None
        except httpx.RequestError as error:
            log.warning("prolific answer lost", method=method, path=path, kind=_kind(error))
            raise AnswerLost(
                f"Prolific did not answer ({_kind(error)}): it may have acted.", remedy=ASK_FIRST
            ) from None

    def _request(
        self, method: str, path: str, *, query: Mapping[str, Any] = {}, body: Any = None
    ) -> httpx.Response:
        if self._http is None:
            # Limit: no connection is used again, because one that the platform has closed meanwhile would
            # make the answer to a payment look lost.
            self._http = httpx.Client(
                base_url=settings.PROLIFIC_URL.rstrip("/") + API,
                headers=self._headers,
                timeout=self._timeout,
                limits=httpx.Limits(max_keepalive_connections=0),
                verify=_certificates(),
                follow_redirects=False,
            )
        return self._http.request(method, path, params=query or None, json=body)

    def _content(self, response: httpx.Response, *, is_read: bool) -> Any:
        """The parsed answer, or the error that it stands for."""
        status, code = response.status_code, str(response.status_code)
        if status == 429:
            raise Busy(
                "Prolific takes no more requests for the moment (429): nothing was changed.",
                remedy=TRY_LATER,
                code=code,
                retry_after_s=_retry_after_s(response),
            )
        if status >= 500:
            raise _uncertain(f"Prolific has a fault of its own ({status})", is_read=is_read, code=code)
        if status in {401, 403}:
            raise Refused(
                f"Prolific does not accept the token ({status}): nothing was changed."
                f" {_detail(response)}".rstrip(),
                remedy=NEW_TOKEN,
                code=code,
                ends_batch=True,
            )
        if status >= 300:
            detail = _detail(response)
            raise Refused(
                f"Prolific refused ({status}): {detail or 'it gave no reason'}",
                remedy="Nothing was changed there. Correct this and try again.",
                code=code,
                ends_batch="balance" in detail.lower() or "funds" in detail.lower(),
            )
        if status == 204 or not response.content:
            return {}
        try:
            return response.json()
        except ValueError:
            raise _uncertain("Prolific's answer cannot be read", is_read=is_read, code=code) from None


def bonus_request(study: str, rows: Sequence[tuple[str, int]]) -> Json:
    """The request that sets up bonuses, with amounts as decimals in major units.

    >>> bonus_request("s", [("a", 425), ("b", 30)])["csv_bonuses"]
    'a,4.25\\nb,0.30'
    """
    lines = [f"{submission},{Decimal(amount).scaleb(-2):.2f}" for submission, amount in rows]
    return {"study_id": study, "csv_bonuses": "\n".join(lines)}


def member(content: Any, name: str) -> str:
    """A member of the answer to a request that changed something; without it the answer counts as lost."""
    if not isinstance(content, dict) or not content.get(name):
        raise _uncertain(f"Prolific's answer has no “{name}”", is_read=False, code="")
    return str(content[name])


def _number(content: Any, name: str) -> int:
    """A number in the answer to a request that changes nothing."""
    value = content.get(name) if isinstance(content, dict) else None
    if not isinstance(value, int):
        raise _uncertain(f"Prolific's answer has no number “{name}”", is_read=True, code="")
    return value


def _uncertain(message: str, *, is_read: bool, code: str) -> Busy | AnswerLost:
    if is_read:
        return Busy(f"{message}.", remedy=TRY_LATER, code=code)
    return AnswerLost(f"{message}: it may have acted.", remedy=ASK_FIRST, code=code)


def _kind(error: httpx.RequestError) -> str:
    """The kind of a fault of the network, without addresses or headers."""
    return type(error).__name__


def _retry_after_s(response: httpx.Response) -> float | None:
    """Seconds of Retry-After, which is a number or a date; None without one."""
    value = response.headers.get("Retry-After", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - timezone.now()).total_seconds())
    except (ValueError, TypeError):
        return None


def _detail(response: httpx.Response) -> str:
    """The reason in an error, in any of the shapes that occur."""
    try:
        content = response.json()
    except ValueError:
        return ""
    if not isinstance(content, dict):
        return ""
    error = content.get("error", content)
    if not isinstance(error, dict):
        return str(error)[:MAX_DETAIL_CHARACTERS]
    detail = error.get("detail") or error.get("message") or error.get("title") or ""
    if isinstance(detail, dict):
        detail = "; ".join(f"{name}: {_join_texts(texts)}" for name, texts in detail.items())
    text = _join_texts(detail)
    title = str(error.get("title") or "")
    return (f"{title}: {text}" if title and title != text else text)[:MAX_DETAIL_CHARACTERS]


def _join_texts(texts: Any) -> str:
    return " ".join(map(str, texts)) if isinstance(texts, list) else str(texts)


def _rows(content: Any) -> list[Json]:
    """The rows of a list, in an envelope or bare."""
    rows = content.get("results", []) if isinstance(content, dict) else content
    return [row for row in rows if isinstance(row, dict)]


def _page(content: Any) -> Page:
    links = content.get("_links") or {} if isinstance(content, dict) else {}
    return Page(_rows(content), str((links.get("next") or {}).get("href") or ""))


def _own_path(address: str) -> str:
    """The path of a link to a further page, so that the token goes to no other host."""
    parts = urlsplit(address)
    path = parts.path.removeprefix(API)
    return f"{path}?{parts.query}" if parts.query else path


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    """Return httpx's own settings of TLS, read once: every client would read the certificates for 50 ms."""
    return httpx.create_ssl_context()
