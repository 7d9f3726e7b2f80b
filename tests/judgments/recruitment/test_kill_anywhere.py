"""Payments killed at every commit and at every request: each participant is paid exactly once."""

from datetime import timedelta

import pytest
from django.utils import timezone

from judgments.models import Payment, PlatformCall, PlatformIdentity, Session, Submission
from judgments.recruitment import decisions, ledger, payments
from judgments.recruitment.reconcile import reconcile
from tests import cast
from tests.kills import killed_at
from tools.doubles.memory import MemoryRecruiter, Platform

pytestmark = pytest.mark.django_db(transaction=True)

State = PlatformCall.State
N_PEOPLE = 2
LATER = timedelta(minutes=10)  # after which an answer that is missing counts as lost
N_KILLS_AT_LEAST = 20


def a_campaign(study, number, platform):
    """A running campaign with people who submitted, their pay approved and two bonuses decided."""
    campaign = study.campaigns.create(
        name=f"run-{number}", recruiter="memory", places=10, reward_minor=150, state="running"
    )
    campaign.external_id = f"c{number}"
    campaign.save()
    platform.campaigns[campaign.external_id] = {"state": "running", "places": 10}
    for name in range(N_PEOPLE):
        person = f"person-{number}-{name}"
        submission = platform.arrive(campaign.external_id, person)
        session = cast.begin(study, person)
        Session.objects.filter(pk=session.pk).update(
            campaign=campaign, status="complete", completed_at=timezone.now(), external_id=submission
        )
        PlatformIdentity.objects.create(
            participant=session.participant, experiment=study, recruiter="memory", external_id=person
        )
        platform.submit(submission)
    reconcile(campaign, recruiter=MemoryRecruiter(platform))
    rows = Submission.objects.filter(campaign=campaign)
    assert rows.filter(session__isnull=False).count() == N_PEOPLE
    decisions.approve(campaign, rows, by=cast.ada())
    for row in rows:
        payments.give_bonus(
            row.session, amount_minor=50, currency="GBP", reason="thanks", key="1", by=cast.ada()
        )
    return campaign


def pay(campaign, recruiter, *, now=None):
    """What the job does when somebody presses the button."""
    decisions.plan_sending(campaign, by=cast.ada(), recruiter=recruiter)
    ledger.send_planned(campaign, recruiter=recruiter, now=now)


def times_paid(campaign, platform):
    """How often each decided payment was paid, from the platform's own record."""
    paid = {}
    for row in Submission.objects.filter(campaign=campaign):
        paid["reward", row.external_id] = platform.money["reward", row.external_id]
        for entry in row.session.payments.filter(kind=Payment.Kind.BONUS):
            fact = ("bonus", row.external_id, decisions.payment_key(entry))
            paid[fact] = platform.money[fact]
    return paid


def unnoticed(campaign, platform):
    """Payments that were not made, and of which the ledger says that nothing is left to do."""
    open_calls = PlatformCall.objects.filter(campaign=campaign).exclude(
        state__in=[State.CONFIRMED, State.CANCELLED]
    )
    waiting = (
        open_calls.exists() or not decisions.preview(campaign, recruiter=MemoryRecruiter(platform)).is_empty
    )
    unpaid = [fact for fact, times in times_paid(campaign, platform).items() if times == 0]
    return [] if waiting else unpaid


@pytest.mark.parametrize(
    ("prepares", "shows_at_once"),
    [
        pytest.param(True, True, id="bonuses set up first"),
        pytest.param(True, False, id="bonuses that show later"),
        pytest.param(False, True, id="bonuses with tokens"),
    ],
)
def test_a_kill_at_any_place_pays_nobody_twice_and_leaves_nobody_out(prepares, shows_at_once):
    study = cast.study("agreement", n_lists=1, reward_minor=150)
    number, n_unknown = 0, 0
    while True:
        number += 1
        platform = Platform(prepares=prepares, shows_bonuses_at_once=shows_at_once)
        recruiter = MemoryRecruiter(platform)
        campaign = a_campaign(study, number, platform)
        with killed_at(number, (recruiter, "_call")) as kills:
            pay(campaign, recruiter)
        now = timezone.now() + LATER
        assert max(times_paid(campaign, platform).values()) <= 1, kills.happened
        assert unnoticed(campaign, platform) == [], kills.happened
        for _ in range(3):  # the process starts again, and somebody presses the button again
            pay(campaign, recruiter, now=now)
        assert max(times_paid(campaign, platform).values()) <= 1, kills.happened
        assert unnoticed(campaign, platform) == [], kills.happened
        for call in PlatformCall.objects.filter(campaign=campaign, state=State.UNKNOWN):
            n_unknown += 1
            facts = [("bonus", row["submission"], row["payment_key"]) for row in call.request["bonuses"]]
            took_effect = all(platform.money[fact] for fact in facts)  # what a person sees there
            ledger.settle(call, took_effect=took_effect, note="looked on the site", by=cast.ada())
        pay(campaign, recruiter, now=now)
        assert set(times_paid(campaign, platform).values()) == {1}, kills.happened
        if not kills.happened:
            break
    assert number > N_KILLS_AT_LEAST
    assert n_unknown == 0 or prepares


def test_two_processes_that_send_at_once_pay_once():
    """The second finds each call claimed, or confirmed."""
    study = cast.study("agreement", n_lists=1, reward_minor=150)
    platform = Platform()
    campaign = a_campaign(study, 1, platform)

    class Interrupted(MemoryRecruiter):
        """In the middle of each request, another process sends as well."""

        def _call(self, name, act):
            ledger.send_planned(campaign, recruiter=MemoryRecruiter(platform))
            super()._call(name, act)

    pay(campaign, Interrupted(platform))
    pay(campaign, MemoryRecruiter(platform))
    assert set(times_paid(campaign, platform).values()) == {1}
    assert not PlatformCall.objects.exclude(state=State.CONFIRMED).exists()
