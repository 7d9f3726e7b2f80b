"""On a phone the answers stay in one place from trial to trial, above the keyboard where there is one."""

import pytest

from tests.browser.playing import shown_trial
from tests.cast import begin, material_set, pair, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ANSWERS = {"yes_no": ".scale", "likert": ".scale", "slider": ".line", "magnitude_estimation": "#number"}
LENGTHS = (1, 12, 30)


def sentences_of_many_lengths():
    """Of one word, of two lines and of five."""
    materials = material_set("lengths", n_items=1)
    paradigm = materials.pairs.get().paradigm
    for n in LENGTHS:
        pair(paradigm, f"length-{n}", good="word " * n + "good.", bad="word " * n + "bad.")
    return materials


@pytest.mark.parametrize("task", ANSWERS)
def test_answers_stand_where_they_stood_before(open_page, task):
    session = begin(study(task=task, instructions="", n_lists=1, materials=sentences_of_many_lengths()))
    page = open_page(has_touch=True, is_mobile=True)
    page.goto(f"/s/{session.token}/")
    places, heights = set(), set()
    for _ in range(len(LENGTHS) + 1):
        trial = shown_trial(page)
        page.wait_for_timeout(250)  # the guard against early answers
        places.add(round(page.locator(ANSWERS[task]).bounding_box()["y"]))
        heights.add(page.locator(".shown").bounding_box()["height"])
        if task == "magnitude_estimation":
            page.locator("#number").fill("120")
        else:
            page.locator(".option, .line").first.tap()
        if page.locator("main .button.primary").count():
            page.locator("main .button.primary").tap()
        page.wait_for_function("id => document.querySelector('.task')?.dataset.trial !== id", arg=trial)
    assert len(heights) > 2
    assert len(places) == 1
    assert page.locator("meta[name=viewport]").get_attribute("content").endswith("=resizes-content")


def test_words_on_two_lines_do_not_touch_the_edge_of_their_button(open_page):
    study(language="de")
    page = open_page(has_touch=True, is_mobile=True)
    page.goto("/take/agreement/")
    button = page.get_by_role("button", name="Ich bin einverstanden und möchte teilnehmen")
    free, lines = button.evaluate(
        """(one) => {
          const words = document.createRange();
          words.selectNodeContents(one);
          return [one.clientHeight - words.getBoundingClientRect().height, words.getClientRects().length];
        }"""
    )
    assert lines == 2 and free >= 12
