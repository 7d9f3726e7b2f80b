"""The proxies of docker/proxy pass on no forged headers, buffer slow bodies, and limit bodies by address."""

import http.client
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from config.http.body_limit import MAX_BODY_BYTES
from tests.deployment.compose import DOCKER
from tests.test_serve import until
from tools.doubles import serving

PARTICIPANTS = ("/take/study/", "/s/token/closing/", "/api/v1/sessions/token/judgments/", "/accounts/login/")
UPLOADS = (
    "/materials/upload/",
    "/judgments/import/",
    "/studies/s/models/score/",
    "/api/v1/studies/s/score-sets/",
)


class Arrived(NamedTuple):
    """A request as the web server behind the proxy gets it."""

    path: str
    headers: dict[str, str]
    body: list[int]  # its size, once it was read


class Proxy(NamedTuple):
    """A proxy that runs, and what passed it."""

    port: int
    arrived: list[Arrived]

    def post(self, path: str, n_bytes: int) -> int:
        """Send a body whole; returns the status."""
        with closing(http.client.HTTPConnection("localhost", self.port, timeout=60)) as line:
            line.request("POST", path, b"x" * n_bytes)
            return line.getresponse().status


def free_port() -> int:
    """A port that was free a moment ago."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def caddy(folder: Path, *, port: int, upstream: int) -> subprocess.Popen[bytes]:
    """Start Caddy with the file of compose.yml."""
    config = folder / "Caddyfile"
    config.write_text("{\n\tadmin off\n\tauto_https off\n}\n" + (DOCKER / "proxy" / "Caddyfile").read_text())
    site = {"SITE_HOST": f"http://localhost:{port}", "UPSTREAM": f"127.0.0.1:{upstream}", "HOME": str(folder)}
    command = ["caddy", "run", "--config", str(config), "--adapter", "caddyfile"]
    return subprocess.Popen(command, env={**os.environ, **site}, stderr=subprocess.DEVNULL)


def nginx(folder: Path, *, port: int, upstream: int) -> subprocess.Popen[bytes]:
    """Start nginx with the file of the guide, without its certificate and its redirect from port 80."""
    text = (DOCKER / "proxy" / "nginx.conf").read_text()
    text = re.sub(r"server \{\s+listen 80;.*?\n\}\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^ *(listen \[|ssl_|access_log ).*\n", "", text, flags=re.MULTILINE)
    text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{port}").replace(
        "127.0.0.1:8000", f"127.0.0.1:{upstream}"
    )
    folders = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "nginx.conf"
    user = "user root;\n" if os.geteuid() == 0 else ""  # else its worker may not write into the folder
    config.write_text(
        f"{user}daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{folders}{text}}}\n"
    )
    return subprocess.Popen(["nginx", "-p", str(folder), "-c", str(config)], stderr=subprocess.DEVNULL)


STARTS = {"caddy": caddy, "nginx": nginx}


@pytest.fixture(params=STARTS)
def proxy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Proxy]:
    """Each proxy before a web server that notes what arrives."""
    if shutil.which(request.param) is None:
        pytest.skip(f"needs {request.param}, a proxy of the deployment")
    if request.param == "caddy" and _caddy_version() < (2, 7):
        pytest.skip("needs Caddy 2.7 or newer: its directive for buffers")
    arrived: list[Arrived] = []

    class Upstream(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            row = Arrived(self.path, {name.lower(): value for name, value in self.headers.items()}, [])
            arrived.append(row)
            row.body.append(len(self.rfile.read(int(self.headers["Content-Length"] or 0))))
            self.send_response(204)
            self.end_headers()

        do_GET = do_POST

        def log_message(self, *args: Any) -> None:
            """Write nothing."""

    port = free_port()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    with serving(server):
        process = STARTS[request.param](tmp_path, port=port, upstream=server.server_port)
        try:
            assert until(lambda: _listens(port))
            yield Proxy(port, arrived)
        finally:
            process.terminate()
            process.wait()


def _listens(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _caddy_version() -> tuple[int, ...]:
    version = subprocess.run(["caddy", "version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in version.lstrip("v").split()[0].split(".")[:2])


def test_headers_of_the_client_do_not_pass_as_those_of_the_proxy(proxy: Proxy) -> None:
    forged = {
        "X_Forwarded_For": "192.0.2.1",
        "X_Forwarded_Proto": "https",
        "X-Forwarded-For": "192.0.2.1",
        "X-Forwarded-Proto": "gopher",
        "Content-Length": "0",
    }
    with closing(http.client.HTTPConnection("localhost", proxy.port, timeout=30)) as line:
        line.request("GET", "/", headers=forged)
        assert line.getresponse().status == 204
    headers = proxy.arrived[0].headers
    assert not any("_" in name for name in headers)
    assert headers["x-forwarded-for"] == "127.0.0.1" and headers["x-forwarded-proto"] in {"http", "https"}


@pytest.mark.parametrize("n_bytes", [1_000, MAX_BODY_BYTES - 1])
def test_a_slow_body_waits_in_the_proxy_and_arrives_whole(proxy: Proxy, n_bytes: int) -> None:
    head = f"POST /take/study/ HTTP/1.1\r\nHost: localhost:{proxy.port}\r\nContent-Length: {n_bytes}\r\n\r\n"
    with closing(socket.create_connection(("localhost", proxy.port), timeout=60)) as line:
        line.sendall(head.encode() + b"x" * (n_bytes - 1))
        time.sleep(1)
        assert proxy.arrived == []
        line.sendall(b"x")
        assert b" 204 " in line.recv(1000)
    [row] = proxy.arrived
    assert row.body == [n_bytes]


@pytest.mark.parametrize("path", PARTICIPANTS)
def test_a_large_body_to_an_address_without_login_does_not_arrive(proxy: Proxy, path: str) -> None:
    n_bytes = MAX_BODY_BYTES + 500_000
    assert proxy.post(path, n_bytes) == 413
    # Caddy passes the beginning on; the web server refuses such a request by its length.
    assert all(size < n_bytes for row in proxy.arrived for size in row.body)
    started = time.monotonic()  # a refusal is no failure of the web server, which would be left out
    assert proxy.post(path, 1_000) == 204 and time.monotonic() - started < 2


@pytest.mark.parametrize("path", UPLOADS)
def test_a_large_file_of_a_researcher_arrives_whole(proxy: Proxy, path: str) -> None:
    assert proxy.post(path, 5 * MAX_BODY_BYTES) == 204
    assert [row.body for row in proxy.arrived] == [[5 * MAX_BODY_BYTES]]
