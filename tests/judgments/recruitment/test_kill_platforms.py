"""Payments killed at every commit and at every request to Prolific and MTurk, through their real clients."""

import httpx
import pytest
from botocore.httpsession import URLLib3Session

from judgments.models import PlatformCall, Submission
from judgments.recruitment import campaigns, decisions, ledger, payments
from tests import cast
from tests.judgments.recruitment import platforms
from tests.kills import killed_at

pytestmark = pytest.mark.django_db(transaction=True)

State = PlatformCall.State
REQUESTS = {"prolific": (httpx.HTTPTransport, "handle_request"), "mturk": (URLLib3Session, "send")}
N_KILLS_AT_LEAST = 24  # two approvals and two bonuses: four calls with six places each


def a_campaign(study, recruiter, double, account, number):
    """A running campaign with two people who submitted, their pay approved and a bonus each decided."""
    campaign = platforms.draft(study, recruiter, double, name=f"run-{number}", account=account, places=2)
    campaigns.publish(campaign, by=cast.ada())
    rows = platforms.submit_people(campaign, double, 2)
    decisions.approve(campaign, rows, by=cast.ada())
    for row in rows:
        payments.give_bonus(
            row.session, amount_minor=50, currency=campaign.currency, reason="Thanks", key="1", by=cast.ada()
        )
    return campaign


def pay(campaign):
    """What the job does when somebody presses the button."""
    decisions.plan_sending(campaign, by=cast.ada())
    ledger.send_planned(campaign)


def times_paid(campaign, double):
    paid = platforms.payments_of(double)
    ids = Submission.objects.filter(campaign=campaign).values_list("external_id", flat=True)
    return {(kind, name): paid[kind, name] for name in ids for kind in ("reward", "bonus")}


def is_noticed(campaign):
    """Whether the ledger or the preview shows that something is left to do."""
    settled = [State.CONFIRMED, State.CANCELLED]
    is_open = PlatformCall.objects.filter(campaign=campaign).exclude(state__in=settled).exists()
    return is_open or not decisions.preview(campaign).is_empty


def check(campaign, double, place):
    paid = times_paid(campaign, double)
    assert max(paid.values()) <= 1, place
    assert 0 not in paid.values() or is_noticed(campaign), place


@pytest.mark.parametrize("recruiter", platforms.WITH_SUBMISSIONS)
def test_a_kill_at_any_place_pays_nobody_twice_and_leaves_nobody_out(recruiter, settings):
    study = cast.study("agreement", n_lists=1, reward_minor=150)
    number = 0
    with platforms.double_of(recruiter, settings) as double:
        account = None
        while True:
            number += 1
            campaign = a_campaign(study, recruiter, double, account, number)
            account = campaign.account
            with killed_at(number, REQUESTS[recruiter]) as kills:
                pay(campaign)
            check(campaign, double, kills.happened)
            for _ in range(3):  # the process starts again, and somebody presses the button again
                platforms.make_old(campaign)
                pay(campaign)
            check(campaign, double, kills.happened)
            for call in PlatformCall.objects.filter(campaign=campaign, state=State.UNKNOWN):
                paid = platforms.payments_of(double)  # what a person sees on the platform's own site
                took_effect = all(paid["bonus", row["submission"]] for row in call.request["bonuses"])
                ledger.settle(call, took_effect=took_effect, note="looked on the site", by=cast.ada())
            pay(campaign)
            assert set(times_paid(campaign, double).values()) == {1}, kills.happened
            if not kills.happened:
                break
    assert number > N_KILLS_AT_LEAST
