"""Counters of this process that the metrics of its host add up: a memory-mapped file for each process.

Counting takes less than a microsecond and no database. The web server deletes the files when it starts.
"""

import logging
import mmap
import os
import struct
import threading
from bisect import bisect_left
from collections import defaultdict
from pathlib import Path

from django.conf import settings

#: Upper limits of the latencies' classes, in seconds.
LATENCY_LIMITS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SAVE = "save_seconds"
#: Each latency is counted in one class, the last of which has no limit.
CLASSES = tuple(f"{SAVE}_{limit}" for limit in (*LATENCY_LIMITS, "more"))
NAMES = (
    "arrivals_total",
    "judgments_stored_total",
    "judgments_repeated_total",
    "plugin_failures_total",
    *(f"responses_{number}xx_total" for number in (1, 2, 3, 4, 5)),
    *CLASSES,
    f"{SAVE}_sum",
)
PLACES = {name: place for place, name in enumerate(NAMES)}
SIZE = 8 * len(NAMES)  # doubles


class ProcessCounters:
    """The counters of one process."""

    def __init__(self) -> None:
        self.reopen()
        os.register_at_fork(after_in_child=self.reopen)

    def reopen(self) -> None:
        """Open a file of this process at the next count."""
        self.is_open, self.lock = False, threading.Lock()
        self.values: memoryview[float] = memoryview(bytearray(SIZE)).cast("d")

    def add(self, *increments: tuple[str, float]) -> None:
        """Raise counters."""
        if not self.is_open:
            self._open()
        with self.lock:
            for name, increment in increments:
                self.values[PLACES[name]] += increment

    def _open(self) -> None:
        with self.lock:
            if self.is_open:
                return
            try:
                folder().mkdir(parents=True, exist_ok=True)
                with (folder() / f"{os.getpid()}.counters").open("wb+") as file:
                    # Zeros, not a hole: on a full disk a write to a mapped hole ends the process (SIGBUS).
                    file.write(bytes(SIZE))
                    file.flush()
                    self.values = memoryview(mmap.mmap(file.fileno(), SIZE)).cast("d")
            except OSError:  # a full or read-only disk: this process counts for itself
                self.values = memoryview(bytearray(SIZE)).cast("d")
            self.is_open = True


counters = ProcessCounters()


class PluginFailureCounter(logging.Handler):
    """Counts the log records of plugins that failed."""

    def emit(self, record: logging.LogRecord) -> None:
        """Count one failure."""
        counters.add(("plugin_failures_total", 1.0))


def folder() -> Path:
    """Folder with the counters of the processes of this host."""
    return Path(settings.VAR) / "counters"


def count_saved(seconds: float) -> None:
    """Count one request that stored answers, by the time it took."""
    place = bisect_left(LATENCY_LIMITS, seconds)
    counters.add((CLASSES[place], 1.0), (f"{SAVE}_sum", seconds))


def totals() -> dict[str, float]:
    """Return the sums over all processes of this host since the web server started."""
    sums: dict[str, float] = defaultdict(float)
    for path in folder().glob("*.counters"):
        content = path.read_bytes()
        if len(content) == SIZE:  # else another version wrote it, or it is being made
            for name, value in zip(NAMES, struct.unpack(f"{len(NAMES)}d", content), strict=True):
                sums[name] += value
    return {name: sums[name] for name in NAMES}
