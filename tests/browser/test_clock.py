"""A device whose time of day is set back in the middle of a session."""

import pytest

from judgments.models import Judgment
from tests.browser.test_engine import answer
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
    first, second, *others = Judgment.objects.order_by("trial__position")
    assert "clock_backwards" not in first.timing and second.timing["clock_backwards"] is True
    assert all("clock_backwards" not in one.timing for one in others)
    assert all(200 <= one.rt_ms < 60_000 for one in (first, second, *others))


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
