"""A researcher's script during a soak: makes and changes drafts over the API and reads all judgments."""

import json
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

REST_S = 3.0
TIMEOUT_S = 30.0


@dataclass(eq=False)  # a thread is hashed by identity
class Script(threading.Thread):
    """Goes on whatever is answered; keeps what was acknowledged."""

    address: str
    token: str
    slug: str  # of the study whose judgments are read
    drafts: dict[str, set[str]] = field(default_factory=dict)  # by slug: descriptions that may be stored
    read: set[tuple[str, str]] = field(default_factory=set)  # session and trial of each judgment
    n_vanished: int = 0
    n_doubled: int = 0
    answers: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.is_told_to_stop = threading.Event()

    def run(self) -> None:
        """Until told to stop."""
        number = 0
        while not self.is_told_to_stop.wait(REST_S):
            number += 1
            fields = {"title": f"Draft {number}", "task": "likert", "language": "en", "description": "first"}
            if made := self._ask("POST", "/api/v1/studies/", fields):
                self.drafts[made["slug"]] = {"first"}
                self.change(made["slug"], f"second {number}")
            self.read_judgments()

    def change(self, slug: str, description: str) -> None:
        """Change a draft: without an answer, the former text or the new one may be stored."""
        self.drafts[slug].add(description)
        if self._ask("PATCH", f"/api/v1/studies/{slug}/", {"description": description}):
            self.drafts[slug] = {description}

    def read_judgments(self) -> None:
        """Read the whole file: each judgment once, and all that were in it before."""
        text = self._send("GET", f"/api/v1/studies/{self.slug}/judgments.jsonl")
        if text is None:
            return
        try:
            rows = [json.loads(line) for line in text.splitlines()]
        except ValueError:  # cut off with its server; the sender ends such a file without its last part
            self.answers["GET cut off"] += 1
            return
        keys = Counter((str(row["session"]), str(row["trial"])) for row in rows)
        self.n_doubled += sum(times - 1 for times in keys.values())
        self.n_vanished += len(self.read - set(keys))
        self.read |= set(keys)

    def _ask(self, method: str, path: str, body: dict[str, str]) -> dict[str, Any] | None:
        text = self._send(method, path, body)
        return None if text is None else dict(json.loads(text))

    def _send(self, method: str, path: str, body: dict[str, str] | None = None) -> str | None:
        headers = {"Authorization": f"Token {self.token}", "Content-Type": "application/json"}
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(self.address + path, data, headers, method=method)  # noqa: S310 - our server
        answer = "no answer"
        with suppress(OSError, urllib.error.HTTPError):
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:  # noqa: S310 - our server
                    text = reply.read().decode()
                    answer = str(reply.status)
                    return str(text)
            except urllib.error.HTTPError as error:
                answer = str(error.code)
            finally:
                self.answers[f"{method} {answer}"] += 1
        return None

    def stop(self) -> None:
        """End after the request under way; then read once more."""
        self.is_told_to_stop.set()
        self.join(60)
        end = time.monotonic() + TIMEOUT_S
        n_read = self.answers["GET 200"]
        while self.answers["GET 200"] == n_read and time.monotonic() < end:
            self.read_judgments()

    def audit(self, stored: dict[str, str]) -> dict[str, int]:
        """Broken promises by kind, against the descriptions of stored drafts by slug."""
        return {
            "API: drafts acknowledged and missing": sum(slug not in stored for slug in self.drafts),
            "API: changes acknowledged and lost": sum(
                slug in stored and stored[slug] not in texts for slug, texts in self.drafts.items()
            ),
            "API: judgments read before and missing": self.n_vanished,
            "API: judgments read twice in a file": self.n_doubled,
            "API: answers 500": sum(n for what, n in self.answers.items() if what.endswith(" 500")),
        }
