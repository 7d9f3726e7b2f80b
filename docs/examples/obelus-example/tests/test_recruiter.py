import json

import pytest

from analysis.plugins.registry import Plugin
from experiments.encryption import PLATFORM_ACCOUNTS, encrypt
from experiments.models import Campaign, Experiment, PlatformAccount
from judgments.models import PlatformCall, Submission
from judgments.recruitment.recruiter import RECRUITERS, AnswerLost, Bonus, Outcome, Refused, RemoteState
from obelus_example import recruiter
from obelus_example.recruiter import ExampleRecruiter
from pool import Pool


@pytest.fixture
def pool(monkeypatch):
    pool = Pool()
    monkeypatch.setattr(recruiter, "transport", pool.transport)
    return pool


def connected(token="secret-token", mode="test"):
    """The recruiter as the platform uses it, with an account."""
    plugin = Plugin(
        "recruiters", "example", "obelus-example", "0.1.0", "obelus_example.recruiter", ExampleRecruiter
    )
    secrets = encrypt(json.dumps({"token": token}).encode(), purpose=PLATFORM_ACCOUNTS)
    return RECRUITERS.adopt(plugin)(PlatformAccount(platform="example", mode=mode, secrets=secrets))


def drafted(link_parameters=ExampleRecruiter.link_parameters):
    options = {"site": "https://lab.invalid", "title": "Ratings", "link_parameters": dict(link_parameters)}
    return Campaign(
        experiment=Experiment(slug="ratings"),
        name="first",
        places=8,
        reward_minor=150,
        currency="EUR",
        options=options,
    )


def test_a_campaign_is_created_once_and_goes_through_its_states(pool):
    example, campaign = connected(), drafted()
    campaign.external_id = example.create(campaign, key="k1")
    assert example.create(campaign, key="k1") == campaign.external_id
    assert pool.campaigns["k1"]["link"].endswith("?participant={participant}&submission={submission}")
    example.publish(campaign, key="k2")
    assert example.state(campaign).state == RemoteState.RUNNING
    for _ in range(2):
        example.add_places(campaign, 2, total=10, key="k3")
    assert example.state(campaign).places == 10
    example.stop(campaign, key="k4")
    assert example.state(campaign).state == RemoteState.FINISHED
    assert pool.hosts == {"sandbox.pool.invalid"}


def test_a_bonus_whose_answer_is_lost_is_found_and_paid_once(pool):
    example, campaign = connected(), drafted()
    campaign.external_id = example.create(campaign, key="k1")
    bonus = Bonus(pool.arrive("k1", "p1"), "p1", 50, "EUR", "Thank you", "payment-1")
    call = PlatformCall(kind="pay_bonuses", campaign=campaign, request={"bonuses": [vars(bonus)]})
    assert example.outcome(call) == Outcome.NOT_DONE
    pool.loses_next_answer = True
    with pytest.raises(AnswerLost):
        example.pay_bonuses(campaign, [bonus], key="k2")
    assert example.outcome(call) == Outcome.DONE
    example.pay_bonuses(campaign, [bonus], key="k2")
    assert pool.paid["bonus", "s1"] == 1
    assert [row.paid_bonus_minor for row in example.submissions(campaign)] == [50]


def test_an_approval_pays_the_reward_once(pool):
    example, campaign = connected(), drafted()
    campaign.external_id = example.create(campaign, key="k1")
    submission = Submission(external_id=pool.arrive("k1", "p1"))
    for _ in range(2):
        example.approve(submission, key="k2")
    assert pool.paid["reward", "s1"] == 1


def test_a_wrong_token_is_refused(pool):
    with pytest.raises(Refused, match="401"):
        connected(token="another").balance()
