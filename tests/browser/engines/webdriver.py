"""Chromium, Firefox and WebKitGTK through one protocol: WebDriver's commands, with real keys and pointers.

Playwright drives engines of its own, or that know its newest commands: not Debian's Firefox nor WebKitGTK.
Firefox takes the commands itself (Marionette), the others through the driver that Debian has for each.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.browser.engines.screen import HEIGHT, WIDTH, Screen, screen

PATIENCE_S = 30.0
MINI_BROWSER = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser"
# A window of 390 px: MiniBrowser's own buttons would keep it at 447, Firefox's at 500.
SMALL_BUTTONS = "* { min-width: 0; min-height: 0; padding: 0; margin: 0; font-size: 4px }"
PREFERENCES = {
    "remote.prefs.recommended": True,
    "browser.shell.checkDefaultBrowser": False,
    "dom.disable_beforeunload": True,
}
KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Space": " ",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "End": "\ue010",
    "Home": "\ue011",
}


class CommandError(Exception):
    """A command that the engine refused, with its answer."""


def free_port() -> int:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _connect(port: int) -> socket.socket:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(OSError):
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S * 2)
        if time.monotonic() > deadline:
            raise CommandError(f"nothing listens on port {port}")
        time.sleep(0.05)


class Http:
    """Commands as requests to chromedriver or WebKitWebDriver."""

    paths = {"Navigate": "url", "Refresh": "refresh", "Back": "back", "PerformActions": "actions"}
    paths |= {"DevTools": "goog/cdp/execute"}
    paths |= {"SetWindowRect": "window/rect", "ExecuteScript": "execute/sync", "SetTimeouts": "timeouts"}
    paths |= {"SwitchToWindow": "window", "NewWindow": "window/new"}
    bare = {"CloseWindow": ("DELETE", "window"), "GetWindowHandle": ("GET", "window")}
    bare |= {"GetWindowHandles": ("GET", "window/handles")}

    def __init__(self, port: int, capabilities: dict[str, Any]) -> None:
        self.root = f"http://127.0.0.1:{port}/session"
        _connect(port).close()
        self.root += (
            "/" + self._send("POST", "", {"capabilities": {"alwaysMatch": capabilities}})["sessionId"]
        )

    def __call__(self, command: str, **parameters: Any) -> Any:
        if command in self.bare:
            method, path = self.bare[command]
            return self._send(method, f"/{path}")
        return self._send("POST", f"/{self.paths[command]}", parameters)

    def delete_cookies(self) -> None:
        self._send("DELETE", "/cookie")

    def close(self) -> None:
        self._send("DELETE", "")

    def _send(self, method: str, path: str, parameters: dict[str, Any] | None = None) -> Any:
        body = json.dumps(parameters).encode() if parameters is not None else None
        request = urllib.request.Request(self.root + path, body, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S * 2) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise CommandError(error.read().decode()) from None


class Marionette:
    """Commands as messages to Firefox; a private window and Firefox's own settings too."""

    def __init__(self, port: int) -> None:
        self.stream = _connect(port).makefile("rwb")
        self.count = 0
        self._read()
        self("NewSession", capabilities={})

    def __call__(self, command: str, **parameters: Any) -> Any:
        self.count += 1
        name = command if ":" in command else f"WebDriver:{command}"
        message = json.dumps([0, self.count, name, parameters]).encode()
        self.stream.write(b"%d:%s" % (len(message), message))
        self.stream.flush()
        _, _, error, value = self._read()
        if error:
            raise CommandError(str(error))
        return value["value"] if isinstance(value, dict) and set(value) == {"value"} else value

    def delete_cookies(self) -> None:
        self("DeleteAllCookies")

    def chrome(self, script: str, *arguments: Any) -> Any:
        """What a script gives that runs in the browser itself, not in its page."""
        self("Marionette:SetContext", value="chrome")
        try:
            return self("ExecuteScript", script=script, args=list(arguments))
        finally:
            self("Marionette:SetContext", value="content")

    def close(self) -> None:
        self.stream.close()

    def _read(self) -> Any:
        length = b""
        while (sign := self.stream.read(1)) != b":":
            if not sign:
                raise CommandError("Firefox has gone")
            length += sign
        return json.loads(self.stream.read(int(length)))


class Window:
    """One window of an engine, used as a participant would: an address, keys, a mouse, a finger."""

    def __init__(self, engine: str, send: Http | Marionette) -> None:
        self.engine, self.send, self.home = engine, send, ""
        send("SetTimeouts", pageLoad=60_000, script=30_000)

    def open(self, path: str) -> None:
        self.send("Navigate", url=self.home + path)

    def reload(self) -> None:
        """Reload as a user does: Firefox's own command for drivers goes past the service worker."""
        self.js("(document.documentElement.dataset.left = '') || setTimeout(() => location.reload())")
        self.until("!('left' in document.documentElement.dataset)")

    def js(self, script: str, *arguments: Any) -> Any:
        """The value of an expression in the page, in which ``arguments`` may stand."""
        return self.send("ExecuteScript", script=f"return {script}", args=list(arguments))

    def until(self, condition: str | Callable[[], Any], *arguments: Any, seconds: float = PATIENCE_S) -> Any:
        """What an expression in the page, or a function here, gives once it is true."""
        deadline, last = time.monotonic() + seconds, None
        while time.monotonic() < deadline:
            try:
                if last := condition() if callable(condition) else self.js(condition, *arguments):
                    return last
            except CommandError as error:  # between two pages
                last = error
            time.sleep(0.03)
        raise AssertionError(
            f"{self.engine}: not within {seconds} s: {condition} ({last!r}) {self.text()[:300]!r}"
        )

    def text(self) -> str:
        return str(self.js("document.body?.innerText ?? ''"))

    def press(self, *keys: str) -> None:
        """Press keys one after the other, each let go at once."""
        signs = [KEYS.get(key, key) for key in keys]
        steps = [{"type": kind, "value": sign} for sign in signs for kind in ("keyDown", "keyUp")]
        self._perform({"type": "key", "id": "keyboard", "actions": steps})

    def click(self, selector: str, *, share: float = 0.5, pointer: str = "mouse") -> None:
        """Click, or tap, the first element of a selector, at a share of its width."""
        for attempt in range(5):
            x, y = self.until(
                """(async () => {
                        const one = document.querySelector(arguments[0]);
                        if (!one) return null;
                        one.scrollIntoView({ block: "nearest", behavior: "instant" });
                        const before = one.getBoundingClientRect().top;
                        const frame = () => new Promise(requestAnimationFrame);
                        await frame().then(frame); // Firefox clicks on what is painted
                        const { x, y, width, height } = one.getBoundingClientRect();
                        const [left, top] = [x + arguments[1] * width, y + height / 2];
                        return width && y === before && [Math.round(left), Math.round(top)] })()""",
                selector,
                share,
            )
            steps: list[dict[str, Any]] = [
                {"type": "pointerMove", "x": x, "y": y, "duration": 0},
                {"type": "pointerDown", "button": 0},
                {"type": "pointerUp", "button": 0},
            ]
            mouse = {"type": "pointer", "id": pointer, "parameters": {"pointerType": pointer}}
            try:
                return self._perform({**mouse, "actions": steps})
            except CommandError as error:
                # The page moved the element out of the window meanwhile: nothing was pressed.
                if "out of bounds" not in str(error) or attempt == 4:
                    raise

    def choose_file(self, selector: str, path: Path) -> None:
        """Firefox: give a file to a field, as its dialog does."""
        (element,) = self.send("FindElement", using="css selector", value=selector).values()
        self.send("ElementSendKeys", id=element, text=str(path))

    def resize(self, width: int, height: int = 844) -> None:
        """Make the page so wide, and wait until it is."""
        if isinstance(self.send, Marionette):
            self.send("SetWindowRect", width=max(width, 500), height=height)
            script = "document.querySelector('#tabbrowser-tabpanels').style.maxWidth = arguments[0] + 'px'"
            self.send.chrome(script, width)
        else:
            self.send("SetWindowRect", width=width, height=height)
        try:
            self.until("innerWidth === arguments[0]", width, seconds=5)
        except AssertionError:
            raise AssertionError(f"{self.engine}: {self.js('innerWidth')} px, not {width}") from None

    @contextlib.contextmanager
    def private(self) -> Iterator[None]:
        """Firefox: work in a private window."""
        before = self.send("GetWindowHandle")
        self.send("SwitchToWindow", handle=self.send("NewWindow", type="window", private=True)["handle"])
        try:
            yield
        finally:
            self.send("CloseWindow")
            self.send("SwitchToWindow", handle=before)

    def _perform(self, actions: dict[str, Any]) -> None:
        self.send("PerformActions", actions=[actions])


@contextlib.contextmanager
def process(*command: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs for as long as it is needed, and the programs that it starts."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = subprocess.Popen(command, env={**os.environ, **environment}, **quiet, start_new_session=True)
    try:
        yield started
    finally:
        started.terminate()
        started.wait(20)
        with contextlib.suppress(ProcessLookupError):
            # Debian's chromium-headless-shell is a shell script: chromedriver ends that, not the browser.
            os.killpg(started.pid, signal.SIGKILL)


@contextlib.contextmanager
def chromium(
    folder: Path, environment: dict[str, str], *, is_kept: bool = False, shown_on: Screen | None = None
) -> Iterator[Window]:
    """A headless window of an empty profile; or the whole browser, whose profile is kept in this folder."""
    port = free_port()
    args = ["--no-sandbox", "--disable-gpu"]
    args += ["--window-position=0,0", f"--window-size={WIDTH},{HEIGHT}"] if shown_on else ["--headless"]
    if is_kept:
        args += [f"--user-data-dir={folder}"]
    shell = None if is_kept or shown_on else shutil.which("chromium-headless-shell")
    options = {"binary": shell or shutil.which("chromium"), "args": args}
    with process("chromedriver", f"--port={port}", **environment, **_display(shown_on)):
        send = Http(port, {"goog:chromeOptions": options})
        yield Window("chromium", send)
        send.close()


@contextlib.contextmanager
def running_chromium(folder: Path, environment: dict[str, str]) -> Iterator[int]:
    """Start the whole browser, and give the port at which drivers attach to it and let it go."""
    port = free_port()
    (folder / "Local State").write_text('{"internal_only_uis_enabled": true}')  # chrome://discards
    args = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}"]
    with process("chromium", *args, f"--remote-debugging-port={port}", **environment):
        yield port


@contextlib.contextmanager
def attached_chromium(port: int) -> Iterator[Window]:
    """A window of a browser that goes on after the driver has gone."""
    own = free_port()
    with process("chromedriver", f"--port={own}"):
        send = Http(own, {"goog:chromeOptions": {"debuggerAddress": f"127.0.0.1:{port}"}})
        yield Window("chromium", send)
        send.close()


@contextlib.contextmanager
def firefox(folder: Path, environment: dict[str, str], *, shown_on: Screen | None = None) -> Iterator[Window]:
    """A window with the profile in this folder, headless unless it is shown on a screen."""
    port = free_port()
    settings = {**PREFERENCES, "marionette.port": port}
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in settings.items()]
    (folder / "user.js").write_text("\n".join(lines))
    command = ["firefox-esr", "--marionette", "--remote-allow-system-access", "--no-remote"]
    command += ["--kiosk" if shown_on else "--headless", "--profile", str(folder)]
    with process(*command, **environment, **_display(shown_on)):
        send = Marionette(port)
        yield Window("firefox", send)
        send.close()


@contextlib.contextmanager
def webkit(
    folder: Path, environment: dict[str, str], *, scripts: bool = True, shown_on: Screen | None = None
) -> Iterator[Window]:
    """A window, on a screen of its own if on no other; WebKitGTK's automated windows are private ones."""
    port = free_port()
    options = {
        "binary": MINI_BROWSER,
        "args": ["--automation", *([] if scripts else ["--enable-javascript=false"])],
    }
    with contextlib.ExitStack() as stack:
        display = _display(shown_on or stack.enter_context(screen(folder)))
        own = gtk_environment(folder)
        stack.enter_context(process("WebKitWebDriver", f"--port={port}", **environment, **display, **own))
        send = Http(port, {"webkitgtk:browserOptions": options})
        yield Window("webkit", send)
        send.close()


def gtk_environment(folder: Path) -> dict[str, str]:
    """Everything that MiniBrowser stores goes to this folder."""
    (folder / "gtk-3.0").mkdir(exist_ok=True)
    (folder / "gtk-3.0" / "gtk.css").write_text(SMALL_BUTTONS)
    return dict.fromkeys(["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"], str(folder))


def _display(screen: Screen | None) -> dict[str, str]:
    if screen is None:
        return {}
    return {"DISPLAY": f":{screen.display}", "GDK_BACKEND": "x11", "MOZ_ENABLE_WAYLAND": "0"}
