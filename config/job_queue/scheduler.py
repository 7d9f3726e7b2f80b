"""Celery's scheduler, which goes on when the clock is set back."""

import time
from datetime import timedelta
from typing import Any

import celery.beat
from celery.utils.log import get_logger

log = get_logger(__name__)
LONGEST_INTERVAL = timedelta(days=1)  # after which every task is due
SET_BACK_S = 1.0  # of the clock, from one tick to the next; less is time synchronization at work


def clock_offset_s() -> float:
    """Return the wall clock less the monotonic one: constant until the wall clock is set."""
    return time.time() - time.monotonic()


class Scheduler(celery.beat.Scheduler):  # type: ignore[misc]  # Celery has no stubs
    """Celery's scheduler without a file: all tasks are due at its start and after the clock was set back.

    Celery's own runs nothing for an hour after the clock was set back by an hour.
    """

    offset_s = 0.0

    def setup_schedule(self) -> None:
        """Read the schedule from the settings; all tasks are due."""
        super().setup_schedule()
        self.offset_s = clock_offset_s()
        self._make_all_due()

    def tick(self, *arguments: Any, **options: Any) -> float:
        """Send the tasks that are due; return the seconds until the next tick."""
        offset_s = clock_offset_s()
        if offset_s < self.offset_s - SET_BACK_S:
            log.warning("The clock was set back by %.0f s", self.offset_s - offset_s)
            self._make_all_due()
            self.populate_heap()  # its times are of the earlier clock
        self.offset_s = offset_s
        return float(super().tick(*arguments, **options))

    def _make_all_due(self) -> None:
        for entry in self.schedule.values():
            entry.last_run_at = entry.default_now() - LONGEST_INTERVAL
