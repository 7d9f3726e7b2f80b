"""The machine under the services: a disk that fills up, stalls and fails, and a clock that jumps.

The disk is an ext4 image on a loop device, which takes the rights to mount; the clock is a library loaded
into the services, which takes a C compiler. What this machine does not permit is left out, and said.
"""

import os
import shutil
import struct
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")
TOOLS = ("mkfs.ext4", "e2fsck", "mount", "umount", "fsfreeze", "fallocate")
DISK_BYTES = 6 << 30
BUSY_S = 60.0  # until processes that were killed have closed their files


class Disk:
    """A folder on a file system of its own where that is permitted, else a plain folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.image = folder / "disk", folder / "disk.img"
        self.folder.mkdir(mode=0o711)
        self.ballast = self.folder / "ballast"
        self.remedies: Counter[str] = Counter()  # what it took to repair it, by kind
        self.is_mounted = self._mount_new()

    def _mount_new(self) -> bool:
        if os.geteuid() or not all(shutil.which(tool) for tool in TOOLS):
            return False
        with self.image.open("wb") as image:
            image.truncate(DISK_BYTES)  # sparse: it takes only what is written
        if _fails("mkfs.ext4", "-q", "-m", "0", self.image) or not self._mount():
            self.image.unlink()
            return False
        self.folder.chmod(0o711)
        return True

    def _mount(self) -> bool:
        return not _fails("mount", "-o", "loop", self.image, self.folder)

    def fill(self) -> None:
        """Leave no byte free."""
        free = shutil.disk_usage(self.folder).free
        _fails("fallocate", "-l", str(max(4096, free - (1 << 20))), self.ballast)
        with suppress(OSError), self.ballast.open("ab") as rest:
            while True:
                rest.write(bytes(4096))
                rest.flush()

    def empty(self) -> None:
        """Delete what filled the disk."""
        self.ballast.unlink(missing_ok=True)

    def stall(self, seconds: float) -> None:
        """Let every write wait for so long."""
        if not _fails("fsfreeze", "--freeze", self.folder):
            try:
                time.sleep(seconds)
            finally:
                _fails("fsfreeze", "--unfreeze", self.folder)

    def fail(self) -> None:
        """What the kernel does after an error of the device: read-only from now on, whatever is open."""
        subprocess.run(["mount", "-o", "remount,abort", self.folder], check=True)

    def repair(self) -> None:
        """What an administrator does: unmount, check, mount again; at last another device with a copy."""
        for last_resort in (False, True):
            if last_resort:
                self._leave_device()
            end = time.monotonic() + BUSY_S
            while time.monotonic() < end:
                if self._is_repaired():
                    return
                self.remedies["disk: repair tried again"] += 1
                time.sleep(1)
        raise RuntimeError("the disk cannot be mounted again")

    def _leave_device(self) -> None:
        # Whoever holds the failed file system keeps it, and with it the kernel's only view of its image.
        _fails("umount", "--lazy", self.folder)
        os.sync()
        copy = self.image.with_suffix(".copy")
        subprocess.run(["cp", "--sparse=always", self.image, copy], check=True)
        copy.replace(self.image)
        self.remedies["disk: left to those who held it, a copy mounted"] += 1

    def _is_repaired(self) -> bool:
        if self.folder.is_mount() and _fails("umount", self.folder):
            return False  # a process that was killed has not closed its files yet, or a backup is being made
        subprocess.run(["e2fsck", "-fy", self.image], capture_output=True, check=False)
        if not self._mount():
            return False
        try:
            self.ballast.touch()
        except OSError:
            # Race: a process that left for a mount namespace of its own still has the failed mount, and with
            # it the kernel's view of the image; it has to end first.
            return False
        self.ballast.unlink()
        return True

    def remove(self) -> None:
        """Unmount for good."""
        if self.is_mounted:
            _fails("fsfreeze", "--unfreeze", self.folder)
            self._unmount()

    def _unmount(self) -> None:
        end = time.monotonic() + BUSY_S
        while _fails("umount", self.folder):
            if time.monotonic() > end:
                _fails("umount", "--lazy", self.folder)
                return
            time.sleep(0.3)


class Clock:
    """The wall clock that services see; unshifted where no compiler is at hand."""

    def __init__(self, folder: Path) -> None:
        self.file, library = folder / "clock", folder / "clock.so"
        self.file.write_bytes(struct.pack("q", 0))
        self.file.chmod(0o644)
        compiler = shutil.which("cc")
        self.environment: dict[str, str] = {}
        if compiler and not _fails(compiler, "-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl"):
            library.chmod(0o755)
            self.environment = {"LD_PRELOAD": str(library), "CLOCK_SHIFT_FILE": str(self.file)}

    def shift(self, seconds: int) -> None:
        """Set the clock of all services forward or back, from their next look at it."""
        with self.file.open("rb+") as file:
            file.write(struct.pack("q", seconds))


def _fails(*command: str | Path) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode != 0
