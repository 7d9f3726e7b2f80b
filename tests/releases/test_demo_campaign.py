"""The demo's closed campaign: stored rows on every page of recruitment, and nothing that could be sent."""

import re

import pytest
from django.utils import timezone

from experiments.models import AuditEntry, Campaign, Experiment, PlatformAccount
from judgments.models import PlatformCall, Submission
from judgments.recruitment import decisions, ledger, reconcile
from judgments.recruitment.credentials import decrypt_secrets, replace_secrets
from judgments.recruitment.prolific import client as prolific_client
from judgments.recruitment.recruiter import PlatformError
from releases.demo.campaign import closed_campaign
from releases.demo.make import simulate_participants
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def requests(monkeypatch):
    """Requests that a client of the platform would have sent."""
    sent = []
    monkeypatch.setattr(prolific_client.httpx.Client, "send", lambda *args, **more: sent.append(args))
    yield sent
    assert sent == []


@pytest.fixture
def campaign():
    """The closed campaign of a study with simulated participants, one of whom left early."""
    study = cast.study("agreement")
    Experiment.objects.filter(pk=study.pk).update(opened_at=timezone.now() - timezone.timedelta(days=2))
    study.refresh_from_db()
    simulate_participants(study, 14, notify=lambda line: None)
    return closed_campaign(study, cast.ada())


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_it_is_closed_with_everybody_decided_and_paid_and_made_once(campaign):
    assert (campaign.state, campaign.mode) == ("closed", "test")
    rows = Submission.objects.filter(campaign=campaign)
    complete = rows.filter(session__completed_at__isnull=False)
    assert set(complete.values_list("status", "decision")) == {("approved", "approve")}
    assert rows.filter(status="timed_out").count() == 1 and rows.filter(status="returned").count() >= 2
    calls = PlatformCall.objects.filter(campaign=campaign)
    assert set(calls.values_list("state", flat=True)) == {"confirmed"}
    assert calls.filter(kind="approve").count() == complete.count()
    assert set(rows.values_list("session__participant__is_simulated", flat=True)) == {True, None}
    numbers = (rows.count(), calls.count(), AuditEntry.objects.count())
    assert closed_campaign(campaign.experiment, cast.ada()) == campaign
    assert (rows.count(), calls.count(), AuditEntry.objects.count()) == numbers
    assert Campaign.objects.count() == PlatformAccount.objects.count() == 1


def test_every_page_of_recruitment_shows_it_as_simulated(ada, campaign):
    pages = "/studies/agreement/campaigns/"
    row = Submission.objects.filter(campaign=campaign, status="approved").first()
    here = f"{pages}{campaign.pk}/"
    for address in ("", "submissions/", "send/", f"submissions/{row.pk}/", "demographics/"):
        response = ada.get(f"{here}{address}")
        assert response.status_code == 200, address
        assert "Test mode, simulated." in text_of(response), address
    assert "closed" in text_of(ada.get(pages)) and "simulated" in text_of(ada.get(pages))
    assert "Demo Prolific" in text_of(ada.get(f"{pages}accounts/"))
    assert f"{row.session.participant.pseudonym}" in text_of(ada.get(f"{here}submissions/"))
    assert "confirmed" in text_of(ada.get(f"{pages}payments/"))
    assert "No account is connected" in text_of(ada.get(f"{pages}new/"))


def test_nothing_can_be_sent_or_asked_with_its_account(ada, client, campaign):
    account, pages = campaign.account, "/studies/agreement/campaigns/"
    with pytest.raises(PlatformError, match="simulated example"):
        decrypt_secrets(account)
    with pytest.raises(ValueError, match="simulated example"):
        replace_secrets(account, {"token": "x" * 40}, study=campaign.experiment, by=cast.ada())
    with pytest.raises(PlatformError, match="nothing was sent"):
        reconcile.reconcile(campaign)
    assert ledger.send_planned(campaign) == [] and decisions.continue_sending() == 0
    assert reconcile.reconcile_due() == 0
    for address in ("test/", "events/"):
        answer = ada.post(f"{pages}accounts/{account.pk}/{address}", follow=True)
        assert "simulated example" in text_of(answer), address
    assert client.post(f"/hooks/prolific/{account.pk}/", {}, "application/json").status_code == 404
    ids = {"STUDY_ID": campaign.external_id, "PROLIFIC_PID": "1" * 24, "SESSION_ID": "2" * 24}
    client.get("/take/agreement/prolific/", {**ids, "prolific_token": "x.y.z"})
    response = ada.post(f"{pages}new/", {"account": account.pk})
    assert response.status_code == 422 and Campaign.objects.count() == 1
