"""What stands where on a trial, in three engines, on a phone and on a large screen."""

import os

import pytest

from tests.browser.engines.test_sessions import ENGINES, ready
from tests.browser.playing import a_session

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PLACES = """(() => {
  const box = (one) => one.getBoundingClientRect();
  const answers = document.querySelector(".options, .scale, .line, .estimate, .set");
  const above = [...document.querySelectorAll(".trial h1, .shown .sentence")];
  const options = [...document.querySelectorAll(".task .option")].map(box);
  return {
    gap: Math.round(box(answers).top - Math.max(...above.map((one) => box(one).bottom))),
    tops: new Set(options.map((one) => Math.round(one.top))).size,
    sizes: new Set(options.map((one) => `${Math.round(one.width)}x${Math.round(one.height)}`)).size,
    wide: document.documentElement.scrollWidth > innerWidth,
  };
})()"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("task", ["forced_choice", "likert", "yes_no"])
def test_questions_pairs_and_scales_stand_alike(task, engine, visit):
    """Answers keep their distance from what is asked; members of a pair are equal; points are one row."""
    session = a_session(task)
    window = visit(engine)
    window.open(f"/s/{session.token}/")
    ready(window)
    for width in (390, 1280):
        window.resize(width)
        places = window.js(PLACES)
        assert 16 <= places["gap"] <= 40, (width, places)
        assert places["tops"] == (2 if task == "forced_choice" else 1), (width, places)
        assert places["sizes"] == 1 and not places["wide"], (width, places)


SENTENCES = {
    "Latin": "The keys to the cabinet are old, Zoë said.",
    "Thai": "แมวกินปลา",
    "Lao": "ແມວກິນປາ",
    "Khmer": "ឆ្មាស៊ីត្រី",
    "Chinese": "猫吃了一条鱼。",
    "Arabic": "أكلت القطة السمكة",
    "Hebrew": "החתול אכל את הדג",
    "Urdu": "بلی نے مچھلی کھائی ہے",
}
WITHOUT_FONTS = {"debian": {"Thai", "Khmer", "Chinese", "Urdu"}, "noto": set()}  # DejaVu has the others
MISSING = """(async () => {
  const { layoutFacts } = await import(document.querySelector("link[href*='engine/layout']").href);
  const found = [];
  for (const [name, text] of Object.entries(arguments[0])) {
    const element = document.createElement("div");
    element.innerHTML = "<span class=sentence></span>";
    element.firstChild.textContent = text;
    document.querySelector("main").append(element);
    if (layoutFacts(element).missing_glyphs) found.push(name);
  }
  return found;
})()"""


@pytest.mark.skipif("BROWSER_FONTS" not in os.environ, reason="depends on the fonts of this machine")
@pytest.mark.parametrize("engine", ENGINES)
def test_scripts_without_a_font_are_noticed_and_others_are_not(engine, visit):
    session = a_session("likert")
    window = visit(engine)
    window.open(f"/s/{session.token}/")
    ready(window)
    assert set(window.js(MISSING, SENTENCES)) == WITHOUT_FONTS[os.environ["BROWSER_FONTS"]]
