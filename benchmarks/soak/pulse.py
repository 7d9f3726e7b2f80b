"""Whether the platform serves, and how long it did not."""

import threading
import time
import urllib.error
import urllib.request

REST_S = 0.4  # each question writes a row and reads the queue
AWAY_S = 5.0  # a shorter silence is a slow answer
SLOW_S = 30.0  # at a load of 25 for each core a ready platform answers so late; it has come back all the same
PATIENCE_S = 600.0  # on a machine several times overloaded a start takes minutes; what hangs, hangs for ever


class Pulse(threading.Thread):
    """Asks for readiness all the time; knows the longest silence."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.address, self.longest_s, self.seen = f"http://127.0.0.1:{port}/health/ready", 0.0, 0.0
        self.longest_since_begin = 0.0
        self.outages: list[tuple[float, float]] = []

    def is_ready(self, within_s: float = 3.0) -> bool:
        """Whether the platform says so within that time."""
        try:
            with urllib.request.urlopen(self.address, timeout=within_s) as answer:
                return answer.status == 200
        except (OSError, urllib.error.HTTPError):
            return False

    def run(self) -> None:
        """Measure until the process ends."""
        self.seen = time.monotonic()
        while True:
            if self.is_ready():
                silence = time.monotonic() - self.seen
                self.longest_s = max(self.longest_s, silence)
                self.longest_since_begin = max(self.longest_since_begin, silence)
                if silence > AWAY_S:
                    self.outages.append((self.seen, time.monotonic()))
                self.seen = time.monotonic()
            time.sleep(REST_S)

    def longest_service(self, since: float, until: float) -> float:
        """The longest stretch in this time in which the platform served, in seconds."""
        outages = [*self.outages, (self.seen, until)] if until - self.seen > AWAY_S else self.outages
        longest, served_from = 0.0, since
        for begin, end in outages:
            if end > served_from:
                longest = max(longest, min(begin, until) - served_from)
                served_from = end
        return max(longest, until - served_from)

    def begin(self) -> None:
        """Measure the longest silence anew."""
        self.longest_since_begin = 0.0

    def wait(self, seconds: float = PATIENCE_S) -> None:
        """Until the platform serves, if slowly; silences are measured all the same."""
        end = time.monotonic() + seconds
        while not self.is_ready(SLOW_S):
            if time.monotonic() > end:
                raise RuntimeError(f"the platform was not ready within {seconds:.0f} s")
            time.sleep(0.2)
