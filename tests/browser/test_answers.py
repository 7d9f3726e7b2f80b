"""Ways to answer: two-digit points typed, both and neither, Next to confirm, sides and stacks."""

import pytest
from playwright.sync_api import Page, expect

from judgments.models import Judgment, Session
from tests.browser.playing import is_over, ready, stored
from tests.cast import begin, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def first_trial(
    open_page, task: str, *, name: str = "pia", parameters: dict | None = None, **options
) -> Page:
    experiment = study(task=task, instructions="", n_lists=1, parameters=parameters or {})
    page = open_page(**options)
    page.goto(f"/s/{begin(experiment, name).token}/")
    return page


def press(page: Page, *keys: str) -> Judgment:
    trial = ready(page)
    for key in keys:
        page.keyboard.press(key)
    is_over(page, trial)
    return stored(page, trial)


@pytest.mark.parametrize(
    ("parameters", "typed"),
    [
        ({"points": 11, "lowest": 0}, {"10": 10, "1": 1, "0": 0, "7": 7}),
        ({"points": 10}, {"0": 10, "1": 1}),
        ({"points": 101, "lowest": 0}, {"85": 85, "100": 100}),
        ({"points": 7, "high_first": True}, {"2": 2, "7": 7}),
    ],
)
def test_every_point_has_its_number_as_keys(open_page, parameters, typed):
    page = first_trial(open_page, "likert", parameters=parameters)
    for keys, value in typed.items():
        judgment = press(page, *keys)
        assert (judgment.value, judgment.input_type) == (value, "keyboard")
        assert judgment.timing["key"] == f"Digit{keys[-1]}"


def test_a_point_that_waits_for_its_second_digit_keeps_the_time_of_its_key(open_page):
    page = first_trial(open_page, "likert", parameters={"points": 11, "lowest": 0})
    ready(page)
    began = page.evaluate("performance.now()")
    trial = page.locator(".task").get_attribute("data-trial")
    onset = float(page.locator(".task").get_attribute("data-onset"))
    page.keyboard.press("1")
    expect(page.locator(".option.chosen .num")).to_have_text("1")
    after = page.evaluate("performance.now()")
    is_over(page, trial)
    assert began - onset - 5 <= stored(page, trial).rt_ms <= after - onset + 5


def test_a_click_ends_the_wait_for_a_second_digit(open_page):
    page = first_trial(open_page, "likert", parameters={"points": 11, "lowest": 0, "confirm": True})
    trial = ready(page)
    page.keyboard.press("1")
    page.locator(".option").nth(5).click()
    page.wait_for_timeout(900)
    expect(page.locator("[aria-pressed=true] .num")).to_have_text("5")
    page.get_by_role("button", name="Next").click()
    is_over(page, trial)
    assert stored(page, trial).value == 5


@pytest.mark.parametrize(("key", "word"), [("KeyB", "both"), ("KeyN", "neither")])
def test_both_and_neither_have_keys_and_buttons(open_page, check_page, key, word):
    page = first_trial(open_page, "forced_choice", parameters={"offer_both": True, "offer_neither": True})
    ready(page)
    check_page(page)
    judgment = press(page, key)
    assert (judgment.response, judgment.value, judgment.chosen) == (word, 0.5, None)
    assert judgment.timing["place"] == {"both": 3, "neither": 4}[word]


@pytest.mark.parametrize("word", ["Both sound good", "Neither sounds good"])
def test_both_and_neither_are_answers_by_touch_without_javascript(open_page, word):
    parameters = {"offer_both": True, "offer_neither": True}
    page = first_trial(
        open_page, "forced_choice", parameters=parameters, java_script_enabled=False, has_touch=True
    )
    page.locator(".beside .option", has_text=word).tap()
    with page.expect_navigation():
        page.locator("main .button.primary").tap()
    assert Judgment.objects.get().response == word.split()[0].lower()


@pytest.mark.parametrize(("task", "keys"), [("yes_no", ["ArrowLeft", "ArrowRight"]), ("likert", ["2", "6"])])
def test_the_choice_selected_at_confirmation_counts(open_page, check_page, task, keys):
    page = first_trial(open_page, task, parameters={"confirm": True})
    trial = ready(page)
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".early")).to_have_text("Please choose an answer.")
    for key in keys:
        page.keyboard.press(key)
    check_page(page)
    page.get_by_role("button", name="Next").press("Enter")
    is_over(page, trial)
    judgment = stored(page, trial)
    assert judgment.value == {"yes_no": 0, "likert": 6}[task]
    assert judgment.timing["changes"] == 1 and judgment.timing["confirm_ms"] >= judgment.rt_ms


@pytest.mark.parametrize(("task", "key"), [("forced_choice", "KeyJ"), ("likert", "6"), ("yes_no", "ArrowUp")])
def test_enter_confirms_the_choice_without_a_way_to_the_button(open_page, task, key):
    page = first_trial(open_page, task, parameters={"confirm": True})
    first = ready(page)
    page.keyboard.press("Enter")
    expect(page.locator(".early")).to_have_text("Please choose an answer.")
    page.keyboard.press(key)
    page.keyboard.down("Enter")
    page.keyboard.down("Enter")  # held into the next trial
    is_over(page, first)
    timing = stored(page, first).timing
    assert timing["confirm_ms"] >= timing["changes"] == 0 and timing["trusted"]
    second = ready(page)
    page.keyboard.up("Enter")
    page.keyboard.press(key)
    page.locator(".option.chosen").press("Enter")  # as on any button: chosen again, not confirmed
    page.wait_for_timeout(300)
    assert page.locator(".task").get_attribute("data-trial") == second


@pytest.mark.parametrize(("name", "labels"), [("pia", ["Yes", "No"]), ("quentin", ["No", "Yes"])])
def test_sides_of_yes_and_no_stay_for_a_participant_and_turn_for_the_next(open_page, name, labels):
    experiment = study(task="yes_no", instructions="", n_lists=1)
    sessions = {name: begin(experiment, name) for name in ("pia", "quentin")}
    page = open_page()
    page.goto(f"/s/{sessions[name].token}/")
    for _ in range(3):
        ready(page)
        assert page.locator(".option span").all_inner_texts() == labels
        press(page, "KeyF")
    judgments = Judgment.objects.filter(trial__session=sessions[name])
    assert {judgment.response for judgment in judgments} == {labels[0].lower()}


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_two_sentences_are_stacked(open_page, width):
    page = first_trial(open_page, "forced_choice", width=width)
    ready(page)
    first, second = (option.bounding_box() for option in page.locator(".options .option").all())
    assert second["y"] >= first["y"] + first["height"] and second["x"] == first["x"]
    judgment = press(page, "ArrowDown")
    assert (judgment.timing["layout"], judgment.timing["place"]) == ("stack", 2)


def test_arrows_and_letters_choose_a_side(open_page):
    page = first_trial(open_page, "forced_choice")
    for key, place in (("ArrowLeft", 1), ("ArrowRight", 2), ("KeyF", 1), ("KeyJ", 2)):
        assert press(page, key).timing["place"] == place


def test_the_slider_has_no_ticks_and_no_thumb_before_the_first_touch(open_page):
    page = first_trial(open_page, "slider")
    ready(page)
    line = page.locator(".line")
    assert line.get_attribute("list") is None and not page.locator("datalist, .tick").count()
    expect(line).to_have_class("line untouched")
    rules = """() => [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
                 .filter((rule) => rule.selectorText?.startsWith(".line.untouched"))
                 .map((rule) => rule.style.opacity)"""
    assert set(page.evaluate(rules)) == {"0"}  # each browser's own name of the thumb
    page.keyboard.press("ArrowRight")
    expect(line).to_have_class("line")
    assert not Session.objects.get().trials.filter(judgment__isnull=False).exists()


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("task", ["slider", "likert", "forced_choice"])
def test_words_of_a_study_that_are_longer_than_a_phone_is_wide_are_broken(task, plain, open_page, check_page):
    word = "Unannehmbarkeitseinschätzung" * 2
    parameters = {
        "slider": {"low_label": word, "high_label": "Gut"},
        "likert": {"low_label": word, "high_label": "Gut", "points": 30},
        "forced_choice": {"offer_both": True, "offer_neither": True, "both_label": word},
    }
    page = first_trial(open_page, task, parameters=parameters[task], width=320, height=700, plain=plain)
    if not plain:
        ready(page)
    check_page(page)
    if task != "forced_choice":
        lines = """one => {
          const text = document.createRange();
          text.selectNodeContents(one);
          return text.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight);
        }"""
        n_lines = page.locator(".ends span", has_text="Gut").first.evaluate(lines)
        assert n_lines < 1.5, "the short word is broken"


@pytest.mark.parametrize("task", ["likert", "yes_no", "forced_choice", "slider", "magnitude_estimation"])
def test_sentence_and_answer_are_both_in_view_on_a_phone_at_200_percent(task, open_page, check_page):
    estimated = {"reference": "The cats sleep in the sun.", "modulus": 100}
    parameters = estimated if task == "magnitude_estimation" else {}
    page = first_trial(open_page, task, parameters=parameters, width=195, height=422)
    ready(page)
    check_page(page)
    names = {"likert": ".scale", "yes_no": ".scale", "forced_choice": ".options", "slider": ".line"}
    answers = page.locator(names.get(task, ".estimate .row")).bounding_box()
    assert answers["y"] + answers["height"] <= 422
    if task != "forced_choice":  # there the sentences are the answers
        shown = [one.bounding_box() for one in page.locator("main .sentence:visible").all()]
        assert all(box["y"] >= 0 and box["y"] + box["height"] <= answers["y"] for box in shown)
