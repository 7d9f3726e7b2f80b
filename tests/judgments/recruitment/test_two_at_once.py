"""Two requests at once, and two campaigns of one account at once: each effect on the platform comes once."""

import pytest

from analysis.errors import BadInput
from experiments.models import Campaign
from judgments.models import PlatformCall
from judgments.recruitment import campaigns
from judgments.recruitment.recruiter import get_recruiter
from tests import cast
from tests.judgments.recruitment import platforms
from tests.judgments.simultaneous import at_once

pytestmark = pytest.mark.django_db(transaction=True)
State = PlatformCall.State


@pytest.fixture(params=platforms.WITH_SUBMISSIONS)
def recruiter_name(request):
    return request.param


@pytest.fixture
def double(recruiter_name, settings):
    with platforms.double_of(recruiter_name, settings) as double:
        yield double


@pytest.fixture
def campaign(recruiter_name, double):
    return platforms.draft(cast.study("agreement", n_lists=1), recruiter_name, double)


def press(campaign, action, *arguments, **options):
    """A request with a row of its own, as each process has."""
    row = Campaign.objects.select_related("account", "experiment").get(pk=campaign.pk)
    return lambda: action(row, *arguments, by=cast.ada(), **options)


def places_of(campaign):
    """Places here and on the platform."""
    campaign.refresh_from_db()
    return campaign.places, get_recruiter(campaign).state(campaign).places


def n_created(double, name):
    """How many things of a kind exist on the platform."""
    return len(getattr(double.service if hasattr(double, "service") else double.platform, name))


def test_publish_pressed_twice_at_once_publishes_once(campaign, double, recruiter_name):
    at_once([press(campaign, campaigns.publish) for _ in range(4)], expected=BadInput)
    calls = PlatformCall.objects.filter(campaign=campaign, state=State.CONFIRMED)
    assert sorted(calls.values_list("kind", flat=True)) == ["create", "publish"]
    assert places_of(campaign) == (8, 8)
    if recruiter_name == "prolific":
        assert n_created(double, "studies") == 1


def test_publish_pressed_while_the_platform_is_asked_for_another_press_creates_nothing(
    campaign, double, monkeypatch
):
    other_press = press(campaign, campaigns.publish)
    adapter = type(get_recruiter(campaign))
    check = adapter.check

    def check_slowly(recruiter, row):
        monkeypatch.setattr(adapter, "check", check)
        assert other_press().state == State.CONFIRMED
        return check(recruiter, row)

    monkeypatch.setattr(adapter, "check", check_slowly)
    with pytest.raises(BadInput, match="the campaign is running"):
        campaigns.publish(campaign, by=cast.ada())
    campaign.refresh_from_db()
    assert campaign.external_id == PlatformCall.objects.get(kind="create").external_id
    assert places_of(campaign) == (8, 8)


def test_places_added_twice_at_once_from_one_page_are_added_once(campaign, double):
    campaigns.publish(campaign, by=cast.ada())
    at_once([press(campaign, campaigns.top_up, 2, places=8) for _ in range(4)], expected=BadInput)
    assert places_of(campaign) == (10, 10)
    with pytest.raises(BadInput, match="10 places now, and not 8.*None were added"):
        campaigns.top_up(campaign, 2, by=cast.ada(), places=8)
    campaigns.top_up(campaign, 2, by=cast.ada(), places=10)
    assert places_of(campaign) == (12, 12)


def test_close_pressed_twice_at_once_closes_once(campaign, double):
    campaigns.publish(campaign, by=cast.ada())
    campaigns.stop(campaign, by=cast.ada())
    at_once([press(campaign, campaigns.close) for _ in range(4)], expected=BadInput)
    assert PlatformCall.objects.filter(kind="close").count() == 1
    campaign.refresh_from_db()
    assert campaign.state == "closed"


def test_two_campaigns_of_an_account_at_once_share_what_keeps_people_from_taking_part_twice(
    campaign, double, recruiter_name
):
    other = platforms.draft(
        campaign.experiment, recruiter_name, double, name="other", account=campaign.account
    )
    results = at_once(
        [press(campaign, campaigns.publish), press(other, campaigns.publish)], expected=BadInput
    )
    assert [call.state for call in results] == [State.CONFIRMED, State.CONFIRMED]
    assert places_of(campaign) == places_of(other) == (8, 8)
    assert n_created(double, "groups" if recruiter_name == "prolific" else "qualifications") == 1
    results = at_once(
        [press(campaign, campaigns.top_up, 2), press(other, campaigns.top_up, 3)], expected=BadInput
    )
    assert [call.state for call in results] == [State.CONFIRMED, State.CONFIRMED]
    assert (places_of(campaign), places_of(other)) == ((10, 10), (11, 11))
