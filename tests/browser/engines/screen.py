"""A virtual screen: its pixels as they arrive, and keys as a keyboard sends them, apart from any driver."""

import contextlib
import ctypes
import mmap
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

WIDTH, HEIGHT = 1400, 1000
KEYSYMS = {"Tab": 0xFF09, "Enter": 0xFF0D, "Space": 0x20, "F5": 0xFFC2}


class Screen:
    """The framebuffer file of Xvfb, and the X server's own test extension for keys."""

    def __init__(self, display: str, framebuffer: Path) -> None:
        self.display = display
        with framebuffer.open("rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        header = np.frombuffer(self.memory, ">u4", 20)  # of the format xwd
        start, bytes_per_line = int(header[0] + 12 * header[19]), int(header[12])
        lines = np.frombuffer(self.memory, np.uint8, bytes_per_line * HEIGHT, start)
        self.pixels = lines.view(np.uint32).reshape(HEIGHT, -1)[:, :WIDTH]

    def find(self, rgb: int) -> tuple[slice, slice]:
        """Return rows and columns of the pixels of a colour."""
        rows, columns = np.nonzero((self.pixels & 0xFFFFFF) == rgb)
        return slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)

    def wait_for_change(self, place: tuple[slice, slice], before: Any, *, seconds: float = 30) -> float:
        """Return when these pixels became others, in seconds of the monotonic clock."""
        deadline = time.monotonic() + seconds
        while (now := time.monotonic()) < deadline:
            if not np.array_equal(self.pixels[place], before):
                return now
            time.sleep(0.0003)
        raise AssertionError(f"nothing changed within {seconds} s")

    def wait_until_still(self, *, seconds: float = 2) -> None:
        """Wait until nothing changed for so long."""
        before, since = self.pixels.copy(), time.monotonic()
        while time.monotonic() - since < seconds:
            time.sleep(0.1)
            if not np.array_equal(self.pixels, before):
                before, since = self.pixels.copy(), time.monotonic()


class Keyboard:
    """Keys of the X server's test extension, which programs cannot tell from a keyboard's."""

    def __init__(self, display: str) -> None:
        self.x11, self.xtest = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
        self.x11.XOpenDisplay.restype = ctypes.c_void_p
        self.connection = ctypes.c_void_p(self.x11.XOpenDisplay(f":{display}".encode()))

    def press(self, key: str) -> float:
        """Press a key and let it go; return when it went down, in seconds of the monotonic clock."""
        symbol = ctypes.c_ulong(KEYSYMS.get(key) or ord(key))
        code = self.x11.XKeysymToKeycode(self.connection, symbol) & 0xFF
        pressed_at = time.monotonic()
        for is_down in (1, 0):
            self.xtest.XTestFakeKeyEvent(self.connection, code, is_down, ctypes.c_ulong(0))
            self.x11.XSync(self.connection, 0)
            time.sleep(0.03)
        return pressed_at


@contextlib.contextmanager
def keyboard(screen: Screen) -> Iterator[Keyboard]:
    """Connect a keyboard to a screen."""
    connected = Keyboard(screen.display)
    yield connected
    connected.x11.XCloseDisplay(connected.connection)


@contextlib.contextmanager
def screen(folder: Path) -> Iterator[Screen]:
    """Start Xvfb with its framebuffer in this folder."""
    reading, writing = os.pipe()
    size = ["-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", str(folder)]
    server = ["Xvfb", "-displayfd", str(writing), *size, "-nolisten", "tcp"]
    started = subprocess.Popen(server, pass_fds=[writing], stderr=subprocess.DEVNULL)
    try:
        display = os.read(reading, 20).decode().strip()
        yield Screen(display, folder / "Xvfb_screen0")
    finally:
        started.terminate()
        started.wait(20)
        os.close(reading)
        os.close(writing)
