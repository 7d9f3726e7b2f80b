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
