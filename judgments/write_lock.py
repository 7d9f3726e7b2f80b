"""The lock of writers on SQLite."""

import threading
from contextlib import AbstractContextManager, nullcontext

from django.db import connection

_process_lock = threading.RLock()


def write_lock() -> AbstractContextManager[object]:
    """A process-wide lock for writers on SQLite; nothing on databases with row locks.

    SQLite lets a second writer sleep and retry, longer each time; with many at once that sleep is most of the
    wait. Other processes still queue at the file.
    """
    return _process_lock if connection.vendor == "sqlite" else nullcontext()
