"""The trial engine in a real browser: whole sessions, no network, other tabs, no storage, and its clock."""

import json

import pytest
from playwright.sync_api import Page, Route, expect

from judgments.models import Judgment, Session, SessionEvent
from judgments.sessions.plan import ENGINE
from tests.cast import begin, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
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


def a_session(task: str = "forced_choice", **fields) -> Session:
    fields = {"instructions": "", "n_lists": 1, **fields}
    return begin(study(task=task, **fields))


def shown_trial(page: Page) -> str:
    """The trial on the screen, once its clock runs."""
    page.locator(".task[data-onset]").wait_for()
    return page.locator(".task").get_attribute("data-trial")


def answer(page: Page, task: str = "forced_choice", *, number: str = "62,5") -> str:
    """Answer the trial on the screen by keyboard, a moment after it appeared."""
    trial = shown_trial(page)
    page.wait_for_timeout(250)  # the guard against early answers
    if task == "magnitude_estimation":
        page.keyboard.type(number)
        page.keyboard.press("Enter")
    else:
        page.keyboard.press(KEYS[task])
    page.wait_for_function(
        "id => document.querySelector('.task')?.dataset.trial !== id", arg=trial, polling=20
    )
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


@pytest.mark.parametrize("task", TASKS)
def test_a_whole_session_by_keyboard(task, open_page, check_page):
    practice = {"kind": "practice", "payload": PRACTICE.get(task, PRACTICE["rating"])}
    session = a_session(task, n_blocks=2, extras=(practice,))
    page = open_page(width=390)
    page.goto(f"/s/{session.token}/")
    seen = []
    for _ in range(20):
        page.locator(".task[data-onset], main.reading h1, .code").first.wait_for()
        if page.locator(".code").count():
            break
        if page.locator(".task").count():
            if len(seen) < 2:
                check_page(page)
            expect(page.locator("header.where")).to_contain_text("Practice" if not seen else "Block")
            seen.append(answer(page, task))
        elif page.locator("main .button.primary").count():
            seen.append(page.locator("h1").inner_text())
            if seen[-1].startswith("Block"):
                expect(page.locator("main")).to_contain_text("Your place is kept for 30 minutes.")
            check_page(page)
            page.keyboard.press("Enter")
        page.wait_for_timeout(50)
    kept = Session.objects.get()
    expect(page.locator(".code output")).to_have_text(kept.completion_code)
    assert [one for one in seen if " " in one][-2:] == ["That was the practice", "Block 1 of 2 is done"]
    assert Judgment.objects.count() == 5
    for judgment in Judgment.objects.all():
        assert judgment.input_type == "keyboard" and judgment.rt_ms >= 200
        assert judgment.timing["engine"] == ENGINE and judgment.timing["trusted"] is True
        assert judgment.timing.keys() >= {"focus_lost_ms", "page_hidden_ms", "coarse_clock", "clock_step_ms"}
    if task == "magnitude_estimation":
        assert {one.response for one in Judgment.objects.all()} == {"62,5"}


@pytest.mark.parametrize("task", TASKS)
def test_a_whole_session_by_touch(task, open_page, check_page):
    session = a_session(task)
    page = open_page(width=390, has_touch=True, is_mobile=True)
    page.goto(f"/s/{session.token}/")
    for _ in range(4):
        trial = shown_trial(page)
        check_page(page)
        assert not page.locator("kbd:visible").count()
        page.wait_for_timeout(250)
        if task == "magnitude_estimation":
            page.locator("#number").fill("120")
            page.locator(".button.primary").tap()
        else:
            page.locator(".option").last.tap()
        page.wait_for_function(
            "id => document.querySelector('.task')?.dataset.trial !== id", arg=trial, polling=20
        )
    page.locator(".code").wait_for()
    assert set(Judgment.objects.values_list("input_type", flat=True)) == {"touch"}


def test_an_answer_offline_waits_on_the_device_and_is_sent_when_the_network_is_back(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    with page.expect_response("**/judgments/"):
        answer(page)
    page.context.route("**/judgments/", lambda route: route.abort())  # no console error as when offline
    for _ in range(2):
        answer(page)  # the next trial comes without the network
    expect(page.locator("[data-status]")).to_contain_text("Answers kept on this device: 2", timeout=10_000)
    assert Judgment.objects.count() == 1
    page.context.unroute("**/judgments/")
    answer(page)
    page.evaluate("dispatchEvent(new Event('online'))")
    page.locator(".code").wait_for()
    assert Judgment.objects.count() == 4


def test_without_a_network_the_end_waits_and_shows_no_code(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    page.context.set_offline(True)
    for _ in range(4):
        answer(page)
    expect(page.locator("h1")).to_have_text("Saving your last answers")
    expect(page.locator("[data-status]")).to_contain_text("Reconnecting", timeout=10_000)
    assert Session.objects.get().status == "active"
    page.context.set_offline(False)
    page.locator(".code").wait_for()
    assert Session.objects.get().status == "complete"


def test_answers_not_yet_sent_survive_a_closed_tab(open_page):
    session = a_session()
    page = open_page()
    page.context.route("**/judgments/", lambda route: route.abort())
    page.goto(f"/s/{session.token}/")
    first, second = answer(page), answer(page)
    page.close()
    page.context.unroute("**/judgments/")
    again = page.context.new_page()
    again.goto(f"/s/{session.token}/")
    assert shown_trial(again) not in {first, second}
    finish(again)
    assert Judgment.objects.count() == 4
    assert not SessionEvent.objects.filter(kind="conflict").exists()


def test_a_reload_comes_back_to_the_same_trial_and_is_noted(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    answer(page)
    second = shown_trial(page)
    page.reload()
    assert shown_trial(page) == second
    finish(page)
    assert Judgment.objects.count() == 4
    assert SessionEvent.objects.get(kind="reload").trial.public_id == second


def test_a_second_tab_takes_over_and_the_first_says_so(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    answer(page)
    other = page.context.new_page()
    other.goto(f"/s/{session.token}/")
    second = shown_trial(other)
    expect(page.locator("h1")).to_have_text("This study is open in another tab")
    page.bring_to_front()
    page.locator(".button.primary").click()
    assert shown_trial(page) == second
    expect(other.locator("h1")).to_have_text("This study is open in another tab")
    finish(page)
    assert Judgment.objects.count() == 4


@pytest.mark.parametrize(("script", "kind"), [(NO_DATABASE, "device"), (NO_STORAGE, "page only")])
def test_blocked_storage_falls_back_and_says_so(script, kind, open_page):
    session = a_session()
    page = open_page()
    page.add_init_script(script)
    page.context.route("**/judgments/", lambda route: route.abort())
    page.goto(f"/s/{session.token}/")
    answer(page)
    expect(page.locator("[data-status]")).to_contain_text(kind, timeout=10_000)
    page.context.unroute("**/judgments/")
    finish(page)
    assert Judgment.objects.count() == 4


def test_who_cannot_keep_answers_is_told_before_the_first_one(open_page):
    session = a_session()
    page = open_page()
    page.add_init_script(NO_STORAGE)
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    expect(page.locator("[data-status]")).to_contain_text("leave the page open", timeout=10_000)


def test_a_flaky_network_loses_and_doubles_nothing(open_page):
    """The first reply to every delivery is lost on its way back, after the server has stored it."""
    session = a_session()
    page = open_page()
    heard = []

    def lose_every_other(route: Route) -> None:
        reply = route.fetch()
        heard.append(json.loads(route.request.post_data))
        if len(heard) % 2:
            route.fulfill(status=503, json={"code": "try_again", "message": ""})
        else:
            route.fulfill(response=reply)

    page.context.route("**/judgments/", lose_every_other)
    page.goto(f"/s/{session.token}/")
    finish(page)
    sent = [row["trial"] for body in heard for row in body["judgments"]]
    assert len(sent) > len(set(sent)) == 4
    assert Judgment.objects.count() == 4


def test_the_response_time_is_the_events_own_time_minus_the_onset(open_page):
    session = a_session("likert")
    page = open_page()
    page.goto(f"/s/{session.token}/")
    delays = [400, 777.4, 1500, 2345.6]
    for delay in delays:
        trial = shown_trial(page)
        page.evaluate(
            """delay => {
              const onset = Number(document.querySelector(".task").dataset.onset);
              const event = new KeyboardEvent("keydown", { key: "5", code: "Digit5", bubbles: true });
              Object.defineProperty(event, "timeStamp", { value: onset + delay });
              document.body.dispatchEvent(event);
              const up = new KeyboardEvent("keyup", { key: "5", code: "Digit5", bubbles: true });
              document.body.dispatchEvent(up);
            }""",
            delay,
        )
        page.wait_for_function(
            "id => document.querySelector('.task')?.dataset.trial !== id", arg=trial, polling=20
        )
    page.locator(".code").wait_for()
    judgments = Judgment.objects.order_by("trial__position")
    assert [one.rt_ms for one in judgments] == [round(delay) for delay in delays]
    assert [one.timing["trusted"] for one in judgments] == [False] * 4
    assert SessionEvent.objects.filter(kind="untrusted").count() == 4


def test_the_onset_is_after_the_paint_and_never_before_the_trial_is_in_the_document(open_page):
    session = a_session("likert")
    page = open_page()
    page.add_init_script(
        """new MutationObserver(() => {
             const task = document.querySelector(".task");
             if (task && !(task.dataset.trial in seen)) seen[task.dataset.trial] = performance.now();
           }).observe(document, { childList: true, subtree: true });
           window.seen = {};"""
    )
    page.goto(f"/s/{session.token}/")
    trial = shown_trial(page)
    inserted, onset = page.evaluate(
        "id => [seen[id], Number(document.querySelector('.task').dataset.onset)]", trial
    )
    assert onset > inserted


def test_early_answers_and_held_keys_do_not_count_and_are_noted(open_page):
    session = a_session("likert")
    page = open_page()
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    page.evaluate(
        """() => {
          const onset = Number(document.querySelector(".task").dataset.onset);
          const press = (type, at, repeat = false) => {
            const event = new KeyboardEvent(type, { key: "2", code: "Digit2", bubbles: true, repeat });
            Object.defineProperty(event, "timeStamp", { value: onset + at });
            document.body.dispatchEvent(event);
          };
          press("keydown", 50), press("keyup", 90);
          press("keydown", 150), press("keydown", 600, true), press("keydown", 640, true);
          press("keyup", 700);
        }"""
    )
    assert page.locator(".option.chosen").count() == 0
    answer(page, "likert")
    page.wait_for_timeout(200)
    judgment = Judgment.objects.get()
    assert (judgment.response, judgment.timing["early_answers"], judgment.timing["held_keys"]) == ("6", 2, 2)
    assert judgment.timing["early_ms"] == [50, 150]
    assert SessionEvent.objects.get(kind="early_answer").details == {"n": 2}


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
    page.wait_for_timeout(300)
    assert SessionEvent.objects.get(kind="away").details["ms"] > 10 * 60 * 1000


def test_when_the_engine_does_not_come_the_plain_form_is_there(open_page):
    session = a_session()
    page = open_page()
    page.context.route("**/engine/*.js", lambda route: route.abort())
    page.goto(f"/s/{session.token}/")
    page.locator(".option").first.click()
    page.locator("main .button.primary").click()
    expect(page.locator(".where").first).to_contain_text("2 of 4")
    judgment = Judgment.objects.get()
    assert judgment.timing["no_rt"] is True and judgment.rt_ms is None


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


def test_who_comes_back_gets_the_plan_as_it_stands_then(open_page):
    session = a_session()
    page = open_page()
    page.goto(f"/s/{session.token}/")
    with page.expect_response("**/judgments/"):
        answer(page)
    with page.expect_response("**/plan/") as plan:
        page.reload()
    assert [one["is_answered"] for one in plan.value.json()["trials"]] == [True, False, False, False]
    expect(page.locator(".where").first).to_contain_text("2 of 4")


def test_the_next_button_is_there_when_the_study_asks_to_confirm(open_page, check_page):
    session = a_session(parameters={"confirm": True})
    page = open_page()
    page.goto(f"/s/{session.token}/")
    trial = shown_trial(page)
    page.wait_for_timeout(250)
    page.locator(".option").first.click()
    page.locator(".option").last.click()
    check_page(page)
    assert shown_trial(page) == trial
    page.get_by_role("button", name="Next").click()
    page.wait_for_function(
        "id => document.querySelector('.task')?.dataset.trial !== id", arg=trial, polling=20
    )
    page.wait_for_timeout(300)
    judgment = Judgment.objects.get()
    assert judgment.timing["changes"] == 1 and judgment.timing["confirm_ms"] >= judgment.rt_ms
    assert judgment.response == judgment.trial.shown["options"][1]["id"]


def test_what_is_no_number_is_explained_without_asking_the_server(open_page, check_page):
    session = a_session("magnitude_estimation")
    page = open_page()
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    page.wait_for_timeout(250)
    for typed in ("", "-3", "0", "1e3", "1,000.5"):
        page.locator("#number").fill(typed)
        page.keyboard.press("Enter")
        expect(page.locator("[role=alert]")).to_be_visible()
    check_page(page)
    page.locator("#number").fill(",5")
    page.keyboard.press("Enter")
    page.wait_for_timeout(400)
    assert (Judgment.objects.get().response, Judgment.objects.get().value) == (",5", 0.5)
    assert Judgment.objects.get().timing["refused_answers"] == 5


@pytest.mark.parametrize("task", TASKS)
def test_all_files_of_a_session_weigh_less_than_a_hundred_kilobytes(task, open_page):
    session = a_session(task)
    page = open_page()
    sizes = {}
    page.on("response", lambda reply: sizes.update({reply.url: len(reply.body())}))
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    page.wait_for_timeout(300)
    assert sum(sizes.values()) < 100_000
