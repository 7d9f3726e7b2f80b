"""What every adapter has to do alike: link, panel, Prolific and MTurk."""

import pytest

from analysis.errors import BadInput
from judgments.models import PlatformCall
from judgments.recruitment import campaigns, decisions, ledger, payments
from judgments.recruitment.reconcile import reconcile
from judgments.recruitment.recruiter import Level, RemoteState, get_recruiter
from tests import cast
from tests.judgments.recruitment import platforms

pytestmark = pytest.mark.django_db

State = PlatformCall.State


@pytest.fixture(params=platforms.RECRUITERS)
def recruiter_name(request):
    return request.param


@pytest.fixture
def double(recruiter_name, settings):
    with platforms.double_of(recruiter_name, settings) as double:
        yield double


@pytest.fixture
def campaign(recruiter_name, double):
    return platforms.draft(cast.study("agreement", n_lists=1), recruiter_name, double)


@pytest.fixture
def published(campaign):
    assert campaigns.publish(campaign, by=cast.ada()).state == State.CONFIRMED
    return campaign


with_submissions = pytest.mark.parametrize("recruiter_name", platforms.WITH_SUBMISSIONS, indirect=True)


def test_a_complete_draft_has_no_error(campaign):
    findings = campaigns.checks(campaign)
    assert [finding.text for finding in findings if finding.level == Level.ERROR] == []
    cost = campaigns.cost(campaign)
    assert (cost.reward_minor, cost.currency) == (8 * 150, campaign.currency)


def test_one_key_creates_one_draft(campaign):
    recruiter = get_recruiter(campaign)
    first = recruiter.create(campaign, key="create-1")
    assert first
    assert recruiter.create(campaign, key="create-1") == first


def test_a_campaign_is_published_paused_resumed_topped_up_stopped_and_closed(published):
    recruiter = get_recruiter(published)
    assert published.external_id
    assert recruiter.state(published).state == RemoteState.RUNNING
    assert campaigns.pause(published, by=cast.ada()).state == State.CONFIRMED
    assert published.state == "paused"
    assert campaigns.resume(published, by=cast.ada()).state == State.CONFIRMED
    assert recruiter.state(published).state == RemoteState.RUNNING
    assert campaigns.top_up(published, 2, by=cast.ada()).state == State.CONFIRMED
    assert (published.places, recruiter.state(published).places) == (10, 10)
    assert campaigns.stop(published, by=cast.ada()).state == State.CONFIRMED
    assert campaigns.close(published, by=cast.ada()).state == State.CONFIRMED
    assert published.state == "closed"
    campaigns.close(published, by=cast.ada())
    assert PlatformCall.objects.filter(campaign=published, kind="close").count() == 1


def test_closing_killed_in_the_middle_is_repeated_from_its_row(published, monkeypatch):
    campaigns.stop(published, by=cast.ada())
    adapter = type(get_recruiter(published))
    with monkeypatch.context() as fault:
        fault.setattr(adapter, "close", _die)
        with pytest.raises(KeyboardInterrupt):
            campaigns.close(published, by=cast.ada())
    published.refresh_from_db()
    assert published.state == "finished"
    assert PlatformCall.objects.get(kind="close").state == State.SENT
    assert campaigns.close(published, by=cast.ada()).state == State.SENT  # it may still be on its way
    platforms.make_old(published)
    assert campaigns.close(published, by=cast.ada()).state == State.CONFIRMED
    assert published.state == "closed"


def _die(recruiter, campaign):
    raise KeyboardInterrupt


def test_a_button_pressed_twice_acts_once(published):
    with pytest.raises(BadInput, match="the campaign is running"):
        campaigns.publish(published, by=cast.ada())
    kinds = PlatformCall.objects.values_list("kind", flat=True)
    assert sorted(kinds) == ["create", "publish"]


def test_a_dry_run_lists_the_calls_and_sends_none(campaign, recruiter_name):
    calls = campaigns.dry_run(campaign, "publish")
    assert bool(calls) == (recruiter_name in platforms.WITH_SUBMISSIONS)
    assert not PlatformCall.objects.exists()
    campaign.refresh_from_db()
    assert campaign.external_id == ""


@with_submissions
def test_everybody_is_approved_and_gets_a_bonus_once(published, double):
    rows = platforms.submit_people(published, double, 3)
    assert [row.mismatches for row in rows] == [[], [], []]
    decisions.approve(published, rows, by=cast.ada())
    for row in rows:
        payments.give_bonus(
            row.session,
            amount_minor=50,
            currency=published.currency,
            reason="Thank you",
            key="1",
            by=cast.ada(),
        )
    for _ in range(2):
        decisions.plan_sending(published, by=cast.ada())
        ledger.send_planned(published)
    paid = platforms.payments_of(double)
    assert {paid[kind, row.external_id] for kind in ("reward", "bonus") for row in rows} == {1}
    reconcile(published)
    assert {row.status for row in published.submissions.all()} == {"approved"}
    assert [row.mismatches for row in published.submissions.all()] == [[], [], []]
    campaigns.stop(published, by=cast.ada())
    assert campaigns.open_matters(published) == []


@with_submissions
@pytest.mark.parametrize("fault", ["before", "after", "429", "503", "malformed"])
def test_a_bad_day_pays_nobody_twice_and_says_what_is_safe(published, double, fault):
    rows = platforms.submit_people(published, double, 2)
    decisions.approve(published, rows, by=cast.ada())
    decisions.plan_sending(published, by=cast.ada())
    double.fail_next(fault)
    ledger.send_planned(published)
    troubled = PlatformCall.objects.filter(kind="approve").exclude(state=State.CONFIRMED).first()
    assert troubled.problem
    platforms.make_old(published)
    ledger.send_planned(published)
    ledger.send_planned(published)
    paid = platforms.payments_of(double)
    assert {paid["reward", row.external_id] for row in rows} == {1}


@with_submissions
def test_a_rejection_carries_its_ground_and_pays_nothing(published, double):
    rows = platforms.submit_people(published, double, 1)
    category = next(iter(get_recruiter(published).reject_categories))
    message = (
        "All forty answers came within half a second each and were the same, on all pages of the study. " * 2
    )
    decisions.reject(published, rows, category=category, message=message.strip(), by=cast.ada())
    decisions.plan_sending(published, by=cast.ada())
    ledger.send_planned(published)
    reconcile(published)
    assert published.submissions.get().status == "rejected"
    assert platforms.payments_of(double)["reward", rows[0].external_id] == 0
