"""Local servers that stand in for recruitment platforms, in tests and by hand."""

import contextlib
import socketserver
import threading
from collections.abc import Iterator

POLL_S = 0.01  # how long `shutdown` waits at most; half a second by default, once in each test


@contextlib.contextmanager
def serving(server: socketserver.BaseServer) -> Iterator[None]:
    """Serve in a thread until the block ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": POLL_S}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
