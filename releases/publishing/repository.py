"""The interface that every repository implements: find or create the deposit of a release, fill it, open it.

Every step may be called again, because a job that lost an answer starts again: a deposit is looked up by its
marker before one is created, and files are compared with what the repository lists before they are sent.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import structlog

from analysis.errors import BadInput
from analysis.gold.citation import Licence
from experiments.operation.job_runner import IOFailure

log = structlog.get_logger(__name__)
TIMEOUT = httpx.Timeout(120.0, connect=10.0)  # seconds; a repository computes checksums before it answers
BLOCK = 1 << 20  # bytes read at a time
MAX_DETAIL_CHARACTERS = 300
KEYWORDS = ("acceptability judgments", "minimal pairs", "linguistics")
Advance = Callable[[str], None]


class Refused(BadInput):
    """The repository understood and refused: trying again changes nothing."""


@dataclass(frozen=True)
class LocalFile:
    """One file to send, with its digests by algorithm; ``git`` is the id of a blob."""

    name: str
    path: Path
    size: int
    digests: Mapping[str, str]


def local_file(name: str, path: Path) -> LocalFile:
    """Read a file once and compute every digest that a repository may list."""
    size = path.stat().st_size
    md5, sha256 = hashlib.md5(usedforsecurity=False), hashlib.sha256()
    git = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            for digest in (md5, sha256, git):
                digest.update(block)
    digests = {"md5": md5.hexdigest(), "sha256": sha256.hexdigest(), "git": git.hexdigest()}
    return LocalFile(name, path, size, digests)


@dataclass(frozen=True)
class Description:
    """Metadata of a release for a repository; texts are plain."""

    title: str
    summary: str
    creators: tuple[str, ...]
    licence: Licence | None
    year: str
    number: int
    replaces_doi: str = ""


@dataclass(frozen=True)
class Order:
    """One publication: the deposit as far as it is known, and what it shall be.

    ``earlier_ids`` are deposits of earlier releases of the study, the newest first.
    """

    marker: str
    deposit_id: str
    target: str
    is_public: bool
    may_replace: bool
    description: Description
    earlier_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Deposit:
    """The deposit of a release as the repository has it."""

    id: str
    address: str
    doi: str = ""
    is_public: bool = False
    files_url: str = ""
    revision: str = ""
    concept_doi: str = ""  # of all versions of the record; it leads to the newest


class Repository(ABC):
    """A repository with one token."""

    label = ""
    #: A deposit is flat: each folder of a release is sent as one ZIP.
    is_flat = False

    def __init__(self, token: str, url: str) -> None:
        self.token, self.url = token, url.rstrip("/")

    @abstractmethod
    def user_name(self) -> str:
        """Return the owner of the token; raises ``Refused`` for a wrong token."""

    @abstractmethod
    def find_or_create(self, order: Order) -> Deposit:
        """The deposit of an order, created if there is none."""

    @abstractmethod
    def contents(self, deposit: Deposit) -> dict[str, str]:
        """The files of the deposit: names, and digests as ``algorithm:hexadecimal``."""

    @abstractmethod
    def upload(
        self, deposit: Deposit, files: Sequence[LocalFile], stale: Sequence[str], *, advance: Advance
    ) -> None:
        """Send files and delete those of an earlier release; ``advance`` is called with each name."""

    @abstractmethod
    def open(self, deposit: Deposit) -> Deposit:
        """Make the deposit public."""

    def current(self, deposit: Deposit) -> Deposit:
        """The deposit with the facts that the uploads changed."""
        return deposit


class RestClient:
    """HTTP with a bearer token; no answer is an ``IOFailure``, after which a job tries again."""

    def __init__(self, label: str, token: str, hosts: Sequence[str]) -> None:
        self.label, self.token, self.hosts = label, token, tuple(hosts)
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {token}"}, timeout=TIMEOUT, follow_redirects=False
        )

    def get(self, url: str, **query: str | int) -> httpx.Response | None:
        """GET; None where there is nothing (404, 410)."""
        response = self.send("GET", url, params=query or None, is_missing_allowed=True)
        return None if response.status_code in {404, 410} else response

    def put_file(self, url: str, file: LocalFile, **query: str) -> httpx.Response:
        """PUT a file as a stream of known length."""
        with file.path.open("rb") as content:
            blocks = iter(lambda: content.read(BLOCK), b"")
            headers = {"Content-Length": str(file.size), "Content-Type": "application/octet-stream"}
            return self.send("PUT", url, content=blocks, headers=headers, params=query or None)

    def send(
        self, method: str, url: str, *, is_missing_allowed: bool = False, **request: object
    ) -> httpx.Response:
        """One request; the answer of a success, else ``Refused`` or ``IOFailure``."""
        self._check_host(url)
        try:
            response = self._http.request(method, url, **request)  # type: ignore[arg-type]
        except httpx.HTTPError as error:
            # The error's text has the address, never the header with the token.
            log.warning("repository not reached", repository=self.label, kind=type(error).__name__)
            raise IOFailure(f"{self.label} did not answer ({type(error).__name__}).") from None
        status = response.status_code
        if status < 300 or (is_missing_allowed and status in {404, 410}):
            return response
        if status == 429 or status >= 500:
            raise IOFailure(f"{self.label} takes no requests for the moment ({status}).")
        raise refusal(self.label, status, self._detail(response))

    def _check_host(self, url: str) -> None:
        """Send the token to the repository's own hosts only, although its answers name the addresses."""
        host = urlsplit(url).netloc
        if not any(host == own or host.endswith(f".{own}") for own in self.hosts):
            raise Refused(f"{self.label} named an address of another host ({host}): nothing was sent there.")

    def _detail(self, response: httpx.Response) -> str:
        try:
            answer = response.json()
        except ValueError:
            return ""
        parts = []
        if isinstance(answer, dict):
            parts = [answer.get("message", "")]
            for problem in answer.get("errors") or []:
                if isinstance(problem, dict):
                    sentences = problem.get("messages") or []
                    text = problem.get("detail") or problem.get("message") or " ".join(map(str, sentences))
                    parts.append(f"{problem.get('field', '')} {text}".strip())
        return without_token("; ".join(str(part) for part in parts if part), self.token)


def refusal(label: str, status: int, detail: str) -> Refused:
    """The sentence for a status that is the caller's fault."""
    if status in {401, 403}:
        return Refused(
            f"{label} does not accept the token for this ({status}). {detail}".strip(),
            remedy="Give the token the right to write, or replace it under Repositories.",
        )
    return Refused(
        f"{label} refused ({status}): {detail or 'it gave no reason'}",
        remedy="Correct this and publish again: what is there already is not sent twice.",
    )


def without_token(text: str, token: str) -> str:
    """An error text of a repository without the token that it may contain."""
    return text.replace(token, "…")[:MAX_DETAIL_CHARACTERS]
