"""Hosts on this machine: each has a home, a folder and a network of its own.

A network is a namespace of Linux, joined to the others by a bridge. The database and the broker listen on the
loopback address of the machine, which no namespace reaches, so the bridge's address relays to them.
"""

import os
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import httpx

ROOT = Path(__file__).resolve().parents[1]
links = count()
PORT = 8000  # of the web server on a host with a network of its own
PATIENCE_S = 180  # for the start of a process on a busy machine
SWEEPER = """
import time, django
django.setup()
from django.db import OperationalError, close_old_connections
from experiments.operation.job_runner import requeue_stale
while True:
    try:
        requeue_stale()
    except OperationalError:  # the scheduler, too, goes on with its next task
        close_old_connections()
    time.sleep(0.3)
"""


def until(is_true: Callable[[], Any], *, seconds: float = PATIENCE_S) -> Any:
    """Poll until true and return the value, or fail."""
    end = time.monotonic() + seconds
    while not (value := is_true()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.1)
    return value


def ip(*words: str, check: bool = True) -> bool:
    """Run ``ip``; whether it succeeded."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
    return done.returncode == 0


def may_make_networks() -> bool:
    """Whether this process may make network namespaces."""
    probe = f"obelus-probe-{os.getpid()}"
    if os.geteuid() != 0 or shutil.which("ip") is None or not ip("netns", "add", probe, check=False):
        return False
    return ip("netns", "del", probe)


class Relay(socketserver.ThreadingTCPServer):
    """Passes connections on to a service of the machine."""

    daemon_threads = allow_reuse_address = True

    def __init__(self, address: str, upstream: tuple[str, int]) -> None:
        super().__init__((address, 0), _Connection)
        self.upstream = upstream
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Connection(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        with suppress(OSError), socket.create_connection(self.server.upstream) as upstream:
            back = threading.Thread(target=_pump, args=(upstream, self.request), daemon=True)
            back.start()
            _pump(self.request, upstream)
            back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class Host:
    """Processes with one home, one folder and one network."""

    def __init__(self, cluster: "Cluster", name: str, number: int) -> None:
        self.cluster, self.name = cluster, name
        self.folder = cluster.folder / name
        self.var = self.folder / "var"
        self.folder.mkdir()
        self.log = self.folder / "log"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.namespace = f"{cluster.name}-{number}"
        self.address = f"{cluster.network}.{number + 1}"
        self._join()
        self.environment = {**cluster.environment, "HOME": str(self.folder), "VAR_DIR": str(self.var)}

    def _join(self) -> None:
        # The system removes interfaces some time after their namespace, so each has a name of its own.
        link = next(links)
        self.near = near = f"{self.cluster.name}n{link}"
        far = f"{self.cluster.name}f{link}"
        ip("netns", "add", self.namespace)
        ip("link", "add", near, "type", "veth", "peer", "name", far)
        ip("link", "set", far, "netns", self.namespace)
        ip("link", "set", near, "master", self.cluster.name, "up")
        ip("-n", self.namespace, "addr", "add", f"{self.address}/24", "dev", far)
        ip("-n", self.namespace, "link", "set", far, "up")
        ip("-n", self.namespace, "link", "set", "lo", "up")

    def cut(self, seconds: float) -> None:
        """Take the host off the network for some time, as by a pulled cable: connections stay open."""
        ip("link", "set", self.near, "down")
        time.sleep(seconds)
        ip("link", "set", self.near, "up")

    def start(self, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start a process of this host in the host's folder."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [*self._command, *words],
                cwd=self.folder,
                env={**self.environment, **variables},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    @property
    def _command(self) -> list[str]:
        return ["ip", "netns", "exec", self.namespace, sys.executable]

    def run(self, *words: str, **variables: str) -> str:
        """Run a command of the platform on this host; what it prints."""
        done = subprocess.run(
            [*self._command, str(ROOT / "manage.py"), *words],
            cwd=self.folder,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def start_web(self, *, processes: int = 1, **variables: str) -> "Host":
        """Start a web server and wait until it responds."""
        words = ["--host", "0.0.0.0", "--port", str(PORT), "--workers", str(processes), "--threads", "4"]
        process = self.start("-m", "config.serve", *words, **variables)
        until(lambda: self._responds() or process.poll() is not None)
        assert process.poll() is None, self.log.read_text()[-2000:]
        return self

    def _responds(self) -> bool:
        with suppress(httpx.HTTPError):
            return self.browser().get("/health/live", timeout=5).status_code == 200
        return False

    def start_worker(self, *, loads: str = "", **variables: str) -> "Host":
        """Start a worker with one process."""
        more = ["-I", loads] if loads else []
        words = ["worker", *more, "-n", f"{self.name}@%h", "--pool", "solo", "--loglevel", "info"]
        self.start(
            "-m", "celery", "-A", "config", *words, "--without-gossip", "--without-mingle", **variables
        )
        return self

    def start_sweeper(self) -> "Host":
        """Start what the scheduler does for jobs, at shorter intervals."""
        self.start("-c", SWEEPER)
        return self

    def browser(self, **settings: Any) -> httpx.Client:
        """A browser that sends every request to this host."""
        return httpx.Client(base_url=f"http://{self.address}:{PORT}", timeout=60, **settings)

    def kill(self) -> None:
        """Kill every process of the host at once, as a power failure does."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for process in self.processes:
            process.wait()
        self.processes.clear()

    def remove(self) -> None:
        """Kill the host and take it off the network."""
        self.kill()
        ip("netns", "del", self.namespace, check=False)


class Cluster:
    """Hosts with one database, one broker and one folder of uploads and releases."""

    def __init__(self, folder: Path, *, database: str, broker: str, secret: str) -> None:
        self.folder = folder
        self.name = f"ob{os.getpid() % 1_000_000}"  # names of interfaces have 15 characters at most
        self.network = f"10.213.{os.getpid() % 250}"
        self.hosts: list[Host] = []
        self.relays: list[Relay] = []
        # Without an address of its own a bridge takes the lowest of its interfaces, so a new host may change
        # it, and what earlier hosts send to the former one is lost: a connection then waits for two minutes.
        address = os.getpid().to_bytes(4, "big").hex(":")
        ip("link", "add", self.name, "address", f"02:00:{address}", "type", "bridge")
        ip("addr", "add", f"{self.network}.1/24", "dev", self.name)
        ip("link", "set", self.name, "up")
        self.storage = folder / "storage"
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": self._reachable(database),
            "CELERY_BROKER_URL": self._reachable(broker),
            "SECRET_KEY": secret,
            "ALLOWED_HOSTS": "*",
            "DEBUG": "1",  # static files without collecting them
            "ARRIVALS_PER_MINUTE": "0",
            "JOB_STALE_SECONDS": "8",
            "UPLOAD_STORAGE": str(self.storage / "uploads"),
            "RELEASE_STORAGE": str(self.storage / "releases"),
            "BACKUP_STORAGE": str(self.storage / "backups"),
        }

    def _reachable(self, address: str) -> str:
        """The address of a service as hosts reach it."""
        service = urlparse(address)
        relay = Relay(f"{self.network}.1", (service.hostname or "127.0.0.1", service.port or 5432))
        self.relays.append(relay)
        login = service.netloc.rpartition("@")[0]
        place = f"{self.network}.1:{relay.server_address[1]}"
        return service._replace(netloc=f"{login}@{place}" if login else place).geturl()

    def host(self, name: str) -> Host:
        """Another host."""
        host = Host(self, name, len(self.hosts) + 1)
        self.hosts.append(host)
        return host

    def close(self) -> None:
        """Remove hosts, relays and the bridge."""
        for host in self.hosts:
            host.remove()
        for relay in self.relays:
            relay.shutdown()
            relay.server_close()
        ip("link", "del", self.name, check=False)
