"""Two campaigns of one account that pay, publish or add places at once: one after the other."""

import pytest
from django.utils import timezone

from experiments.models import Campaign, PlatformAccount
from judgments.models import PlatformCall
from judgments.recruitment import ledger
from judgments.recruitment.recruiter import RemoteState
from tests import cast
from tests.judgments.recruitment import platforms
from tools.doubles.memory import MemoryRecruiter, Platform

pytestmark = pytest.mark.django_db(transaction=True)
State = PlatformCall.State


@pytest.fixture
def platform(monkeypatch):
    """The platform of both campaigns; nobody waits for the other."""
    monkeypatch.setattr(ledger, "ACCOUNT_WAIT_S", 0.0)
    return Platform()


@pytest.fixture
def account(db):
    return PlatformAccount.objects.create(platform="memory", label="lab", owner=cast.ada(), secrets=b"")


def running(account, platform, name):
    """A campaign that runs."""
    platform.campaigns[name] = {"state": RemoteState.RUNNING, "places": 5}
    return Campaign.objects.create(
        experiment=account.experiments.first() or attach(account),
        name=name,
        recruiter="memory",
        account=account,
        external_id=name,
        state="running",
    )


def approval(account, platform, name):
    """A planned approval of a campaign with one submission."""
    campaign = running(account, platform, name)
    number = platform.arrive(name, f"person-{name}")
    platform.submit(number)
    row = campaign.submissions.create(external_id=number, status="submitted", last_seen_at=timezone.now())
    return ledger.plan(
        campaign, "approve", key=f"approve-{name}", by=cast.ada(), submission=row, amount_minor=150
    )


def attach(account):
    study = cast.study("agreement", n_lists=1)
    account.experiments.add(study)
    return study


class Interrupted(MemoryRecruiter):
    """In the middle of its request, something else happens."""

    def __init__(self, platform, meanwhile):
        super().__init__(platform)
        self.meanwhile = meanwhile

    def _call(self, name, act):
        self.meanwhile()
        super()._call(name, act)


def test_a_payment_waits_while_another_campaign_of_the_account_pays(account, platform):
    first, second = approval(account, platform, "spring"), approval(account, platform, "autumn")

    def send_second():
        ledger.carry_out(second, recruiter=MemoryRecruiter(platform))
        assert second.state == State.PLANNED
        assert "Campaign spring pays from the same account now. This was not sent" in second.problem

    ledger.carry_out(first, recruiter=Interrupted(platform, send_second))
    assert (first.state, platform.calls) == (State.CONFIRMED, ["approve"])
    ledger.carry_out(second, recruiter=MemoryRecruiter(platform))
    assert second.state == State.CONFIRMED and second.problem == ""
    assert set(platform.money.values()) == {1}


def test_a_payment_goes_on_by_itself_once_the_other_is_settled(account, platform, monkeypatch):
    first, second = approval(account, platform, "spring"), approval(account, platform, "autumn")
    PlatformCall.objects.filter(pk=first.pk).update(state=State.SENT, sent_at=timezone.now())
    monkeypatch.setattr(ledger, "ACCOUNT_WAIT_S", 60.0)

    def settle(seconds):
        PlatformCall.objects.filter(pk=first.pk).update(state=State.CONFIRMED)

    monkeypatch.setattr(ledger.time, "sleep", settle)
    assert ledger.carry_out(second, recruiter=MemoryRecruiter(platform)).state == State.CONFIRMED


def test_a_process_that_died_does_not_hold_the_account(account, platform):
    first, second = approval(account, platform, "spring"), approval(account, platform, "autumn")
    PlatformCall.objects.filter(pk=first.pk).update(state=State.SENT, sent_at=timezone.now())
    platforms.make_old(first.campaign)
    assert ledger.carry_out(second, recruiter=MemoryRecruiter(platform)).state == State.CONFIRMED


def test_campaigns_of_different_accounts_do_not_wait(account, platform):
    first = approval(account, platform, "spring")
    other = PlatformAccount.objects.create(platform="memory", label="other", secrets=b"")
    other.experiments.add(first.campaign.experiment)
    second = approval(other, platform, "autumn")

    def send_second():
        assert ledger.carry_out(second, recruiter=MemoryRecruiter(platform)).state == State.CONFIRMED

    ledger.carry_out(first, recruiter=Interrupted(platform, send_second))
    assert first.state == State.CONFIRMED


@pytest.mark.parametrize("kind", ["create", "publish", "add_places", "close"])
def test_a_campaign_waits_while_another_one_of_the_account_is_published(account, platform, kind):
    first, second = (running(account, platform, name) for name in ("spring", "autumn"))
    publication = ledger.plan(first, "publish", key="publish-spring", by=cast.ada())
    call = ledger.plan(second, kind, key="autumn-2", by=cast.ada(), request={"n": 2, "total": 7})

    def send_second():
        ledger.carry_out(call, recruiter=MemoryRecruiter(platform))
        assert call.state == State.PLANNED
        assert "campaign spring, publish. Nothing was sent. Press the button again" in call.problem

    ledger.carry_out(publication, recruiter=Interrupted(platform, send_second))
    assert platform.calls == ["running"]
    assert ledger.carry_out(call, recruiter=MemoryRecruiter(platform)).state == State.CONFIRMED


def test_payments_and_publications_do_not_wait_for_each_other(account, platform):
    payment, other = approval(account, platform, "spring"), running(account, platform, "autumn")
    call = ledger.plan(other, "pause", key="pause-autumn", by=cast.ada())
    publication = ledger.plan(other, "publish", key="publish-autumn", by=cast.ada())

    def send_second():
        for other_call in (call, publication):
            assert ledger.carry_out(other_call, recruiter=MemoryRecruiter(platform)).state == State.CONFIRMED

    ledger.carry_out(payment, recruiter=Interrupted(platform, send_second))
    assert payment.state == State.CONFIRMED
