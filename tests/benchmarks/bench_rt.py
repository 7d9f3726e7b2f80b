"""Error of the engine's response times in Chromium: synthetic key presses of known delay after the paint.

Run ``python tests/benchmarks/bench_rt.py [TRIALS]``. An observer of our own, apart from the engine, notes
when a trial was painted (a message posted from the animation frame that drew it is handled after the paint),
waits a random while and presses a key. The error is the stored ``rt_ms`` minus the time from that paint to
the press. The engine takes the following frame, when the picture reaches the screen: up to 17 ms less.
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
from pathlib import Path
from urllib.error import URLError

from playwright.sync_api import sync_playwright

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
new MutationObserver(() => {
  const trial = document.querySelector(".task")?.dataset.trial;
  if (!trial || trial in known) return;
  known[trial] = null;
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      const painted = performance.now();
      setTimeout(() => {
        known[trial] = performance.now() - painted;
        press("keydown");
        press("keyup");
      }, 300 + 400 * Math.random());
    };
    channel.port2.postMessage(null);
  });
}).observe(document, { childList: true, subtree: true });
"""


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


def press_through(token: str) -> dict[str, float]:
    """Go through the session; gives the known delay of every trial in ms."""
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.add_init_script(PRESS)
        page.goto(f"http://127.0.0.1:{PORT}/s/{token}/")
        known: dict[str, float] = {}
        while not page.locator(".code").count():
            known |= page.evaluate("window.known")
            page.wait_for_timeout(20)
        browser.close()
    return {trial: delay for trial, delay in known.items() if delay is not None}


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
        command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{PORT}"]
        server = subprocess.Popen(
            [*command, "--threads", "4", "--log-level", "warning"], cwd=ROOT, env=environment
        )
        try:
            wait_for_server()
            known = press_through(token)
        finally:
            server.terminate()
            server.wait()
        stored = json.loads(python(STORED, environment).splitlines()[-1])
    errors = [stored[trial] - delay for trial, delay in known.items() if stored.get(trial) is not None]
    mean, sd = statistics.mean(errors), statistics.stdev(errors)
    span = f"{min(errors):.1f} to {max(errors):.1f}"
    print(f"{len(errors)} trials: error of rt_ms {mean:.1f} ms (SD {sd:.1f}), {span}")


if __name__ == "__main__":
    main()
