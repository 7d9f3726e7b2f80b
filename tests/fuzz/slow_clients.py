"""Clients that send a byte a second, to the platform behind a proxy that buffers requests, as it is deployed.

Each process answers as many requests at once as it has threads, so that without such a proxy a few slow
clients hold all of them.
"""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.benchmarks.soak.services import free_port
from tests.fuzz.site import Site

N_CLIENTS, LASTS_S, LIMIT_S = 20, 8, 5
CADDYFILE = """{{
    admin off
    auto_https off
}}
:{port} {{
    reverse_proxy {upstream} {{
        {buffers}
    }}
}}
"""
# The directive since Caddy 2.7, and that of earlier versions
BUFFERS = ("request_buffers 4MB", "buffer_requests\n        max_buffer_size 4MB")


def slow_clients(site: Site) -> list[str] | None:
    """Hold connections open byte by byte and ask for a page meanwhile; faults, or None without Caddy."""
    if shutil.which("caddy") is None:
        return None
    with _proxy(site) as port:
        path = f"/api/v1/sessions/{site.facts['sessions'][0]}/judgments/"
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n"
        connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(N_CLIENTS)]
        try:
            for connection in connections:
                connection.sendall(head.encode())
            return [fault for _ in range(LASTS_S) for fault in _second(connections, port)]
        finally:
            for connection in connections:
                connection.close()


def _second(connections: list[socket.socket], port: int) -> Iterator[str]:
    for connection in connections:
        connection.sendall(b"x")
    started = time.monotonic()
    try:
        status = httpx.get(f"http://127.0.0.1:{port}/health/live", timeout=20).status_code
    except httpx.TransportError as error:
        status, problem = 0, type(error).__name__
    else:
        problem = f"status {status}"
    seconds = time.monotonic() - started
    if status != 200 or seconds > LIMIT_S:
        yield f"{problem} after {seconds:.1f} s"
    time.sleep(1)


@contextmanager
def _proxy(site: Site) -> Iterator[int]:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "Caddyfile"
        for buffers in BUFFERS:
            upstream = urlsplit(site.address).netloc
            path.write_text(CADDYFILE.format(port=port, upstream=upstream, buffers=buffers), encoding="utf-8")
            adapt = ["caddy", "adapt", "--config", str(path)]
            if subprocess.run(adapt, capture_output=True).returncode == 0:
                break
        caddy = subprocess.Popen(["caddy", "run", "--config", str(path)], stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield port
        finally:
            caddy.terminate()
            caddy.wait()
