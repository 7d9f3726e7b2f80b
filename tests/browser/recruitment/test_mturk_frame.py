"""A worker on another site: preview, accept, take part in the frame without cookies, submit, return."""

import pytest

from experiments.models import Campaign
from judgments.models import Participant, Session
from judgments.recruitment.mturk.external_question import receipt_code
from judgments.recruitment.mturk.recruiter import MTurkRecruiter
from tests import cast
from tests.doubles.mturk import Double, account

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


@pytest.fixture
def worker_page(chromium):
    """A page of the worker site; at the end nothing in the frame broke a policy, and no cookie was kept."""
    contexts, complaints = [], []

    def open_page(**options):
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
        return page

    yield open_page
    cookies = [cookie for context in contexts for cookie in context.cookies()]
    for context in contexts:
        context.close()
    assert cookies == [] and complaints == []


def preview(page, double, campaign, worker):
    address = f"{double.url}/mturk/preview?groupId={campaign.external_id}&workerId={worker}"
    page.goto(address)
    return page.frame_locator("iframe")


def accept(page):
    page.get_by_role("button", name="Accept").click()
    return page.frame_locator("iframe")


def answer_one(frame):
    """Choose the first option of the trial on the screen, and wait until another screen has replaced it."""
    task = frame.locator(".task[data-onset]")
    task.wait_for()
    trial = task.get_attribute("data-trial")
    task.page.wait_for_timeout(250)  # the guard against early answers
    frame.locator(".option").first.click()
    frame.locator(f".task[data-trial='{trial}']").wait_for(state="detached")


def answer_all(frame, *, scripted=True):
    """Answer whatever comes, until the HIT can be submitted."""
    submit = frame.get_by_role("button", name="Submit the HIT")
    for _ in range(12):
        frame.locator(".option").first.or_(submit).first.wait_for()
        if submit.count():
            return
        if scripted:
            answer_one(frame)
        else:
            frame.locator(".option").first.click()
            frame.get_by_role("button", name="Next").click()


@pytest.mark.parametrize("scripted", [True, False])
def test_a_worker_takes_part_in_the_frame_and_submits(double, campaign, worker_page, scripted):
    page = worker_page(java_script_enabled=scripted)
    frame = preview(page, double, campaign, "AWORKER1")
    frame.get_by_text("Please accept the HIT to begin").wait_for()
    assert not Participant.objects.exists()
    frame = accept(page)
    frame.get_by_role("button", name="I agree and want to take part").click()
    answer_all(frame, scripted=scripted)
    page.reload()  # the worker site opens our address again, with the ids alone
    frame.get_by_role("button", name="Submit the HIT").click()
    frame.get_by_text("successfully submitted").wait_for()
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
    frame.get_by_role("button", name="I agree and want to take part").click()
    answer_one(frame)
    page.reload()
    answer_all(frame)
    other = worker_page()
    preview(other, double, campaign, "AWORKER2")
    frame = accept(other)
    frame.get_by_role("button", name="I do not agree").click()
    frame.get_by_text("Please return this HIT").wait_for()
    other.get_by_role("button", name="Return").click()
    statuses = sorted(row.status for row in double.service.assignments.values())
    assert statuses == ["Accepted", "Returned"]
    assert Session.objects.exclude(status=Session.Status.REFUSED).count() == 1
