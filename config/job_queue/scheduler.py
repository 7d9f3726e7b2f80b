"""Celery's scheduler, which recovers from a truncated schedule file and from a clock that is set back."""

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from celery.beat import PersistentScheduler
from celery.utils.log import get_logger

log = get_logger(__name__)
LONGEST_INTERVAL = timedelta(days=1)  # after which every task is due
SET_BACK_S = 1.0  # of the clock, from one tick to the next; less is time synchronization at work


def clock_offset_s() -> float:
    """Return the wall clock less the monotonic one: constant until the wall clock is set."""
    return time.time() - time.monotonic()


class Scheduler(PersistentScheduler):  # type: ignore[misc]  # Celery has no stubs
    """Celery's scheduler, with two failures handled.

    Celery's own ends at every start while a record of its file is truncated. After the clock was set back by
    an hour, it runs nothing for an hour: every task ran last in the future.
    """

    offset_s = 0.0

    def setup_schedule(self) -> None:
        """Read the schedule file; replace it by an empty one where it cannot be read."""
        # Race: in a new installation, the process that makes the folder may start after this one.
        Path(self.schedule_filename).parent.mkdir(parents=True, exist_ok=True)
        try:
            super().setup_schedule()
        except Exception:  # unpickling a truncated record may raise any type
            log.exception("Schedule file %s cannot be read; all tasks are due", self.schedule_filename)
            self._close_store()
            self._remove_db()
            super().setup_schedule()
        self.offset_s = clock_offset_s()
        self._run_future_entries_now()

    def tick(self, *arguments: Any, **options: Any) -> float:
        """Send what is due; returns the seconds until the next tick."""
        offset_s = clock_offset_s()
        if offset_s < self.offset_s - SET_BACK_S:
            log.warning("The clock was set back by %.0f s", self.offset_s - offset_s)
            self._run_future_entries_now()
            self.populate_heap()  # its times are of the earlier clock
        self.offset_s = offset_s
        return float(super().tick(*arguments, **options))

    def _run_future_entries_now(self) -> None:
        for entry in self.schedule.values():
            now = entry.default_now()
            if entry.last_run_at > now:
                entry.last_run_at = now - LONGEST_INTERVAL

    def _close_store(self) -> None:
        # Workaround: a store that is left open writes its records again when it is garbage-collected.
        if self._store is not None:
            try:
                self._store.close()
            except Exception:  # closing writes into the broken file and may raise any type
                log.warning("Schedule file %s cannot be closed", self.schedule_filename, exc_info=True)
