"""The processes of a service, started as `make run` does and started again when they die.

What a service manager does: it starts what ended again, after ending what its processes left behind.
"""

import os
import random
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Container, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.soak.cluster import Cluster, as_user
from config.run import commands

ROOT = Path(__file__).resolve().parents[2]
RESTART_S = 0.3


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children(pid: int) -> list[int]:
    """Processes begun by this one."""
    table = subprocess.run(["ps", "-Ao", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [line.split() for line in table.splitlines()]
    return [int(child) for child, parent in pairs if int(parent) == pid]


class Service:
    """One process with its children; begun again whenever it ends."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str], log: Path, **how: Any):
        self.name, self.command, self.environment, self.log, self.how = name, command, environment, log, how
        self.n_starts = 0
        self.groups: list[int] = []
        self.resume()

    def resume(self) -> None:
        """Start it, and again whenever it ends."""
        self.is_wanted = True
        self.process = self._start()
        self.watcher = threading.Thread(target=self._watch, daemon=True)
        self.watcher.start()

    def halt(self) -> None:
        """SIGKILL to everything it ever began; it stays away until it is resumed."""
        self.stop(at_once=True)
        self.watcher.join()

    def restart(self) -> None:
        """End it in order, as PostgreSQL's fast shutdown; it is started again when it has ended."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)

    def _start(self) -> subprocess.Popen[bytes]:
        self.n_starts += 1
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                self.command,
                cwd=self.how.get("cwd", ROOT),
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **as_user(self.how.get("user")),
            )
        self.groups.append(process.pid)
        return process

    def _watch(self) -> None:
        while self.is_wanted:
            self.process.wait()
            if self.how.get("ends_rest", True):
                self._end_groups()
            time.sleep(RESTART_S)
            if self.is_wanted:
                self.process = self._start()

    def kill(self, rng: random.Random, *, child: bool) -> int | None:
        """SIGKILL to the process, or to one of its children; the pid, or None when there is none."""
        pid = self.process.pid
        if child:
            child_pids = children(pid)
            if not child_pids:
                return None
            pid = rng.choice(child_pids)
        elif self.process.poll() is not None:
            return None
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return None
        return pid

    def stop(self, *, at_once: bool = False) -> None:
        """End it and everything it ever began."""
        self.is_wanted = False
        self.process.send_signal(signal.SIGKILL if at_once else signal.SIGTERM)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._end_groups()

    def _end_groups(self) -> None:
        for group in self.groups:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        self.groups.clear()


def database(
    cluster: Cluster, folder: Path, environment: Mapping[str, str] = MappingProxyType({})
) -> Service:
    """The private PostgreSQL."""
    log, variables = folder / "database.log", {**os.environ, **environment}
    return Service("database", cluster.command, variables, log, user=cluster.user, cwd="/", ends_rest=False)


def platform(
    port: int, environment: dict[str, str], folder: Path, *, only: Container[str] = ("web", "worker")
) -> dict[str, Service]:
    """Web server, and worker with the scheduler, with the commands of `make run`."""
    return {
        name: Service(name, shlex.split(command.removeprefix("exec ")), environment, folder / f"{name}.log")
        for name, command in commands(port).items()
        if name in only
    }
