"""The researcher's side of a campaign in the browser: press a button, run the jobs, read the platform."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from experiments.models import Job
from experiments.operation.job_runner import run_job

PAGES = "/studies/agreement/campaigns/"


def work() -> None:
    """What the worker does: every job that waits."""
    for job in Job.objects.filter(state=Job.State.QUEUED).order_by("pk"):
        run_job(job.pk)


def press(page: Page, name: str) -> None:
    """Press a button, and wait for the page to which it leads."""
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).click()


def shown(page: Page, text: str) -> None:
    """Wait until a message says this."""
    expect(page.locator(".messages")).to_contain_text(text)


def read_platform(page: Page, address: str, *, platform: str) -> None:
    """Read the platform's list of submissions, and show the page with what it has."""
    page.goto(address)
    press(page, f"Read from {platform}")
    shown(page, "are being read")
    page.goto("about:blank")  # js/job.js reloads the page after the job, which may abort the next visit
    work()
    page.goto(address)


def reads_well(page: Page) -> None:
    """The page has no problem of accessibility, and nothing is wider than the window."""
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), page.url


def approve_page(page: Page) -> None:
    """Approve those on the page that wait for a decision."""
    page.get_by_label("Select all on this page").check()
    page.get_by_label("Action").select_option("approve")
    press(page, "Apply")


def approve_passing(page: Page, *, total: str) -> None:
    """Approve all that pass everything, after the preview of what it costs."""
    press(page, "Preview: approve 1")
    expect(page.get_by_role("row", name="Total")).to_contain_text(total)
    page.get_by_label("Reason, for your team").fill("Complete, and every check passed.")
    reads_well(page)
    press(page, "Approve 1")


def close(page: Page, address: str, *, platform: str) -> None:
    """Stop the campaign, read the platform once more, and close."""
    page.goto(address)
    press(page, "Stop for good")
    shown(page, "admits no more participants")
    read_platform(page, address, platform=platform)
    press(page, "Close the campaign")
    shown(page, "The campaign is closed")
