"""The scheduler's memory of what ran when: begun anew where a kill or a full disk left it broken."""

from contextlib import suppress

from celery.beat import PersistentScheduler
from celery.utils.log import get_logger

log = get_logger(__name__)


class Scheduler(PersistentScheduler):
    """Celery's own, which ends at every start when a record of its file is cut short."""

    def setup_schedule(self) -> None:
        """Read the file; where that fails, everything is due as after a first start."""
        try:
            super().setup_schedule()
        except Exception as error:  # whatever unpickling half a record raises
            log.warning("the scheduler's file %s is broken (%r): begun anew", self.schedule_filename, error)
            with suppress(Exception):  # it would write itself again later
                self._store.close()
            self._remove_db()
            super().setup_schedule()
