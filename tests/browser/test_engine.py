"""The trial engine in a browser: practice, breaks and other screens. Whole sessions: test_every_task.py."""

import random

import pytest
from playwright.sync_api import expect

from analysis.quality.report import signal_table
from experiments.tasks.base import NUMBER_RULES, BadResponse
from experiments.tasks.registry import get_task
from judgments.frames.measurements import evidence_frame
from judgments.models import Judgment, Session, SessionEvent
from judgments.screens.trial_screen import engine_texts
from judgments.sessions.trials import ENGINE_VERSION
from tests.browser.playing import (
    PRACTICE,
    TASKS,
    a_session,
    answer,
    finish,
    is_over,
    ready,
    shown_trial,
    stored,
    until,
)

COHERENCE = ["impossible_time", "before_onset", "one_delivery", "engine_facts"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("task", ["forced_choice", "magnitude_estimation"])
def test_a_whole_session_by_keyboard_with_practice_and_a_break(task, open_page, check_page):
    practice = {"kind": "practice", "payload": PRACTICE.get(task, PRACTICE["rating"])}
    session = a_session(task, n_blocks=2, extras=(practice,))
    page = open_page(width=390)
    page.goto(f"/s/{session.token}/")
    headings = []
    for _ in range(20):
        page.locator(".task[data-onset], main.reading h1, .code").first.wait_for()
        if page.locator(".code").count():
            break
        if page.locator(".task").count():
            if len(headings) < 2:
                check_page(page)
            expect(page.locator("header.where")).to_contain_text("Practice" if not headings else "Block")
            headings.append(answer(page, task))
        elif page.locator("main .button.primary").count():
            headings.append(page.locator("h1").inner_text())
            if headings[-1].startswith("Block"):
                expect(page.locator("main")).to_contain_text("Your place is kept for 30 minutes.")
            check_page(page)
            page.keyboard.press("Enter")
        page.wait_for_timeout(50)
    stored_session = Session.objects.get()
    expect(page.locator(".code output")).to_have_text(stored_session.completion_code)
    assert [heading for heading in headings if " " in heading][-2:] == [
        "That was the practice",
        "Block 1 of 2 is done",
    ]
    assert Judgment.objects.count() == 5
    for judgment in Judgment.objects.all():
        assert judgment.input_type == "keyboard" and judgment.rt_ms >= 200
        assert judgment.timing["engine"] == ENGINE_VERSION and judgment.timing["trusted"] is True
        assert judgment.timing.keys() >= {"focus_lost_ms", "page_hidden_ms", "coarse_clock", "clock_step_ms"}
    assert signal_table(evidence_frame(stored_session.experiment), names=COHERENCE).empty
    if task == "magnitude_estimation":
        assert {judgment.response for judgment in Judgment.objects.all()} == {"62,5"}


def test_who_leaves_the_page_for_long_reads_the_instructions_before_going_on(open_page, check_page):
    session = a_session("likert", instructions="Read every sentence once.")
    Session.objects.update(screen="block-1")
    page = open_page()
    page.goto(f"/s/{session.token}/")
    trial = shown_trial(page)
    page.evaluate(
        """() => {
          const show = (state) => {
            Object.defineProperty(document, "visibilityState", { configurable: true, value: state });
            document.dispatchEvent(new Event("visibilitychange"));
          };
          show("hidden");
          const now = Date.now;
          Date.now = () => now() + 11 * 60 * 1000;
          show("visible");
        }"""
    )
    expect(page.locator("h1")).to_have_text("Welcome back")
    expect(page.locator("main")).to_contain_text("Read every sentence once.")
    check_page(page)
    page.keyboard.press("Enter")
    assert shown_trial(page) == trial
    answer(page, "likert")
    until(page, SessionEvent.objects.filter(kind="away").exists)
    assert SessionEvent.objects.get(kind="away").details["ms"] > 10 * 60 * 1000


UNKNOWN_SYNTAX = {"content_type": "text/javascript", "body": "export class Keys { !new }"}
FAILURES = {
    "no file": ("**/engine/*.js", None, "not_loaded"),
    "one file of many": ("**/engine/keys.js", None, "not_loaded"),
    "a syntax unknown to this browser": ("**/engine/keys.js", UNKNOWN_SYNTAX, "not_loaded"),
    "the task's file": ("**/tasks/forced_choice.js", None, "TypeError: "),
    "the task's syntax": ("**/tasks/forced_choice.js", UNKNOWN_SYNTAX, "SyntaxError: "),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_when_the_engine_does_not_start_the_plain_form_is_there_and_the_row_says_why(failure, open_page):
    address, reply, reason = FAILURES[failure]
    session = a_session()
    page = open_page()
    page.context.route(address, lambda route: route.fulfill(**reply) if reply else route.abort())
    page.goto(f"/s/{session.token}/")
    until(page, SessionEvent.objects.filter(kind="no_engine").exists)
    assert not Judgment.objects.exists()  # who leaves now is counted, too
    page.locator("form[data-task] .option").first.click()
    page.locator("main .button.primary").click()
    expect(page.locator(".where").first).to_contain_text("2 of 4")
    judgment = Judgment.objects.get()
    assert judgment.timing["no_rt"] is True and judgment.rt_ms is None and judgment.input_type == "form"
    details = SessionEvent.objects.get(kind="no_engine").details
    assert details["reason"].startswith(reason) and details["browser"].startswith("Chromium ")


def test_a_plan_that_never_comes_leaves_the_plain_form_and_the_row_says_why(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    answer(page)
    until(page, Judgment.objects.exists)
    script = page.locator("script[src*='engine/start']").get_attribute("src")
    source = page.request.get(script).text()
    impatient = source.replace("= [20_000, ", "= [300, ")
    assert impatient != source
    page.context.route(
        "**/engine/start.js", lambda route: route.fulfill(body=impatient, content_type="text/javascript")
    )
    page.context.route("**/plan/", lambda route: None)
    page.reload()
    page.locator("form[data-task] .option").first.click()
    until(page, SessionEvent.objects.filter(kind="no_engine").exists)
    page.locator("main .button.primary").click()
    until(page, lambda: Judgment.objects.count() == 2)
    assert Judgment.objects.get(input_type="form").timing["no_rt"] is True
    assert SessionEvent.objects.get(kind="no_engine").details["reason"] == "TimeoutError: too slow"


# What browsers of the end of 2020 lack, and the engine must do without.
YOUNGER = """
const lacking = [
  [AbortSignal, ["any", "timeout", "abort"]], [AbortSignal.prototype, ["reason", "throwIfAborted"]],
  [Array, ["fromAsync"]], [Array.prototype, ["at", "findLast", "findLastIndex", "toReversed", "toSorted"]],
  [String.prototype, ["at", "isWellFormed", "replaceAll"]], [Object, ["groupBy", "hasOwn"]],
  [Promise, ["any", "try", "withResolvers"]], [Set.prototype, ["difference", "intersection", "union"]],
  [globalThis.Iterator?.prototype ?? {}, ["drop", "filter", "flatMap", "map", "reduce", "take", "toArray"]],
  [Element.prototype, ["checkVisibility", "setHTML"]], [Crypto.prototype, ["randomUUID"]],
  [Navigator.prototype, ["locks"]], [globalThis, ["BroadcastChannel", "scheduler", "structuredClone"]],
];
for (const [owner, names] of lacking) for (const name of names) delete owner[name];
"""


def test_a_whole_session_in_a_browser_of_2020(open_page):
    session = a_session("likert", n_blocks=2)
    page = open_page()
    page.add_init_script(YOUNGER)
    page.goto(f"/s/{session.token}/")
    finish(page, "likert")
    assert all(judgment.rt_ms >= 200 for judgment in Judgment.objects.all())
    assert Judgment.objects.count() == session.trials.count()
    assert not SessionEvent.objects.filter(kind="no_engine").exists()


def test_nothing_is_sent_to_the_browser_that_is_not_shown(open_page):
    session = a_session()
    page = open_page()
    came = []
    page.on("response", lambda response: came.append(response) if "/static/" not in response.url else None)
    page.goto(f"/s/{session.token}/")
    answer(page)
    texts = {response.url: response.text() for response in came if f"/{session.token}/" in response.url}
    assert any('id="plan"' in text for text in texts.values())
    for text in texts.values():
        assert "expected" not in text and "condition" not in text and "subject_verb" not in text


def test_the_next_button_is_there_when_the_study_asks_to_confirm(open_page, check_page):
    session = a_session(parameters={"confirm": True})
    page = open_page()
    page.goto(f"/s/{session.token}/")
    trial = ready(page)
    page.locator(".option").first.click()
    page.locator(".option").last.click()
    check_page(page)
    assert shown_trial(page) == trial
    page.get_by_role("button", name="Next").click()
    is_over(page, trial)
    judgment = stored(page, trial)
    assert judgment.timing["changes"] == 1 and judgment.timing["confirm_ms"] >= judgment.rt_ms
    assert judgment.response == judgment.trial.shown["options"][1]["id"]


def test_what_is_no_number_is_explained_without_asking_the_server(open_page, check_page):
    session = a_session("magnitude_estimation")
    page = open_page()
    page.goto(f"/s/{session.token}/")
    trial = ready(page)
    for typed in ("", "-3", "0", "1e3", "1,000.5", "1,000"):
        page.locator("#number").fill(typed)
        page.keyboard.press("Enter")
        expect(page.locator("[role=alert]")).to_be_visible()
    check_page(page)
    page.locator("#number").fill(",5")
    page.keyboard.press("Enter")
    judgment = stored(page, trial)
    assert (judgment.response, judgment.value) == (",5", 0.5)
    assert judgment.timing["refused_answers"] == 6


PROBLEMS = """async ({ rules, typed, words }) => {
  const { problemOf } = await import("/static/js/tasks/magnitude_estimation.js");
  const { digitOf } = await import("/static/js/engine/digits.js");
  const { fill } = await import("/static/js/engine/dom.js");
  return typed.map((text) => problemOf(text, rules, { words, digitOf, fill }));
}"""


def test_the_browser_and_the_server_agree_about_every_number(open_page):
    task = get_task("magnitude_estimation")
    scripts = ["0123456789", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९", "０１２３４５６７８９"]
    signs = [".", ",", "٫", "٬", "،", "．", "，", " ", "\u202f", "'", "e", "-", "+", "\u200f", ""]
    rng = random.Random(1)
    typed = ["", " ", "9" * 40, "9" * 41]
    for _ in range(3000):
        digits = rng.choice(scripts)
        parts = ["".join(rng.choices(digits, k=rng.randint(0, 4))) for _ in range(rng.randint(1, 3))]
        typed.append("".join(part + rng.choice(signs) for part in parts))
    words = engine_texts()

    def refusal(text: str) -> str:
        try:
            task.parse(text, {}, options=())
        except BadResponse as problem:
            return str(problem)
        return ""

    session = a_session("magnitude_estimation")
    page = open_page()
    page.goto(f"/s/{session.token}/")
    ready(page)
    problems = page.evaluate(PROBLEMS, {"rules": NUMBER_RULES, "typed": typed, "words": words})
    assert dict(zip(typed, problems, strict=True)) == {text: refusal(text) for text in typed}
    assert any("can mean" in problem for problem in problems)


@pytest.mark.parametrize("task", TASKS)
def test_all_files_of_a_session_weigh_less_than_120_kilobytes(task, open_page):
    session = a_session(task)
    page = open_page()
    sizes = {}
    page.on("response", lambda reply: sizes.update({reply.url: len(reply.body())}))
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    page.wait_for_timeout(300)
    assert sum(sizes.values()) < 120_000  # not compressed
