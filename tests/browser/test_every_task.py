"""Every task from the link to the code: by keyboard, by touch, and without JavaScript."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from experiments.models import Design, Experiment
from experiments.studies.lifecycle import open_study
from experiments.tasks.registry import get_task, task_names
from judgments.models import Judgment, Session, SessionEvent
from tests.browser.playing import is_over, ready
from tests.cast import PARAMETERS, ada, begin, draft, material_set

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PARAMETERS_OF = {
    "best_worst": {"size": 4, "showings": 2},
    "magnitude_estimation": {**PARAMETERS["magnitude_estimation"], "training": True, "own_modulus": True},
}
TEXTS = ("The keys {n} to the old door are here.", "The keys {n} to the old door is here.")


def a_study(task: str, *, texts: tuple[str, str] = TEXTS, **parameters) -> None:
    """An open study of eight sentences, its texts as short as they can be."""
    options = {**PARAMETERS_OF.get(task, {}), **parameters}
    experiment = draft(task=task, materials=material_set(n_items=4, texts=texts), parameters=options)
    Design.objects.create(experiment=experiment, n_lists=2, seed=3)
    open_study(experiment, ada())


def walk(page: Page, answer: Callable[[Page], None], press: Callable[[Page], None]) -> None:
    """From the link to the code: what is asked is answered, and the page's own button leads on."""
    page.goto("/take/agreement/")
    for _ in range(30):
        page.locator(".code, .task[data-onset], form[data-task], .button.primary").first.wait_for()
        if page.locator(".code").count():
            return
        if page.locator(".task").count() or page.locator("form[data-task]").count():
            answer(page)
        else:
            for field in page.locator("main input[type=text]").all():
                field.fill("40")
            press(page)
    raise AssertionError("no code after thirty screens")


def is_lines(page: Page) -> bool:
    return page.locator(".line-length").count() > 0


def in_order(page: Page) -> list[str]:
    """Estimates that follow the lengths on the page."""
    lengths = page.locator(".line-length line").evaluate_all("all => all.map(one => one.getAttribute('x2'))")
    return [f"{float(length) * 0.9:.1f}".replace(".", ",") for length in lengths]


def fill_lines(page: Page) -> None:
    for field, number in zip(page.locator(".line-length input").all(), in_order(page), strict=True):
        field.fill(number)


KEYS = {
    "forced_choice": ["KeyJ"],
    "likert": ["6"],
    "yes_no": ["ArrowLeft"],
    "magnitude_estimation": ["6", "2", ",", "5", "Enter"],
    "slider": ["ArrowRight", "ArrowRight", "Enter"],
    "best_worst": ["Tab", "Space", "Tab", "ArrowDown", "Enter"],
}
VALUES = {"likert": 6, "yes_no": 1, "magnitude_estimation": 62.5, "slider": 76, "best_worst": 1}


@pytest.mark.parametrize("task", task_names())
def test_a_whole_session_by_keyboard(task, open_page):
    a_study(task)
    page = open_page(width=1280, height=900)

    def answer(page: Page) -> None:
        trial = ready(page)
        for key in KEYS[task]:
            page.keyboard.press(key)
        is_over(page, trial)

    def press(page: Page) -> None:
        if is_lines(page):
            for number in in_order(page):
                page.keyboard.press("Tab")
                while not page.evaluate("document.activeElement.matches('input[type=text]')"):
                    page.keyboard.press("Tab")
                page.keyboard.press("Control+A")
                page.keyboard.type(number)
        focused = "document.activeElement.matches('.button.primary, .estimate input')"
        for _ in range(30):
            if page.evaluate(focused):
                break
            page.keyboard.press("Tab")
        with page.expect_navigation():
            page.keyboard.press("Enter")

    walk(page, answer, press)
    judgments = list(Judgment.objects.all())
    assert Session.objects.get().status == "complete"
    assert {judgment.input_type for judgment in judgments} == {"keyboard"}
    assert all(judgment.rt_ms >= 200 and judgment.timing["trusted"] for judgment in judgments)
    if task != "forced_choice":
        assert {
            judgment.value for judgment in judgments if judgment.trial.shown.get("answers") != ["no", "yes"]
        } == {VALUES[task]}


@pytest.mark.parametrize("task", task_names())
def test_a_whole_session_by_touch(task, open_page, check_page):
    a_study(task)
    page = open_page(width=390, has_touch=True, is_mobile=True)

    def answer(page: Page) -> None:
        trial = ready(page)
        check_page(page)
        assert not page.locator("kbd:visible").count()
        assert not page.locator(":checked, [aria-pressed=true]").count(), "something is chosen beforehand"
        if task == "slider":
            line = page.locator(".line")
            expect(line).to_have_class("line untouched")
            box = line.bounding_box()
            page.touchscreen.tap(box["x"] + 0.7 * box["width"], box["y"] + box["height"] / 2)
        elif task == "best_worst":
            page.locator("input[name=best]").first.tap()
            page.locator("input[name=worst]").last.tap()
        elif task == "magnitude_estimation":
            page.locator("#number").fill("120")
        else:
            page.locator(".option").last.tap()
        if page.locator(".button.primary").count():
            page.locator(".button.primary").tap()
        is_over(page, trial)

    def press(page: Page) -> None:
        if is_lines(page):
            check_page(page)
            fill_lines(page)
        with page.expect_navigation():
            page.locator("main .button.primary").tap()

    walk(page, answer, press)
    judgments = Judgment.objects.all()
    assert Session.objects.get().status == "complete"
    assert set(judgments.values_list("input_type", flat=True)) == {"touch"}
    assert all(judgment.rt_ms is not None for judgment in judgments)


@pytest.mark.parametrize("task", task_names())
def test_a_whole_session_without_javascript(task, open_page):
    a_study(task)
    page = open_page(width=390, java_script_enabled=False, has_touch=True, is_mobile=True)

    def answer(page: Page) -> None:
        if task == "best_worst":
            page.locator("input[name=best]").first.check()
            page.locator("input[name=worst]").last.check()
        elif page.locator("#number").count():
            page.locator("#number").fill("62,5")
        else:
            page.locator(".option").first.tap()
        with page.expect_navigation():
            page.locator("main .button.primary").tap()

    def press(page: Page) -> None:
        if is_lines(page):
            lengths = [line.get_attribute("x2") for line in page.locator(".line-length line").all()]
            for field, px in zip(page.locator(".line-length input").all(), lengths, strict=True):
                field.fill(px)
        with page.expect_navigation():
            page.locator("main .button.primary").tap()

    walk(page, answer, press)
    judgments = Judgment.objects.all()
    assert Session.objects.get().status == "complete" and judgments.count() > 1
    assert all(
        judgment.rt_ms is None and judgment.timing["no_rt"] and judgment.input_type == "form"
        for judgment in judgments
    )
    if task == "magnitude_estimation":
        assert SessionEvent.objects.get(kind="training").details["r"] == pytest.approx(1)
        assert {judgment.trial.shown["modulus"] for judgment in judgments} == {40}
        assert {judgment.response for judgment in judgments} == {"62,5"}


@pytest.mark.parametrize("task", task_names())
def test_every_script_keeps_the_contract_and_simulates_an_answer_the_server_takes(task, open_page):
    extra = {"offer_both": True, "offer_neither": True} if task == "forced_choice" else {}
    plain = {"training": False, "own_modulus": False} if task == "magnitude_estimation" else {}
    a_study(task, **extra, **plain)
    session = begin(Experiment.objects.get())
    page = open_page()
    page.goto(f"/s/{session.token}/")
    report = page.evaluate(
        """async ({ task, token }) => {
          const { info, run, simulate } = await import(`/static/js/tasks/${task}.js`);
          const plan = await (await fetch(`/api/v1/sessions/${token}/plan/`)).json();
          const trial = { ...plan.trials[0], parts: plan.task.parts };
          const profiles = ["honest", "careless", "left-biased", "random"];
          const given = profiles.map((one) => simulate(trial, one));
          return { info, given, isFunction: typeof run, trial: trial.id };
        }""",
        {"task": task, "token": session.token},
    )
    assert report["info"].keys() >= {"name", "version", "parameters", "data"}
    assert (report["info"]["name"], report["isFunction"]) == (task, "function")
    names = {parameter.name for parameter in get_task(task).parameters}
    assert {"question"} <= set(report["info"]["parameters"]) <= names
    assert ("confirm" in report["info"]["parameters"]) == ("confirm" in names)
    for answer_data in report["given"]:
        assert answer_data.keys() >= {"response", "rt_ms", "input_type"}
        row = {"trial": report["trial"], **answer_data}
        reply = page.request.post(f"/api/v1/sessions/{session.token}/judgments/", data={"judgments": [row]})
        assert reply.json()["acknowledged"] == [report["trial"]]
