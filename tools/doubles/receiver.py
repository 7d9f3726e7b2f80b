"""A program of a researcher that receives webhooks: answers as told, and keeps what came."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes


class Receiver(ThreadingHTTPServer):
    """Answers with ``statuses`` in order, then with 200."""

    daemon_threads = True

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.response = b"thank you"
        self.location = ""
        self.received: list[Received] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}/hook?key=1"


class Handler(BaseHTTPRequestHandler):
    """Keeps a request and answers it."""

    server: Receiver

    def do_POST(self) -> None:
        """Any address."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append(Received(self.path, headers, body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 200)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", str(len(self.server.response)))
        self.end_headers()
        self.wfile.write(self.server.response)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def running() -> Iterator[Receiver]:
    """A receiver that serves in a thread until the block ends."""
    server = Receiver()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
