"""A double of Prolific, an account that leads to it, and a campaign ready to publish."""

import pytest

from experiments.models import Campaign
from experiments.page_cache import cache
from judgments.recruitment.prolific import client
from judgments.recruitment.prolific.recruiter import ProlificRecruiter
from tests import cast
from tools.doubles.prolific import account as account_of
from tools.doubles.prolific import running

KEY = "campaign-key-1"


@pytest.fixture
def prolific(monkeypatch):
    """A double, whose answers all have the published shapes; pauses between attempts are short."""
    monkeypatch.setattr(client, "BACKOFF_S", 0.001)
    cache.clear()
    with running() as double:
        yield double
        assert double.shape_errors == []


@pytest.fixture
def study(db):
    """A study that takes participants."""
    return cast.study("agreement")


@pytest.fixture
def account(prolific, study):
    """Ada's account on the double."""
    return account_of(prolific, study, cast.ada())


@pytest.fixture
def campaign(account, study):
    """A campaign that passes every check."""
    return Campaign.objects.create(
        experiment=study,
        recruiter="prolific",
        account=account,
        name="spring",
        places=5,
        reward_minor=150,
        currency="GBP",
        estimated_minutes=10,
        options={"site": "http://testserver", "title": "Sentences", "description": "Judge forty sentences."},
    )


@pytest.fixture
def recruiter(account):
    """The adapter with the account."""
    return ProlificRecruiter(account)


@pytest.fixture
def published(campaign, recruiter):
    """The campaign, running on the platform and here."""
    campaign.external_id = recruiter.create(campaign, key=KEY)
    campaign.state = Campaign.State.RUNNING
    campaign.save()
    recruiter.publish(campaign, key="publish-1")
    return campaign
