"""The embedded broker: kombu's folder of messages, so that processes may be killed at any moment.

kombu's own transport cannot share Celery's event loop. Celery then gives the processes of a worker one pipe
with one lock, and a process that is killed (``kill -9``, out of memory) while it waits there takes the lock
along: the worker looks alive and never runs a job again. Here the transport polls from the loop, so every
process has a pipe of its own, as with Redis and RabbitMQ. Files appear whole or not at all.
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

POLL_SECONDS = 0.2


class Channel(filesystem.Channel):
    """Messages are files of a folder; so is the table of queues of each exchange."""

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:
        """Write aside and rename: nobody reads half a message, and a killed writer leaves none."""
        folder = Path(self.data_folder_out)
        name = f"{monotonic_ns():020}_{uuid4()}.{queue}.msg"  # readers go by the order of names
        try:
            _whole(folder, dumps(payload)).rename(folder / name)
        except OSError as error:
            raise ChannelError(f"Cannot write {name} into {folder}: {error}") from error

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        """Begin with a table that is whole, so that kombu never makes one bit by bit."""
        table = self._exchange_file(exchange)
        with (table.parent / "gate").open("w") as gate:
            filesystem.lock(gate, filesystem.LOCK_EX)  # the system opens it again for whoever dies here
            if not table.exists() or not table.stat().st_size:  # empty: killed before it wrote
                _whole(table.parent, "[]").replace(table)
            super()._queue_bind(exchange, routing_key, pattern, queue)


class Transport(filesystem.Transport):
    """The folder, polled by the worker's event loop."""

    implements = filesystem.Transport.implements.extend(asynchronous=True)
    Channel = Channel

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        """Look for messages again and again, from the loop's timer."""
        loop.call_repeatedly(POLL_SECONDS, self._poll)

    def _poll(self) -> None:
        """Hand over what lies there, as far as the worker takes it."""
        with suppress(Empty):
            while True:
                self.cycle.get(self._deliver)


def _whole(folder: Path, text: str) -> Path:
    """A finished file under a name that no queue has."""
    path = folder / f"{uuid4()}.part"
    path.write_text(text, encoding="utf-8")
    return path
