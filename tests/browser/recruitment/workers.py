"""A worker of MTurk: previews, accepts, and takes part in the frame of the worker site."""

from playwright.sync_api import FrameLocator, Page

from experiments.models import Campaign
from judgments.models import Session
from judgments.sessions.pretrial import correct_choice
from tools.doubles.mturk import Double

MOST_SCREENS = 12
#: Answers within 200 ms of the onset are ignored.
PAST_THE_GUARD = """task => new Promise((resolve) => {
  const look = () => performance.now() - Number(task.dataset.onset) >= 210 ? resolve() : setTimeout(look, 20);
  look();
})"""


def preview(page: Page, double: Double, campaign: Campaign, worker: str) -> FrameLocator:
    """Open the preview of the campaign's HITs; returns the frame."""
    page.goto(f"{double.url}/mturk/preview?groupId={campaign.external_id}&workerId={worker}")
    return page.frame_locator("iframe")


def accept(page: Page) -> FrameLocator:
    """Accept the HIT; returns the frame."""
    with page.expect_navigation():
        page.get_by_role("button", name="Accept").click()
    return page.frame_locator("iframe")


def consent(frame: FrameLocator, *, agrees: bool = True) -> None:
    """Decide on the consent text."""
    name = "I agree and want to take part" if agrees else "I do not agree"
    frame.get_by_role("button", name=name).click()


def answer_one(frame: FrameLocator, *, scripted: bool = True) -> None:
    """Choose the first option of the trial on the screen, and wait until another screen has replaced it."""
    task = frame.locator(".task[data-onset]" if scripted else "form[data-trial]")
    task.wait_for()
    trial = task.get_attribute("data-trial")
    if scripted:
        task.evaluate(PAST_THE_GUARD)
    frame.locator(".option").first.click()
    if not scripted:
        frame.get_by_role("button", name="Next").click()
    frame.locator(f"[data-trial='{trial}']").wait_for(state="detached")


def answer_all(frame: FrameLocator, *, scripted: bool = True) -> None:
    """Answer whatever comes, until the HIT can be submitted."""
    submit = frame.get_by_role("button", name="Submit the HIT")
    for _ in range(MOST_SCREENS):
        frame.locator(".option").first.or_(submit).first.wait_for()
        if submit.count():
            return
        answer_one(frame, scripted=scripted)


def pass_quiz(screen: Page | FrameLocator, *, is_right: bool) -> None:
    """Answer the only question on the instructions, twice if it is wrong."""
    for attempt in ("1", "2")[: 1 if is_right else 2]:
        screen.locator(f"input[name=attempt][value='{attempt}']").wait_for(state="attached")
        right = correct_choice(Session.objects.latest("pk"), 0)  # answers are in another order each time
        chosen = right if is_right else next(place for place in "123" if place != right)
        screen.locator(f"input[name=answer_1][value='{chosen}']").check()
        screen.get_by_role("button", name="Continue").click()


def submit(frame: FrameLocator) -> None:
    """Submit the HIT, which the worker site confirms."""
    frame.get_by_role("button", name="Submit the HIT").click()
    frame.get_by_text("successfully submitted").wait_for()


def give_back(page: Page) -> None:
    """Return the HIT on the worker site."""
    with page.expect_navigation():
        page.get_by_role("button", name="Return").click()
