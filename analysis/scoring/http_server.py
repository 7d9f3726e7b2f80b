"""Requests to a server with the completions or chat interface: several at once, repeated when it is busy."""

import email.utils
import json
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlparse

import httpx

from ..errors import BadInput
from .model_uri import ModelURI, Option

KEY = "OPENAI_API_KEY"
# Waits double from half a second, each shortened at random by up to a half, so that requests that failed
# together do not come back together. A large batch on a slow server takes minutes.
ATTEMPTS, FIRST_WAIT_S, LONGEST_WAIT_S, TIMEOUT_S, CONNECT_S = 6, 0.5, 30.0, 300.0, 10.0
LONGEST_RETRY_AFTER_S = 300.0  # a server that asks for more is not waited for
TEMPORARY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# The request itself is at fault, for example one sentence that is too long for the model.
REFUSED = frozenset({400, 413, 422})
REQUESTS = Option(
    "requests",
    "Requests at once",
    "Served models: how many requests are sent at the same time.",
    default="16",
    limits=(1, 256),
)


class ServerRefusal(BadInput):
    """The server understood a request and refused its content."""


class ModelServer:
    """A server with an interface like OpenAI's; a key is read from ``OPENAI_API_KEY``."""

    def __init__(self, target: str, *, n_requests: int) -> None:
        self.base, _, self.model = target.partition("#")
        url = urlparse(self.base)
        if url.scheme not in ("http", "https") or not url.hostname or not self.model:
            raise BadInput(f"{target!r} is not a served model.", remedy="Write openai:http://host/v1#model.")
        self.n_requests = n_requests
        # A proxy is taken from the environment; connections stay open between requests.
        self._client = httpx.Client(
            timeout=httpx.Timeout(TIMEOUT_S, connect=CONNECT_S),
            limits=httpx.Limits(max_connections=n_requests, max_keepalive_connections=n_requests),
        )
        self._not_before = 0.0  # monotonic time; a server that asks to wait is given the time by all requests
        self._lock = threading.Lock()

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Post one request; repeat it while the server is busy or does not answer."""
        problem = ""
        for attempt in range(ATTEMPTS):
            self._wait()
            wait = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**attempt) * random.uniform(0.5, 1.0)  # noqa: S311 - a wait, no secret
            try:
                response = self._client.post(f"{self.base.rstrip('/')}/{path}", json=body, headers=_headers())
                if response.status_code == 200:
                    content = response.json()
                    if isinstance(content, dict):
                        return content
                    problem = "answers something else than an object"
                else:
                    problem = f"answers {response.status_code}{_reason(response)}"
                    if response.status_code in REFUSED:
                        raise ServerRefusal(f"the server {problem}.", file=self.base)
                    if response.status_code not in TEMPORARY:
                        break
                    requested_s = retry_after_s(response.headers.get("Retry-After"))
                    if requested_s > LONGEST_RETRY_AFTER_S:
                        problem += f" and asks to wait {requested_s:.0f} s"
                        break
                    self._pause(requested_s)
                    wait = max(wait, requested_s)
            except (httpx.HTTPError, json.JSONDecodeError, UnicodeDecodeError) as error:
                problem = f"does not answer: {str(error)[:200]}"
            if attempt + 1 < ATTEMPTS:
                time.sleep(wait)
        raise BadInput(
            f"the server {problem}.",
            file=self.base,
            remedy=f"Check the URL and the model's name; a key is read from {KEY}.",
        )

    def post_all(
        self,
        path: str,
        bodies: Sequence[dict[str, Any]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[dict[str, Any] | ServerRefusal]:
        """Post several requests at once; return the answers in the order of the requests.

        A refusal of one request's content takes the place of its answer; other failures end all of them.
        ``progress`` receives the number of each request that was answered.
        """

        def answer(number: int) -> dict[str, Any] | ServerRefusal:
            try:
                return self.post(path, bodies[number])
            except ServerRefusal as refusal:
                return refusal

        with ThreadPoolExecutor(max_workers=max(1, min(self.n_requests, len(bodies)))) as threads:
            futures = [threads.submit(answer, number) for number in range(len(bodies))]
            answers: list[dict[str, Any] | ServerRefusal] = []
            try:
                for number, future in enumerate(futures):
                    answers.append(future.result())
                    if progress is not None:
                        progress(number)
            except BaseException:
                # Requests that have not begun would repeat the failure, each with its own waits.
                threads.shutdown(wait=False, cancel_futures=True)
                raise
        return answers

    def _pause(self, seconds: float) -> None:
        with self._lock:
            self._not_before = max(self._not_before, time.monotonic() + seconds)

    def _wait(self) -> None:
        with self._lock:
            seconds = self._not_before - time.monotonic()
        if seconds > 0:
            time.sleep(seconds)


def retry_after_s(value: str | None) -> float:
    """Return the seconds that a header ``Retry-After`` asks for: a number, or a date; 0 without one.

    Examples
    --------
    >>> retry_after_s("2.5"), retry_after_s(None), retry_after_s("Wed, 21 Oct 2015 07:28:00 GMT")
    (2.5, 0.0, 0.0)
    """
    if not value:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0


def _headers() -> dict[str, str]:
    key = os.environ.get(KEY)
    return {"Authorization": f"Bearer {key}"} if key else {}


def _reason(response: httpx.Response) -> str:
    """Return the server's message about an error, if it is written as the interface prescribes."""
    try:
        error = response.json().get("error")
        message = error.get("message") if isinstance(error, dict) else error
    except (ValueError, AttributeError):
        return ""
    return f" ({str(message)[:200]})" if message else ""


def find_server(uri: ModelURI, options: dict[str, str]) -> ModelServer:
    """Return the server that a model URI names."""
    return ModelServer(uri.target, n_requests=int(options[REQUESTS.name]))
