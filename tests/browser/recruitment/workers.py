"""A worker of MTurk: previews, accepts, and takes part in the frame of the worker site."""

from playwright.sync_api import FrameLocator, Page

from experiments.models import Campaign
from tests.doubles.mturk import Double

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


def answer_one(frame: FrameLocator) -> None:
    """Choose the first option of the trial on the screen, and wait until another screen has replaced it."""
    task = frame.locator(".task[data-onset]")
    task.wait_for()
    trial = task.get_attribute("data-trial")
    task.evaluate(PAST_THE_GUARD)
    frame.locator(".option").first.click()
    frame.locator(f".task[data-trial='{trial}']").wait_for(state="detached")


def answer_all(frame: FrameLocator, *, scripted: bool = True) -> None:
    """Answer whatever comes, until the HIT can be submitted."""
    submit = frame.get_by_role("button", name="Submit the HIT")
    for _ in range(MOST_SCREENS):
        frame.locator(".option").first.or_(submit).first.wait_for()
        if submit.count():
            return
        if scripted:
            answer_one(frame)
        else:
            frame.locator(".option").first.click()
            frame.get_by_role("button", name="Next").click()


def submit(frame: FrameLocator) -> None:
    """Submit the HIT, which the worker site confirms."""
    frame.get_by_role("button", name="Submit the HIT").click()
    frame.get_by_text("successfully submitted").wait_for()


def give_back(page: Page) -> None:
    """Return the HIT on the worker site."""
    with page.expect_navigation():
        page.get_by_role("button", name="Return").click()
