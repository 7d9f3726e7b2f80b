"""Celery's scheduler, which recovers from a schedule file that a kill or a full disk left truncated."""

from celery.beat import PersistentScheduler
from celery.utils.log import get_logger

log = get_logger(__name__)


class Scheduler(PersistentScheduler):  # type: ignore[misc]  # Celery has no stubs
    """Celery's scheduler; Celery's own ends at every start while a record of its file is truncated."""

    def setup_schedule(self) -> None:
        """Read the schedule file; replace it by an empty one where it cannot be read."""
        try:
            super().setup_schedule()
        except Exception:  # unpickling a truncated record may raise any type
            log.exception("Schedule file %s cannot be read; all tasks are due", self.schedule_filename)
            self._close_store()
            self._remove_db()
            super().setup_schedule()

    def _close_store(self) -> None:
        # Workaround: a store that is left open writes its records again when it is garbage-collected.
        if self._store is not None:
            try:
                self._store.close()
            except Exception:  # closing writes into the broken file and may raise any type
                log.warning("Schedule file %s cannot be closed", self.schedule_filename, exc_info=True)
