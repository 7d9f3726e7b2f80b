"""A broker of our own: RabbitMQ or Redis where it is installed, else the folder that `make run` uses."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from amqp.exceptions import AMQPError
from kombu.connection import Connection
from kombu.exceptions import OperationalError

from benchmarks.soak.services import Service, free_port

RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
ANSWERS_WITHIN_S = 90.0  # a start on an overloaded machine takes a minute


def broker(kind: str, disk: Path, folder: Path) -> tuple[Service | None, str]:
    """Start it; returns the service, None for a folder, and the address for Celery."""
    if kind == "rabbitmq" or (kind == "auto" and RABBITMQ.exists() and shutil.which("epmd")):
        return _rabbitmq(disk / "rabbitmq", folder)
    if kind == "redis" or (kind == "auto" and shutil.which("redis-server")):
        return _redis(disk / "redis", folder)
    return None, "filesystem://"


class RabbitMQ(Service):
    """A node that is started again when it does not answer, the second time in a row with an empty database.

    A kill in the middle of a write can leave a node that waits for ever for tables that are not on its disk;
    what its administrator does then is to set its data aside. Its messages are lost; no job may be.
    """

    def __init__(self, address: str, data: Path, environment: dict[str, str], log: Path) -> None:
        self.address, self.data, self.remedies = address, data, Counter[str]()
        self.is_damaged = False
        super().__init__("broker", [str(RABBITMQ)], environment, log, cwd="/")

    def resume(self) -> None:
        """Start it, and again whenever it ends or is silent for long."""
        super().resume()
        threading.Thread(target=self._tend, args=(self.watcher,), daemon=True).start()

    def _tend(self, watcher: threading.Thread) -> None:
        answered, n_silent = time.monotonic(), 0
        while watcher.is_alive() and self.is_wanted:
            time.sleep(2)
            if self._answers():
                answered, n_silent = time.monotonic(), 0
            elif time.monotonic() - answered > ANSWERS_WITHIN_S and self.is_wanted:
                answered, n_silent = time.monotonic(), n_silent + 1
                self.is_damaged = n_silent > 1
                remedy = "its data set aside" if self.is_damaged else "killed and started again"
                self.remedies[f"broker silent for {ANSWERS_WITHIN_S:.0f} s: {remedy}"] += 1
                with suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)

    def _answers(self) -> bool:
        # An open port is not enough: a node that lost tables accepts connections, and refuses the login.
        connection = Connection(self.address, connect_timeout=5, transport_options={"read_timeout": 10})
        with suppress(OSError, AMQPError, OperationalError), connection:
            connection.default_channel.queue_declare(exclusive=True, auto_delete=True)
            return True
        return False

    def _start(self) -> subprocess.Popen[bytes]:
        if self.is_damaged:
            with suppress(OSError):  # a disk that cannot be written now: at the next start
                aside = self.data / f"aside-{self.n_starts}"
                aside.mkdir(exist_ok=True)
                for path in self.data.glob(f"{self.environment['RABBITMQ_NODENAME']}*"):
                    path.rename(aside / path.name)
                self.is_damaged = False
        return super()._start()


def _rabbitmq(data: Path, folder: Path) -> tuple[Service, str]:
    data.mkdir()
    port, distribution = free_port(), free_port()
    plugins = folder / "plugins"
    plugins.write_text("[].\n")
    environment = {
        **os.environ,
        "HOME": str(data),  # of the cookie
        "RABBITMQ_NODENAME": f"soak{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_MNESIA_BASE": str(data),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
    }
    address = f"amqp://guest:guest@127.0.0.1:{port}//"
    return RabbitMQ(address, data, environment, folder / "broker.log"), address


def _redis(data: Path, folder: Path) -> tuple[Service, str]:
    data.mkdir()
    port = free_port()
    options = f"--port {port} --bind 127.0.0.1 --dir {data} --appendonly yes --save".split()
    service = Service("broker", ["redis-server", *options, ""], dict(os.environ), folder / "broker.log")
    return service, f"redis://127.0.0.1:{port}/0"
