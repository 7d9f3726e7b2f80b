"""Writers take turns: on SQLite, which has one writer at a time, the threads of a process queue up here.

SQLite itself lets a second writer sleep and look again, longer each time; with many at once that sleep is
most of the wait. Other processes still queue up at the file.
"""

import threading
from contextlib import AbstractContextManager, nullcontext

from django.db import connection

_of_this_process = threading.RLock()


def in_turn() -> AbstractContextManager[object]:
    """Hold the turn to write; where rows have locks of their own, everybody has it."""
    return _of_this_process if connection.vendor == "sqlite" else nullcontext()
