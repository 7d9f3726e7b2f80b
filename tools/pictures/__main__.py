"""Take the manual's pictures again, of the demo in a site of its own, at 1280 and 390 px.

1. The platform starts as `make run` starts it, in an empty folder, and makes its demo.
2. A Chromium walks through the studio and through sessions; `docs/pictures.md` shows what it saw.
3. A picture that the page does not show, or one it lacks, is an error. `--only live,break` takes some.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from config.run import next_free
from tests.browser.conftest import NAMES, QUIET
from tools.doubles import mturk, prolific
from tools.pictures.camera import DOCS, Camera, on_the_page

READY_S = 600


@contextmanager
def doubles() -> Iterator[dict[str, str]]:
    """Run a double of each recruitment platform; yields the settings that lead to them."""
    with prolific.running() as workspace, mturk.Double() as requester:
        yield {
            "PROLIFIC_URL": workspace.url,
            "MTURK_ENDPOINT": requester.url,
            "MTURK_WORKER_SITES": requester.url,
        }


@contextmanager
def site(folder: Path, settings: dict[str, str]) -> Iterator[str]:
    """Run the whole platform in this folder and connect this process to its database; yield the address."""
    port = next_free(8200)
    os.environ |= {"VAR_DIR": str(folder / "var"), "PORT": str(port)}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(DOCS.parent)}
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright keeps a loop in this thread
    os.environ |= settings
    # In the folder itself, so that model URIs read var/demo/… as in a checkout and name no temporary path.
    with (folder / "run.log").open("w") as log:
        running = subprocess.Popen([sys.executable, "-m", "config.run"], cwd=folder, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}", running, folder / "run.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(timeout=60)


def _wait(address: str, running: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + READY_S
    while time.monotonic() < end and running.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{address}/demo/progress/", timeout=2) as demo:
            if b'data-state="done"' in demo.read():
                return
        time.sleep(0.5)
    sys.exit(f"The platform did not start:\n{log.read_text()[-2000:]}")


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium."""
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        sys.exit("no Chromium here: install one, for example with: apt-get install chromium fonts-liberation")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=QUIET)
        yield browser
        browser.close()


def main() -> None:
    """Take all pictures, or those asked for."""
    parser = argparse.ArgumentParser(description="Take the manual's pictures anew.")
    parser.add_argument("--only", default="", help="names of pictures, by commas")
    only = set(filter(None, parser.parse_args().only.split(",")))
    with (
        tempfile.TemporaryDirectory() as folder,
        doubles() as settings,
        site(Path(folder), settings) as address,
        chromium() as browser,
    ):
        import django

        django.setup()
        from tools.pictures import participants, studio

        password = (Path(folder) / "var" / "demo_password").read_text().strip()
        sizes = ((1280, 800), (390, 844))
        cameras = [Camera(browser, address, width=wide, height=high, only=only) for wide, high in sizes]
        for camera in cameras:
            studio.take(camera, password=password)
        for camera in cameras:  # afterwards, so that nobody is in session on the pages above
            participants.take(camera)
        taken = set.union(*(camera.taken for camera in cameras))
    missing, unknown = on_the_page() - taken, taken - on_the_page()
    print(f"{len(taken)} pages at two widths.")
    if unknown or (missing and not only):
        sys.exit(f"docs/pictures.md shows but nobody took: {missing or 'none'}; taken, not shown: {unknown}")


if __name__ == "__main__":
    main()
