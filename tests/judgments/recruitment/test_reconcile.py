"""The platform's list beside our sessions: places that are free, and mismatches that a person looks at."""

from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.models import Job
from judgments.models import PlatformIdentity, Session, Submission
from judgments.recruitment.periodic import reconcile_campaigns
from judgments.recruitment.reconcile import reconcile
from judgments.sessions.places import channel_places_left
from tests import cast
from tools.doubles.memory import MemoryRecruiter, Platform

pytestmark = pytest.mark.django_db

Status = Submission.Status


@pytest.fixture
def platform():
    return Platform()


@pytest.fixture
def campaign(platform):
    study = cast.study("agreement", n_lists=1)
    platform.campaigns["c"] = {"state": "running", "places": 3}
    return study.campaigns.create(name="run", recruiter="memory", places=3, state="running", external_id="c")


def session_of(campaign, submission, person, *, is_complete=True, **fields):
    session = cast.begin(campaign.experiment, f"{person}-{submission}")
    changed = {"status": "complete", "completed_at": timezone.now()} if is_complete else {}
    Session.objects.filter(pk=session.pk).update(campaign=campaign, **changed, **fields)
    PlatformIdentity.objects.create(
        participant=session.participant,
        experiment=campaign.experiment,
        recruiter="memory",
        external_id=person,
        parameters={"SESSION_ID": submission},
    )
    return session


def read(campaign, platform):
    result = reconcile(campaign, recruiter=MemoryRecruiter(platform))
    return result, {row.external_id: row for row in Submission.objects.filter(campaign=campaign)}


@pytest.mark.parametrize("status", [Status.RETURNED, Status.TIMED_OUT, Status.REJECTED])
def test_who_left_the_platform_frees_the_place_at_once(campaign, platform, status):
    for person in ("p1", "p2", "p3"):
        session_of(campaign, platform.arrive("c", person), person, is_complete=person == "p1")
    read(campaign, platform)
    assert channel_places_left(campaign) == 0
    for row in list(platform.rows.values())[:2]:
        row["status"] = status
    read(campaign, platform)
    assert channel_places_left(campaign) == 2


def test_a_second_reading_changes_nothing(campaign, platform):
    session_of(campaign, platform.arrive("c", "p1"), "p1")
    first, _ = read(campaign, platform)
    second, _ = read(campaign, platform)
    assert (first.n_new, first.n_changed) == (1, 0)
    assert (second.n_new, second.n_changed) == (0, 0)


def test_each_mismatch_is_named(campaign, platform):
    study = campaign.experiment
    study.completion_code = "C1"
    study.save()
    nothing = platform.arrive("c", "p1")
    platform.submit(nothing, "C1")
    unfinished = platform.arrive("c", "p2")
    platform.submit(unfinished, "C1")
    session_of(campaign, unfinished, "p2", is_complete=False)
    forgotten = platform.arrive("c", "p3")
    session = session_of(campaign, forgotten, "p3")
    Session.objects.filter(pk=session.pk).update(completed_at=timezone.now() - timedelta(hours=1))
    other_code = platform.arrive("c", "p4")
    platform.submit(other_code, "WRONG")
    session_of(campaign, other_code, "p4")
    other_person = platform.arrive("c", "p5")
    platform.submit(other_person, "C1")
    session_of(campaign, other_person, "somebody else")
    approved = platform.arrive("c", "p6")
    session_of(campaign, approved, "p6")
    platform.rows[approved].update(status=Status.APPROVED, bonuses=100)
    _, rows = read(campaign, platform)
    assert {name: row.mismatches for name, row in rows.items()} == {
        nothing: ["no_data"],
        unfinished: ["incomplete"],
        forgotten: ["not_submitted"],
        other_code: ["other_code"],
        other_person: ["other_person"],
        approved: ["undecided_here", "bonus_elsewhere"],
    }
    del platform.rows[nothing]
    result, rows = read(campaign, platform)
    assert (rows[nothing].mismatches, result.n_mismatches) == (["not_listed"], 6)


@pytest.mark.parametrize("outcome", ["refused", "over_quota", "repeated"])
def test_the_code_of_somebody_who_was_led_back_at_once_explains_why_there_is_no_session(
    campaign, platform, outcome
):
    campaign.options["codes"] = {"complete": {"code": "C1"}, outcome: {"code": "NOT-TAKEN"}}
    campaign.save()
    led_back, lost = platform.arrive("c", "p1"), platform.arrive("c", "p2")
    platform.submit(led_back, "not-taken")
    platform.submit(lost, "C1")
    _, rows = read(campaign, platform)
    assert rows[led_back].mismatches == ["did_not_begin"]
    assert rows[lost].mismatches == ["no_data"]


def test_of_two_sessions_that_name_one_submission_the_persons_own_is_linked(campaign, platform):
    submission = platform.arrive("c", "p1")
    session_of(campaign, submission, "impostor")
    own = session_of(campaign, submission, "p1")
    _, rows = read(campaign, platform)
    assert rows[submission].session == own
    assert rows[submission].mismatches == ["claimed_twice"]


def test_the_campaign_follows_the_platform(campaign, platform):
    platform.campaigns["c"]["state"] = "paused"
    read(campaign, platform)
    assert campaign.state == "paused"


def test_reading_five_hundred_submissions_takes_few_queries(
    campaign, platform, django_assert_max_num_queries
):
    for number in range(500):
        platform.submit(platform.arrive("c", f"p{number}"))
    with django_assert_max_num_queries(40):
        read(campaign, platform)
    for row in platform.rows.values():
        row["status"] = Status.APPROVED
    with django_assert_max_num_queries(40):
        _, rows = read(campaign, platform)
    assert {row.status for row in rows.values()} == {"approved"}


def test_the_periodic_task_queues_each_due_campaign_once(campaign):
    study = campaign.experiment
    account = study.platform_accounts.create(platform="mturk", label="a", secrets=b"")
    due = study.campaigns.create(name="due", recruiter="mturk", account=account, state="running")
    fresh = {"recruiter": "mturk", "account": account, "reconciled_at": timezone.now()}
    study.campaigns.create(name="fresh", state="running", **fresh)
    study.campaigns.create(name="closed", recruiter="mturk", account=account, state="closed")
    reconcile_campaigns()
    reconcile_campaigns()
    (job,) = Job.objects.all()
    assert job.arguments == {"campaign": due.pk}
