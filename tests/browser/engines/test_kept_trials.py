"""Without a network, the kept trial comes back in a browser started again and in a discarded tab."""

import time
from collections.abc import Callable

import pytest

from judgments.models import Judgment, Session, SessionEvent
from judgments.screens import offline_views
from tests.browser.engines.conftest import require
from tests.browser.engines.screen import keyboard, screen
from tests.browser.engines.test_sessions import ENGINES, by_keys, complete, has, is_over, ready
from tests.browser.engines.webdriver import (
    MINI_BROWSER,
    PATIENCE_S,
    Window,
    attached_chromium,
    gtk_environment,
    process,
    running_chromium,
)
from tests.browser.playing import IS_CACHED, a_session

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


HAS_COPY = """async (token) => {
  const worker = await navigator.serviceWorker.getRegistration("/s/");
  return worker?.active?.state === "activated" && (await caches.has(`obelus-session-${token}`));
}"""


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def go_offline(window: Window, session: Session, network) -> str:
    """Answer the first trial with a network, the second without; return the third."""
    window.open(f"/s/{session.token}/")
    for cuts in (False, True):
        trial = ready(window)
        window.until(f"({IS_CACHED})(arguments[0])", session.token)
        if cuts:
            network.cut()
        window.press("6")
        is_over(window, trial)
    return ready(window)


def go_on(window: Window, third: str, network) -> None:
    """The kept trial is there; answer it, and the last one with a network."""
    assert ready(window) == third
    window.press("6")
    is_over(window, third)
    network.restore()
    while not has(window, ".code"):
        by_keys(window, iter(["6"]))()
        window.until("Boolean(document.querySelector('.task[data-onset], .code'))")
    kept = [judgment.timing.get("from_kept", False) for judgment in complete("keyboard")]
    assert kept == [False, False, True, False]


@pytest.mark.parametrize("engine", ["chromium", "firefox"])
def test_a_browser_started_again_shows_the_kept_trial(engine, start, network, tmp_path):
    session = a_session("likert")
    options = {"is_kept": True} if engine == "chromium" else {}
    with start(engine, tmp_path, **options) as window:
        third = go_offline(window, session, network)
    with start(engine, tmp_path, **options) as window:
        window.open(f"/s/{session.token}/")
        go_on(window, third, network)


DISCARD_IN_FIREFOX = """
const [tab] = [...gBrowser.tabs].filter((one) => one.linkedBrowser.currentURI.spec.includes("/s/"));
gBrowser.discardBrowser(tab, true);
return tab.hasAttribute("pending");
"""


def test_a_tab_that_firefox_discarded_shows_the_kept_trial(visit, network):
    session = a_session("likert")
    window = visit("firefox")
    third = go_offline(window, session, network)
    tab = window.send("GetWindowHandle")
    window.send("SwitchToWindow", handle=window.send("NewWindow", type="tab")["handle"])
    assert window.send.chrome(DISCARD_IN_FIREFOX)
    window.send("CloseWindow")
    window.send("SwitchToWindow", handle=tab)
    go_on(window, third, network)


# Once the driver has gone: a tab that it is attached to is not discarded.
DISCARD_IN_CHROMIUM = """(() => {
  const root = document.querySelector("discards-main")?.shadowRoot.querySelector("discards-tab")?.shadowRoot;
  const row = [...(root?.querySelectorAll("tbody tr") ?? [])].find((one) => one.textContent.includes("/s/"));
  const links = [...(row?.querySelectorAll("div") ?? [])];
  const discard = links.find((one) => one.textContent.trim() === "[Urgent Discard]");
  return discard ? setTimeout(() => discard.click(), 3000) : 0;
})()"""


def test_a_tab_that_chromium_discarded_shows_the_kept_trial(browser_environment, network, tmp_path):
    require("chromium")
    session = a_session("likert")
    with running_chromium(tmp_path, browser_environment) as port:
        with attached_chromium(port) as window:
            window.home = network.url
            third = go_offline(window, session, network)
            window.send("SwitchToWindow", handle=window.send("NewWindow", type="tab")["handle"])
            window.send("Navigate", url="chrome://discards")
            window.until(DISCARD_IN_CHROMIUM)
        time.sleep(5)
        with attached_chromium(port) as window:
            for tab in window.send("GetWindowHandles"):
                window.send("SwitchToWindow", handle=tab)
                if window.js("location.href") == "chrome://discards/":
                    window.send("CloseWindow")
            (tab,) = window.send("GetWindowHandles")
            window.send("SwitchToWindow", handle=tab)
            assert window.until("document.wasDiscarded")
            go_on(window, third, network)


HANGING_WORKER = """
const never = () => new Promise(() => {});
caches.match = caches.delete = never;
indexedDB.open = () => ({});
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_whose_storage_never_answers_gives_the_servers_page_and_has_events(
    engine, visit, monkeypatch
):
    """Also at the end, when there is no page of the engine that could say so."""
    source = offline_views._worker()
    hanging = source.replace("6000];", f"300];{HANGING_WORKER}")
    assert hanging != source
    monkeypatch.setattr(offline_views, "_worker", lambda: hanging)
    session = a_session("likert")
    window = visit(engine)
    window.open(f"/s/{session.token}/")
    trial = ready(window)
    window.until(f"({HAS_COPY})(arguments[0])", session.token)
    window.reload()
    assert ready(window) == trial
    problems = SessionEvent.objects.filter(kind="storage", trial=None)
    until(lambda: problems.filter(details={"what": "copy", "reason": "TimeoutError"}).exists())
    Session.objects.update(status=Session.Status.COMPLETE)
    window.open(f"/s/{session.token}/")
    until(lambda: problems.filter(details={"what": "indexeddb", "reason": "TimeoutError"}).exists())
    assert problems.count() == 2  # each once, however often


FAILING_OFFLINE = """
const isOnline = () => fetch("/robots.txt").then(() => true, () => false);
caches.match = async () => {
  if (!(await isOnline())) throw new DOMException("gone", "UnknownError");
};
"""


@pytest.mark.parametrize("engine", ["chromium", "firefox"])
def test_problems_of_a_worker_without_a_network_are_sent_by_the_next_one(
    engine, start, network, tmp_path, monkeypatch
):
    """The browser ends before the network is back."""
    source = offline_views._worker()
    monkeypatch.setattr(offline_views, "_worker", lambda: source + FAILING_OFFLINE)
    session = a_session("likert")
    options = {"is_kept": True} if engine == "chromium" else {}
    with start(engine, tmp_path, **options) as window:
        window.open(f"/s/{session.token}/")
        ready(window)
        window.until(f"({HAS_COPY})(arguments[0])", session.token)
        network.cut()
        window.reload()
        time.sleep(2)  # it stores its problem
    assert not SessionEvent.objects.filter(kind="storage").exists()
    network.restore()
    problem = {"what": "copy", "reason": "UnknownError"}
    with start(engine, tmp_path, **options) as window:
        for _ in range(2):  # what was sent is not sent again
            window.open(f"/s/{session.token}/")
            ready(window)
            until(SessionEvent.objects.filter(kind="storage", details=problem).exists)
    assert SessionEvent.objects.filter(kind="storage").count() == 1


HAS_PRELOAD = """(async () => {
  const { active, navigationPreload } = await navigator.serviceWorker.getRegistration("/s/");
  return active?.state === "activated" && String((await navigationPreload.getState()).enabled);
})()"""


def test_a_worker_of_an_earlier_release_is_mended(visit, network, monkeypatch):
    """It asks for a navigation preload, with which Firefox shows an error page without a network."""
    source = offline_views._worker()
    earlier = source.replace("navigationPreload?.disable()", "navigationPreload?.enable()")
    assert earlier != source
    session = a_session("likert")
    window = visit("firefox")
    with monkeypatch.context() as patch:
        patch.setattr(offline_views, "_worker", lambda: earlier)
        window.open(f"/s/{session.token}/")
        ready(window)
        window.until(f"({IS_CACHED})(arguments[0])", session.token)
        assert window.js(HAS_PRELOAD) == "true"
    window.reload()
    window.until(lambda: window.js(HAS_PRELOAD) == "false")
    third = go_offline(window, session, network)
    window.reload()
    go_on(window, third, network)


def test_webkit_started_again_shows_the_kept_trial(browser_environment, network, tmp_path):
    """Without the driver, whose windows are private ones: by the keyboard of its screen and its pixels."""
    require("webkit")
    session = a_session("likert")
    command = (MINI_BROWSER, f"{network.url}/s/{session.token}/")
    with screen(tmp_path) as shown, keyboard(shown) as keys:
        environment = {**browser_environment, **gtk_environment(tmp_path), "DISPLAY": f":{shown.display}"}

        def answer_until(n: int) -> None:
            deadline = time.monotonic() + PATIENCE_S
            while Judgment.objects.count() < n and time.monotonic() < deadline:
                keys.press("6")
                time.sleep(3)  # the trial and its files are kept meanwhile

        with process(*command, **environment):
            answer_until(1)
            network.cut()
            shown.wait_until_still()
            keys.press("6")
            shown.wait_until_still()
        with process(*command, **environment):
            shown.wait_until_still()
            keys.press("6")
            shown.wait_until_still()
            network.restore()
            answer_until(4)
    kept = [judgment.timing.get("from_kept", False) for judgment in complete("keyboard")]
    assert kept == [False, False, True, False]
