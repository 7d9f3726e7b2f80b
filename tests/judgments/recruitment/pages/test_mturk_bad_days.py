"""Bad days of MTurk on the pages: each gives a sentence with what happened, what is safe and what to do."""

import html
import re

import pytest
from django.utils import timezone

from experiments.models import Campaign, Job, Mode
from experiments.operation.job_runner import run
from experiments.page_cache import cache
from judgments.models import PlatformCall, PlatformIdentity, Session, Submission
from judgments.recruitment import campaigns, decisions, ledger
from judgments.recruitment.mturk import client as mturk_client
from judgments.recruitment.reconcile import reconcile
from tests import cast
from tests.judgments.recruitment import platforms
from tests.judgments.recruitment.pages.conftest import STUDY

pytestmark = pytest.mark.django_db
PAYMENT_FAULTS = {  # state of the payment, times paid, what happened, what is safe, what to do
    "before": ("unknown", 0, "MTurk was sent ApproveAssignment and gave no", "it may have acted"),
    "after": ("unknown", 1, "MTurk was sent ApproveAssignment and gave no", "it may have acted"),
    "429": ("planned", 0, "MTurk is busy (ThrottlingException)", "was not carried out"),
    "503": ("planned", 0, "MTurk is busy (503)", "was not carried out"),
    "service_fault": ("unknown", 0, "no usable answer (ServiceFault)", "it may have acted"),
    "service_fault_after": ("unknown", 1, "no usable answer (ServiceFault)", "it may have acted"),
    "malformed": ("unknown", 1, "no usable answer (BrokenAnswer)", "it may have acted"),
    "401": ("failed", 0, "MTurk does not accept the access key (ExpiredToken", "Nothing happened there"),
}


def text_of(response):
    text = html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode()))
    return re.sub(r"\s+", " ", text)


@pytest.fixture
def double(settings):
    with platforms.double_of("mturk", settings) as double:
        yield double
    mturk_client._boto_client.cache_clear()


@pytest.fixture
def draft(double):
    study = cast.study("agreement", n_lists=1, reward_minor=150, currency="USD")
    return platforms.draft(study, "mturk", double)


@pytest.fixture
def campaign(draft):
    assert campaigns.publish(draft, by=cast.ada()).state == "confirmed"
    return draft


def plan_approvals(campaign, double, n):
    rows = platforms.submit_people(campaign, double, n)
    decisions.approve(campaign, rows, by=cast.ada())
    decisions.plan_sending(campaign, by=cast.ada())
    return rows


@pytest.mark.parametrize("fault", PAYMENT_FAULTS)
def test_each_fault_of_a_payment_is_said_with_what_is_safe_and_what_to_do(ada, campaign, double, fault):
    state, times, happened, safe = PAYMENT_FAULTS[fault]
    (row,) = plan_approvals(campaign, double, 1)
    double.fail_next(fault)
    ledger.send_planned(campaign)
    call = PlatformCall.objects.get(kind="approve")
    assert (call.state, double.money()["reward", row.external_id]) == (state, times)
    page = text_of(ada.get(f"{STUDY}payments/"))
    assert happened in page and safe in page
    remedy = call.problem.partition(safe)[2].strip(" .")
    assert len(remedy.split()) > 3 and remedy in page  # what to do follows what is safe
    if state == "unknown":
        assert "Ask the platform" in page


def wrong_clock(campaign, double, monkeypatch, settings):
    monkeypatch.setattr("tools.doubles.mturk.MAX_SKEW_S", -1)


def wrong_region(campaign, double, monkeypatch, settings):
    monkeypatch.setattr(mturk_client, "REGION", "eu-west-1")
    mturk_client._boto_client.cache_clear()


def wrong_key(campaign, double, monkeypatch, settings):
    double.service.keys = {"OTHERKEY": "double-secret"}


def production_for_a_test_account(campaign, double, monkeypatch, settings):
    settings.MTURK_ENDPOINT = mturk_client.ENDPOINTS[Mode.LIVE]


def sandbox_for_a_live_account(campaign, double, monkeypatch, settings):
    settings.MTURK_ENDPOINT = mturk_client.ENDPOINTS[Mode.TEST]
    type(campaign.account).objects.update(mode=Mode.LIVE)
    Campaign.objects.update(mode=Mode.LIVE)


def unreachable(campaign, double, monkeypatch, settings):
    settings.MTURK_ENDPOINT = "http://127.0.0.1:9"


ACCOUNT_FAULTS = {
    wrong_clock: ("refuses the time at which this machine signed", "Nothing happened", "Set the clock"),
    wrong_region: ("is of another region than", "Nothing happened", "correct MTURK_ENDPOINT"),
    wrong_key: ("MTurk does not accept the access key", "Nothing happened", "Replace the key"),
    production_for_a_test_account: ("MTURK_ENDPOINT is that of production", "nothing was sent", "Leave"),
    sandbox_for_a_live_account: ("MTURK_ENDPOINT is that of the sandbox", "nothing was sent", "test one"),
}


@pytest.mark.parametrize("fault", ACCOUNT_FAULTS)
def test_a_payment_with_a_wrong_clock_region_key_or_sandbox_says_so(
    ada, campaign, double, fault, monkeypatch, settings
):
    (row,) = plan_approvals(campaign, double, 1)
    fault(campaign, double, monkeypatch, settings)
    stored = Campaign.objects.select_related("account", "experiment").get(pk=campaign.pk)
    ledger.send_planned(stored)
    assert PlatformCall.objects.get(kind="approve").state == "failed"
    assert double.money() == {}
    page = text_of(ada.get(f"{STUDY}payments/"))
    assert all(words in page for words in ACCOUNT_FAULTS[fault])


@pytest.mark.parametrize("fault", [*ACCOUNT_FAULTS, unreachable])
def test_publishing_with_a_wrong_clock_region_key_or_sandbox_says_so(
    ada, draft, double, fault, monkeypatch, settings
):
    fault(draft, double, monkeypatch, settings)
    page = text_of(ada.post(f"{STUDY}{draft.pk}/publish/", follow=True))
    expected = ACCOUNT_FAULTS.get(fault, ("could not be reached", "was not sent", "look at MTURK_ENDPOINT"))
    assert all(words in page for words in expected), page
    assert double.service.hits == {}
    draft.refresh_from_db()
    assert draft.state == "draft"


def test_ids_of_the_other_sandbox_are_named_and_nobody_is_paid(ada, campaign, double):
    plan_approvals(campaign, double, 1)
    double.service.assignments.clear()  # as a sandbox that has another campaign's
    ledger.send_planned(campaign)
    page = text_of(ada.get(f"{STUDY}payments/"))
    assert "does not exist" in page and "Nothing happened there. Look at the account" in page
    assert "sandbox and production have ids of their own" in page and double.money() == {}


@pytest.mark.parametrize("fault", ["before", "after", "service_fault_after", "malformed"])
def test_publishing_whose_answer_is_lost_is_unknown_and_goes_on_with_the_missing_hits(
    ada, draft, double, fault
):
    double.service.fail_next(fault, operation="CreateHITWithHITType")
    page = text_of(ada.post(f"{STUDY}{draft.pk}/publish/", follow=True))
    assert "It is unknown whether this happened. MTurk was sent CreateHITWithHITType" in page
    assert "Nothing is sent again before" in page
    platforms.make_old(draft)
    page = text_of(ada.post(f"{STUDY}{draft.pk}/publish/", follow=True))
    assert "The campaign is published on MTurk." in page
    assert sum(hit.max_assignments for hit in double.service.hits.values()) == draft.places


def test_a_budget_that_ends_in_mid_batch_pays_those_before_and_lets_the_others_wait(ada, campaign, double):
    plan_approvals(campaign, double, 3)
    campaigns.change_draft(campaign, by=cast.ada(), total_limit_minor=400)  # one costs 1.80 with fees
    ledger.send_planned(campaign)
    states = PlatformCall.objects.filter(kind="approve").order_by("pk").values_list("state", flat=True)
    assert list(states) == ["confirmed", "confirmed", "planned"]
    page = text_of(ada.get(f"{STUDY}payments/"))
    assert "The budget leaves 0.40 USD, and this costs 1.80 USD with fees." in page
    assert "It was not sent and waits. Raise the limit, or send it later." in page


def test_money_that_ends_in_mid_batch_is_said_and_the_others_wait(ada, campaign, double):
    plan_approvals(campaign, double, 3)
    double.service.balance_minor = 180
    ledger.send_planned(campaign)
    states = PlatformCall.objects.filter(kind="approve").order_by("pk").values_list("state", flat=True)
    assert list(states) == ["confirmed", "failed", "planned"]
    page = text_of(ada.get(f"{STUDY}payments/"))
    assert "insufficient funds" in page and "Nothing happened there. Add money to the account" in page
    double.service.balance_minor = 10_000
    decisions.plan_sending(campaign, by=cast.ada())
    ledger.send_planned(campaign)
    assert sum(double.money().values()) == 3


def test_another_currency_is_said_and_nothing_is_sent(ada, campaign, double):
    plan_approvals(campaign, double, 1)
    Campaign.objects.filter(pk=campaign.pk).update(currency="GBP")
    ledger.send_planned(campaign)
    page = text_of(ada.get(f"{STUDY}payments/"))
    assert "The payment is in USD and the campaign in GBP. Nothing was sent." in page
    assert "Undo the decision and decide in the campaign's currency." in page
    assert double.money() == {}


def test_a_currency_that_mturk_does_not_pay_in_stops_publishing(ada, draft, double):
    Campaign.objects.filter(pk=draft.pk).update(currency="GBP")
    page = text_of(ada.post(f"{STUDY}{draft.pk}/publish/", follow=True))
    assert "MTurk pays in USD, and the campaign is in GBP." in page and "Set the currency to USD." in page
    assert double.service.types == {} and double.service.hits == {}


def test_a_worker_who_shares_an_assignment_id_is_a_remark_and_the_platforms_own_worker_is_paid(
    ada, campaign, double
):
    (row,) = platforms.submit_people(campaign, double, 1)
    other = cast.begin(campaign.experiment, "shared")
    Session.objects.filter(pk=other.pk).update(
        campaign=campaign, status="complete", completed_at=timezone.now(), external_id=row.external_id
    )
    PlatformIdentity.objects.create(
        participant=other.participant, experiment=campaign.experiment, recruiter="mturk", external_id="AOTHER"
    )
    reconcile(campaign)
    row.refresh_from_db()
    assert row.mismatches == ["claimed_twice"] and row.session.participant.identity.external_id != "AOTHER"
    page = text_of(ada.get(f"{STUDY}{campaign.pk}/submissions/{row.pk}/"))
    assert "Several sessions here name this submission." in page
    assert "It is paid once, to the person whom the platform names." in page
    assert "look at both sessions before you decide" in page
    decisions.approve(campaign, Submission.objects.all(), by=cast.ada())
    decisions.plan_sending(campaign, by=cast.ada())
    ledger.send_planned(campaign)
    assert double.money() == {("reward", row.external_id): 1}


def test_a_platform_that_cannot_be_read_is_said_where_somebody_reads_it(ada, campaign, double):
    double.service.fail_next("unavailable", operation="ListHITs", times=20)
    ada.post(f"{STUDY}{campaign.pk}/read/")
    cache.clear()
    job = Job.objects.latest("pk")
    run(job.pk)
    page = text_of(ada.get(f"{STUDY}{campaign.pk}/"))
    assert "MTurk is busy (503): ListHITs was not carried out." in page
    assert "It is safe to try again in a minute." in page
