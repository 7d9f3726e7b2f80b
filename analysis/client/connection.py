"""Requests to the REST API: errors, pages, long work, and what is asked for too early."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import httpx

from ..errors import BadInput
from ..notebooks import Document

if TYPE_CHECKING:
    import pandas as pd

Table: TypeAlias = "pd.DataFrame | str | Path"  # a frame, or the path of a file
CONNECT_ATTEMPTS = 3  # by httpx, where no connection was made, so that nothing was sent
PAGE_SIZE = 1000
POLL = 1.0  # seconds between two looks at long work
UNFINISHED = frozenset({"queued", "running", "building", "reading"})


class ApiError(BadInput):
    """A request that the platform refused.

    ``status`` is the HTTP status, ``code`` the stable code of ``docs/reference/api.md``, ``fields`` the names
    that are wrong with their messages.
    """

    def __init__(self, status: int, code: str, message: str, fields: dict[str, Any] | None = None) -> None:
        self.status, self.code, self.fields = status, code, fields or {}
        wrong = "; ".join(f"{name}: {_first(text)}" for name, text in self.fields.items())
        super().__init__(f"{message} {wrong}".strip())


def _first(message: Any) -> str:
    """The first of nested messages."""
    while isinstance(message, list | dict) and message:
        message = message[0] if isinstance(message, list) else next(iter(message.values()))
    return str(message)


class Connection:
    """Requests with a token to ``/api/v1/`` of one address."""

    def __init__(self, url: str, token: str, *, timeout: float, patience: float, progress: bool) -> None:
        self.patience, self.progress = patience, progress
        self.http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Token {token}"},
            timeout=timeout,
            follow_redirects=False,
            transport=httpx.HTTPTransport(retries=CONNECT_ATTEMPTS),
        )

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request, again when the server says how long it is too early or too busy.

        Raises
        ------
        ApiError
            The platform refused it.
        httpx.TransportError
            There was no answer.
        """
        deadline = time.monotonic() + self.patience
        while True:
            response = self.http.request(method, path, **options)
            wait = _retry_after(response)
            if wait is None or time.monotonic() + wait > deadline:
                break
            time.sleep(wait)
        if response.is_success:
            return response
        raise _error(response)

    def document(self, method: str, path: str, **options: Any) -> Any:
        """Return the JSON of a response, ``None`` where it has no content."""
        response = self.send(method, path, **options)
        return response.json() if response.content else None

    def rows(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, page by page."""
        params = {"page_size": PAGE_SIZE, "page": 1, **query}
        while True:
            page = self.document("GET", path, params=params)
            yield from page["results"]
            if not page["next"]:
                return
            params["page"] += 1

    def report(self, path: str, *, title: str, **query: Any) -> Document:
        """Return a report, after its job where it takes long."""
        query = {name: value for name, value in query.items() if value is not None}
        while True:
            response = self.send("GET", path, params=query)
            if response.status_code != httpx.codes.ACCEPTED:
                return Document(response.json(), title=title)
            self.finish_job(response.json())

    def finish_job(self, job: dict[str, Any]) -> dict[str, Any]:
        """Wait for a job with a progress bar; return its result.

        Raises
        ------
        BadInput
            The job failed, with its message.
        """
        finished = self.follow(job, f"jobs/{job['id']}/", label=job["kind"])
        result: dict[str, Any] = finished["result"]
        return result

    def follow(self, document: dict[str, Any], path: str, *, label: str) -> dict[str, Any]:
        """Wait until a document's ``state`` is final; return the document then.

        Raises
        ------
        BadInput
            It failed, with the platform's message.
        """
        from rich.progress import Progress

        deadline = time.monotonic() + self.patience
        with Progress(transient=True, disable=not self.progress) as bar:
            task = bar.add_task(label, total=None)
            while document["state"] in UNFINISHED:
                if time.monotonic() > deadline:
                    raise BadInput(
                        f"{label}: not finished after {self.patience:g} seconds; the platform goes on.",
                        remedy="Ask again later, or give the client more patience=.",
                    )
                time.sleep(POLL)
                document = self.document("GET", path)
                percent = _percent(document)
                bar.update(task, completed=percent, total=None if percent is None else 100)
        if document["state"] == "failed":
            raise BadInput(f"{label} failed: {document.get('error') or 'the page of the study says why.'}")
        return document


def _percent(document: dict[str, Any]) -> float | None:
    """Share that is done of a job, or of a run, which has more than one figure of its progress."""
    progress = document.get("progress")
    percent: float | None = (progress if isinstance(progress, dict) else document).get("percent")
    return percent


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds to wait before the same request may succeed; None where it is final."""
    is_early = response.status_code in {httpx.codes.CONFLICT, httpx.codes.TOO_MANY_REQUESTS}
    wait = response.headers.get("Retry-After", "")
    return float(wait) if is_early and wait.isdecimal() else None


def _error(response: httpx.Response) -> ApiError:
    """The error that a response states."""
    try:
        document = response.json()
        code, message = document["code"], document["message"]
    except (ValueError, KeyError, TypeError):
        message = f"{response.url} answered {response.status_code} without a message of the platform."
        return ApiError(response.status_code, "", message)
    return ApiError(response.status_code, code, message, document.get("fields"))


def file_part(table: Table) -> tuple[str, bytes]:
    """Name and content of a table, for a multipart body; a frame is sent as CSV."""
    if isinstance(table, str | Path):
        return Path(table).name, Path(table).read_bytes()
    return "table.csv", table.to_csv(index=False).encode()
