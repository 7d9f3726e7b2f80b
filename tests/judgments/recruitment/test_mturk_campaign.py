"""A whole MTurk campaign: publish, workers who finish, return and refuse, decide, pay, close, reconcile."""

from urllib.parse import urlencode

import pytest
from django.test import Client

from judgments.models import PlatformCall, Session, Submission
from judgments.recruitment import campaigns, decisions, ledger, payments
from judgments.recruitment.reconcile import reconcile
from tests import cast
from tests.judgments.screens.walk import hidden
from tools.doubles.mturk import Double, account

pytestmark = pytest.mark.django_db(transaction=True)
TEXTS = {"title": "Rate", "description": "Rate sentences.", "site": "https://lab.example.org"}


@pytest.fixture
def double(settings):
    settings.MTURK_ENDPOINT, settings.MTURK_WORKER_SITES = "", []  # restored after the test
    with Double() as double:
        yield double


@pytest.fixture
def campaign(double):
    study = cast.study()
    return campaigns.create_draft(
        study,
        recruiter="mturk",
        name="turk",
        by=cast.ada(),
        account=account(double, study, cast.ada()),
        places=10,
        reward_minor=50,
        currency="USD",
        estimated_minutes=4,
        options=TEXTS,
    )


def arrive(campaign, assignment, worker, *, consent="yes"):
    query = {"campaign": campaign.name, "assignmentId": assignment, "workerId": worker, "hitId": "3HIT"}
    address = f"/take/agreement/mturk/?{urlencode(query)}"
    html = Client().get(address).content.decode()
    response = Client().post(address, {"arrival": hidden(html, "arrival"), "consent": consent})
    if consent == "no":
        return None
    session = Session.objects.get(token=response["Location"].split("/")[2])
    for trial in session.trials.select_related("session__experiment"):
        cast.record(session, trial.public_id, cast.answer_to(trial))
    return session


def send(campaign):
    decisions.plan_sending(campaign, by=cast.ada())
    ledger.send_planned(campaign)


def test_a_campaign_from_publishing_to_closing(campaign, double):
    assert campaigns.publish(campaign, by=cast.ada()).state == PlatformCall.State.CONFIRMED
    campaign.refresh_from_db()
    for name in ("ONE", "TWO", "THREE"):
        assignment = double.arrive(campaign.external_id, name)
        arrive(campaign, assignment, f"A{name}")
        double.submit(assignment, "r")
    left = double.arrive(campaign.external_id, "FOUR")
    arrive(campaign, left, "AFOUR", consent="no")
    double.return_(left)
    double.submit(double.arrive(campaign.external_id, "FIVE"), "r")  # without ever opening our page
    reconcile(campaign)
    rows = Submission.objects.filter(campaign=campaign).order_by("pk")
    assert [row.session is not None for row in rows] == [True, True, True, False]
    assert [row.mismatches for row in rows] == [[], [], [], ["no_data"]]
    with_data, without = rows.filter(session__isnull=False), rows.filter(session__isnull=True)
    decisions.approve(campaign, with_data, by=cast.ada())
    decisions.reject(campaign, without, by=cast.ada(), category="no_data", message="No answers came here.")
    bonus = {"currency": "USD", "reason": "Thank you", "key": "1", "by": cast.ada()}
    payments.give_bonus(with_data[0].session, amount_minor=25, **bonus)
    send(campaign)
    send(campaign)
    assert sorted(count for count in double.money().values()) == [1, 1, 1, 1]
    assert double.service.paid_minor("AONE") == 75 and double.service.paid_minor("AFIVE") == 0
    reconcile(campaign)
    assert {row.status for row in with_data.all()} == {"approved"} and without.get().status == "rejected"
    assert campaigns.stop(campaign, by=cast.ada()).state == PlatformCall.State.CONFIRMED
    assert campaigns.open_matters(campaign) == []
    campaigns.close(campaign, by=cast.ada())
    assert all(hit.is_disposed for hit in double.service.hits.values())
    assert double.service.refusals == []


def test_what_a_campaign_would_send_is_shown_before_anything_is_sent(campaign, double):
    operations = [plan.address.split(" ")[1] for plan in campaigns.dry_run(campaign, "publish")]
    assert operations.count("CreateHITWithHITType") == 2 and double.service.hits == {}
