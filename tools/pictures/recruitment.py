"""The steps to a campaign on Prolific and on MTurk, against the doubles to which the site's settings lead."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

from experiments.models import Campaign, Experiment, PlatformAccount
from judgments.models import PlatformCall
from judgments.recruitment import credentials
from tools.pictures.camera import Camera

HERE = "/studies/demo/campaigns/"
STEPS = ("pay", "who", "completion", "review")
NAMES = {
    "prolific": ("campaign-start", *(f"campaign-{step}" for step in STEPS)),
    "mturk": ("mturk-account", "mturk-who", "mturk-review", "mturk-campaign"),
}
KEYS = {
    "prolific": {"token": "double-token"},
    "mturk": {"access_key_id": "DOUBLEKEY", "secret_access_key": "double-secret"},
}


def take(camera: Camera, page: Page) -> None:
    """Take each step to a campaign on both platforms, and leave the study as it was."""
    if camera.wants(*NAMES["prolific"]):
        with _account("prolific", "Prolific", currency="GBP"):
            _start(camera, page, "campaign-start", reward="1.50")
            for step in STEPS[1:]:
                camera.take(page, f"campaign-{step}")
                if step != STEPS[-1]:
                    _go_on(page)
            page.goto(page.url.replace("/review/", "/pay/"))
            camera.take(page, "campaign-pay")
    if camera.wants(*NAMES["mturk"]):
        page.goto(f"{HERE}accounts/")
        page.get_by_role("heading", name="Connect MTurk").click()
        camera.take(page, "mturk-account")
        with _account("mturk", "MTurk", currency="USD"):
            _start(camera, page, "", reward="1.50")
            camera.take(page, "mturk-who")
            _go_on(page)
            _go_on(page)
            camera.take(page, "mturk-review")
            with page.expect_navigation():
                page.get_by_role("button", name="Publish in sandbox").click()
            camera.take(page, "mturk-campaign")


@contextmanager
def _account(platform: str, label: str, *, currency: str) -> Iterator[None]:
    """An account of the demo study; afterwards it goes with its campaigns."""
    study = Experiment.objects.get(slug="demo")
    account = credentials.add_account(
        study,
        platform=platform,
        label=label,
        secrets=KEYS[platform],
        by=study.memberships.earliest("pk").user,
        options={"currency": currency},
    )
    try:
        yield
    finally:
        campaigns = Campaign.objects.filter(account=account)
        PlatformCall.objects.filter(campaign__in=campaigns).delete()
        campaigns.delete()
        PlatformAccount.objects.filter(pk=account.pk).delete()


def _start(camera: Camera, page: Page, name: str, *, reward: str) -> None:
    """A draft up to the step *Who*."""
    page.goto(f"{HERE}new/")
    if name:
        camera.take(page, name)
    with page.expect_navigation():
        page.get_by_role("button", name="Go on to places and pay").click()
    page.locator("[name=places]").fill("40")
    page.locator("[name=reward]").fill(reward)
    page.locator("[name=estimated_minutes]").fill("9")
    _go_on(page)


def _go_on(page: Page) -> None:
    """Save a step and go on to the next one."""
    with page.expect_navigation():
        page.get_by_role("button", name="Save and go on to").click()
