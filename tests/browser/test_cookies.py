"""A browser that takes no cookie: the whole session, from the link to the code."""

import pytest

from judgments.models import Judgment, Session
from tests.browser.playing import finish
from tests.cast import study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NO_COOKIES = """Object.defineProperty(Document.prototype, "cookie", {
  get() { throw new DOMException("blocked", "SecurityError") },
  set() { throw new DOMException("blocked", "SecurityError") },
});
Object.defineProperty(Navigator.prototype, "serviceWorker", { get() { throw new DOMException("blocked") } });
"""


def test_a_whole_session_without_cookies_and_workers(open_page):
    study(instructions="", n_lists=1)
    page = open_page()
    page.add_init_script(NO_COOKIES)
    page.goto("/take/agreement/")
    with page.expect_navigation():
        page.get_by_role("button", name="I agree").first.click()
    page.context.clear_cookies()  # what came is thrown away, as such a browser does
    finish(page)
    assert page.context.cookies() == []  # and the session sets none of its own
    assert (Judgment.objects.count(), Session.objects.get().status) == (4, "complete")
