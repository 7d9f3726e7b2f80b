"""A whole campaign on MTurk in the browser: from the account to the closed campaign, against a double.

Workers see our pages only in the frame of the worker site, which is another site than ours.
"""

import pytest
from playwright.sync_api import expect

from experiments.models import Campaign
from judgments.models import Participant, Session, Submission
from judgments.recruitment.mturk.recruiter import grant_missing_qualifications
from tests import cast
from tests.browser.recruitment import workers
from tests.browser.recruitment.studio import (
    PAGES,
    approve_passing,
    close,
    press,
    read_platform,
    reads_well,
    shown,
    work,
)
from tools.doubles.mturk import Double

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUIZ = [{"question": "What counts?", "right": "how it sounds", "wrong": ["is it true", "is it long"]}]


@pytest.fixture
def double(settings):
    """A double to which the settings lead."""
    with Double() as double:
        settings.MTURK_ENDPOINT, settings.MTURK_WORKER_SITES = double.url, [double.url]
        yield double


def publish(page, double):
    """Connect the account and go through the five steps; returns the campaign."""
    ((key, secret),) = double.service.keys.items()
    page.goto(f"{PAGES}accounts/")
    page.get_by_role("heading", name="Connect MTurk").click()
    page.locator("#id_mturk_access_key_id").fill(key)
    page.locator("#id_mturk_secret_access_key").fill(secret)
    press(page, "Connect MTurk")
    shown(page, "is connected")
    page.goto(PAGES)
    with page.expect_navigation():
        page.get_by_role("link", name="New campaign").click()
    press(page, "Go on to places and pay")
    page.get_by_label("Places", exact=True).fill("5")
    page.get_by_label("Estimated minutes").fill("9")
    reads_well(page)
    press(page, "Save and go on to Who")
    press(page, "Save and go on to Completion")
    page.get_by_label("Description").fill("Choose the better one of two sentences.")
    press(page, "Save and go on to Review")
    expect(page.get_by_text("nothing stands in the way")).to_be_visible()
    reads_well(page)
    press(page, "Publish in sandbox")
    shown(page, "The campaign is published on MTurk.")
    return Campaign.objects.get()


def test_a_campaign_on_mturk_from_the_account_to_its_closing(researcher, worker_page, double):
    cast.study(
        "agreement",
        n_lists=1,
        instructions="",
        quiz=QUIZ,
        quiz_failure="screen_out",
        reward_minor=150,
        currency="USD",
    )
    campaign = publish(researcher, double)
    assert not Participant.objects.exists()

    def come(worker):
        """A worker previews, which stores nobody, and accepts."""
        n_before = Participant.objects.count()
        page = worker_page()
        frame = workers.preview(page, double, campaign, worker)
        frame.get_by_text("Please accept the HIT to begin").wait_for()
        assert Participant.objects.count() == n_before
        return page, workers.accept(page)

    page, frame = come("AFINISHES")
    workers.consent(frame)
    workers.pass_quiz(frame, is_right=True)
    workers.answer_all(frame)
    workers.submit(frame)
    page.close()

    page, frame = come("ARETURNS")
    workers.consent(frame)
    workers.pass_quiz(frame, is_right=True)
    workers.answer_one(frame)
    workers.give_back(page)
    page.close()

    page, frame = come("ALATE")
    workers.consent(frame)
    workers.pass_quiz(frame, is_right=True)
    page.close()
    double.time_out(next(row.id for row in double.service.assignments.values() if row.worker == "ALATE"))

    page, frame = come("AFAILS")
    workers.consent(frame)
    workers.pass_quiz(frame, is_right=False)
    frame.get_by_text("Please return this HIT").wait_for()
    workers.give_back(page)
    page.close()

    page, frame = come("ADECLINES")
    workers.consent(frame, agrees=False)
    frame.get_by_text("Please return this HIT").wait_for()
    workers.give_back(page)
    page.close()

    here = f"{PAGES}{campaign.pk}/"
    read_platform(researcher, f"{here}submissions/", platform="MTurk")
    (submission,) = Submission.objects.all()  # MTurk lists no returned or abandoned work
    assert (submission.status, submission.mismatches) == ("submitted", [])
    assert submission.session.participant.identity.external_id == "AFINISHES"
    assert "AFINISHES" not in researcher.content()
    assert sorted(Session.objects.values_list("status", flat=True)) == [
        "active",
        "active",
        "complete",
        "refused",
        "screened_out",
    ]
    reads_well(researcher)
    approve_passing(researcher, total="1.80 USD")
    shown(researcher, "1 of 1 selected approved")
    researcher.goto(f"{here}send/")
    reads_well(researcher)
    press(researcher, "Send and pay 1.80 USD")
    work()
    assert double.money() == {("reward", submission.external_id): 1}
    researcher.goto(f"{PAGES}payments/")
    expect(researcher.get_by_role("row", name="1 reward")).to_contain_text("1.80 USD")
    reads_well(researcher)

    grant_missing_qualifications()
    page = worker_page()
    workers.preview(page, double, campaign, "AFINISHES")
    page.get_by_text("no HITs in this group that you may preview").wait_for()

    close(researcher, here, platform="MTurk")
    campaign.refresh_from_db()
    assert campaign.state == "closed"
    assert [hit.is_disposed for hit in double.service.hits.values()] == [True]
    assert double.money() == {("reward", submission.external_id): 1}
