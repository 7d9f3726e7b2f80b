"""How soon the first trial is visible on a mid-range phone in a slow network, and what a session weighs.

Run ``python benchmarks/collection/bench_first_trial.py [ROUNDS]``. Chromium at 390 × 844, four times
slower (CDP ``Emulation.setCPUThrottlingRate``), in a slow 4G as Lighthouse and WebPageTest define it: a round
trip of 150 ms, 1.6 Mbit/s down, 750 kbit/s up, made by a line between browser and server
(``slow_network.py``). Two ways to the first trial, the browser fresh in each:

- *link*: the session's address is opened and shows a trial (somebody comes back on another device);
- *start*: consent and instructions were read for five seconds, and *Start* is pressed.

*Visible* is the moment Chromium presented the first sentence (Element Timing), counted from the opening or
the press; *clock* is the engine's onset, when answers begin to count. The weight is what went over the wire
from consent to code, headers included. Target: visible within 2 s, at most 100 kB. The server is that of
``make run`` (compressed static files), on SQLite. Beside it, without a target: the same in the *Slow 4G* of
Chromium's developer tools, which delays every request by 562.5 ms.
"""

import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.collection.slow_network import Line, SlowNetwork
from benchmarks.soak.pulse import Pulse
from benchmarks.soak.services import free_port, platform
from benchmarks.soak.study import SLUG, step

SLOW_4G = Line(round_trip_s=0.150, down=1.6e6 / 8, up=750e3 / 8)
DEVELOPER_TOOLS = {
    "offline": False,
    "latency": 562.5,
    "downloadThroughput": 1.6e6 / 8 * 0.9,
    "uploadThroughput": 750e3 / 8 * 0.9,
}
READING_MS = 5_000
CPU, TARGET_MS, TARGET_BYTES = 4, 2_000, 100_000
OBSERVER = """
window.seen = {};
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) seen.visible ??= entry.renderTime;
}).observe({ type: "element", buffered: true });
addEventListener("trial-onset", (event) => (seen.clock ??= event.detail.onset), true);
const mark = () => document.querySelectorAll(".sentence:not([elementtiming])")
  .forEach((one) => one.setAttribute("elementtiming", "sentence"));
new MutationObserver(mark).observe(document, { childList: true, subtree: true });
"""
PRESSED = """
addEventListener("click", () =>
  sessionStorage.setItem("pressed", performance.timeOrigin + performance.now()), true)
"""


class Phone:
    """One browser with nothing kept, slow as said above; counts what comes over the wire."""

    def __init__(self, browser: Browser, home: str, *, slow: str = "line") -> None:
        self.context = browser.new_context(
            base_url=home, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.add_init_script(OBSERVER)
        self.bytes, self.requests = 0, 0
        self.tools: CDPSession = self.context.new_cdp_session(self.page)
        self.tools.send("Network.enable")
        self.tools.on("Network.loadingFinished", self._count)
        if slow == "tools":
            self.tools.send("Network.emulateNetworkConditions", DEVELOPER_TOOLS)
        if slow:
            self.tools.send("Emulation.setCPUThrottlingRate", {"rate": CPU})

    def _count(self, event: dict) -> None:
        self.bytes += int(event["encodedDataLength"])
        self.requests += 1

    def agree(self) -> None:
        """Consent."""
        self.page.goto(f"/take/{SLUG}/")
        self.page.locator("button[value=yes]").click()

    def first_trial(self) -> dict[str, float]:
        """When the first sentence was visible and when its clock began, in ms since the page was opened."""
        times: dict[str, float] = {}
        while not {"visible", "clock"} <= set(times):
            self.page.wait_for_timeout(100)
            times = self.page.evaluate("window.seen")
        return times

    def finish(self) -> None:
        """Answer every trial."""
        while not self.page.locator(".code").count():
            if self.page.locator(".task[data-onset] .choice, .task[data-onset] button").count():
                self.page.wait_for_timeout(250)
                self.page.keyboard.press("f")
            self.page.wait_for_timeout(50)


def link(browser: Browser, home: str, slow: str) -> dict[str, float]:
    """The session's address in a browser that never saw the study."""
    there = Phone(browser, home, slow="")
    there.agree()
    there.page.get_by_role("button", name="Start").click()
    there.page.locator(".task[data-onset]").wait_for()
    address = there.page.url
    there.context.close()
    phone = Phone(browser, home, slow=slow)
    phone.page.goto(address)
    times = phone.first_trial()
    phone.context.close()
    return times


def start(browser: Browser, home: str, slow: str) -> dict[str, float]:
    """From the instructions on."""
    phone = Phone(browser, home, slow=slow)
    phone.agree()
    button = phone.page.get_by_role("button", name="Start")
    button.wait_for()
    phone.page.wait_for_timeout(READING_MS)
    phone.page.evaluate(PRESSED)
    button.click()
    phone.page.locator(".sentence").first.wait_for()
    times = phone.first_trial()
    since_press_ms = phone.page.evaluate("performance.timeOrigin - Number(sessionStorage.getItem('pressed'))")
    phone.context.close()
    return {name: moment + since_press_ms for name, moment in times.items()}


def weight(browser: Browser, home: str) -> tuple[int, int]:
    """Bytes and requests of one whole session."""
    phone = Phone(browser, home, slow="")
    phone.agree()
    phone.page.get_by_role("button", name="Start").click()
    phone.finish()
    phone.context.close()
    return phone.bytes, phone.requests


def print_medians(name: str, rounds: list[dict[str, float]]) -> float:
    """Print one way's times; give the median."""
    visible = [times["visible"] for times in rounds]
    clock = statistics.median(times["clock"] for times in rounds)
    middle = statistics.median(visible)
    print(
        f"{name}: first trial visible after {middle:,.0f} ms "
        f"({min(visible):,.0f} to {max(visible):,.0f}, {len(rounds)} rounds), clock after {clock:,.0f} ms"
    )
    return middle


def main() -> None:
    """Print both ways and the weight; exit 1 where a target is missed."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": "",
            "VAR_DIR": folder,
            "LOG_LEVEL": "ERROR",
            "ARRIVALS_PER_MINUTE": "0",
        }
        step("make", environment, {"n_items": 20, "n_lists": 2, "target_judgments": 0})
        port = free_port()
        server = platform(port, environment, Path(folder), only=("web",))["web"]
        try:
            Pulse(port).wait()
            line = SlowNetwork(port, SLOW_4G)
            line.start()
            line.is_listening.wait()
            homes = {"line": f"http://127.0.0.1:{line.port}", "tools": f"http://127.0.0.1:{port}"}
            reached = measure(homes, n)
        finally:
            server.stop()
    sys.exit(0 if reached else 1)


def measure(homes: dict[str, str], n: int) -> bool:
    """Every figure."""
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        middles: dict[str, list[float]] = {}
        for slow, words in (("line", "slow 4G"), ("tools", "562.5 ms for every request")):
            print(f"{words}:")
            ways = [(way, [way(browser, homes[slow], slow) for _ in range(n)]) for way in (link, start)]
            middles[slow] = [print_medians(f"  {way.__name__}", rounds) for way, rounds in ways]
        size, requests = weight(browser, homes["tools"])
        browser.close()
    print(f"a session of 20 trials: {size / 1000:.1f} kB in {requests} requests")
    reached = max(middles["line"]) <= TARGET_MS and size <= TARGET_BYTES
    print(f"targets ({TARGET_MS:,} ms, {TARGET_BYTES // 1000} kB): {'reached' if reached else 'MISSED'}")
    return reached


if __name__ == "__main__":
    main()
