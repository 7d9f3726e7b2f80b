"""Sessions of the six tasks in three engines: by keys, by touch, in private, offline, without scripts."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import cycle

import pytest

from experiments.models import Experiment
from experiments.tasks.registry import task_names
from judgments.models import Judgment, Session, SessionEvent
from tests.browser.engines.webdriver import Marionette, Window
from tests.browser.playing import IS_CACHED, IS_OVER, PAST_THE_GUARD, a_session
from tests.browser.test_every_task import a_study
from tests.browser.test_sentence import context_session
from tests.cast import begin

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ENGINES = ["chromium", "firefox", "webkit"]
OTHERS = ["firefox", "webkit"]  # the tests beside these have the same sessions in Chromium
# Each trial of a session takes the next keys, and gives the value beside them.
KEYS = {
    "forced_choice": [("ArrowLeft", 1), ("j", 2), ("Tab Enter", 1), ("Tab Tab Space", 2)],
    "likert": [("6", 6), ("Tab Enter", 1), ("Tab Tab Space", 2), ("4", 4)],
    "yes_no": [("ArrowLeft", 1), ("j", 0), ("Tab Enter", 1), ("Tab Tab Space", 0)],
    "magnitude_estimation": [("6 2 , 5 Enter", 62.5), ("7 Tab Enter", 7), ("8 0 Tab Space", 80)],
    "slider": [
        ("ArrowRight " * 2 + "Enter", 76),
        ("7 5 Enter", 75),
        ("End Tab Space", 100),
        ("4 Tab Enter", 40),
    ],
    "best_worst": [("Tab Space Tab ArrowDown Enter", None), ("Tab Space Tab ArrowDown Tab Space", None)],
}
WITHOUT_TRAINING = {"training": False, "own_modulus": False}
PLAIN = "form[data-task]"


def has(window: Window, selector: str) -> bool:
    return bool(window.js("Boolean(document.querySelector(arguments[0]))", selector))


def ready(window: Window) -> str:
    """The trial on the screen, once it may be answered."""
    return str(window.until(f"({PAST_THE_GUARD})()"))


def is_over(window: Window, trial: str) -> None:
    window.until(f"({IS_OVER})(arguments[0])", trial)


def follow(window: Window, act: Callable[[], None]) -> None:
    """Do what leads to another page, and wait for it."""
    window.js("document.documentElement.dataset.left = ''")
    act()
    window.until("!('left' in document.documentElement.dataset) && document.readyState === 'complete'")


def reach(window: Window, selector: str) -> None:
    """Press Tab until an element of the selector has the focus."""
    for _ in range(40):
        if window.js("document.activeElement.matches(arguments[0])", selector):
            return
        window.press("Tab")
    raise AssertionError(f"{window.engine}: no way by Tab to {selector}")


def fill(window: Window) -> None:
    """Write into every text field of a page: the length of the line beside it, or 40."""
    lengths = window.js(
        "[...document.querySelectorAll('.line-length line')].map((one) => one.getAttribute('x2'))"
    )
    for number in lengths or ["40"]:
        empty = "main input[type=text]:placeholder-shown, main input[type=text]:not([data-filled])"
        if not has(window, empty):
            return
        reach(window, empty)
        window.js("document.activeElement.setAttribute('data-filled', '')")
        window.press("End", *["\ue003"] * 6, *f"{float(number):.1f}")


def walk(window: Window, answer: Callable[[], None]) -> None:
    """From the link to the code: what is asked is answered, and Enter on the page's own button leads on."""
    window.open("/take/agreement/")
    seen = ".code, .task[data-onset], form[data-task], .button.primary"
    for _ in range(40):
        window.until(
            "document.readyState === 'complete' && Boolean(document.querySelector(arguments[0]))", seen
        )
        if has(window, ".code"):
            return
        if has(window, ".task, form[data-task]"):
            answer()
            continue
        fill(window)
        reach(window, ".button.primary, .estimate input")
        follow(window, lambda: window.press("Enter"))
    raise AssertionError(f"{window.engine}: no code after forty screens: {window.text()[:300]}")


def complete(input_type: str) -> list[Judgment]:
    """The judgments of the only session, which is complete, timed and of one kind of input."""
    judgments = list(Judgment.objects.order_by("trial__position"))
    assert Session.objects.get().status == "complete" and len(judgments) > 1
    assert {judgment.input_type for judgment in judgments} == {input_type}
    if input_type != "form":
        assert all(judgment.rt_ms >= 200 and judgment.timing["trusted"] for judgment in judgments)
    return judgments


def by_keys(window: Window, ways: Iterator[str]) -> Callable[[], None]:
    """Answer each trial with the next keys."""

    def answer() -> None:
        trial, keys = ready(window), next(ways)
        window.press(*keys.split())
        try:
            is_over(window, trial)
        except AssertionError as error:
            raise AssertionError(f"{keys}: {error}") from None

    return answer


def first_trial(window: Window, task: str) -> Session:
    """Open a new session at its first trial."""
    a_study(task, **(WITHOUT_TRAINING if task == "magnitude_estimation" else {}))
    session = begin(Experiment.objects.get())
    Session.objects.update(screen="trials")
    window.open(f"/s/{session.token}/")
    return session


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("task", task_names())
def test_enter_space_digits_and_arrows_answer_every_task(task, engine, visit):
    window = visit(engine)
    session = first_trial(window, task)
    ways = [KEYS[task][n % len(KEYS[task])] for n in range(session.trials.count())]
    answer = by_keys(window, iter([keys for keys, _ in ways]))
    for _ in ways:
        answer()
    window.until("Boolean(document.querySelector('.code'))")
    for judgment, (keys, value) in zip(complete("keyboard"), ways, strict=True):
        if task == "forced_choice":
            assert judgment.timing["place"] == value, keys
        elif value is not None and judgment.trial.shown.get("answers") != ["no", "yes"]:
            assert judgment.value == value, keys


@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize("task", task_names())
def test_a_whole_session_by_touch_or_mouse(task, engine, visit):
    """From the link to the code; WebKitGTK's driver has no finger."""
    a_study(task)
    pointer = "touch" if engine == "firefox" else "mouse"
    window = visit(engine, width=390)

    def answer() -> None:
        trial = ready(window)
        if task == "best_worst":
            window.click("tr:first-child input[name=best]", pointer=pointer)
            window.click("tr:last-child input[name=worst]", pointer=pointer)
        elif task == "magnitude_estimation":
            window.click("#number", pointer=pointer)
            window.press(*"120")
        else:
            window.click(".task .option, .task .line", share=0.7, pointer=pointer)
        if has(window, ".task .button.primary"):
            window.click(".task .button.primary", pointer=pointer)
        is_over(window, trial)

    walk(window, answer)
    complete(pointer)


@pytest.fixture
def without_scripts(visit: Callable[..., Window]) -> Iterator[Callable[[str], Window]]:
    """A window of an engine with scripts switched off, as its user can do."""
    undo: list[Callable[[], object]] = []

    def begin(engine: str) -> Window:
        if engine == "webkit":
            return visit(engine, scripts=False)
        window = visit(engine)
        if isinstance(window.send, Marionette):
            setting = "Services.prefs.setBoolPref('javascript.enabled', arguments[0])"
            window.send.chrome(setting, False)
            undo.append(lambda: window.send.chrome(setting, True))
        else:
            switch = "Emulation.setScriptExecutionDisabled"
            window.send("DevTools", cmd=switch, params={"value": True})
            undo.append(lambda: window.send("DevTools", cmd=switch, params={"value": False}))
        return window

    yield begin
    for one in undo:
        one()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("task", task_names())
def test_a_whole_session_of_plain_forms_by_keys_without_scripts(task, engine, without_scripts):
    window = without_scripts(engine)
    a_study(task)
    sends = cycle(["Enter", "Tab Enter", "Tab Space"])

    def answer() -> None:
        window.until(SessionEvent.objects.filter(kind="no_engine", details__reason="no_script").exists)
        if task == "best_worst":
            reach(window, "tr:first-child input[name=best]")
            window.press("Space")
            reach(window, "input[name=worst]")
            window.press("Space", "ArrowDown")
        elif has(window, "#number"):
            reach(window, "#number")
            window.press(*"62,5")
        else:
            reach(window, f"{PLAIN} input[type=radio]")
            window.press("Space", "ArrowDown")
        *tabs, send = next(sends).split()
        if tabs:
            reach(window, f"{PLAIN} .button.primary")
        follow(window, lambda: window.press(send))

    walk(window, answer)
    judgments = complete("form")
    assert all(judgment.rt_ms is None and judgment.timing["no_rt"] for judgment in judgments)
    assert SessionEvent.objects.filter(kind="no_engine").count() == 1
    if task in ("magnitude_estimation", "slider"):
        assert {judgment.value for judgment in judgments} == {62.5}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_trial_left_and_reached_by_back_has_events_and_answers_are_stored(engine, visit):
    session = a_session("likert")
    window = visit(engine)
    window.open(f"/s/{session.token}/")
    trial = ready(window)
    window.until(f"({IS_CACHED})(arguments[0])", session.token)
    window.open(f"/s/{session.token}/leave/")
    window.send("Back")
    assert ready(window) == trial
    answer = by_keys(window, cycle(["6"]))
    while not has(window, ".code"):
        answer()
        window.until("Boolean(document.querySelector('.task[data-onset], .code'))")
    assert len(complete("keyboard")) == session.trials.count()
    kinds = set(SessionEvent.objects.filter(trial__public_id=trial).values_list("kind", flat=True))
    assert "back" in kinds
    timing = Judgment.objects.get(trial__public_id=trial).timing
    assert timing.get("restored") or timing["shown_again_ms"] > 0


@pytest.mark.parametrize("engine", ["firefox", "private firefox", "webkit"])
def test_a_session_goes_on_without_a_network_and_after_a_reload(engine, visit, network):
    name = engine.split()[-1]
    window = visit(name)
    with window.private() if "private" in engine else nullcontext():
        session = a_session("likert")
        window.open(f"/s/{session.token}/")
        trials = [ready(window)]
        window.until(f"({IS_CACHED})(arguments[0])", session.token)
        network.cut()
        answer = by_keys(window, cycle(["6"]))
        answer()
        trials.append(ready(window))
        window.reload()
        assert ready(window) == trials[-1]
        answer()
        network.restore()
        while not has(window, ".code"):
            answer()
            window.until("Boolean(document.querySelector('.task[data-onset], .code'))")
    assert len(complete("keyboard")) == session.trials.count()


CONTEXT_READ = "performance.now() - document.querySelector('.before[data-onset]')?.dataset.onset >= 210"


@pytest.mark.parametrize("engine", ENGINES)
def test_contexts_before_sentences_are_left_by_keys_and_come_again_without_a_network(engine, visit, network):
    session = context_session("likert", contexts=("It rained.",), context_display="before")
    window = visit(engine)
    window.open(f"/s/{session.token}/")
    answer = by_keys(window, cycle(["6"]))
    for number, keys in enumerate(("Space", "Enter", "Tab Enter")):
        window.until(CONTEXT_READ)
        if number == 1:
            window.until(f"({IS_CACHED})(arguments[0])", session.token)
            network.cut()
            window.reload()
            window.until(CONTEXT_READ)
        assert "It rained." in window.text() and not has(window, ".sentence")
        window.press(*keys.split())
        answer()
        if number == 1:
            network.restore()
    window.until("Boolean(document.querySelector('.code'))")
    assert all(judgment.timing["context_ms"] >= 200 for judgment in complete("keyboard"))


COOKIES = "Services.prefs.setIntPref('network.cookie.cookieBehavior', arguments[0])"


def test_firefox_that_blocks_all_data_of_sites_runs_the_engine_and_has_events(visit):
    """Databases, caches, workers, locks and channels between tabs throw; answers stay in the page."""
    session = a_session("likert")
    window = visit("firefox")
    window.send.chrome(COOKIES, 2)
    try:
        window.open(f"/s/{session.token}/")
        answer = by_keys(window, cycle(["6"]))
        while not has(window, ".code"):
            answer()
            window.until("Boolean(document.querySelector('.task[data-onset], .code'))")
    finally:
        window.send.chrome(COOKIES, 5)
    assert len(complete("keyboard")) == session.trials.count()
    events = SessionEvent.objects.filter(kind="storage").values_list("details__what", flat=True)
    assert {"indexeddb", "local", "copy"} <= set(events)


@pytest.mark.parametrize("engine", OTHERS)
def test_a_trial_times_out_and_keeps_the_moved_slider(engine, visit):
    window = visit(engine, width=390)
    session = a_session("slider", deadline_ms=3000, deadline_bar=True)
    window.open(f"/s/{session.token}/")
    trial = ready(window)
    assert has(window, ".deadline.runs")
    window.press("7", "5")
    is_over(window, trial)
    window.until("Boolean(document.querySelector('[data-status]')?.textContent.includes('saved'))")
    judgment = Judgment.objects.get()
    assert (judgment.status, judgment.response, judgment.value) == ("timed_out", "75", None)
