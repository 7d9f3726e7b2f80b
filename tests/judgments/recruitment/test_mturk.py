"""MTurk through boto3 against its double: HITs of nine, decisions, bonuses, and the bad days."""

import logging
from datetime import UTC

import pytest
from django.utils import timezone

from experiments.models import Campaign, Mode
from judgments.models import PlatformCall, Submission
from judgments.recruitment.mturk import client as mturk_client
from judgments.recruitment.mturk.recruiter import MTurkRecruiter, grant_missing_qualifications
from judgments.recruitment.recruiter import AnswerLost, Bonus, Busy, Outcome, Refused, RemoteState
from tests import cast
from tools.doubles.mturk import Double, account

OPTIONS = {
    "site": "https://lab.example.org",
    "title": "Rate sentences",
    "description": "Read 20 sentences and rate them.",
    "keywords": "language, ratings",
    "qualifications": {"countries": ["US", "GB"], "percent_approved": 95, "n_approved": 100},
}


@pytest.fixture
def double(settings):
    settings.MTURK_ENDPOINT, settings.MTURK_WORKER_SITES = "", []  # restored after the test
    with Double() as double:
        yield double


@pytest.fixture
def campaign(db, double):
    study = cast.study()
    return Campaign.objects.create(
        experiment=study,
        recruiter="mturk",
        name="turk",
        account=account(double, study, cast.ada()),
        places=20,
        reward_minor=50,
        currency="USD",
        estimated_minutes=4,
        options=OPTIONS,
        state="running",
    )


@pytest.fixture
def recruiter(campaign):
    return MTurkRecruiter(campaign.account)


def published(campaign, recruiter):
    campaign.external_id = recruiter.create(campaign, key="create-1")
    campaign.save()
    recruiter.publish(campaign, key="publish-1")
    return campaign


def submitted(double, campaign, person="A1", receipt="r-1"):
    """A worker who submitted, as reconciliation stores it."""
    assignment = double.arrive(campaign.external_id, person)
    double.submit(assignment, receipt)
    return Submission.objects.create(
        campaign=campaign, external_id=assignment, status="submitted", last_seen_at=timezone.now()
    )


def call(campaign, kind, key, **fields):
    return PlatformCall(campaign=campaign, kind=kind, key=key, currency="USD", **fields)


def bonus(submission, *, amount=125, key="payment-1", person="A1", currency="USD"):
    return Bonus(submission.external_id, person, amount, currency, "Thank you", key)


def sizes(double):
    return sorted(hit.max_assignments for hit in double.service.hits.values())


def test_places_become_hits_of_at_most_nine(campaign, recruiter, double):
    published(campaign, recruiter)
    assert sizes(double) == [2, 9, 9]
    recruiter.add_places(campaign, 10, total=30, key="more-1")
    assert sizes(double) == [1, 2, 9, 9, 9]
    state = recruiter.state(campaign)
    assert (state.state, state.places, state.places_taken) == (RemoteState.RUNNING, 30, 0)
    assert state.link.startswith("https://workersandbox.mturk.com/mturk/preview?groupId=")


def test_every_step_repeated_with_its_key_adds_nothing(campaign, recruiter, double):
    published(campaign, recruiter)
    recruiter.publish(campaign, key="publish-1")
    for _ in range(2):
        recruiter.add_places(campaign, 10, total=30, key="more-1")
    assert recruiter.create(campaign, key="create-1") == campaign.external_id
    assert sum(sizes(double)) == 30
    assert len(double.service.qualifications) == 1
    double.service.advance(25 * 3600)  # the token is forgotten, the list of HITs is not
    recruiter.publish(campaign, key="publish-1")
    assert sum(sizes(double)) == 30


def test_what_is_planned_is_what_is_sent(campaign, recruiter, double):
    plans = recruiter.plan_calls("create", campaign)
    assert [plan.address.split(" ")[1] for plan in plans] == ["CreateQualificationType", "CreateHITType"]
    assert double.service.counts == {}
    published(campaign, recruiter)
    (kind,) = [request for operation, request in double.service.requests if operation == "CreateHITType"]
    own = kind["QualificationRequirements"].pop()
    assert kind == dict(plans[1].body)
    assert (own["Comparator"], own["ActionsGuarded"]) == ("DoesNotExist", "DiscoverPreviewAndAccept")
    plans = recruiter.plan_calls("publish", campaign, key="publish-1")
    sent = [body for operation, body in double.service.requests if operation == "CreateHITWithHITType"]
    assert [dict(plan.body) for plan in plans] == sent


def test_the_question_is_our_address_with_escaped_ampersands(campaign, recruiter, double):
    campaign.name = "turk-2"
    campaign.options = {**OPTIONS, "site": "https://lab.example.org"}
    published(campaign, recruiter)
    question = next(iter(double.service.hits.values())).question
    assert "https://lab.example.org/take/agreement/mturk/?campaign=turk-2" in question


def test_a_campaign_is_paused_resumed_stopped_and_its_hits_deleted(campaign, recruiter, double):
    published(campaign, recruiter)
    for _ in range(2):
        recruiter.pause(campaign, key="pause-1")
    assert recruiter.state(campaign).state == RemoteState.PAUSED
    assert recruiter.outcome(call(campaign, "pause", "pause-1")) == Outcome.DONE
    assert recruiter.outcome(call(campaign, "resume", "resume-1")) == Outcome.NOT_DONE
    recruiter.resume(campaign, key="resume-1")
    assert recruiter.state(campaign).state == RemoteState.RUNNING
    submission = submitted(double, campaign)
    recruiter.stop(campaign, key="stop-1")
    recruiter.close(campaign)
    assert [hit.is_disposed for hit in double.service.hits.values()].count(True) == 2
    recruiter.approve(submission, key="approve-1")
    recruiter.close(campaign)
    recruiter.close(campaign)
    assert all(hit.is_disposed for hit in double.service.hits.values())


@pytest.mark.parametrize("ends_with_empty_page", [True, False])
def test_all_submissions_of_all_hits_are_listed(
    campaign, recruiter, double, ends_with_empty_page, monkeypatch
):
    double.service.ends_with_empty_page = ends_with_empty_page
    monkeypatch.setattr(mturk_client, "PAGE_SIZE", 2)
    published(campaign, recruiter)
    for n in range(12):
        submitted(double, campaign, f"A{n}", f"r-{n}")
    double.arrive(campaign.external_id, "A99")  # accepted only
    rows = list(recruiter.submissions(campaign))
    assert {row.person for row in rows} == {f"A{n}" for n in range(12)}
    assert {row.data["receipt"] for row in rows} == {f"r-{n}" for n in range(12)}
    assert {row.status for row in rows} == {Submission.Status.SUBMITTED}
    assert {row.decide_by.tzinfo for row in rows} == {UTC}


def test_an_assignment_that_was_returned_is_of_its_next_worker(campaign, recruiter, double):
    published(campaign, recruiter)
    first = double.arrive(campaign.external_id, "A1")
    double.return_(first)
    second = submitted(double, campaign, "A2")
    assert second.external_id == first
    assert [(row.id, row.person) for row in recruiter.submissions(campaign)] == [(first, "A2")]


def test_work_is_approved_once(campaign, recruiter, double):
    submission = submitted(double, published(campaign, recruiter))
    approval = call(campaign, "approve", "approve-1", submission=submission)
    assert recruiter.outcome(approval) == Outcome.NOT_DONE
    for _ in range(2):
        recruiter.approve(submission, key="approve-1")
    assert double.money() == {("reward", submission.external_id): 1}
    assert recruiter.outcome(approval) == Outcome.DONE
    with pytest.raises(Refused, match="approved this assignment before"):
        recruiter.reject(submission, category="other", message="No.", key="reject-1")


def test_work_approved_by_time_counts_as_approved(campaign, recruiter, double):
    submission = submitted(double, published(campaign, recruiter))
    double.service.advance(7 * 24 * 3600 + 1)
    recruiter.approve(submission, key="approve-1")
    assert double.money() == {("reward", submission.external_id): 1}


def test_rejected_work_can_still_be_paid(campaign, recruiter, double):
    submission = submitted(double, published(campaign, recruiter))
    for _ in range(2):
        recruiter.reject(submission, category="checks", message="Two of two checks failed.", key="reject-1")
    assert recruiter.outcome(call(campaign, "reject", "reject-1", submission=submission)) == Outcome.DONE
    assert double.money() == {}
    recruiter.approve(submission, key="approve-1")
    assert double.money() == {("reward", submission.external_id): 1}


@pytest.mark.parametrize("message", ["", " ", "x" * 1025, "bell \x07"])
def test_a_message_that_mturk_does_not_take_is_not_sent(campaign, recruiter, double, message):
    submission = submitted(double, published(campaign, recruiter))
    with pytest.raises(Refused, match="1 to 1024 characters"):
        recruiter.reject(submission, category="other", message=message, key="reject-1")
    assert double.service.counts["RejectAssignment"] == 0


@pytest.mark.parametrize("fault", ["after", "malformed", "service_fault_after"])
def test_a_bonus_whose_answer_is_lost_is_paid_once(campaign, recruiter, double, fault):
    submission = submitted(double, published(campaign, recruiter))
    request = {"bonuses": [{"submission": submission.external_id, "payment_key": "payment-1"}]}
    payment = call(campaign, "pay_bonuses", "bonus-1", request=request)
    double.fail_next(fault)
    with pytest.raises(AnswerLost, match="Nothing is sent again"):
        recruiter.pay_bonuses(campaign, [bonus(submission)], key="bonus-1")
    assert double.service.counts["SendBonus"] == 1, "boto3 must not repeat it"
    assert recruiter.outcome(payment) == Outcome.DONE
    recruiter.pay_bonuses(campaign, [bonus(submission)], key="bonus-1")  # the token is refused: it was paid
    assert sum(double.money().values()) == 1
    assert double.service.paid_minor("A1") == 125


@pytest.mark.parametrize("fault", ["before", "service_fault"])
def test_a_bonus_that_never_arrived_is_known_to_be_unpaid(campaign, recruiter, double, fault):
    submission = submitted(double, published(campaign, recruiter))
    request = {"bonuses": [{"submission": submission.external_id, "payment_key": "payment-1"}]}
    double.fail_next(fault)
    with pytest.raises(AnswerLost):
        recruiter.pay_bonuses(campaign, [bonus(submission)], key="bonus-1")
    assert recruiter.outcome(call(campaign, "pay_bonuses", "bonus-1", request=request)) == Outcome.NOT_DONE
    recruiter.pay_bonuses(campaign, [bonus(submission, person="")], key="bonus-1")
    assert double.service.paid_minor("A1") == 125


def test_two_equal_bonuses_are_two_payments(campaign, recruiter, double):
    submission = submitted(double, published(campaign, recruiter))
    for key in ("payment-1", "payment-2"):
        recruiter.pay_bonuses(campaign, [bonus(submission, key=key)], key=key)
    request = {"bonuses": [{"submission": submission.external_id, "payment_key": "payment-3"}]}
    assert recruiter.outcome(call(campaign, "pay_bonuses", "b", request=request)) == Outcome.NOT_DONE
    assert double.service.paid_minor("A1") == 250


@pytest.mark.parametrize("fault", ["429", "503"])
def test_a_busy_service_did_nothing(campaign, recruiter, double, fault):
    submission = submitted(double, published(campaign, recruiter))
    double.fail_next(fault)
    with pytest.raises(Busy, match="safe to try again"):
        recruiter.approve(submission, key="approve-1")
    assert double.money() == {} and double.service.counts["ApproveAssignment"] == 1
    recruiter.approve(submission, key="approve-1")
    assert double.money() == {("reward", submission.external_id): 1}


def test_reads_are_repeated_while_the_service_is_busy(campaign, recruiter, double):
    double.service.fail_next("throttled", operation="GetAccountBalance")
    double.service.fail_next("unavailable", operation="GetAccountBalance")
    assert recruiter.balance().amount_minor == 1_000_000
    assert double.service.counts["GetAccountBalance"] == 3


def test_publishing_cut_off_in_the_middle_goes_on_where_it_stopped(campaign, recruiter, double):
    campaign.external_id = recruiter.create(campaign, key="create-1")
    double.service.fail_next("after", operation="CreateHITWithHITType")
    publication = call(campaign, "publish", "publish-1")
    with pytest.raises(AnswerLost):
        recruiter.publish(campaign, key="publish-1")
    assert recruiter.outcome(publication) == Outcome.NOT_DONE and sizes(double) == [9]
    double.service.balance_minor = 100
    with pytest.raises(AnswerLost, match="1 HITs were created and are open, then: .*insufficient funds"):
        recruiter.publish(campaign, key="publish-1")
    double.service.balance_minor = 10_000
    recruiter.publish(campaign, key="publish-1")
    assert sizes(double) == [2, 9, 9] and recruiter.outcome(publication) == Outcome.DONE


def test_a_hit_that_the_list_does_not_show_yet_is_recognized_by_its_token(
    campaign, recruiter, double, monkeypatch
):
    campaign.external_id = recruiter.create(campaign, key="create-1")
    recruiter.publish(campaign, key="publish-1")
    monkeypatch.setattr(double.service, "list_hits", lambda request: {"NumResults": 0, "HITs": []})
    recruiter.publish(campaign, key="publish-1")
    assert sizes(double) == [2, 9, 9]


def test_no_money_ends_the_batch_with_its_remedy(campaign, recruiter, double):
    campaign.external_id = recruiter.create(campaign, key="create-1")
    double.service.balance_minor = 10
    with pytest.raises(Refused, match="Add money to the account") as refusal:
        recruiter.publish(campaign, key="publish-1")
    assert refusal.value.ends_batch and double.service.hits == {}


def test_a_bonus_in_another_currency_is_not_sent(campaign, recruiter, double):
    submission = submitted(double, published(campaign, recruiter))
    with pytest.raises(Refused, match="USD, and this is in GBP"):
        recruiter.pay_bonuses(campaign, [bonus(submission, currency="GBP")], key="b")
    assert double.service.counts["SendBonus"] == 0


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"OTHERKEY": "double-secret"}, "Replace the key"),
        ({"DOUBLEKEY": "changed-secret"}, "Replace the key"),
    ],
)
def test_a_key_that_is_not_accepted_is_named(campaign, recruiter, double, keys, words):
    double.service.keys = keys
    with pytest.raises(Refused, match=words) as refusal:
        recruiter.balance()
    assert refusal.value.ends_batch


def test_a_wrong_clock_is_named(campaign, recruiter, double, monkeypatch):
    monkeypatch.setattr("tools.doubles.mturk.MAX_SKEW_S", -1)
    with pytest.raises(Refused, match="Set the clock of this machine"):
        recruiter.balance()


def test_a_service_that_cannot_be_reached_got_nothing(campaign, recruiter, settings):
    settings.MTURK_ENDPOINT = "http://127.0.0.1:9"
    with pytest.raises(Busy, match="CreateHITType was not sent"):
        MTurkRecruiter(campaign.account).client.change(
            "CreateHITType", AssignmentDurationInSeconds=60, Reward="0.50", Title="t", Description="d"
        )


def test_a_test_account_never_calls_production(campaign, settings):
    settings.MTURK_ENDPOINT = "https://mturk-requester.us-east-1.amazonaws.com"
    with pytest.raises(Refused, match="test account"):
        MTurkRecruiter(campaign.account).balance()
    settings.MTURK_ENDPOINT = ""
    assert "sandbox" in MTurkRecruiter(campaign.account).client.endpoint
    campaign.account.mode = Mode.LIVE
    assert "sandbox" not in MTurkRecruiter(campaign.account).client.endpoint


def test_region_and_address_are_ours_whatever_the_environment_says(campaign, recruiter, double, monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    mturk_client._boto_client.cache_clear()
    assert recruiter.balance().amount_minor == 1_000_000


def test_neither_keys_nor_worker_ids_are_logged(campaign, recruiter, double, caplog):
    caplog.set_level(logging.DEBUG)  # as LOG_LEVEL=DEBUG sets it
    submission = submitted(double, published(campaign, recruiter), "ASECRETWORKER")
    recruiter.pay_bonuses(campaign, [bonus(submission, person="ASECRETWORKER")], key="b")
    double.service.keys = {}
    with pytest.raises(Refused):
        recruiter.balance()
    logged = caplog.text
    assert "double-secret" not in logged and "ASECRETWORKER" not in logged and "DOUBLEKEY" not in logged


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({"currency": "GBP"}, {}, "USD"),
        ({"places": 0}, {}, "no places"),
        ({"reward_minor": 0}, {}, "no reward"),
        ({"places": 20_000}, {}, "the places cost 12000.00 USD"),
        ({"maximum_minutes": 600_000}, {}, "365 days"),
        ({}, {"title": "x" * 129}, "title has 129 characters"),
        ({}, {"description": ""}, "description is empty"),
        ({}, {"auto_approve_days": 31}, "30 days"),
        ({}, {"site": ""}, "address of this server"),
        ({"mode": "live"}, {"site": "http://lab.example.org"}, "https only"),
        ({}, {"qualifications": {"countries": ["usa"]}}, "two letters"),
        ({}, {"qualifications": {"percent_approved": 101}}, "0 to 100"),
    ],
)
def test_what_cannot_be_published_is_an_error_of_the_check(campaign, recruiter, changes, options, words):
    for name, value in changes.items():
        setattr(campaign, name, value)
    campaign.options = {**OPTIONS, **options}
    errors = [finding.text for finding in recruiter.check(campaign) if finding.level == "error"]
    assert len(errors) == 1 and words in errors[0]


def test_a_campaign_in_order_has_warnings_only(campaign, recruiter):
    findings = recruiter.check(campaign)
    assert {finding.level for finding in findings} == {"warning", "note"}
    assert "30 September 2026" in findings[0].text
    cost = recruiter.cost(campaign, places=20)
    assert (cost.reward_minor, cost.fee_minor, cost.total_minor) == (1000, 200, 1200)
    assert (recruiter.bonus_fee(1), recruiter.bonus_fee(12), recruiter.bonus_fee(13)) == (1, 2, 3)


def test_who_began_gets_our_qualification_once_and_no_mail(campaign, recruiter, double):
    published(campaign, recruiter)
    session = cast.begin(
        campaign.experiment,
        recruiter="mturk",
        external_id="A1",
        campaign=campaign,
        personal={"workerId": "A1"},
    )
    double.service.fail_next("throttled", operation="AssociateQualificationWithWorker")
    assert [grant_missing_qualifications() for _ in range(3)] == [0, 1, 0]
    (kind,) = double.service.qualifications
    assert double.service.workers["A1"].granted == {kind: 1} and double.service.notified == []
    hit = next(iter(double.service.hits.values()))
    assert not double.service.may_accept(hit, "A1") and double.service.may_accept(hit, "A2")
    session.participant.identity.refresh_from_db()
    assert session.participant.identity.parameters["workerId"] == "A1"
