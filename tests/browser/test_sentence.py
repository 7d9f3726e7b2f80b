"""How a sentence stands on the page: read aloud with its trial, and left alone by what translates pages."""

import re

import pytest
from playwright.sync_api import Page

from experiments.materials.schema import CONTEXT
from experiments.models import Design, Sentence
from experiments.studies.lifecycle import open_study
from judgments.models import Judgment
from tests.browser.playing import answer, finish, shown_trial, start
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


DIALOGUE = "A: **Who** left, a < b?\nB: Ich weiß nicht, wer das gewesen sein könnte, aber es war spät."
CONTEXTS = (DIALOGUE, "It rained.", "")


def context_session(task: str, *, language: str = "en", contexts=CONTEXTS, slug: str = "agreement"):
    materials = material_set(slug, n_items=3, language=language)
    rows = list(Sentence.objects.filter(material_set=materials).order_by("pk"))
    for place, row in enumerate(rows):
        context = contexts[place * len(contexts) // len(rows)]
        row.attributes = {CONTEXT: context} if context else {}
    Sentence.objects.bulk_update(rows, ["attributes"])
    fields = {"context_display": "above", "instructions": "", "language": language}
    return begin(study(slug, materials=materials, task=task, n_lists=1, **fields))


def context_html(page: Page) -> str:
    """The context on the screen, without what differs between the two pages on purpose."""
    html = page.locator("#context").evaluate("one => one.outerHTML")
    return re.sub(r"<span[^>]*>", "<span>", html)


def test_the_engine_and_the_plain_page_show_the_same_contexts(open_page, check_page):
    for task in ("forced_choice", "likert", "slider", "yes_no", "magnitude_estimation"):
        session = context_session(task, slug=f"set-{task.replace('_', '-')}")
        plain_page, page = open_page(plain=True), open_page()
        for tab in (plain_page, page):
            tab.goto(f"/s/{session.token}/")
        shown_trial(page)
        assert context_html(page) == context_html(plain_page)
        assert "A: <strong>Who</strong> left, a &lt; b?" in context_html(page)
        question, context = (page.locator(name).first.bounding_box() for name in ("h1", "#context"))
        sentence = page.locator(".sentence:not(.reference *)").first.bounding_box()
        assert question["y"] < context["y"] < sentence["y"]
        if task == "forced_choice":
            check_page(page)
            check_page(plain_page)


def test_answers_stand_in_one_place_whatever_the_context(open_page):
    for width, language in ((390, "ar"), (1280, "en")):
        page = open_page(width=width)
        start(page, context_session("likert", language=language, slug=f"set-{language}"))
        places = set()
        for _ in range(3):
            shown_trial(page)
            places.add(round(page.locator(".scale .option").first.bounding_box()["y"]))
            answer(page, "likert")
        assert len(places) == 1
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_contexts_are_shown_without_a_network(open_page):
    page = open_page()
    session = context_session("likert")
    start(page, session)
    shown_trial(page)
    page.context.set_offline(True)
    answer(page, "likert")
    shown_trial(page)
    assert page.locator("#context").inner_text() == "It rained."
    page.context.set_offline(False)
    finish(page, "likert")
    assert Judgment.objects.filter(trial__session=session).count() == 3


def test_options_with_contexts_of_their_own_fit_the_screen(open_page, check_page):
    session = context_session("forced_choice", contexts=("It rained.", DIALOGUE) * 3)
    for width in (390, 1280):
        page = open_page(width=width)
        page.goto(f"/s/{session.token}/")
        shown_trial(page)
        options = page.locator(".options .option")
        heights = {round(one.bounding_box()["height"]) for one in options.all()}
        assert len(heights) == 1 and options.locator(".in-context > .context").count() == 2
        for option in options.all():
            inner, outer = option.locator(".in-context").bounding_box(), option.bounding_box()
            assert inner["y"] >= outer["y"] and inner["y"] + inner["height"] <= outer["y"] + outer["height"]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        check_page(page)
