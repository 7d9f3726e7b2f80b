"""Threads that begin at the same time, each with a connection of its own to the database."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection


def at_once(
    works: Sequence[Callable[[], Any]], *, expected: type[Exception] | tuple[type[Exception], ...] = ()
) -> list[Any]:
    """Run works in threads that begin together; returns what each returned, or its expected exception."""
    gate = threading.Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        gate.wait()
        try:
            return work()
        except expected as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))
