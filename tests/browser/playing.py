"""A participant at the engine: open a session, answer what is shown, reach the end."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from judgments.models import Judgment, Session
from tests.cast import begin, study

TASKS = ["forced_choice", "likert", "yes_no", "magnitude_estimation"]
KEYS = {"forced_choice": "KeyJ", "likert": "6", "yes_no": "ArrowLeft"}
PRACTICE = {
    "forced_choice": {"good": "He goes home.", "bad": "He go home.", "feedback": "He needs goes."},
    "rating": {"sentence": "He goes home.", "correct": [0, 500], "feedback": "It is fine."},
}
NO_STORAGE = """
for (const name of ["indexedDB", "localStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError") } });
"""
NO_DATABASE = """
Object.defineProperty(window, "indexedDB", { get() { throw new DOMException("blocked", "SecurityError") } });
"""
# Answers within 200 ms of the onset are ignored.
PAST_THE_GUARD = """() => {
  const task = document.querySelector(".task[data-onset]");
  return task && performance.now() - Number(task.dataset.onset) >= 210 && task.dataset.trial;
}"""
IS_OVER = "trial => document.querySelector('.task')?.dataset.trial !== trial"
IS_CACHED = """async (token) => Boolean(await caches.match(`/s/${token}/kept/`))
  && (await navigator.serviceWorker.getRegistration("/s/"))?.active?.state === 'activated'"""
KEPT = """async () => {
  const kept = {};
  for (const name of await caches.keys()) {
    kept[name] = (await (await caches.open(name)).keys()).map((one) => new URL(one.url).pathname);
  }
  return kept;
}"""
NOTES = """session => new Promise((resolve, reject) => {
  const request = indexedDB.open("obelus");
  request.onerror = reject;
  request.onsuccess = () => {
    const all = request.result.transaction("answers").objectStore("answers").getAll();
    all.onsuccess = () => resolve(all.result.filter((one) => one.session === session));
  };
})"""


def a_session(task: str = "forced_choice", **fields) -> Session:
    """One session of the only list, which starts with its first trial."""
    fields = {"instructions": "", "n_lists": 1, **fields}
    return begin(study(task=task, **fields))


def shown_trial(page: Page) -> str:
    """The trial on the screen, once its clock runs."""
    page.locator(".task[data-onset]").wait_for()
    return page.locator(".task").get_attribute("data-trial")


def ready(page: Page) -> str:
    """The trial on the screen, once it may be answered."""
    return page.wait_for_function(PAST_THE_GUARD, polling=20).json_value()


def is_over(page: Page, trial: str) -> None:
    """Wait until another screen has come."""
    page.wait_for_function(IS_OVER, arg=trial, polling=20)


def until(page: Page, condition: Callable[[], object], *, seconds: float = 60) -> None:
    """Wait until something holds, such as a row that the server is about to store."""
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        page.wait_for_timeout(50)
    pytest.fail(f"not within {seconds} s")


def stored(page: Page, trial: str) -> Judgment:
    """The judgment of a trial, once the server has it."""
    judgments = Judgment.objects.filter(trial__public_id=trial)
    until(page, judgments.exists)
    return judgments.get()


def answer(page: Page, task: str = "forced_choice", *, number: str = "62,5") -> str:
    """Answer the trial on the screen by keyboard, a moment after it appeared."""
    trial = ready(page)
    if task == "magnitude_estimation":
        page.keyboard.type(number)
        page.keyboard.press("Enter")
    else:
        page.keyboard.press(KEYS[task])
    is_over(page, trial)
    return trial


def finish(page: Page, task: str = "forced_choice", *, most: int = 12) -> None:
    """Answer whatever comes until the code stands on the page."""
    for _ in range(most):
        page.locator(".task[data-onset], main.reading h1, .code").first.wait_for()
        if page.locator(".code").count():
            return
        if page.locator(".task").count():
            answer(page, task)
        elif page.locator("main .button.primary").count():
            page.keyboard.press("Enter")
        page.wait_for_timeout(50)
    page.locator(".code").wait_for()


def start(page: Page, session: Session) -> None:
    """Open the session and wait until the browser has what it needs to come back without a network."""
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    until(page, lambda: page.evaluate(IS_CACHED, session.token))
