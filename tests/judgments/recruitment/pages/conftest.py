"""A double of Prolific, Ada in her browser, and a campaign that runs."""

import pytest

from experiments.models import Campaign
from experiments.page_cache import cache
from judgments.models import Submission
from judgments.recruitment import campaigns, reconcile
from judgments.recruitment.prolific import client as prolific_client
from tests import cast
from tools.doubles.prolific import account as account_of
from tools.doubles.prolific import running

STUDY = "/studies/agreement/campaigns/"
OPTIONS = {
    "site": "http://testserver",
    "title": "How natural are these sentences?",
    "description": "Read forty short sentences.",
}


@pytest.fixture
def prolific(monkeypatch):
    """A double; pauses between attempts are short."""
    monkeypatch.setattr(prolific_client, "BACKOFF_S", 0.001)
    cache.clear()
    with running() as double:
        yield double


@pytest.fixture
def study(db):
    """A study that takes participants, with pay."""
    return cast.study("agreement", reward_minor=150, currency="GBP", target_judgments=10)


@pytest.fixture
def account(prolific, study):
    """Ada's account on the double."""
    return account_of(prolific, study, cast.ada())


@pytest.fixture
def campaign(account, study):
    """A campaign that is published on the double."""
    draft = campaigns.create_draft(
        study,
        recruiter="prolific",
        name="spring",
        by=cast.ada(),
        account=account,
        places=6,
        reward_minor=150,
        estimated_minutes=9,
        options=OPTIONS,
    )
    call = campaigns.publish(draft, by=cast.ada())
    assert call.state == "confirmed", call.problem
    return Campaign.objects.get(pk=draft.pk)


@pytest.fixture
def arrive(prolific, campaign):
    """Let somebody take part: a session here and a submission there, with the code if any."""

    def arrive(person: str = "", *, code: str = "", is_complete: bool = True) -> Submission:
        number = prolific.arrive(campaign.external_id, person)
        session = cast.sit(
            campaign.experiment,
            number,
            n=None if is_complete else 0,
            recruiter="prolific",
            campaign=campaign,
            external_id=prolific.platform.submissions[number]["participant"],
            is_verified=True,
        )
        session.external_id = number
        session.save(update_fields=["external_id"])
        if is_complete:
            prolific.submit(number, code or campaign.options["codes"]["complete"]["code"])
        reconcile.reconcile(campaign)
        return Submission.objects.get(external_id=number)

    return arrive
