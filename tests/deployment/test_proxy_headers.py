"""The proxy lets no header through that the web server would take for one of the proxy's own."""

import http.client
import os
import shutil
import socket
import subprocess
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.doubles import serving

CADDYFILE = Path(__file__).parents[2] / "docker" / "proxy" / "Caddyfile"


def free_port():
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def arrived():
    """The headers of requests that reach the web server behind the proxy."""
    requests = []

    class Upstream(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.headers.items())
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args):
            """Write nothing."""

    server = HTTPServer(("127.0.0.1", 0), Upstream)
    with serving(server):
        yield server.server_port, requests


def test_headers_with_underscores_do_not_pass_caddy(arrived, tmp_path):
    if shutil.which("caddy") is None:
        pytest.skip("it needs Caddy, the proxy of the deployment")
    upstream, requests = arrived
    port = free_port()
    config = tmp_path / "Caddyfile"
    config.write_text("{\n\tadmin off\n\tauto_https off\n}\n" + CADDYFILE.read_text())
    if "request_buffers" in CADDYFILE.read_text() and _is_old():
        config.write_text(config.read_text().replace("request_buffers 4MB", ""))
    site = {
        "SITE_HOST": f"http://localhost:{port}",
        "UPSTREAM": f"127.0.0.1:{upstream}",
        "HOME": str(tmp_path),
    }
    command = ["caddy", "run", "--config", str(config), "--adapter", "caddyfile"]
    caddy = subprocess.Popen(command, env={**os.environ, **site}, stderr=subprocess.DEVNULL)
    try:
        _ask(
            port, {"X_Forwarded_For": "192.0.2.1", "X_Forwarded_Proto": "https", "X-Forwarded-Proto": "https"}
        )
    finally:
        caddy.terminate()
        caddy.wait()
    names = {name.lower() for name, _ in requests[0]}
    assert not any("_" in name for name in names)
    headers = {name.lower(): value for name, value in requests[0]}
    assert headers["x-forwarded-for"] == "127.0.0.1" and headers["x-forwarded-proto"] == "http"


def _is_old():
    """The directive for buffers has a new form since Caddy 2.7."""
    version = subprocess.run(["caddy", "version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in version.lstrip("v").split()[0].split(".")[:2]) < (2, 7)


def _ask(port, headers):
    end = time.monotonic() + 60
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/", headers={"Host": f"localhost:{port}", **headers})
            return connection.getresponse().read()
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
