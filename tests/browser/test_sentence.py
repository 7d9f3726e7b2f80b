"""How a sentence stands on the page: read aloud with its trial, and left alone by what translates pages."""

import pytest

from experiments.models import Design
from experiments.studies.lifecycle import open_study
from tests.browser.playing import shown_trial
from tests.cast import PARAMETERS, ada, begin, draft, material_set, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FOCUSED = """() => {
  const one = document.activeElement;
  const ids = (one.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean);
  return ids.map((id) => document.getElementById(id)?.textContent).join(" ");
}"""

ENDS_AT_THE_RIGHT = """(one) => {
  const words = document.createRange();
  words.selectNodeContents(one);
  const parts = [...words.getClientRects()];
  const around = one.parentElement;
  const edge = around.getBoundingClientRect().right - parseFloat(getComputedStyle(around).paddingRight);
  const isBeside = (a, b) => Math.abs(a.top - b.top) < a.height / 2;
  const rightOf = (part) => Math.max(...parts.filter((one) => isBeside(part, one)).map((one) => one.right));
  return parts.every((part) => Math.abs(edge - rightOf(part)) <= 2);
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
    assert {sentence.get_attribute("translate") for sentence in sentences} == {"no"}


@pytest.mark.parametrize("task", ["likert", "best_worst", "magnitude_estimation"])
def test_a_sentence_begins_at_the_side_of_its_own_script(open_page, task):
    texts = ("ذهب الأولاد إلى المدرسة القريبة في الصباح الباكر {n}.", "ذهبوا الأولاد إلى المدرسة {n}.")
    materials = material_set(language="ar", texts=texts)
    parameters = {"likert": {}, "best_worst": {"size": 4, "showings": 2}}.get(task, PARAMETERS.get(task))
    experiment = draft(task=task, materials=materials, parameters=parameters)
    Design.objects.create(experiment=experiment, n_lists=2, seed=3)
    open_study(experiment, ada())
    page = open_page()
    page.goto(f"/s/{begin(experiment).token}/")
    page.locator("main .button.primary").click()
    shown_trial(page)
    for sentence in page.locator("main .sentence").all():
        assert sentence.evaluate("one => getComputedStyle(one).direction") == "rtl"
        assert sentence.evaluate(ENDS_AT_THE_RIGHT)
