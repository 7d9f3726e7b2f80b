"""Clocks in a real browser: times from onset to event, answers too early or too late, a clock set back."""

import pytest
from playwright.sync_api import expect

from judgments.models import Judgment, SessionEvent
from tests.browser.playing import a_session, answer, ready, shown_trial, start, stored, until
from tests.cast import begin, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_clock_set_back_is_noted_and_changes_no_response_time(open_page):
    session = begin(study(n_lists=1, instructions=""))
    page = open_page()
    page.goto(f"/s/{session.token}/")
    answer(page)
    page.evaluate("() => { const now = Date.now; Date.now = () => now() - 3_600_000; }")
    for _ in range(3):
        answer(page)
    page.locator(".code").wait_for()
    first, second, *later = Judgment.objects.order_by("trial__position")
    assert "clock_backwards" not in first.timing and second.timing["clock_backwards"] is True
    assert all("clock_backwards" not in other.timing for other in later)
    assert all(200 <= judgment.rt_ms < 60_000 for judgment in (first, second, *later))


FRAMES = """async ([due, run]) => {
  let now = 0;
  const frames = due.map((stamp, place) => [stamp, run[place]]);
  Object.defineProperty(performance, "now", { value: () => now, configurable: true });
  window.requestAnimationFrame = (next) => queueMicrotask(() => {
    const [stamp, at] = frames.shift();
    now = at;
    next(stamp);
  });
  const { painted } = await import(document.querySelector("link[href*='engine/timing']").href);
  const late = new Promise((_, fail) => setTimeout(fail, 10_000, new Error("no onset")));
  return [await Promise.race([painted(), late]), due.length - frames.length];
}"""


@pytest.mark.parametrize(
    ("due", "run", "onset", "n_frames"),
    [
        ([100, 116.7, 133.3], [100.4, 117, 134], 116.7, 2),  # on time
        (
            [100, 116.7, 133.3],
            [130, 130.5, 134],
            133.3,
            3,
        ),  # the first was late: the second was due before it ran
        ([100, 116.7, 116.7, 133.3], [130, 130.2, 130.4, 134], 133.3, 4),
        ([100, 200, 300], [100, 200, 300], 200, 2),  # a clock coarsened to 100 ms
        ([100] * 9, [130] * 9, 130, 6),  # stamps that stand still
    ],
)
def test_the_onset_is_no_stamp_from_before_the_painting_frame_ran(open_page, due, run, onset, n_frames):
    """Made-up frames: when each was due, and when the page came round to running it (ms)."""
    page = open_page()
    study()
    page.goto("/take/agreement/")  # the engine is there, and no trial that asks for frames of its own
    assert page.evaluate(FRAMES, [due, run]) == [onset, n_frames]


STEP = """async ([step, pause]) => {
  let [calls, now] = [0, 0];
  const { clockStep } = await import(document.querySelector("link[href*='engine/timing']").href);
  const own = performance.now;
  performance.now = () => (now = ++calls === 3 ? now + pause : calls % 5 ? now : now + step);
  try {
    return clockStep();
  } finally {
    performance.now = own;
  }
}"""


@pytest.mark.parametrize("step", [0.1, 1, 16.667, 100])
def test_the_step_of_the_clock_is_measured_on_a_device_that_pauses_meanwhile(step, open_page):
    page = open_page()
    session = a_session("likert")
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    assert page.evaluate(STEP, [step, 35 * step]) == pytest.approx(step, abs=0.001)


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
    assert [judgment.rt_ms for judgment in judgments] == [round(delay) for delay in delays]
    assert [judgment.timing["trusted"] for judgment in judgments] == [False] * 4
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
    judgment = stored(page, answer(page, "likert"))
    assert (judgment.response, judgment.timing["early_answers"], judgment.timing["held_keys"]) == ("6", 2, 2)
    assert judgment.timing["early_ms"] == [50, 150]
    assert SessionEvent.objects.get(kind="early_answer").details == {"n": 2}


def test_trials_time_out_without_a_network_too_and_keep_what_was_not_confirmed(open_page, check_page):
    parameters = {"confirm": True}
    session = a_session("likert", deadline_ms=2000, deadline_bar=True, parameters=parameters)
    page = open_page(width=390)
    start(page, session)
    expect(page.locator(".deadline")).to_be_visible()
    trials = list(session.trials.order_by("position").values_list("public_id", flat=True))
    page.wait_for_function("first => document.querySelector('.task')?.dataset.trial !== first", arg=trials[0])
    first = stored(page, trials[0])
    assert (first.status, first.response, first.value, first.rt_ms) == ("timed_out", "", None, None)
    page.context.set_offline(True)
    assert ready(page) == trials[1]
    page.keyboard.press("6")  # not confirmed
    page.wait_for_function("one => document.querySelector('.task')?.dataset.trial !== one", arg=trials[1])
    assert ready(page) == trials[2]
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    page.wait_for_function("one => document.querySelector('.task')?.dataset.trial === one", arg=trials[3])
    check_page(page)  # takes longer than an answer may
    page.locator("main.reading h1").wait_for()  # the last one times out
    page.context.set_offline(False)
    page.locator(".code").wait_for()
    rows = Judgment.objects.order_by("trial__position").values_list("status", "response", "value")
    assert list(rows) == [
        ("timed_out", "", None), ("timed_out", "6", None), ("answered", "5", 5.0), ("timed_out", "", None)
    ]  # fmt: skip


def test_an_answer_in_time_is_not_late_though_the_highlight_goes_on(open_page):
    session = a_session("likert", deadline_ms=700)
    page = open_page()
    page.goto(f"/s/{session.token}/")
    trial = shown_trial(page)
    page.evaluate(
        """() => new Promise((resolve) => {
          const onset = Number(document.querySelector(".task").dataset.onset);
          const press = () => dispatchEvent(new KeyboardEvent("keydown", { key: "6", code: "Digit6" }));
          setTimeout(() => (press(), resolve()), onset + 620 - performance.now());
        })"""
    )
    until(page, Judgment.objects.filter(trial__public_id=trial).exists)
    judgment = Judgment.objects.get(trial__public_id=trial)
    assert judgment.status == "answered" and 600 <= judgment.rt_ms <= 700
