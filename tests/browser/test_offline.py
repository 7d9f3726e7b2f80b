"""A session without a network: reload, closed tab and dead server in the middle, and what is forgotten."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.error import URLError

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from judgments.models import Judgment, Session, SessionEvent
from tests.browser.playing import KEPT, NOTES, a_session, answer, finish, shown_trial, start, until
from tests.cast import begin
from tests.database import database_url

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROOT = Path(__file__).resolve().parents[2]


def cut(page: Page, *, offline: bool = True) -> None:
    """Cut the network of pages and workers (Network.emulateNetworkConditions), or give it back."""
    page.context.set_offline(offline)


def saved(page: Page, n: int) -> None:
    """Wait until the server holds that many answers."""
    until(page, lambda: Judgment.objects.count() == n)


def test_a_reload_without_a_network_continues_at_the_same_trial_and_all_answers_arrive_later(open_page):
    session = a_session()
    page = open_page()
    start(page, session)
    first = answer(page)
    saved(page, 1)
    cut(page)
    second = answer(page)
    third = shown_trial(page)
    page.reload()
    assert shown_trial(page) == third
    expect(page.locator("[data-status]")).to_contain_text("Answers kept on this device: 1")
    answer(page)
    page.reload()
    answer(page)
    expect(page.locator("h1")).to_have_text("Saving your last answers")
    assert (Judgment.objects.count(), Session.objects.get().status) == (1, "active")
    cut(page, offline=False)
    page.locator(".code").wait_for()
    order = list(Judgment.objects.order_by("trial__position").values_list("trial__public_id", flat=True))
    assert order[:3] == [first, second, third] and len(order) == 4
    assert not SessionEvent.objects.filter(kind="conflict").exists()
    assert Judgment.objects.get(trial__public_id=third).timing["from_kept"] is True
    assert SessionEvent.objects.filter(kind="reload").count() == 2


def test_a_tab_closed_and_opened_again_without_a_network_continues(open_page):
    session = a_session("likert")
    page = open_page()
    start(page, session)
    cut(page)
    answer(page, "likert")
    second = shown_trial(page)
    page.close()
    reopened = page.context.new_page()
    cut(reopened)
    reopened.goto(f"/s/{session.token}/")
    assert shown_trial(reopened) == second
    answer(reopened, "likert")
    cut(reopened, offline=False)
    finish(reopened, "likert")
    assert Judgment.objects.count() == 4


def test_a_break_and_a_second_tab_without_a_network(open_page):
    session = a_session(n_blocks=2)
    page = open_page()
    start(page, session)
    cut(page)
    answer(page), answer(page)
    expect(page.locator("h1")).to_have_text("Block 1 of 2 is done")
    page.reload()
    expect(page.locator("h1")).to_have_text("Block 1 of 2 is done")
    other = page.context.new_page()
    cut(other)
    other.goto(f"/s/{session.token}/")
    expect(page.locator("h1")).to_have_text("This study is open in another tab")
    expect(other.locator("h1")).to_have_text("Block 1 of 2 is done")  # it may be drawn a moment later
    other.keyboard.press("Enter")
    shown_trial(other)
    page.locator(".button.primary").click()
    expect(other.locator("h1")).to_have_text("This study is open in another tab")
    cut(page, offline=False)
    finish(page)
    assert Judgment.objects.count() == 4


def test_who_comes_back_after_long_without_a_network_reads_the_instructions_first(open_page):
    session = a_session("likert", instructions="Read every sentence once.")
    Session.objects.update(screen="block-1")
    page = open_page()
    start(page, session)
    cut(page)
    answer(page, "likert")
    second = shown_trial(page)
    page.context.add_init_script("const now = Date.now; Date.now = () => now() + 11 * 60 * 1000;")
    page.reload()
    expect(page.locator("h1")).to_have_text("Welcome back")
    expect(page.locator("main")).to_contain_text("Read every sentence once.")
    page.keyboard.press("Enter")
    assert shown_trial(page) == second


HANGS = {
    "open": "IDBFactory.prototype.open = () => ({});",
    "transactions": """const never = () => ({});
        IDBDatabase.prototype.transaction = () => ({
          objectStore: () => ({ transaction: {}, put: never, delete: never, getAll: never }),
        });""",
}


@pytest.mark.parametrize("hangs", HANGS)
def test_a_database_that_never_answers_is_given_up_and_an_event_says_so(hangs, open_page):
    session = a_session("likert")
    page = open_page()
    page.add_init_script(HANGS[hangs])
    page.goto(f"/s/{session.token}/")
    answer(page, "likert")
    cut(page)
    answer(page, "likert")
    kept = page.evaluate("token => JSON.parse(localStorage.getItem(`obelus-${token}`)).length", session.token)
    assert kept == 1
    cut(page, offline=False)
    finish(page, "likert")
    assert all(judgment.rt_ms for judgment in Judgment.objects.all()) and Judgment.objects.count() == 4
    event = SessionEvent.objects.get(kind="storage", details__what="indexeddb")
    assert event.details["reason"] == "TimeoutError"


COUNT_WORK = """
window.work = 0;
for (const [owner, name] of [[IDBDatabase.prototype, "transaction"], [window, "fetch"]]) {
  const own = owner[name];
  owner[name] = function (...values) {
    window.work += 1;
    return own.apply(this, values);
  };
}
"""


def test_nothing_begins_while_a_page_is_left_and_its_database_opens_again_when_it_is_restored(open_page):
    session = a_session("likert")
    page = open_page()
    page.add_init_script(COUNT_WORK)
    start(page, session)
    answer(page, "likert")
    saved(page, 1)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })); window.work = 0")
    page.evaluate("dispatchEvent(new Event('online')); document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(300)
    assert page.evaluate("window.work") == 0
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    cut(page)
    trial = answer(page, "likert")
    until(page, lambda: any(note.get("row") for note in page.evaluate(NOTES, session.token)))
    cut(page, offline=False)
    finish(page, "likert")
    kinds = SessionEvent.objects.filter(trial__public_id=trial).values_list("kind", flat=True)
    assert "back" in kinds and not SessionEvent.objects.filter(kind="storage").exists()


@pytest.mark.parametrize(
    ("problem", "reason"),
    [("new Promise(() => {})", "TimeoutError"), ("Promise.reject(new TypeError())", "TypeError")],
)
def test_a_lock_of_the_tab_that_is_never_granted_stops_nothing_and_has_an_event(problem, reason, open_page):
    session = a_session("likert")
    page = open_page()
    page.add_init_script(f"LockManager.prototype.request = () => {problem}")
    page.goto(f"/s/{session.token}/")
    answer(page, "likert")
    page.wait_for_timeout(1600)  # its patience
    finish(page, "likert")
    event = SessionEvent.objects.get(kind="storage", details__what="lock")
    assert event.details["reason"] == reason


@pytest.mark.parametrize("owner", ["CacheStorage", "IDBDatabase"])
def test_what_cannot_be_deleted_at_the_end_has_an_event_although_no_answer_follows(owner, open_page):
    session = a_session("likert")
    page = open_page()
    start(page, session)
    for _ in range(3):
        answer(page, "likert")
    name, never = ("delete", "new Promise(() => {})") if owner == "CacheStorage" else ("transaction", "null")
    page.evaluate(f"() => {{ {owner}.prototype.{name} = () => {never} }}")
    finish(page, "likert")
    what = "copy" if owner == "CacheStorage" else "indexeddb"
    until(page, lambda: SessionEvent.objects.filter(kind="storage", details__what=what).exists())
    assert Judgment.objects.count() == 4


def test_a_trial_left_and_reached_by_back_has_events(open_page):
    session = a_session("likert")
    page = open_page()
    start(page, session)
    page.goto(f"/s/{session.token}/leave/")
    page.go_back()
    shown_trial(page)
    finish(page, "likert")
    events = SessionEvent.objects.filter(trial__position=session.trials.order_by("position")[0].position)
    kinds = set(events.values_list("kind", flat=True))
    assert "back" in kinds and kinds & {"blur", "shown_again"}


@pytest.mark.parametrize("ending", ["finished", "left", "withdrawn", "ended elsewhere"])
def test_a_session_that_is_over_is_forgotten_and_another_ones_is_not(ending, open_page):
    session = a_session()
    other = begin(session.experiment, "quentin")
    page = open_page()
    start(page, other)
    answer(page)
    start(page, session)
    answer(page)
    saved(page, 2)
    own_key, other_key = f"obelus-session-{session.token}", f"obelus-session-{other.token}"
    assert set(page.evaluate(KEPT)) == {own_key, other_key}
    if ending == "finished":
        finish(page)
    elif ending == "ended elsewhere":
        Session.objects.filter(pk=session.pk).update(status=Session.Status.WITHDRAWN)
        page.goto(f"/s/{session.token}/")
    else:
        page.goto(f"/s/{session.token}/{'leave' if ending == 'left' else 'withdraw'}/")
        with page.expect_navigation():
            page.locator("button.danger").first.click()
    page.locator(".task[data-onset]").wait_for(state="detached")
    until(page, lambda: own_key not in page.evaluate(KEPT))  # forgotten once the page has come
    assert list(page.evaluate(KEPT)) == [other_key]
    assert page.evaluate(NOTES, session.token) == []
    assert len(page.evaluate(NOTES, other.token)) == 1
    cut(page)
    page.goto(f"/s/{other.token}/")
    shown_trial(page)


def test_only_the_running_sessions_page_plan_and_files_are_kept(open_page):
    session = a_session()
    page = open_page()
    page.goto("/take/agreement/")
    start(page, session)
    page.goto(f"/s/{session.token}/leave/")
    page.goto(f"/s/{session.token}/withdraw/")
    page.goto("/accounts/login/")
    (paths,) = page.evaluate(KEPT).values()
    pages = [path for path in paths if not path.startswith("/static/")]
    assert sorted(pages) == [f"/api/v1/sessions/{session.token}/plan/", f"/s/{session.token}/kept/"]
    assert {"/static/js/engine/run.js", "/static/js/tasks/forced_choice.js", "/static/css/tokens.css"} <= set(
        paths
    )


def test_the_kept_page_holds_no_sentence_and_getting_it_moves_nothing_on(client):
    session = a_session()
    reply = client.get(f"/s/{session.token}/kept/")
    html = reply.content.decode()
    texts = [option["text"] for trial in session.trials.all() for option in trial.shown["options"]]
    assert reply.status_code == 200 and not any(text in html for text in texts)
    assert not session.trials.filter(shown_at__isnull=False).exists()


def test_the_worker_reaches_sessions_only_and_names_its_release(client):
    reply = client.get("/s/worker.js")
    assert reply["Content-Type"].startswith("text/javascript") and reply["Cache-Control"] == "no-cache"
    assert "Service-Worker-Allowed" not in reply  # so its reach is /s/
    assert reply.content.decode().startswith("// Release ")
    assert client.get("/s/worker.js", follow=True).cookies == {}


# A server that is killed in the middle.


class Server:
    """Our server as a process of its own, on the test's database."""

    def __init__(self) -> None:
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = {
            **os.environ,
            "DATABASE_URL": database_url(),
            "DEBUG": "1",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        command = [sys.executable, "-m", "config.serve", "--port", str(self.port), "--workers", "1"]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment)
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/live", timeout=2)
                return
            except (URLError, OSError):
                time.sleep(0.1)
        pytest.fail("the server did not start")

    def kill(self) -> None:
        """Kill the server and its workers, as a lost machine would."""
        if self.process is not None:
            children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
            workers = Path(children).read_text().split() if Path(children).exists() else []
            for process in (self.process.pid, *map(int, workers)):
                os.kill(process, signal.SIGKILL)
            self.process.wait()
            self.process = None


@pytest.fixture
def server() -> Iterator[Server]:
    process = Server()
    process.start()
    yield process
    process.kill()


@pytest.fixture
def own_context(chromium, server) -> Iterator[BrowserContext]:
    context = chromium.new_context(base_url=f"http://127.0.0.1:{server.port}")
    yield context
    context.close()


def test_the_server_is_killed_and_restarted_in_the_middle(own_context, server):
    session = a_session()
    page = own_context.new_page()
    page.set_default_timeout(30_000)
    start(page, session)
    answer(page)
    saved(page, 1)
    server.kill()
    answer(page)
    third = shown_trial(page)
    page.reload()
    assert shown_trial(page) == third
    answer(page)
    expect(page.locator("[data-status]")).to_contain_text(re.compile("kept on this device: [23]"))
    server.start()
    finish(page)
    assert Judgment.objects.count() == 4
    assert not SessionEvent.objects.filter(kind="conflict").exists()
