"""What stands where on a screen, in three engines, on a phone and on a large screen."""

import json

import pytest

from experiments.models import Experiment
from experiments.tasks.registry import task_names
from judgments.models import Judgment, Session, SessionEvent
from releases.reports.compute import filtered_judgments
from tests.browser.engines.test_sessions import ENGINES, WITHOUT_TRAINING, has, is_over, ready
from tests.browser.playing import a_session
from tests.browser.test_every_task import a_study
from tests.cast import begin, material_set

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUESTIONS = [
    {"name": "age", "label": "How old are you?", "type": "number"},
    {
        "name": "first",
        "label": "Is English your first language?",
        "type": "choice",
        "options": ["yes", "no"],
    },
    {"name": "more", "label": "Which other languages do you speak?", "type": "text", "required": False},
]
PLACES = """(() => {
  const box = (one) => one.getBoundingClientRect();
  const parts = "h1, .quiet, .shown, .sentence, .option, .line, .ends, .hint, .mark, .question, .choice";
  const all = [...document.querySelectorAll(`main :is(${parts}, .button, input)`)];
  const seen = all.filter((one) => one.offsetParent);
  const answers = document.querySelector(".task :is(.options, .scale, .line, .estimate, .set)");
  const above = [...document.querySelectorAll(".trial h1, .shown .sentence")];
  const options = [...document.querySelectorAll(".task .option")].map(box);
  return {
    boxes: seen.map((one) => {
      const { x, y, width, height } = box(one);
      const ownWidth = one.matches("h1") ? 0 : width; // in a legend as wide as its letters
      return [`${one.tagName} ${one.className}`, [x, y - box(seen[0]).y, ownWidth, height].map(Math.round)];
    }),
    gap: answers && Math.round(box(answers).top - Math.max(...above.map((one) => box(one).bottom))),
    tops: new Set(options.map((one) => Math.round(one.top))).size,
    sizes: new Set(options.map((one) => `${Math.round(one.width)}x${Math.round(one.height)}`)).size,
    wide: document.documentElement.scrollWidth > innerWidth,
  };
})()"""
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SHORT = ("The keys {n} are here.", "The keys {n} is here.")  # one line wherever letters are a little wider
ROUNDING_PX = 4  # of half a dozen heights of lines, one below the other


@pytest.mark.parametrize("screen", [*task_names(), "questionnaire"])
def test_a_screen_stands_alike_in_every_engine(screen, visit):
    """Answers keep their distance from what is asked; members of a pair are equal; points are one row."""
    if screen == "questionnaire":
        session = a_session("likert", questionnaire=QUESTIONS)
    else:
        of_estimates = {**WITHOUT_TRAINING, "reference": "A key is here."}
        a_study(screen, texts=SHORT, **(of_estimates if screen == "magnitude_estimation" else {}))
        session = begin(Experiment.objects.get())
    Session.objects.update(screen="questionnaire" if screen == "questionnaire" else "trials")
    expected = {}
    for engine in ENGINES:
        window = visit(engine)
        window.open(f"/s/{session.token}/")
        if screen != "questionnaire":
            ready(window)
        for width in (390, 1280):
            window.resize(width)
            window.js(TWO_FRAMES)  # the engine lays the screen out again
            places = window.js(PLACES)
            assert not places["wide"], (engine, width)
            if screen != "questionnaire":
                assert 16 <= places["gap"] <= 48, (engine, width, places["gap"])
            if screen in ("forced_choice", "likert", "yes_no"):
                n_rows = 2 if screen == "forced_choice" else 1
                assert (places["tops"], places["sizes"]) == (n_rows, 1), (engine, width, places)
            boxes = expected.setdefault(width, places["boxes"])
            assert len(boxes) == len(places["boxes"]) > 3, (engine, width, places)
            for (name, box), (_, other) in zip(boxes, places["boxes"], strict=True):
                apart = max(abs(one - two) for one, two in zip(box, other, strict=True))
                assert apart <= ROUNDING_PX, (engine, width, name, box, other)


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
WITHOUT_FONTS = {
    "latin": {name for name in SENTENCES if name != "Latin"},
    "debian": {"Thai", "Khmer", "Chinese", "Urdu"},  # DejaVu has the others
    "noto": set(),
}
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


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("fonts", WITHOUT_FONTS)
def test_scripts_without_a_font_are_noticed_and_others_are_not(fonts, engine, start, tmp_path):
    session = a_session("likert")
    with start(engine, tmp_path, fonts=fonts) as window:
        window.open(f"/s/{session.token}/")
        ready(window)
        assert set(window.js(MISSING, SENTENCES)) == WITHOUT_FONTS[fonts]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sign_without_a_glyph_is_recorded_and_can_be_excluded(engine, visit):
    """Of a code point that no font has, whatever the fonts of the machine."""
    materials = material_set(n_items=2, texts=("The keys {n} are here\u0378.", "The keys {n} is here."))
    session = a_session("likert", materials=materials)
    window = visit(engine)
    window.open(f"/s/{session.token}/")
    while not has(window, ".code"):
        trial = ready(window)
        window.press("6")
        is_over(window, trial)
        window.until("Boolean(document.querySelector('.task[data-onset], .code'))")
    judgments = Judgment.objects.select_related("trial")
    damaged = [
        judgment for judgment in judgments if "\u0378" in json.dumps(judgment.trial.shown, ensure_ascii=False)
    ]
    assert [judgment.timing.get("missing_glyphs") for judgment in damaged] == [1]
    events = SessionEvent.objects.filter(kind="missing_glyphs")
    assert list(events.values_list("trial", "details")) == [(damaged[0].trial_id, {"n": 1})]
    study = session.experiment
    assert filtered_judgments(study, exclude="signal:missing_glyphs").excluded.kept.empty
    assert len(filtered_judgments(study, exclude="signal:storage").excluded.kept) == 2
