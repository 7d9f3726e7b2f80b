"""Bad days on the pages: each fault gives a sentence with what happened, what is safe and what to do."""

import re
import time

import pytest
from django.utils import timezone

from experiments.models import Campaign, Job
from experiments.operation.job_runner import run
from experiments.page_cache import cache
from judgments.models import PlatformCall, Submission
from judgments.recruitment import campaigns, decisions, ledger
from judgments.recruitment.alerts.evaluation import evaluate_all
from judgments.recruitment.prolific import webhooks
from tests import cast
from tests.judgments.recruitment.pages.conftest import OPTIONS, STUDY

pytestmark = pytest.mark.django_db
OUTCOMES = {  # state of the payment, times paid, what the ledger's page says
    "before": ("unknown", 0, "Prolific did not answer", "it may have acted"),
    "after": ("unknown", 1, "Prolific did not answer", "it may have acted"),
    "429": ("planned", 0, "Prolific takes no more requests for the moment (429)", "nothing was changed"),
    "429-retry-after": ("planned", 0, "takes no more requests for the moment (429)", "nothing was changed"),
    "503": ("unknown", 0, "Prolific has a fault of its own (503)", "it may have acted"),
    "502-after": ("unknown", 1, "Prolific has a fault of its own (502)", "it may have acted"),
    "malformed": ("unknown", 1, "Prolific's answer cannot be read", "it may have acted"),
    "401": ("failed", 0, "Prolific does not accept the token (401)", "nothing was changed"),
}


def text_of(response):
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))
    return text.replace("&#x27;", "'")


@pytest.fixture
def planned(arrive, campaign):
    """A submission whose approval is planned."""
    row = arrive()
    decisions.approve(campaign, Submission.objects.filter(pk=row.pk), by=cast.ada())
    decisions.plan_sending(campaign, by=cast.ada())
    return row


@pytest.mark.parametrize("fault", OUTCOMES)
def test_each_fault_of_a_payment_is_said_with_what_is_safe_and_what_to_do(
    ada, planned, campaign, prolific, fault
):
    state, times, happened, safe = OUTCOMES[fault]
    prolific.fail_next(fault, method="POST", path="/transition/")
    ledger.send_planned(campaign)
    call = PlatformCall.objects.get(kind="approve")
    assert (call.state, prolific.money().get(("reward", planned.external_id), 0)) == (state, times)
    page = text_of(ada.get(f"{STUDY}payments/"))
    assert happened in page and safe in page
    remedy = call.problem.partition(safe)[2].strip(" .")
    assert len(remedy.split()) > 3 and remedy in page  # what to do follows what is safe
    if state == "unknown":
        assert "Ask the platform" in page


def test_too_little_money_is_said_and_the_rest_of_the_batch_waits(ada, planned, arrive, campaign, prolific):
    row = arrive()
    decisions.approve(campaign, Submission.objects.filter(pk=row.pk), by=cast.ada())
    decisions.plan_sending(campaign, by=cast.ada())
    limit = 250  # one approval costs 210 with fees
    campaigns.change_draft(campaign, by=cast.ada(), total_limit_minor=limit)
    ledger.send_planned(campaign)
    states = PlatformCall.objects.filter(kind="approve").order_by("pk").values_list("state", flat=True)
    assert list(states) == ["confirmed", "planned"]
    page = text_of(ada.get(f"{STUDY}payments/"))
    assert "The budget leaves 0.40 GBP, and this costs 2.10 GBP with fees." in page
    assert "It was not sent and waits. Raise the limit, or send it later." in page


def test_another_currency_is_said_and_nothing_is_sent(ada, planned, campaign, prolific):
    Campaign.objects.filter(pk=campaign.pk).update(currency="USD")
    ledger.send_planned(campaign)
    page = text_of(ada.get(f"{STUDY}payments/"))
    assert "The payment is in GBP and the campaign in USD. Nothing was sent." in page
    assert "Undo the decision and decide in the campaign's currency." in page
    assert prolific.money() == {}


@pytest.fixture
def draft(account, study):
    """A campaign that is ready to be published."""
    return campaigns.create_draft(
        study,
        recruiter="prolific",
        name="autumn",
        by=cast.ada(),
        account=account,
        places=6,
        reward_minor=150,
        estimated_minutes=9,
        options=OPTIONS,
    )


def test_publishing_with_an_expired_token_says_so_and_creates_nothing(ada, draft, prolific):
    prolific.fail_next("401", n=30)
    page = text_of(ada.post(f"{STUDY}{draft.pk}/publish/", follow=True))
    assert "Prolific does not accept the token (401): nothing was changed." in page
    assert "Create a new token on Prolific under Settings, API tokens, and replace it in the account." in page
    assert prolific.platform.studies == {}


def test_a_test_account_publishes_nothing_on_the_real_platform_and_says_why(
    ada, draft, prolific, monkeypatch
):
    monkeypatch.setattr("judgments.recruitment.prolific.recruiter.is_double", lambda: False)
    page = text_of(ada.post(f"{STUDY}{draft.pk}/publish/", follow=True))
    assert "The account is in test mode, and Prolific has no sandbox" in page and "nothing was sent" in page
    assert "Use a live account." in page
    assert {row["status"] for row in prolific.platform.studies.values()} == {"UNPUBLISHED"}


@pytest.mark.parametrize("fault", ["before", "after", "502-after", "malformed"])
def test_publishing_whose_answer_is_lost_is_unknown_and_happens_once(ada, draft, prolific, fault):
    prolific.fail_next(fault, method="POST", path="/transition/")
    page = text_of(ada.post(f"{STUDY}{draft.pk}/publish/", follow=True))
    assert "It is unknown whether this happened." in page and "it may have acted" in page
    assert "Nothing is sent again before that." in page
    PlatformCall.objects.update(sent_at=timezone.now() - 2 * ledger.ASK_AFTER)
    ada.post(f"{STUDY}{draft.pk}/publish/", follow=True)
    draft.refresh_from_db()
    assert draft.state == "running"
    (remote,) = prolific.platform.studies.values()
    assert (remote["status"], remote["total_available_places"]) == ("ACTIVE", 6)


def test_an_unsigned_event_or_a_wrong_clock_is_an_alert_with_its_remedy(ada, client, campaign, prolific):
    webhooks.subscribe(campaign.account, "http://127.0.0.1:1")
    prolific.arrive(campaign.external_id)
    (event,) = prolific.platform.events
    for _ in range(3):
        headers = prolific.platform.signed_headers(event, at=time.time() - 3600)
        headers.pop("Content-Type", None)
        address = f"/hooks/prolific/{campaign.account_id}/"
        assert client.post(address, event.body, "application/json", headers=headers).status_code == 403
    evaluate_all()
    page = text_of(ada.get(f"{STUDY}alerts/"))
    assert "The timestamp is too old, or the clock of this server is wrong." in page
    assert "Nothing is lost: the list of submissions is read every five minutes" in page


def test_a_platform_that_cannot_be_read_is_said_where_somebody_reads_it(ada, campaign, prolific):
    prolific.fail_next("503", n=10, path="/submissions/")
    ada.post(f"{STUDY}{campaign.pk}/read/")
    cache.clear()
    job = Job.objects.latest("pk")
    run(job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    page = text_of(ada.get(f"{STUDY}{campaign.pk}/"))
    assert "Prolific has a fault of its own (503)" in page
