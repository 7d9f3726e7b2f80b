"""Three engines on our server, and a network that a test can take away."""

import contextlib
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.browser.conftest import environment_with_fonts
from tests.browser.engines import webdriver
from tests.browser.engines.webdriver import MINI_BROWSER, Window

# What each engine needs, and the Debian package that has it.
PROGRAMS = {
    "chromium": {"chromium": "chromium", "chromedriver": "chromium-driver"},
    "firefox": {"firefox-esr": "firefox-esr"},
    "webkit": {"WebKitWebDriver": "webkit2gtk-driver", MINI_BROWSER: "webkit2gtk-driver", "Xvfb": "xvfb"},
}


class Network:
    """The way from the engine to the server: an own port, so each test has a storage of its own."""

    def __init__(self, host: str, port: int) -> None:
        self.server = (host, port)
        self.port = 0
        self.sockets: set[socket.socket] = set()
        self.restore()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def restore(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def cut(self) -> None:
        """End every connection and take no other, as without a network."""
        for one in (self.listener, *self.sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.sockets.clear()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
                far = socket.create_connection(self.server)
            except OSError:
                return
            self.sockets |= {near, far}
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
            self.sockets.discard(one)


def require(engine: str) -> None:
    """Skip with the packages to install where there is no such engine."""
    programs = PROGRAMS[engine]
    missing = {programs[one] for one in programs if not (shutil.which(one) or Path(one).exists())}
    if missing:
        pytest.skip(f"no {engine} here: apt-get install {' '.join(sorted(missing))}")


@pytest.fixture(scope="session")
def windows(
    tmp_path_factory: pytest.TempPathFactory, browser_environment: dict[str, str]
) -> Iterator[Callable[..., Window]]:
    """Give a window of an engine, started once."""
    started: dict[str, Window] = {}
    with contextlib.ExitStack() as stack:

        def window(engine: str, **options: bool) -> Window:
            require(engine)
            name = "-".join([engine, *options])
            if name not in started:
                folder = tmp_path_factory.mktemp(name)
                start = getattr(webdriver, engine)
                started[name] = stack.enter_context(start(folder, browser_environment, **options))
            return started[name]

        yield window


@pytest.fixture
def start(
    network: Network, browser_environment: dict[str, str]
) -> Callable[..., AbstractContextManager[Window]]:
    """An engine of its own, with its profile in a folder."""

    @contextlib.contextmanager
    def begin(engine: str, folder: Path, *, fonts: str = "", **options: bool) -> Iterator[Window]:
        require(engine)
        environment = environment_with_fonts(fonts, folder) if fonts else browser_environment
        with getattr(webdriver, engine)(folder, environment, **options) as window:
            window.home = network.url
            yield window

    return begin


@pytest.fixture
def network(live_server) -> Iterator[Network]:
    way = Network(live_server.thread.host, live_server.thread.port)
    yield way
    way.cut()


@pytest.fixture
def visit(windows: Callable[..., Window], network: Network) -> Callable[..., Window]:
    """A window of an engine that is new to our server, 1280 px wide unless another width is asked for."""

    def begin(engine: str, *, width: int = 1280, **options: bool) -> Window:
        window = windows(engine, **options)
        window.home = network.url
        window.open("/robots.txt")
        window.send.delete_cookies()
        window.resize(width)
        return window

    return begin
