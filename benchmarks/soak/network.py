"""A bad network: a proxy that loses requests and answers, delays, doubles and reorders them."""

import http.client
import random
import socket
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LONGEST_DELAY_S = 5.0
HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}
FATES = {  # shares of requests
    "passed on": 0.62,
    "lost on the way there": 0.08,
    "lost on the way back": 0.12,
    "delayed": 0.08,
    "doubled": 0.06,
    "sent again later": 0.04,
}


class FlakyNetwork(ThreadingHTTPServer):
    """Listens on a port of its own and passes on to the server, more or less."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, upstream: int, *, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), Passage)
        self.upstream, self.rng, self.lock = upstream, random.Random(seed), threading.Lock()
        self.fates: Counter[str] = Counter()
        self.late: list[threading.Thread] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        """Where people come in."""
        return self.server_address[1]

    def fate(self) -> tuple[str, float]:
        """What happens to the next request, and how long a delay is."""
        with self.lock:
            name = self.rng.choices(list(FATES), weights=list(FATES.values()))[0]
            self.fates[name] += 1
            return name, self.rng.uniform(0, LONGEST_DELAY_S)

    def handle_error(self, request: object, client_address: object) -> None:
        """People hang up on delays; that is what they are for."""

    def calm(self) -> None:
        """Wait until every late copy has arrived, then close."""
        for thread in self.late:
            thread.join()
        self.shutdown()
        self.server_close()


class Passage(BaseHTTPRequestHandler):
    """One request through the network; each has a connection of its own."""

    server: FlakyNetwork

    def do_GET(self) -> None:
        """Pass on a request."""
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        fate, delay = self.server.fate()
        if fate == "lost on the way there":
            return self._hang_up()
        if fate == "delayed":
            time.sleep(delay)  # requests sent after it, its own second try among them, arrive before it
        if fate in {"doubled", "sent again later"}:
            copy = threading.Thread(
                target=self._late, args=(body, delay if fate == "sent again later" else 0)
            )
            self.server.late.append(copy)
            copy.start()
        try:
            status, headers, text = self._forward(body)
        except (OSError, http.client.HTTPException):
            return self._hang_up()
        if fate == "lost on the way back":
            return self._hang_up()
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)
        return None

    do_POST = do_GET

    def _forward(self, body: bytes | None) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
        try:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def _late(self, body: bytes | None, delay: float) -> None:
        time.sleep(delay)
        try:
            self._forward(body)
        except (OSError, http.client.HTTPException):
            return

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *arguments: object) -> None:
        """Nothing: thousands of lines."""
