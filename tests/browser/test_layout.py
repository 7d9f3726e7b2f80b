"""The layout of a trial is controlled and recorded: lines of pairs, places of answers, scales."""

import pytest
from playwright.sync_api import Page, expect

from judgments.models import Judgment, Session
from judgments.screens.trial_screen import trial_phrases
from releases.demo.login import demo_user
from releases.demo.materials import pair_materials
from releases.demo.studies import open_demo_study, plans
from tests.browser.playing import is_over, ready, stored
from tests.cast import PARAMETERS, begin, material_set, pair, study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = (320, 360, 390, 768, 1280)
HEIGHTS = {320: 568, 360: 640, 390: 844, 768: 1024, 1280: 800}
# Counted apart from the engine: the distinct lines of each sentence's text, and where each answer begins.
SCREEN = """() => {
  const lines = (sentence) => {
    const range = document.createRange();
    range.selectNodeContents(sentence);
    return new Set([...range.getClientRects()].map((box) => Math.round(box.bottom))).size;
  };
  const answers = [...document.querySelectorAll(".task .option, .task .line, .task #number")];
  return {
    lines: [...document.querySelectorAll(".task .sentence")].map(lines),
    places: answers.map((one) => Math.round(one.getBoundingClientRect().top + scrollY)).join(" "),
  };
}"""


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": HEIGHTS.get(width, 800)})
    page.wait_for_function("width => innerWidth === width", arg=width)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def practice_is_over(page: Page) -> None:
    """Leave screens between trials: feedback on practice, the end of practice, a break."""
    while not page.locator(".task").count():
        page.keyboard.press("Enter")
        page.wait_for_timeout(60)


def test_answers_stay_where_they_are_when_the_status_takes_two_lines(open_page):
    """Of a German study, whose words are longer."""
    session = begin(
        study(task="likert", language="de", instructions="", contact="lab@example.org", n_lists=1)
    )
    page = open_page(width=320)
    page.goto(f"/s/{session.token}/")
    ready(page)
    for width in (320, 390):
        resize(page, width)
        places = [page.evaluate(SCREEN)["places"]]
        for text in ("Antworten gespeichert", "Verbindung wird wiederhergestellt. Auf diesem Gerät: 2"):
            page.evaluate("text => (document.querySelector('[data-status]').textContent = text)", text)
            places.append(page.evaluate(SCREEN)["places"])
        assert len(set(places)) == 1
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


@pytest.mark.parametrize("width", [320, 1280])
def test_instructions_opened_again_leave_the_foot_in_reach(open_page, width):
    long_text = "\n\n".join(f"{n}. Lesen Sie jeden Satz einmal." for n in range(1, 40))
    session = begin(study(task="likert", language="de", instructions=long_text, contact="lab@example.org"))
    Session.objects.filter(pk=session.pk).update(screen="trials")
    page = open_page(width=width, height=HEIGHTS[width])
    page.goto(f"/s/{session.token}/")
    ready(page)
    page.evaluate("document.querySelector('[data-status]').textContent = 'Antworten gespeichert'")
    summary, text = page.locator(".again summary"), page.locator(".again .prose")
    summary.click()
    expect(text).to_be_visible()
    box, foot = text.bounding_box(), page.locator("footer.where").bounding_box()
    assert box["y"] > 0 and box["y"] + box["height"] <= foot["y"] + 1
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    summary.click()  # Playwright clicks only what nothing covers
    expect(text).to_be_hidden()


def test_members_of_the_demo_pairs_have_equally_many_lines_and_answers_do_not_move(open_page):
    plan = next(plan for plan in plans() if plan.slug == "demo")
    owner = demo_user()
    session = begin(open_demo_study(plan, pair_materials(owner), owner))
    Session.objects.filter(pk=session.pk).update(screen="trials")  # past the questions and the instructions
    page = open_page(width=WIDTHS[0])
    page.goto(f"/s/{session.token}/")
    different, places = [], {width: set() for width in WIDTHS}
    n_trials = session.trials.count()
    assert n_trials == 30
    for _ in range(n_trials):
        page.locator(".task[data-onset], main.reading h1").first.wait_for()
        practice_is_over(page)
        trial = ready(page)
        for width in WIDTHS:
            resize(page, width)
            screen = page.evaluate(SCREEN)
            places[width].add(screen["places"])
            if len(set(screen["lines"])) > 1:
                different.append((width, page.locator(".task .sentence").all_inner_texts()))
        page.keyboard.press("KeyF")
        is_over(page, trial)
    assert different == []
    assert {width: len(positions) for width, positions in places.items()} == dict.fromkeys(WIDTHS, 1)


LONG = "which the old teacher from the village school had recommended to all of us last year "


def long_and_short() -> list[tuple[str, str]]:
    return [(f"Books {LONG * n}was sold.", f"Books {LONG * n}were sold, he said.") for n in (0, 1, 2)]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("task", ["likert", "yes_no", "slider", "magnitude_estimation", "forced_choice"])
def test_answers_of_every_task_are_in_one_place(open_page, task, width):
    materials = material_set("lengths", n_items=1)
    paradigm = materials.pairs.get().paradigm
    for n, (good, bad) in enumerate(long_and_short()):
        pair(paradigm, f"length-{n}", good=good, bad=bad)
    session = begin(study(task=task, instructions="", n_lists=1, materials=materials))
    page = open_page(width=width, height=844)
    page.goto(f"/s/{session.token}/")
    places = set()
    for _ in range(session.trials.count()):
        trial = ready(page)
        places.add(page.evaluate(SCREEN)["places"])
        if task == "magnitude_estimation":
            page.locator("#number").fill("120")
        elif task == "slider":
            page.keyboard.press("ArrowRight")
        else:
            page.locator(".option").first.click()
        if page.locator("main .button.primary").count():
            page.locator("main .button.primary").click()
        is_over(page, trial)
    assert len(places) == 1


@pytest.mark.parametrize("width", [320, 360, 390, 768, 1280])
@pytest.mark.parametrize("points", [7, 11])
def test_points_are_in_one_row_with_both_ends_in_view(open_page, check_page, width, points):
    materials = material_set("long", n_items=1, texts=(LONG * 5, LONG * 5))
    session = begin(
        study(task="likert", instructions="", n_lists=1, materials=materials, parameters={"points": points})
    )
    page = open_page(width=width, height=HEIGHTS[width] - 180)
    page.goto(f"/s/{session.token}/")
    trial = ready(page)
    check_page(page)
    boxes = [option.bounding_box() for option in page.locator(".task .option").all()]
    ends = [label.bounding_box() for label in page.locator(".task .ends span").all()]
    assert len({round(box["y"]) for box in boxes}) == 1
    assert min(box["width"] for box in boxes) >= 24
    assert all(box["y"] + box["height"] <= HEIGHTS[width] - 180 for box in (*boxes, *ends))
    page.keyboard.press("2")
    is_over(page, trial)
    timing = stored(page, trial).timing
    assert timing["orientation"] == "row" and timing["lines"][0] > 2 and "lines_differ" not in timing
    assert timing["scale_size"].split("x")[0] == str(
        round(boxes[-1]["x"] + boxes[-1]["width"] - boxes[0]["x"])
    )
    assert timing["letter_px"] >= 20 and timing["viewport"] == f"{width}x{HEIGHTS[width] - 180}"


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("plain", [False, True])
def test_a_study_may_have_its_scale_in_a_column_on_every_screen(open_page, check_page, width, plain):
    session = begin(study(task="likert", instructions="", n_lists=1, parameters={"orientation": "column"}))
    page = open_page(width=width, height=664, plain=plain)
    page.goto(f"/s/{session.token}/")
    page.locator(".option").first.wait_for()
    check_page(page)
    boxes = [option.bounding_box() for option in page.locator(".option").all()]
    assert len({round(box["x"]) for box in boxes}) == 1 and len({round(box["y"]) for box in boxes}) == 7
    assert page.locator(".option", has_text="Completely natural").is_visible()
    assert all(box["y"] >= 0 and box["y"] + box["height"] <= 664 for box in boxes)
    if not plain:
        trial = ready(page)
        page.keyboard.press("2")
        is_over(page, trial)
        assert stored(page, trial).timing["orientation"] == "column"


def test_a_pair_that_cannot_have_equally_many_lines_is_recorded_as_such(open_page):
    materials = material_set("uneven", n_items=1, texts=("Go.", LONG))
    session = begin(study(instructions="", n_lists=1, materials=materials))
    page = open_page(width=390)
    page.goto(f"/s/{session.token}/")
    trial = ready(page)
    page.keyboard.press("KeyF")
    is_over(page, trial)
    timing = stored(page, trial).timing
    assert timing["lines_differ"] is True and sorted(timing["lines"])[0] == 1
    assert timing["orientation"] == "column"


def test_a_rotated_phone_keeps_the_same_lines_and_records_the_rotation(open_page):
    texts = (
        "The students hope that the teacher reads it.",
        "The students wonder whether the teacher reads it.",
    )
    session = begin(
        study(instructions="", n_lists=1, materials=material_set("turned", n_items=1, texts=texts))
    )
    page = open_page(width=360)
    page.goto(f"/s/{session.token}/")
    trial = ready(page)
    for width in range(300, 900, 20):
        resize(page, width)
        lines = page.evaluate(SCREEN)["lines"]
        assert lines[0] == lines[1], width
    page.keyboard.press("KeyF")
    is_over(page, trial)
    assert stored(page, trial).timing["width_changes"] > 10


def test_pages_to_read_and_trials_share_one_column(open_page):
    session = begin(study(n_lists=1))
    page = open_page(width=1280)
    page.goto(f"/s/{session.token}/")
    reading = [page.locator(name).bounding_box() for name in ("main", "header.where", "footer.where")]
    page.locator("main .button.primary").click()
    ready(page)
    trial = [page.locator(name).bounding_box() for name in ("main", "header.where", "footer.where")]
    assert {(box["x"], box["width"]) for box in (*reading, *trial)} == {
        (reading[0]["x"], reading[0]["width"])
    }
    assert page.locator(".sentence").first.evaluate("one => parseFloat(getComputedStyle(one).fontSize)") > 26
    assert Judgment.objects.count() == 0


JAPANESE = (
    "太郎が花子に会ったことを先生が知らないようだと、昨日学校で聞いた。",
    "太郎が花子に会うことを先生が知らないようだと、昨日学校で聞いた。",
)
LINES = """(sentence) => {
  const lines = [];
  let bottom = null;
  for (const node of [...sentence.childNodes].filter((one) => one.nodeType === Node.TEXT_NODE)) {
    for (let place = 0; place < node.length; place += 1) {
      const range = document.createRange();
      range.setStart(node, place);
      range.setEnd(node, place + 1);
      const box = range.getBoundingClientRect();
      if (bottom === null || box.bottom > bottom + 4) lines.push("");
      bottom = box.bottom;
      lines.push(lines.pop() + node.data[place]);
    }
  }
  return lines;
}"""


@pytest.mark.parametrize("plain", [False, True])
def test_japanese_breaks_between_phrases(open_page, plain):
    materials = material_set("ja", n_items=1, language="ja", texts=JAPANESE)
    session = begin(study(instructions="", n_lists=1, materials=materials, language="ja"))
    page = open_page(width=320, plain=plain)
    page.goto(f"/s/{session.token}/")
    page.locator(".sentence").first.wait_for()
    for sentence in page.locator(".sentence").all():
        lines = sentence.evaluate(LINES)
        parts, starts = trial_phrases("".join(lines), "ja"), {0}
        for part in parts:
            starts.add(max(starts) + len(part))
        assert sentence.evaluate("one => one.textContent") in JAPANESE
        assert len(lines) > 1 and {sum(map(len, lines[:n])) for n in range(len(lines))} <= starts


@pytest.mark.parametrize("show", ["blank", "fixation"])
def test_a_study_may_show_a_blank_screen_or_a_cross_between_trials(open_page, show):
    parameters = {"between": show, "between_ms": 1500}
    session = begin(study(task="likert", instructions="", n_lists=1, parameters=parameters))
    page = open_page()
    page.goto(f"/s/{session.token}/")
    for _ in range(2):
        gap = page.wait_for_function(
            """() => {
              const gap = document.querySelector(".between");
              return gap && [gap.textContent, document.querySelectorAll(".sentence").length];
            }"""
        )
        assert gap.json_value() == ["+" if show == "fixation" else "", 0]
        page.keyboard.press("4")  # too soon: there is nothing to answer yet
        trial = ready(page)
        page.keyboard.press("2")
        is_over(page, trial)
        judgment = stored(page, trial)
        assert judgment.value == 2 and 1500 <= judgment.timing["between_ms"] < 9000


@pytest.mark.parametrize("has_touch", [False, True])
def test_the_press_is_recorded_beside_the_release(open_page, has_touch):
    session = begin(study(task="likert", instructions="", n_lists=1))
    page = open_page(has_touch=has_touch)
    page.goto(f"/s/{session.token}/")
    trial = ready(page)
    page.locator(".option").nth(2).click(delay=120)
    is_over(page, trial)
    judgment = stored(page, trial)
    assert 90 <= judgment.rt_ms - judgment.timing["press_ms"] <= 600
    trial = ready(page)
    page.keyboard.press("3")
    is_over(page, trial)
    assert "press_ms" not in stored(page, trial).timing


def test_no_saving_status_is_shown_before_the_first_answer(open_page):
    session = begin(study(task="likert", instructions="", n_lists=1))
    page = open_page()
    page.goto(f"/s/{session.token}/")
    trial = ready(page)
    assert page.locator("[data-status]").inner_text() == ""
    page.keyboard.press("3")
    is_over(page, trial)
    expect(page.locator("[data-status]")).to_have_text("Answers saved")
    page.reload()
    ready(page)
    expect(page.locator("[data-status]")).to_have_text("Answers saved")


def test_the_field_for_a_number_is_whole_above_a_keyboard_on_the_screen(open_page):
    session = begin(study(task="magnitude_estimation", instructions="", n_lists=1))
    page = open_page(width=390, height=430)
    page.goto(f"/s/{session.token}/")
    ready(page)
    for name in ("#number", ".estimate .button"):
        box = page.locator(name).bounding_box()
        assert box["y"] + box["height"] + 3 <= 430  # with its ring


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
def test_answers_stay_where_they_were(open_page, task):
    session = begin(study(task=task, instructions="", n_lists=1, materials=sentences_of_many_lengths()))
    page = open_page(has_touch=True, is_mobile=True)
    page.goto(f"/s/{session.token}/")
    places, heights = set(), set()
    for _ in range(len(LENGTHS) + 1):
        trial = ready(page)
        places.add(round(page.locator(ANSWERS[task]).bounding_box()["y"]))
        heights.add(page.locator(".shown .sentence").bounding_box()["height"])
        if task == "magnitude_estimation":
            page.locator("#number").fill("120")
        else:
            page.locator(".option, .line").first.tap()
        if page.locator("main .button.primary").count():
            page.locator("main .button.primary").tap()
        is_over(page, trial)
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


GAP = """([line, field]) => {
  const [a, b] = [line, field].map((one) => one.getBoundingClientRect());
  return Math.abs(document.dir === "rtl" ? a.right - b.right : a.left - b.left);
}"""


@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_line_begins_where_its_field_does(open_page, check_page, language):
    parameters = {**PARAMETERS["magnitude_estimation"], "training": True}
    experiment = study(
        task="magnitude_estimation", instructions="", n_lists=1, language=language, parameters=parameters
    )
    page = open_page(width=1280)
    page.goto(f"/s/{begin(experiment).token}/")
    page.locator(".line-length").first.wait_for()
    check_page(page)
    for row in page.locator(".line-length").all():
        pair = [row.locator("line").element_handle(), row.locator("input").element_handle()]
        assert page.evaluate(GAP, pair) <= 1
