"""Clients that send or read a byte a second, to the server directly and behind the proxy of the deployment.

Each process of the server answers as many requests at once as it has threads. A request takes a thread when
its headers have arrived, so slow headers and slow readers hold none. A slow body holds one while it is read:
directly, as many slow bodies as there are threads hold all of them, which is measured and printed. The proxy
takes bodies up to 4 MB whole before it forwards them; with it, no kind of slow client may delay others.
"""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from benchmarks.soak.services import free_port
from tools.fuzz.site import ROOT, Site

N_CLIENTS, N_BELOW_THREADS, LASTS_S, LIMIT_S = 20, 3, 8, 5  # the second is below the threads of one process
N_THREADS = 16  # of ``config.serve`` with its defaults: 2 processes with 8 threads each
CADDYFILE = ROOT / "docker" / "proxy" / "Caddyfile"
# The directive since Caddy 2.7, and that of earlier versions, of which Debian has one
BUFFERS = ("request_buffers 4MB", "buffer_requests\n\t\tmax_buffer_size 4MB")
SMALL_WINDOW = 2048  # bytes that a slow reader's kernel takes for it
MULTIPART = "multipart/form-data; boundary=slow"
LARGE = 6_000_000  # more than the proxy buffers


@dataclass(frozen=True)
class SlowClient:
    """What is sent at once, then a byte a second; ``reads`` sends all and reads a byte a second."""

    name: str
    start: Callable[[Site], bytes]
    holds_threads: bool = False  # where no proxy buffers
    reads: bool = False


def _post(path: str, *, length: int, headers: str = "", content_type: str = "application/json") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {content_type}\r\n{headers}"
    return f"{head}Content-Length: {length}\r\n\r\n".encode()


def _judgments(site: Site) -> bytes:
    return _post(f"/api/v1/sessions/{site.facts['sessions'][0]}/judgments/", length=1_000)


def _upload(site: Site) -> bytes:
    """An upload of a researcher: the body is read for its CSRF token."""
    return _multipart("/materials/upload/", _cookies(site), length=1_000_000)


def _large_upload(site: Site) -> bytes:
    """An upload of a researcher beyond the proxy's buffer."""
    return _multipart("/materials/upload/", _cookies(site), length=LARGE, sent=LARGE - 1_000)


def _cookies(site: Site) -> str:
    with closing(site.signed_in()) as browser:
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


def _anonymous_upload(site: Site) -> bytes:
    """A file beyond the proxy's buffer, to a page that takes none, without a login."""
    with httpx.Client(base_url=site.address, timeout=60) as browser:
        browser.get("/accounts/login/")
        cookie = f"csrftoken={browser.cookies['csrftoken']}"
    return _multipart("/accounts/login/", cookie, length=LARGE, sent=LARGE - 1_000)


def _multipart(path: str, cookies: str, *, length: int, sent: int = 0) -> bytes:
    head = _post(path, length=length, headers=f"Cookie: {cookies}\r\n", content_type=MULTIPART)
    part = b'--slow\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'
    return head + part + b"x" * max(0, sent - len(part))


SLOW_CLIENTS = (
    SlowClient("headers", lambda site: b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "),
    SlowClient(
        "readers",
        lambda site: b"GET /api/v1/schema/?format=json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        reads=True,
    ),
    SlowClient("anonymous uploads", _anonymous_upload),
    SlowClient("large uploads", _large_upload),
    SlowClient("answers", _judgments, holds_threads=True),
    SlowClient("uploads", _upload, holds_threads=True),
)


def slow_clients(site: Site) -> tuple[list[str], list[str]]:
    """Hold connections open and ask for a page meanwhile; faults, and what else has to be printed."""
    faults: list[str] = []
    notes: list[str] = []
    direct = urlsplit(site.address).port or 80
    for client in SLOW_CLIENTS:
        n = N_BELOW_THREADS if client.holds_threads else N_CLIENTS
        faults += _delays(site, client, direct, n=n, to="the server")
        if client.holds_threads:
            n_delayed = len(_delays(site, client, direct, n=N_CLIENTS, to="the server"))
            notes.append(
                f"{N_CLIENTS} slow {client.name} sent directly, without a proxy, to {N_THREADS} threads: "
                f"{n_delayed} of {LASTS_S} requests of others were delayed; this is what the proxy is for"
            )
    if shutil.which("caddy") is None:
        notes.append(f"NOT RUN behind the proxy ({CADDYFILE.relative_to(ROOT)}): there is no program caddy")
        return faults, notes
    with _proxy(site) as (port, directive):
        notes.append(f"behind {CADDYFILE.relative_to(ROOT)} with {directive}: {len(SLOW_CLIENTS)} kinds")
        for client in SLOW_CLIENTS:
            faults += _delays(site, client, port, n=N_CLIENTS, to="the proxy")
    return faults, notes


def _delays(site: Site, client: SlowClient, port: int, *, n: int, to: str) -> list[str]:
    """Requests of others that were not answered in time while ``n`` slow clients were connected."""
    start = client.start(site)
    with ExitStack() as stack:
        connections = [stack.enter_context(_connection(port, client)) for _ in range(n)]
        for connection in connections:
            _send(connection, start)
        delays = [delay for _ in range(LASTS_S) for delay in _second(connections, port, client)]
    _wait_until_idle(port)
    return [f"slow {client.name} ({n} to {to}): another request: {delay}" for delay in delays]


@contextmanager
def _connection(port: int, client: SlowClient) -> Iterator[socket.socket]:
    with socket.socket() as connection:
        if client.reads:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_WINDOW)
        connection.settimeout(LIMIT_S)
        connection.connect(("127.0.0.1", port))
        yield connection


def _send(connection: socket.socket, content: bytes) -> None:
    """Send as much as the server takes now; one that reads no further has refused the request."""
    connection.setblocking(False)
    with suppress(OSError):
        while content:
            content = content[connection.send(content) :]
    connection.settimeout(LIMIT_S)


def _second(connections: list[socket.socket], port: int, client: SlowClient) -> Iterator[str]:
    for connection in connections:
        with suppress(OSError):  # the server may refuse or close a slow client
            if client.reads:
                connection.recv(1)
            else:
                connection.sendall(b"x")
    started = time.monotonic()
    try:
        # The time limit is of the probe: a thread that was held is free when the slow clients have left.
        status = httpx.get(f"http://127.0.0.1:{port}/health/live", timeout=LIMIT_S).status_code
    except httpx.TransportError as error:
        status, problem = 0, type(error).__name__
    else:
        problem = f"status {status}"
    if status != 200:
        yield f"{problem} after {time.monotonic() - started:.1f} s"
    time.sleep(1)


def _wait_until_idle(port: int) -> None:
    """Wait until threads that read from the clients that left have noticed it."""
    for _ in range(60):
        with suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/health/live", timeout=LIMIT_S).is_success:
                return
        time.sleep(0.5)


@contextmanager
def _proxy(site: Site) -> Iterator[tuple[int, str]]:
    """Caddy with the Caddyfile of the deployment, on a free port without TLS."""
    port = free_port()
    environment = {
        **site.environment,
        "SITE_HOST": f"http://127.0.0.1:{port}",
        "UPSTREAM": urlsplit(site.address).netloc,
    }
    with tempfile.TemporaryDirectory() as folder:
        for buffers in BUFFERS:
            deployed = Path(folder) / "deployed"
            text = CADDYFILE.read_text(encoding="utf-8")
            deployed.write_text(text.replace(BUFFERS[0], buffers), encoding="utf-8")
            path = Path(folder) / "Caddyfile"
            path.write_text(f"{{\n\tadmin off\n\tauto_https off\n}}\nimport {deployed}\n", encoding="utf-8")
            adapt = ["caddy", "adapt", "--adapter", "caddyfile", "--config", str(path)]
            if not (refused := subprocess.run(adapt, capture_output=True, env=environment)).returncode:
                break
        else:
            raise RuntimeError(f"caddy refuses {CADDYFILE}: {refused.stderr.decode()}")
        command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(path)]
        log = (site.folder / "caddy.log").open("wb")
        caddy = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield port, buffers.split()[0]
        finally:
            caddy.terminate()
            caddy.wait()
            log.close()
