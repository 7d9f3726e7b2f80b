"""A whole campaign in the browser: from the account to the closed campaign, against a double of Prolific."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from experiments.models import Campaign
from experiments.page_cache import cache
from judgments.models import Judgment, Submission
from tests import cast
from tests.browser import playing
from tests.browser.recruitment import workers
from tests.browser.recruitment.studio import (
    PAGES,
    approve_page,
    close,
    press,
    read_platform,
    reads_well,
    shown,
    work,
)
from tools.doubles.prolific import running

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUIZ = [{"question": "What counts?", "right": "how it sounds", "wrong": ["is it true", "is it long"]}]


@pytest.fixture
def prolific(settings):
    """A double to which the settings lead."""
    cache.clear()
    with running() as double:
        settings.PROLIFIC_URL = settings.PROLIFIC_WEB_URL = double.url
        yield double


def publish(page, prolific):
    """Connect the account and go through the five steps; returns the campaign."""
    page.goto(f"{PAGES}accounts/")
    page.get_by_role("heading", name="Connect Prolific").click()
    page.locator("#id_prolific_token").fill(prolific.platform.token)
    press(page, "Connect Prolific")
    shown(page, "is connected")
    page.goto(PAGES)
    with page.expect_navigation():
        page.get_by_role("link", name="New campaign").click()
    press(page, "Go on to places and pay")
    page.get_by_label("Places", exact=True).fill("5")
    page.get_by_label("Estimated minutes").fill("9")
    press(page, "Save and go on to Who")
    press(page, "Save and go on to Completion")
    page.get_by_label("Description").fill("Choose the better one of two sentences.")
    reads_well(page)
    press(page, "Save and go on to Review")
    expect(page.get_by_text("nothing stands in the way")).to_be_visible()
    reads_well(page)
    press(page, "Publish in test mode")
    shown(page, "The campaign is published on Prolific.")
    return Campaign.objects.get()


def come(open_page, prolific, campaign):
    """Somebody takes a place and follows the link; returns the browser and the submission."""
    place = prolific.platform.take_place(campaign.external_id)
    page = open_page()
    page.goto(place["url"])
    return page, place["submission"]


def consent(page, answer="I agree"):
    with page.expect_navigation():
        page.get_by_role("button", name=answer).first.click()


def way_back(page):
    """The completion code in the link that leads back."""
    link = page.locator(".ways a.button.primary")
    link.wait_for()
    return parse_qs(urlsplit(link.get_attribute("href")).query)["cc"][0]


def test_a_campaign_on_prolific_from_the_account_to_its_closing(open_page, researcher, prolific):
    cast.study(
        "agreement",
        n_lists=1,
        instructions="",
        quiz=QUIZ,
        quiz_failure="screen_out",
        reward_minor=150,
        currency="GBP",
    )
    campaign = publish(researcher, prolific)
    codes = campaign.options["codes"]

    page, finished = come(open_page, prolific, campaign)
    consent(page)
    workers.pass_quiz(page, is_right=True)
    playing.finish(page)
    assert way_back(page) == codes["complete"]["code"]
    page.context.close()
    prolific.submit(finished, codes["complete"]["code"])

    page, returned = come(open_page, prolific, campaign)
    consent(page)
    page.context.close()
    prolific.return_(returned)

    page, late = come(open_page, prolific, campaign)
    consent(page)
    page.context.close()
    prolific.time_out(late)

    page, failed = come(open_page, prolific, campaign)
    consent(page)
    workers.pass_quiz(page, is_right=False)
    assert way_back(page) == codes["failed_check"]["code"]
    page.context.close()
    prolific.submit(failed, codes["failed_check"]["code"])
    prolific.return_(failed)

    n_before = Judgment.objects.count()
    page, declined = come(open_page, prolific, campaign)
    consent(page, "I do not agree")
    assert way_back(page) == codes["refused"]["code"]
    assert Judgment.objects.count() == n_before
    page.context.close()
    prolific.submit(declined, codes["refused"]["code"])
    prolific.return_(declined)

    here = f"{PAGES}{campaign.pk}/"
    read_platform(researcher, f"{here}submissions/", platform="Prolific")
    statuses = dict(Submission.objects.values_list("external_id", "status"))
    assert statuses == {
        finished: "submitted",
        returned: "returned",
        late: "timed_out",
        failed: "returned",
        declined: "returned",
    }
    reads_well(researcher)
    approve_page(researcher)
    shown(researcher, "1 of 5 selected approved")
    researcher.goto(f"{here}send/")
    reads_well(researcher)
    press(researcher, "Send and pay 2.10 GBP")
    work()
    assert prolific.money() == {("reward", finished): 1}
    researcher.goto(f"{PAGES}payments/")
    expect(researcher.get_by_role("row", name="1 reward")).to_contain_text("2.10 GBP")
    reads_well(researcher)

    close(researcher, here, platform="Prolific")
    campaign.refresh_from_db()
    assert campaign.state == "closed"
    assert prolific.money() == {("reward", finished): 1}
