"""The web server: workers come back when they die, and do not outlive the process that started them."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.error import URLError

import pytest

ROOT = Path(__file__).resolve().parents[1]
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")


def until(true: Callable[[], object], *, seconds: float = 120) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.1)
    return False


class Served:
    """A server of two workers on a database of its own."""

    def __init__(self, folder: Path, **settings: str) -> None:
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        variables = {
            "VAR_DIR": str(folder),
            "DATABASE_URL": "",
            "DEBUG": "1",
            "LOG_LEVEL": "CRITICAL",
            **settings,
        }
        command = [sys.executable, "-m", "config.serve", "--port", str(self.port)]
        self.main = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **variables})

    def listens(self) -> bool:
        with closing(socket.socket()) as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/live", timeout=5) as answer:
                return answer.status == 200
        except (URLError, OSError):
            return False

    def workers(self) -> set[int]:
        children = Path(f"/proc/{self.main.pid}/task/{self.main.pid}/children")
        return set(map(int, children.read_text().split())) if children.exists() else set()


@contextmanager
def serving(folder: Path, **settings: str) -> Iterator[Served]:
    server = Served(folder, **settings)
    try:
        yield server
    finally:
        for pid in (server.main.pid, *server.workers()):
            if Path(f"/proc/{pid}").exists():
                os.kill(pid, signal.SIGKILL)
        server.main.wait()


@pytest.fixture
def served(tmp_path) -> Iterator[Served]:
    with serving(tmp_path) as server:
        assert until(server.answers)
        yield server


@needs_proc
def test_a_killed_worker_is_replaced_and_none_outlives_a_killed_server(served):
    assert until(lambda: len(served.workers()) == 2)
    before = served.workers()
    os.kill(min(before), signal.SIGKILL)
    assert until(lambda: len(served.workers()) == 2 and served.workers() != before)
    assert until(served.answers)
    left = served.workers()
    served.main.kill()
    served.main.wait()
    assert until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))
    assert not served.answers()


def test_a_request_in_progress_is_finished_on_sigterm(served):
    body = b'{"judgments": 1}'
    head = "POST /api/v1/sessions/nobody/judgments/ HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with closing(socket.create_connection(("127.0.0.1", served.port))) as line:
        line.settimeout(60)
        line.sendall(head.encode())
        assert line.recv(65536).startswith(b"HTTP/1.1 100")  # in progress: the server waits for the body
        served.main.terminate()
        time.sleep(0.5)
        line.sendall(body)
        assert line.recv(65536).startswith(b"HTTP/1.1 400")
    assert served.main.wait(timeout=60) == 0


UNDERSCORED = ["X_Forwarded_Proto", "X-Forwarded_Proto", "X_Forwarded-Proto"]


@pytest.mark.parametrize(
    ("behind_proxy", "trusted"),
    # Limit of WSGI: behind a proxy those with underscores are read as well, so the proxy must drop them
    # (tests/deployment/test_proxy_headers.py, docs/how-to/security.md).
    [("no", []), ("yes", ["X-Forwarded-Proto", *UNDERSCORED])],
)
def test_only_a_proxy_says_that_a_request_came_over_https(tmp_path, behind_proxy, trusted):
    with serving(tmp_path, HTTPS="yes", DEBUG="", BEHIND_PROXY=behind_proxy) as server:
        assert until(server.listens)

        def status(headers):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            connection.request("GET", "/health/live", headers={**headers, "Host": "localhost"})
            return connection.getresponse().status

        assert status({}) == 301
        statuses = {name: status({name: "https"}) for name in ["X-Forwarded-Proto", *UNDERSCORED]}
        assert [name for name in statuses if statuses[name] == 200] == trusted
        assert set(statuses.values()) <= {200, 301}
