"""How a sentence stands on the page: read aloud with its trial, and left alone by what translates pages."""

import pytest

from tests.browser.playing import shown_trial
from tests.cast import begin, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FOCUSED = """() => {
  const one = document.activeElement;
  const ids = (one.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean);
  return ids.map((id) => document.getElementById(id)?.textContent).join(" ");
}"""


@pytest.mark.parametrize("has_scripts", [True, False], ids=["engine", "form"])
@pytest.mark.parametrize("task", ["likert", "yes_no"])
def test_the_sentence_is_read_with_the_question(open_page, task, has_scripts):
    session = begin(study(task=task, instructions="", n_lists=1))
    page = open_page(java_script_enabled=has_scripts)
    page.goto(f"/s/{session.token}/")
    if has_scripts:
        shown_trial(page)
        assert page.evaluate(FOCUSED) == page.locator(".sentence").inner_text()
    else:
        assert page.locator("fieldset").get_attribute("aria-describedby") == "target"
    assert page.locator("#target .sentence").count() == 1


@pytest.mark.parametrize("has_scripts", [True, False], ids=["engine", "form"])
@pytest.mark.parametrize("task", ["forced_choice", "magnitude_estimation"])
def test_no_browser_translates_a_sentence(open_page, task, has_scripts):
    session = begin(study(task=task, instructions="", n_lists=1))
    page = open_page(java_script_enabled=has_scripts)
    page.goto(f"/s/{session.token}/")
    if has_scripts:
        shown_trial(page)
    sentences = page.locator("main .sentence").all()
    assert len(sentences) == 2
    assert {one.get_attribute("translate") for one in sentences} == {"no"}
