"""What participants see: the demo's screens, each task, and what comes between the trials."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone
from playwright.sync_api import Page

from experiments.materials.schema import CONTEXT
from experiments.models import Design, Experiment, MaterialSet, Sentence
from experiments.studies.lifecycle import open_study
from judgments.models import Session
from judgments.sessions.pretrial import correct_choice
from tests.browser import playing
from tests.cast import ada, begin, draft, material_set, study
from tools.pictures.camera import Camera

DEMOS = {
    "demo-trial": "demo",
    "demo-likert-trial": "demo-likert",
    "demo-yes-no-trial": "demo-yes-no",
    "demo-magnitude-trial": "demo-magnitude",
}
TASKS = ("forced_choice", "likert", "yes_no", "magnitude_estimation", "slider", "best_worst")
TITLE = "How does this sentence sound?"
QUIZ = [
    {"question": "What counts?", "right": "how it sounds", "wrong": ["whether it is true", "how long it is"]},
    {"question": "May you stop at any time?", "right": "yes", "wrong": ["no"], "hint": "Nothing is lost."},
]
PRACTICE: dict[str, Any] = {
    "kind": "practice",
    "payload": {"good": "He goes home.", "bad": "He go home.", "feedback": "After he it is goes, not go."},
}
NEUTRAL_PRACTICE: dict[str, Any] = {
    "kind": "practice",
    "payload": {"good": "He goes home.", "bad": "He go home."},
}
CONSENT = """# How natural does it sound?

You read pairs of short sentences. It takes **about ten minutes**.

- You may stop at any time, without giving a reason.
- We store your answers without your name for ten years.

[More about data protection](https://example.org/privacy)"""
STATEMENTS = [
    {"text": "I am at least 18 years old.", "required": True},
    {"text": "My answers may be published without my name.", "required": False},
]
CLOSING = [
    {"name": "unclear", "label": "Was anything unclear?", "type": "choice", "choices": ["No", "Yes"]},
]
#: Languages whose interface has a picture: question, acceptable and unacceptable member of a pair.
LANGUAGES = {
    "fr": ("Les clés sont ici, numéro {n}.", "Les clés est ici, numéro {n}."),
    "it": ("Le chiavi sono qui, numero {n}.", "Le chiavi è qui, numero {n}."),
    "ko": ("열쇠 {n}개가 책상 위에 있다.", "열쇠 {n}개를 책상 위에 있다."),
    "ru": ("Ключи номер {n} лежат на столе.", "Ключи номер {n} лежит на столе."),
    "ja": (
        "昨日図書館で借りた{n}冊の本を友達に貸してあげたので今は手元にありません。",
        "昨日図書館で借りた{n}冊の本が友達に貸してあげたので今は手元にありません。",
    ),
}

DIALOGUE = (
    "A: Did **John** bake the cake for the party?\nB: No, he was away all week and came back on Sunday."
)
#: Pictures of contexts: task, language, context, acceptable and unacceptable member.
CONTEXTS = {
    "context": (
        "likert",
        "en",
        DIALOGUE,
        ("A: Who was it that baked it, then?", "A: Who that was baked?"),
    ),
    "context-pair": ("forced_choice", "en", DIALOGUE, ("A: Who did, then?", "A: Who then did do?")),
    "context-before": ("likert", "en", DIALOGUE, ("A: Who was it, then?", "A: Who that was?")),
    "context-rtl": (
        "yes_no",
        "ar",
        "أ: من **خبز** الكعكة للحفلة؟\nب: لا أعرف، كنتُ مسافرًا طوال الأسبوع.",
        ("أ: أظن أن سارة هي التي خبزتها.", "أ: أظن سارة أن التي هي خبزتها."),
    ),
}


def take(camera: Camera) -> None:
    """Take the participants' pictures; every state has a study and a person of its own."""
    _around_the_demo(camera)
    for name, slug in DEMOS.items():
        if camera.wants(name):
            _plain_trial(camera, name, slug)
    for task in TASKS:
        name = f"trial-{task.replace('_', '-')}"
        if camera.wants(name):
            session = begin(_study(camera, name, task=task))
            _at(camera, session, lambda page, name=name: camera.take(page, name))
    for names, steps in STEPS.items():
        if camera.wants(*names):
            steps(camera)


def _study(camera: Camera, name: str, **fields: Any) -> Experiment:
    """An open study of the demo's pairs."""
    materials = MaterialSet.objects.get(slug="demo-minimal-pairs")
    slug = f"{name}-{camera.width}"
    fields = {"title": TITLE, "instructions": "", "materials": materials, **fields}
    if fields.get("task") != "best_worst":
        return study(slug, n_lists=1, **fields)
    fields |= {"instructions": "Compare the sentences.", "parameters": {"size": 4, "showings": 2}}
    experiment = draft(slug, **fields)
    Design.objects.create(experiment=experiment, n_lists=2, seed=3)
    open_study(experiment, ada())
    return experiment


def _at(camera: Camera, session: Session, look: Callable[[Page], None], *, is_trial: bool = True) -> None:
    """Open a session as its participant, and look."""
    context = camera.somebody()
    page = context.new_page()
    page.goto(f"/s/{session.token}/")
    if is_trial:
        page.locator(".task[data-onset], main.reading .button.primary").first.wait_for()
        if page.locator("main.reading").count():
            page.locator("main .button.primary").click()
        playing.shown_trial(page)
        page.wait_for_timeout(300)  # the guard against early answers
    look(page)
    context.close()


def _consented(page: Page, slug: str) -> None:
    page.goto(f"/take/{slug}/")
    page.locator("button[value=yes]").first.click()
    page.wait_for_load_state("load")


def _around_the_demo(camera: Camera) -> None:
    if not camera.wants("demo-consent", "demo-screen-1", "demo-screen-2", "refused"):
        return
    context = camera.somebody()
    page = context.new_page()
    page.goto("/take/demo/")
    camera.take(page, "demo-consent")
    _consented(page, "demo")
    page.wait_for_url("**/s/**")
    camera.take(page, "demo-screen-1")
    _answer_questions(page)
    camera.take(page, "demo-screen-2")
    context.close()
    other = camera.somebody()
    page = other.new_page()
    page.goto("/take/demo/")
    page.locator("button[value=no]").first.click()
    page.wait_for_load_state("load")
    camera.take(page, "refused")
    other.close()


def _answer_questions(page: Page) -> None:
    """Fill in whatever the questionnaire asks."""
    for group in page.locator("main fieldset").all():
        if group.locator("input[type=radio], input[type=checkbox]").count():
            group.locator("input[type=radio], input[type=checkbox]").first.check()
    for field in page.locator("main input[type=number]").all():
        field.fill("34")
    for field in page.locator("main input[type=text]:visible, main textarea:visible").all():
        field.fill("English")
    with page.expect_navigation():
        page.locator("main .button.primary").click()


def _plain_trial(camera: Camera, name: str, slug: str) -> None:
    """A trial as a plain form, which is what people without scripts see."""
    session = begin(Experiment.objects.get(slug=slug), f"{name}-{camera.width}")
    session.screen = "trials"
    session.save(update_fields=["screen"])
    context = camera.browser.new_context(
        base_url=camera.address,
        viewport={"width": camera.width, "height": camera.height},
        java_script_enabled=False,
    )
    page = context.new_page()
    page.goto(f"/s/{session.token}/")
    camera.take(page, name)
    context.close()


def _both_and_neither(camera: Camera) -> None:
    parameters = {"offer_both": True, "offer_neither": True}
    experiment = _study(camera, "both-neither", task="forced_choice", parameters=parameters)
    _at(camera, begin(experiment), lambda page: camera.take(page, "both-neither"))


def _practice(camera: Camera) -> None:
    experiment = _study(camera, "session", extras=(PRACTICE, PRACTICE))

    def look(page: Page) -> None:
        for name, place in (("session-1", 0), ("session-2", 1)):
            playing.shown_trial(page)
            page.wait_for_timeout(300)
            good = page.locator(".option", has_text="He goes home.")
            bad = page.locator(".option", has_text="He go home.")
            (bad if place else good).click()
            page.locator("main.reading h1").wait_for()
            camera.take(page, name)
            page.locator("main .button.primary").click()
        page.locator("main.reading h1").wait_for()
        camera.take(page, "session-3")

    _at(camera, begin(experiment), look)


def _break(camera: Camera) -> None:
    session = begin(_study(camera, "break", n_blocks=8))

    def look(page: Page) -> None:
        while not page.locator("main.reading h1").count():
            playing.answer(page)
            page.wait_for_timeout(100)
        camera.take(page, "break")

    _at(camera, session, look)


def _offline(camera: Camera) -> None:
    session = begin(_study(camera, "offline"))

    def look(page: Page) -> None:
        playing.answer(page)
        page.context.set_offline(True)
        playing.answer(page)
        playing.shown_trial(page)
        page.get_by_text("Reconnecting").wait_for()
        camera.take(page, "offline")

    _at(camera, session, look)


def _other_tab(camera: Camera) -> None:
    session = begin(_study(camera, "other-tab"))

    def look(page: Page) -> None:
        second = page.context.new_page()
        second.goto(f"/s/{session.token}/")
        playing.shown_trial(second)
        page.locator(".task").wait_for(state="detached")
        camera.take(page, "other-tab")

    _at(camera, session, look)


def _expired(camera: Camera) -> None:
    session = begin(_study(camera, "expired"))
    long_ago = timezone.now() - timedelta(days=60)
    Session.objects.filter(pk=session.pk).update(
        started_at=long_ago, last_seen_at=long_ago, lease_expires_at=long_ago
    )
    _at(camera, session, lambda page: camera.take(page, "expired"), is_trial=False)


def _end(camera: Camera) -> None:
    pairs = MaterialSet.objects.get(slug="demo-whether-islands")
    session = begin(_study(camera, "end", materials=pairs, task="yes_no", debrief="We study islands."))

    def look(page: Page) -> None:
        while not page.locator(".code").count():
            playing.answer(page, "yes_no")
            page.wait_for_timeout(100)
        camera.take(page, "session-end")
        page.goto(f"/s/{session.token}/withdraw/")
        camera.take(page, "withdraw")

    _at(camera, session, look)


def _leave(camera: Camera) -> None:
    session = begin(_study(camera, "leave"))

    def look(page: Page) -> None:
        page.locator("a.way-out").click()
        page.wait_for_load_state("load")
        camera.take(page, "leave")

    _at(camera, session, look)


def _quiz(camera: Camera) -> None:
    session = begin(_study(camera, "quiz", quiz=QUIZ, instructions="Read each sentence once."))

    def look(page: Page) -> None:
        page.locator("main .button.primary").click()
        page.locator("input[name=answer_1]").first.wait_for()
        camera.take(page, "quiz")
        for number in range(len(QUIZ)):
            wrong = "2" if correct_choice(session, number) == "1" else "1"
            page.locator(f"input[name=answer_{number + 1}][value='{wrong}']").check()
        with page.expect_navigation():
            page.locator("main .button.primary").click()
        camera.take(page, "quiz-again")

    _at(camera, session, look, is_trial=False)


def _lines(camera: Camera) -> None:
    for name, parameters in (("line-training", {"training": True}), ("own-number", {"own_modulus": True})):
        if camera.wants(name):
            shared = {"reference": "The key to the doors are here.", "modulus": 100}
            experiment = _study(
                camera, name, task="magnitude_estimation", parameters={**shared, **parameters}
            )
            _at(camera, begin(experiment), lambda page, name=name: camera.take(page, name), is_trial=False)


def _few(camera: Camera, name: str, **fields: Any) -> Experiment:
    """An open study with two pairs of its own."""
    return _study(camera, name, materials=material_set(f"{name}-{camera.width}", n_items=2), **fields)


def _statements(camera: Camera) -> None:
    """A consent text in Markdown with statements to tick, on a computer that a lab shares."""
    experiment = _few(
        camera,
        "statements",
        consent=CONSENT,
        consent_statements=STATEMENTS,
        contact="lab@example.org",
        lab_mode=True,
    )
    context = camera.somebody()
    page = context.new_page()
    page.goto(f"/take/{experiment.slug}/")
    camera.take(page, "statements")
    context.close()


def _closing(camera: Camera) -> None:
    """The last page with optional questions, of a study in lab mode and of another."""
    fields = {"closing_questions": CLOSING, "closing_comment": True, "debrief": "We study agreement."}
    for name, lab_mode in (("closing", False), ("lab-next", True)):
        if not camera.wants(name):
            continue

        def look(page: Page, name: str = name) -> None:
            while not page.locator(".code").count():
                playing.answer(page)
                page.wait_for_timeout(100)
            camera.take(page, name)

        _at(camera, begin(_few(camera, name, lab_mode=lab_mode, **fields)), look)


def _partial(camera: Camera) -> None:
    """Stop after an answer where the study pays for a part."""
    session = begin(_study(camera, "left", partial_code="PART-7Q"))

    def look(page: Page) -> None:
        playing.answer(page)
        page.locator("a.way-out").click()
        page.wait_for_load_state("load")
        with page.expect_navigation():
            page.locator("main button.danger").first.click()
        camera.take(page, "left")

    _at(camera, session, look)


def _comment(camera: Camera) -> None:
    """The neutral comment on a practice answer, and the researcher's own."""
    for name, fields in (
        ("practice-neutral", {}),
        (
            "practice-own-comment",
            {"practice_other": "Other answers are fine: say what sounds better to you."},
        ),
    ):
        if not camera.wants(name):
            continue
        session = begin(_study(camera, name, extras=(NEUTRAL_PRACTICE,), **fields))

        def look(page: Page, name: str = name) -> None:
            page.locator(".option", has_text="He go home.").click()
            page.locator("main.reading h1").wait_for()
            camera.take(page, name)

        _at(camera, session, look)


def _between(camera: Camera) -> None:
    """A fixation cross between two trials."""
    parameters = {"between": "fixation", "between_ms": 10_000}
    session = begin(_study(camera, "fixation", task="forced_choice", parameters=parameters))

    def look(page: Page) -> None:
        page.locator(".option").first.click()
        page.locator("div.between").wait_for()
        camera.take(page, "fixation")

    context = camera.somebody()
    page = context.new_page()
    page.goto(f"/s/{session.token}/")
    page.locator(".task[data-onset]").first.wait_for(timeout=20_000)
    page.wait_for_timeout(600)  # the guard against early answers
    look(page)
    context.close()


def _instructions_again(camera: Camera) -> None:
    """The instructions, opened during a trial."""
    session = begin(
        _study(
            camera, "instructions-again", instructions="Read each sentence once. There is no *right* answer."
        )
    )

    def look(page: Page) -> None:
        page.locator("details.again summary").click()
        camera.take(page, "instructions-again")

    _at(camera, session, look)


def _languages(camera: Camera) -> None:
    """A trial in each language that came last, and one whose lines break between phrases."""
    for language, texts in LANGUAGES.items():
        name = f"trial-{language}"
        if camera.wants(name):
            materials = material_set(f"{name}-{camera.width}", language=language, texts=texts)
            session = begin(_study(camera, name, materials=materials, language=language))
            _at(camera, session, lambda page, name=name: camera.take(page, name))


def _contexts(camera: Camera) -> None:
    """A dialogue above a sentence, above a pair, from right to left, and on a separate screen."""
    for name, (task, language, context, texts) in CONTEXTS.items():
        if camera.wants(name):
            materials = material_set(f"{name}-{camera.width}", n_items=1, language=language, texts=texts)
            Sentence.objects.filter(material_set=materials).update(attributes={CONTEXT: context})
            is_before = name == "context-before"
            fields = {"task": task, "language": language, "context_display": "above"}
            if is_before:
                fields |= {"context_display": "before", "context_label": True}
            session = begin(_study(camera, name, materials=materials, **fields))
            _at(camera, session, lambda page, name=name: camera.take(page, name), is_trial=not is_before)


def _deadline(camera: Camera) -> None:
    """A trial whose time is shown as a bar."""
    if camera.wants("deadline"):
        fields = {"task": "likert", "deadline_ms": 8000, "deadline_bar": True}
        session = begin(_study(camera, "deadline", **fields))
        _at(camera, session, lambda page: (page.wait_for_timeout(2500), camera.take(page, "deadline")))


STEPS: dict[tuple[str, ...], Callable[[Camera], None]] = {
    ("both-neither",): _both_and_neither,
    ("session-1", "session-2", "session-3"): _practice,
    ("break",): _break,
    ("offline",): _offline,
    ("other-tab",): _other_tab,
    ("expired",): _expired,
    ("session-end", "withdraw"): _end,
    ("leave",): _leave,
    ("quiz", "quiz-again"): _quiz,
    ("line-training", "own-number"): _lines,
    ("statements",): _statements,
    ("closing", "lab-next"): _closing,
    ("left",): _partial,
    ("practice-neutral", "practice-own-comment"): _comment,
    ("fixation",): _between,
    ("instructions-again",): _instructions_again,
    tuple(CONTEXTS): _contexts,
    ("deadline",): _deadline,
    tuple(f"trial-{language}" for language in LANGUAGES): _languages,
}
