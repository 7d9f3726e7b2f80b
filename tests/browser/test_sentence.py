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


def context_session(
    task: str, *, language: str = "en", contexts=CONTEXTS, slug: str = "agreement", **display
):
    materials = material_set(slug, n_items=3, language=language)
    rows = list(Sentence.objects.filter(material_set=materials).order_by("pk"))
    for place, row in enumerate(rows):
        context = contexts[place * len(contexts) // len(rows)]
        row.attributes = {CONTEXT: context} if context else {}
    Sentence.objects.bulk_update(rows, ["attributes"])
    fields = {"context_display": "above", "instructions": "", "language": language, **display}
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


READ = """() => {
  const context = document.querySelector(".before[data-onset]");
  return context && performance.now() - Number(context.dataset.onset) >= 210;
}"""


def test_a_context_before_is_left_by_keys_and_button_and_its_time_is_stored(open_page, check_page):
    contexts = (DIALOGUE, "It rained. " * 300, "It rained.")
    for width, label in ((390, True), (1280, False)):
        display = {"context_display": "before", "context_label": label}
        page = open_page(width=width)
        session = context_session("likert", contexts=contexts, slug=f"set-{width}", **display)
        page.goto(f"/s/{session.token}/")
        for leave in ("Space", "Enter", None):
            page.wait_for_function(READ, polling=20)
            assert page.locator("#context").count() == 1 and not page.locator(".sentence").count()
            assert page.locator("#context .label").count() == label
            check_page(page)
            if leave == "Enter":  # the long one, at whose top the space bar scrolls
                page.keyboard.press("Space")
                page.wait_for_function("() => scrollY > 0", polling=20)
            page.keyboard.press(leave) if leave else page.locator(".before .button").click()
            shown_trial(page)
            assert not page.locator(".context").count() and page.evaluate("scrollY") == 0
            answer(page, "likert")
        page.locator(".code").wait_for()
        times = Judgment.objects.filter(trial__session=session).values_list("timing__context_ms", flat=True)
        assert len(times) == 3 and all(200 <= ms < 60_000 for ms in times)


def test_a_context_for_a_set_time_gives_way_to_the_sentence_without_a_network_too(open_page):
    session = context_session("likert", context_display="before", context_ms=400)
    page = open_page()
    start(page, session)
    answer(page, "likert")
    page.locator(".before").wait_for()
    page.context.set_offline(True)
    page.reload()
    page.locator(".before[data-onset]").wait_for()
    assert not page.locator(".before .button").count()
    answer(page, "likert")
    page.context.set_offline(False)
    finish(page, "likert")
    timings = Judgment.objects.filter(trial__session=session).values_list("timing", flat=True)
    timed = [timing["context_ms"] for timing in timings if "context_planned_ms" in timing]
    assert len(timed) == 2 and all(400 <= ms < 2000 for ms in timed)  # the third trial has no context


def test_the_engine_takes_over_where_the_plain_form_left_the_context(open_page):
    session = context_session("likert", context_display="before", contexts=("It rained.",))
    plain_page, page = open_page(plain=True), open_page()
    plain_page.goto(f"/s/{session.token}/")
    assert plain_page.locator("#context").inner_text() == "It rained."
    plain_page.locator("main .button").click()
    plain_page.locator(".sentence").wait_for()
    page.goto(f"/s/{session.token}/")
    shown_trial(page)
    answer(page, "likert")
    page.locator(".before").wait_for()


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
