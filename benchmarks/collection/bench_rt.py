"""Error of the engine's response times in Chromium: synthetic key presses of known delay after the paint.

Run ``python benchmarks/collection/bench_rt.py [TRIALS]``. An observer of our own, apart from the
engine, waits a random while after a trial was painted and presses a key. The error is the stored ``rt_ms``
minus the time from a truth of the observer's to the press. Three truths are printed, because each gives
another mean:

- the end of painting in the page: a message posted from the frame that drew the trial is handled then;
- the stamp of the frame after, asked for by the observer itself: what the engine defines as the onset, so
  that this line is the error of its arithmetic alone;
- the moment at which Chromium presented the sentence (Element Timing), which an engine cannot ask of every
  browser: this line is what the definition of the onset costs.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError

from playwright.sync_api import Error, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PORT = 8797
SETUP = """
import json, django
django.setup()
from tests import cast
study = cast.study(task="likert", n_lists=1, instructions="", materials=cast.material_set(n_items={n}))
print(cast.begin(study).token)
"""
STORED = """
import json, django
django.setup()
from judgments.models import Judgment
found = Judgment.objects.values_list("trial__public_id", "rt_ms")
print(json.dumps(dict(found)))
"""
PRESS = """
window.known = {};
const press = (type) => document.body?.dispatchEvent(
  new KeyboardEvent(type, { key: "5", code: "Digit5", bubbles: true }));
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const row = known[entry.identifier];
    if (row) row.presented ??= entry.renderTime;
  }
}).observe({ type: "element", buffered: true });
new MutationObserver(() => {
  const task = document.querySelector(".task");
  const trial = task?.dataset.trial;
  const sentence = task?.querySelector(".sentence");
  if (!trial || !sentence || trial in known) return;
  const row = (known[trial] = {});
  sentence.setAttribute("elementtiming", trial);
  requestAnimationFrame(() => {
    requestAnimationFrame((stamp) => (row.framed = stamp));
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      row.painted = performance.now();
      setTimeout(() => {
        row.pressed = performance.now();
        press("keydown");
        press("keyup");
      }, 300 + 400 * Math.random());
    };
    channel.port2.postMessage(null);
  });
}).observe(document, { childList: true, subtree: true });
"""
TRUTHS = {
    "painted": "end of painting",
    "framed": "stamp of the next frame",
    "presented": "presented (Element Timing)",
}


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


def press_through(token: str) -> dict[str, dict[str, float]]:
    """Go through the session; gives the observer's times of every trial in ms."""
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.add_init_script(PRESS)
        page.goto(f"http://127.0.0.1:{PORT}/s/{token}/")
        event_times: dict[str, dict[str, float]] = {}
        while not page.locator(".code").count():
            with suppress(Error):  # the page with the code is just coming
                event_times |= page.evaluate("window.known")  # a later look knows more of the same trial
            page.wait_for_timeout(20)
        browser.close()
    return {trial: times for trial, times in event_times.items() if "pressed" in times}


def main() -> None:
    """Print mean and standard deviation of the error."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100
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
        token = python(SETUP.format(n=n), environment).split()[-1]
        command = [sys.executable, "-m", "config.serve", "--port", str(PORT), "--workers", "1"]
        server = subprocess.Popen(command, cwd=ROOT, env=environment)
        try:
            wait_for_server()
            event_times = press_through(token)
        finally:
            server.terminate()
            server.wait()
        stored = json.loads(python(STORED, environment).splitlines()[-1])
    for name, words in TRUTHS.items():
        delays = {
            trial: times["pressed"] - times[name] for trial, times in event_times.items() if times.get(name)
        }
        errors = [stored[trial] - delay for trial, delay in delays.items() if stored.get(trial) is not None]
        if len(errors) < 2:
            print(f"{words}: this browser does not say")
            continue
        mean, sd, middle = statistics.mean(errors), statistics.stdev(errors), statistics.median(errors)
        span = f"{min(errors):.1f} to {max(errors):.1f}"
        about = f"SD {sd:.1f}, median {middle:.1f}, {span}; {len(errors)} trials"
        print(f"{words}: rt_ms off by {mean:.1f} ms ({about})")


if __name__ == "__main__":
    main()
