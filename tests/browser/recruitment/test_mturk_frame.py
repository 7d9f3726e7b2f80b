"""A worker on another site: preview, accept, take part in the frame without cookies, submit, return."""

import pytest

from experiments.models import Campaign
from judgments.models import Participant, Session
from judgments.recruitment.mturk.external_question import receipt_code
from judgments.recruitment.mturk.recruiter import MTurkRecruiter
from tests import cast
from tests.browser.recruitment.workers import (
    accept,
    answer_all,
    answer_one,
    consent,
    give_back,
    preview,
    submit,
)
from tools.doubles.mturk import Double, account

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def double(settings):
    settings.MTURK_ENDPOINT, settings.MTURK_WORKER_SITES = "", []  # restored after the test
    with Double() as double:
        yield double


@pytest.fixture
def campaign(double, live_server):
    study = cast.study(task="forced_choice", instructions="", n_lists=1)
    campaign = Campaign.objects.create(
        experiment=study,
        recruiter="mturk",
        name="turk",
        account=account(double, study, cast.ada()),
        places=2,
        reward_minor=50,
        currency="USD",
        state="running",
        options={"site": live_server.url, "title": "Choose", "description": "Choose sentences."},
    )
    recruiter = MTurkRecruiter(campaign.account)
    campaign.external_id = recruiter.create(campaign, key="create-1")
    campaign.save()
    recruiter.publish(campaign, key="publish-1")
    return campaign


@pytest.mark.parametrize("scripted", [True, False])
def test_a_worker_takes_part_in_the_frame_and_submits(double, campaign, worker_page, scripted):
    page = worker_page(java_script_enabled=scripted)
    frame = preview(page, double, campaign, "AWORKER1")
    frame.get_by_text("Please accept the HIT to begin").wait_for()
    assert not Participant.objects.exists()
    frame = accept(page)
    consent(frame)
    answer_all(frame, scripted=scripted)
    page.reload()  # the worker site opens our address again, with the ids alone
    submit(frame)
    session = Session.objects.get()
    (assignment,) = double.service.assignments.values()
    assert (assignment.status, assignment.worker) == ("Submitted", "AWORKER1")
    assert assignment.fields == {"receipt": receipt_code(session)}, "nothing else goes to the other site"
    assert session.status == Session.Status.COMPLETE
    (row,) = MTurkRecruiter(campaign.account).submissions(campaign)
    assert (row.person, row.data["receipt"]) == ("AWORKER1", receipt_code(session))


def test_a_worker_who_reloads_goes_on_and_one_who_refuses_is_asked_to_return(double, campaign, worker_page):
    page = worker_page()
    preview(page, double, campaign, "AWORKER1")
    frame = accept(page)
    consent(frame)
    answer_one(frame)
    page.reload()
    answer_all(frame)
    other = worker_page()
    preview(other, double, campaign, "AWORKER2")
    frame = accept(other)
    consent(frame, agrees=False)
    frame.get_by_text("Please return this HIT").wait_for()
    give_back(other)
    statuses = sorted(row.status for row in double.service.assignments.values())
    assert statuses == ["Accepted", "Returned"]
    assert Session.objects.exclude(status=Session.Status.REFUSED).count() == 1
