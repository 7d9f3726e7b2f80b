"""Error of response times in three engines, beside a watcher of the screen and a keyboard of known times.

Run ``python benchmarks/collection/bench_rt.py [TRIALS] [ENGINE …]``: chromium, firefox, webkit (Debian's
packages chromium, chromium-driver, firefox-esr, webkit2gtk-driver, xvfb) and ``resisting``, Firefox with
``resistFingerprinting``. Each engine is shown on a virtual screen. A watcher apart from it reads the pixels
of the sentence from the X server's memory, some 1,500 times a second, waits a random while after they
changed, and presses a key through the X server; both times are of one monotonic clock. Printed for each,
in ms:

- the error of the stored ``rt_ms``: median, quartiles, the middle 95 % and the standard deviation;
- its two parts, onset minus pixels and stamp of the answer minus key press, as medians. Both need the
  browser's clock beside the watcher's (``performance.timeOrigin``, which browsers round to 1 ms or more);
- the clock's step, and how many rows were marked ``coarse_clock`` and ``coarse_painting``.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.error import URLError

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.browser.engines import webdriver  # noqa: E402
from tests.browser.engines.screen import keyboard, screen  # noqa: E402

PORT = 8797
ENGINES = ["chromium", "firefox", "resisting", "webkit"]
COLUMNS = ["engine", "trials", "median", "quartiles", "95 %", "SD", "onset", "answer", "clock step"]
COLUMNS += ["`coarse_clock`", "`coarse_painting`"]
RESIST = "Services.prefs.setBoolPref('privacy.resistFingerprinting', true)"
SETUP = """
import django
django.setup()
from tests import cast
materials = cast.material_set(n_items={n})
study = cast.study(task="likert", n_lists={n_lists}, instructions="", materials=materials)
print(*(cast.begin(study, str(number)).token for number in range({n_lists})))
"""
STORED = """
import json, django
django.setup()
from judgments.models import Judgment
print(json.dumps({trial: [rt, timing] for trial, rt, timing in
    Judgment.objects.values_list("trial__public_id", "rt_ms", "timing")}))
"""
MAGENTA = 0xFF00FF
PAINT = "document.querySelector('.task .sentence').style.background = arguments[0]"
SHOWN = """(() => {
  const { trial, onset } = document.querySelector(".task").dataset;
  return onset && [trial, performance.timeOrigin + Number(onset)];
})()"""


def python(code: str, environment: dict[str, str]) -> str:
    """Run Python against the benchmark's database."""
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout


def wait_for_server() -> None:
    """Until the server answers."""
    for _ in range(200):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/health/ready", timeout=2)
            return
        except (URLError, OSError):
            time.sleep(0.2)
    sys.exit("the server did not start")


def press_through(engine: str, token: str, n: int) -> dict[str, dict[str, float]]:
    """Answer n + 1 trials; return when each changed, began and was answered (ms of the day)."""
    times = {}
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        screen(Path(name)) as shown,
        keyboard(shown) as keys,
    ):
        start = getattr(webdriver, "firefox" if engine == "resisting" else engine)
        with start(Path(name), dict(os.environ), shown_on=shown) as window:
            if engine == "resisting":
                window.send.chrome(RESIST)
            window.open(f"http://127.0.0.1:{PORT}/s/{token}/")
            window.until("document.querySelector('.task').dataset.onset")
            window.js(PAINT, "#f0f")
            window.until(lambda: MAGENTA in shown.pixels & 0xFFFFFF)
            place = shown.find(MAGENTA)
            window.js(PAINT, "")
            changed_at = None  # the first trial only gives the place
            for left in range(n, -1, -1):
                time.sleep(0.25)
                trial, onset = window.until(SHOWN)
                time.sleep(0.1 + 0.4 * random.random())
                before = shown.pixels[place].copy()
                pressed_at = keys.press("5")
                day = time.time() - time.monotonic()
                if changed_at is not None:
                    seen = {"pixels": (day + changed_at) * 1000, "press": (day + pressed_at) * 1000}
                    times[trial] = {"onset": onset, **seen}
                if left:
                    changed_at = shown.wait_for_change(place, before)
            window.until("document.querySelector('.code')")
    return times


def describe(engine: str, times: dict[str, dict[str, float]], stored: dict[str, tuple[int, dict]]) -> str:
    """Return one row of the table."""
    rows = [(known, *stored[trial]) for trial, known in times.items()]
    errors = np.array([rt - (known["press"] - known["pixels"]) for known, rt, _ in rows])
    onsets = np.array([known["onset"] - known["pixels"] for known, _, _ in rows])
    answers = np.array([known["onset"] + rt - known["press"] for known, rt, _ in rows])
    low, lower, middle, upper, high = np.percentile(errors, [2.5, 25, 50, 75, 97.5])
    step = np.median([timing["clock_step_ms"] for _, _, timing in rows])
    coarse = [
        sum(bool(timing.get(name)) for _, _, timing in rows) for name in ("coarse_clock", "coarse_painting")
    ]
    cells = [
        engine,
        str(len(rows)),
        f"{middle:+.1f}",
        f"{lower:+.1f} to {upper:+.1f}",
        f"{low:+.1f} to {high:+.1f}",
    ]
    cells += [
        f"{errors.std(ddof=1):.1f}",
        f"{np.median(onsets):+.1f}",
        f"{np.median(answers):+.1f}",
        f"{step:g}",
    ]
    return "| " + " | ".join([*cells, *(f"{n} of {len(rows)}" for n in coarse)]) + " |"


def main() -> None:
    """Print one row for each engine."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    engines = sys.argv[2:] or ENGINES
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "VAR_DIR": folder,
            "DATABASE_URL": "",
            "DEBUG": "1",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        migrate = [sys.executable, "manage.py", "migrate", "-v0"]
        subprocess.run(migrate, cwd=ROOT, env=environment, check=True)
        tokens = python(SETUP.format(n=n + 1, n_lists=len(engines)), environment).split()[-len(engines) :]
        command = [sys.executable, "-m", "config.serve", "--port", str(PORT), "--workers", "1"]
        server = subprocess.Popen(command, cwd=ROOT, env=environment)
        try:
            wait_for_server()
            times = {
                engine: press_through(engine, token, n) for engine, token in zip(engines, tokens, strict=True)
            }
        finally:
            server.terminate()
            server.wait()
        stored = json.loads(python(STORED, environment).splitlines()[-1])
    print(f"load of the machine: {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores")
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for engine in engines:
        print(describe(engine, times[engine], stored))


if __name__ == "__main__":
    main()
