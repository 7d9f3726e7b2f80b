"""The embedded broker: kombu's filesystem transport, made robust against killed processes.

Notes
-----
kombu's transport cannot share Celery's event loop. Celery then gives all processes of a worker one pipe with
one lock, and a process that is killed (``kill -9``, out of memory) while it holds the lock never releases it:
the worker stays alive and runs no job any more. Here the transport polls from the event loop, so that every
process has its own pipe, as with Redis and RabbitMQ. Files are written atomically.
"""

from contextlib import suppress
from pathlib import Path
from queue import Empty
from time import monotonic_ns
from typing import Any
from uuid import uuid4

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps

POLL_SECONDS = 0.2  # the longest delay before a worker sees a message


class Channel(filesystem.Channel):
    """Stores each message, and the queue table of each exchange, as a file."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for folder in (self.data_folder_in, self.data_folder_out, self.control_folder):
            Path(folder).mkdir(parents=True, exist_ok=True)

    # kombu's own classes disagree about the name of the second argument.
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        """Write a message to a temporary file and rename it."""
        folder = Path(self.data_folder_out)
        name = f"{monotonic_ns():020}_{uuid4()}.{queue}.msg"  # readers sort by name
        try:
            # Rename: no reader sees part of a message, and a killed writer leaves none.
            _temporary_file(folder, dumps(payload)).rename(folder / name)
        except OSError as error:
            raise ChannelError(f"Cannot write {name} into {folder}: {error}") from error

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        """Create the queue table atomically before kombu adds the queue to it."""
        table = self._exchange_file(exchange)
        with (table.parent / "gate").open("w") as gate:
            filesystem.lock(gate, filesystem.LOCK_EX)  # released by the system if this process is killed
            # Workaround: kombu opens the file, then writes; killed in between, it leaves an empty one.
            if not table.exists() or not table.stat().st_size:
                _temporary_file(table.parent, "[]").replace(table)
            super()._queue_bind(exchange, routing_key, pattern, queue)


class Transport(filesystem.Transport):
    """Polls the folder from the worker's event loop."""

    implements = filesystem.Transport.implements.extend(asynchronous=True)
    Channel = Channel

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        """Poll for messages at a fixed interval."""
        loop.call_repeatedly(POLL_SECONDS, self._poll)

    def _poll(self) -> None:
        """Deliver all messages in the folder, up to the worker's prefetch limit."""
        with suppress(Empty):
            while True:
                self.cycle.get(self._deliver)  # type: ignore[union-attr]  # set by kombu's constructor


def _temporary_file(folder: Path, text: str) -> Path:
    """Write a file under a name that matches no queue."""
    path = folder / f"{uuid4()}.part"
    path.write_text(text, encoding="utf-8")
    return path
