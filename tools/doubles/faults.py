"""Faults that a double injects into the next matching requests."""

from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock


class FaultKind(StrEnum):
    """What goes wrong with a request."""

    LOST_REQUEST = "before"  # the connection closes before the platform acts
    LOST_ANSWER = "after"  # the platform acts, and the connection closes before its answer
    RATE_LIMIT = "429-retry-after"  # 429 with Retry-After
    RATE_LIMIT_BARE = "429"  # 429 without Retry-After
    SERVER_ERROR = "503"  # 503 before the platform acts
    SERVER_ERROR_AFTER = "502-after"  # the platform acts, and a gateway answers 502
    MALFORMED = "malformed"  # the platform acts, and its answer is cut off
    SLOW = "slow"  # the platform acts at once and answers after ``seconds``
    EXPIRED_TOKEN = "401"  # 401


@dataclass
class Fault:
    """A fault of the next ``times`` requests with this method and a path that contains ``path``."""

    kind: FaultKind
    method: str = ""
    path: str = ""
    times: int = 1
    seconds: float = 1.0

    def matches(self, method: str, path: str) -> bool:
        """Whether a request gets this fault."""
        return self.times > 0 and self.method in {"", method} and self.path in path


@dataclass
class Faults:
    """The faults to come."""

    faults: list[Fault] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def fail_next(
        self, kind: str, *, method: str = "", path: str = "", times: int = 1, seconds: float = 1.0
    ) -> None:
        """Let the next matching requests fail."""
        with self._lock:
            self.faults.append(Fault(FaultKind(kind), method, path, times, seconds))

    def next_of(self, method: str, path: str) -> Fault | None:
        """The fault of this request, which is used up by it."""
        with self._lock:
            fault = next((fault for fault in self.faults if fault.matches(method, path)), None)
            if fault is not None:
                fault.times -= 1
            return fault

    def clear(self) -> None:
        """Take back all faults."""
        with self._lock:
            self.faults.clear()
