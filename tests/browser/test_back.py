"""The browser's back and reload on pages that answer a form: what is due, never the browser's own warning."""

import pytest
from playwright.sync_api import expect

from tests import cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUESTIONS = [{"name": "dutch", "label": "Do you speak Dutch?", "type": "yes_no", "required": True}]


def test_back_after_a_form_with_a_mistake_shows_what_is_due(open_page):
    cast.study("agreement", questionnaire=QUESTIONS)
    page = open_page()
    page.goto("/take/agreement/")
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".question .problem")).to_be_visible()
    page.reload()
    expect(page.locator(".question .problem")).to_have_count(0)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".question .problem")).to_be_visible()
    page.get_by_label("Yes").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Instructions")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Instructions")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    page.locator(".task[data-onset]").wait_for()
    page.go_back()
    page.locator(".task[data-onset]").wait_for()
