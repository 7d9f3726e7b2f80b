"""The adapter of Prolific against the double: drafts, states, decisions, bonuses, faults of the network."""

import json
from types import SimpleNamespace

import pytest
from django.utils import timezone

from experiments.models import Mode
from judgments.models import Submission
from judgments.recruitment.credentials import replace_secrets
from judgments.recruitment.prolific.client import ProlificClient
from judgments.recruitment.prolific.drafts import CODE_TYPES, FilterOption, resolved_filters
from judgments.recruitment.prolific.recruiter import ProlificRecruiter
from judgments.recruitment.recruiter import AnswerLost, Bonus, Busy, Level, Outcome, Refused, RemoteState
from tests import cast
from tests.judgments.recruitment.prolific.conftest import KEY

pytestmark = pytest.mark.django_db
PAY = ("POST", "/bulk-bonus-payments/ID/pay/")
MESSAGE = "Three of the three attention checks were failed although each asked for one named answer. " * 2


def call(kind, campaign, *, submission=None, key=KEY, **request):
    """A row of the ledger whose answer was lost."""
    return SimpleNamespace(
        kind=kind,
        campaign=campaign,
        key=key,
        submission=submission,
        request=request,
        sent_at=timezone.now(),
        created_at=timezone.now(),
    )


def stored(campaign, number):
    return Submission.objects.create(campaign=campaign, external_id=number, last_seen_at=timezone.now())


def submitted(prolific, campaign, person=""):
    number = prolific.arrive(campaign.external_id, person)
    prolific.submit(number, campaign.options["codes"]["complete"]["code"])
    return stored(campaign, number)


def bonus(number, amount_minor=125, currency="GBP"):
    return Bonus(number, "", amount_minor, currency, "Thank you", f"pay-{number}")


# Drafts


def test_a_draft_has_the_campaigns_settings_and_a_code_for_each_outcome(prolific, campaign, recruiter):
    number = recruiter.create(campaign, key=KEY)
    study = prolific.platform.study(number)
    assert study["status"] == "UNPUBLISHED"
    assert (study["reward"], study["total_available_places"], study["estimated_completion_time"]) == (
        150,
        5,
        10,
    )
    assert study["external_study_url"] == (
        "http://testserver/take/agreement/prolific/?PROLIFIC_PID={{%PROLIFIC_PID%}}"
        "&SESSION_ID={{%SESSION_ID%}}&STUDY_ID={{%STUDY_ID%}}"
    )
    assert json.loads(study["metadata"]) == {"campaign": KEY}
    paths = {path["code"]: path for path in study["completion_codes"]}
    campaign.refresh_from_db()
    for outcome, (code_type, _) in CODE_TYPES.items():
        code = campaign.options["codes"][outcome]["code"]
        assert paths[code]["code_type"] == code_type
        assert campaign.return_template(outcome) == f"{prolific.url}/submissions/complete?cc={code}"
    actions = [action["action"] for path in paths.values() for action in path["actions"]]
    assert "AUTOMATICALLY_APPROVE" not in actions


def test_a_paid_screen_out_pays_also_who_fails_the_check(prolific, campaign, recruiter):
    campaign.options["codes"] = {"screened_out": {"reward_minor": 20, "slots": 7}}
    number = recruiter.create(campaign, key=KEY)
    paths = prolific.platform.study(number)["completion_codes"]
    (path,) = (path for path in paths if path["code_type"] == "FIXED_SCREENOUT")
    pay = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20, "slots": 7}
    assert path["actions"][0] == pay
    assert campaign.return_template("failed_check") == campaign.return_template("screened_out")


def test_the_same_key_creates_one_draft(prolific, campaign, recruiter):
    assert recruiter.create(campaign, key=KEY) == recruiter.create(campaign, key=KEY)
    assert len(prolific.platform.studies) == 1 and len(prolific.platform.groups) == 1


@pytest.mark.parametrize("kind", ["after", "malformed", "502-after"])
def test_a_draft_whose_answer_is_lost_is_found_again(prolific, campaign, recruiter, kind):
    prolific.fail_next(kind, method="POST", path="/studies/")
    with pytest.raises(AnswerLost, match="may have acted"):
        recruiter.create(campaign, key=KEY)
    assert recruiter.outcome(call("create", campaign)) == Outcome.DONE
    assert recruiter.create(campaign, key=KEY) in prolific.platform.studies
    assert len(prolific.platform.studies) == 1


def test_a_draft_that_never_arrived_is_not_done(prolific, campaign, recruiter):
    prolific.fail_next("before", method="POST", path="/studies/")
    with pytest.raises(AnswerLost):
        recruiter.create(campaign, key=KEY)
    assert recruiter.outcome(call("create", campaign)) == Outcome.NOT_DONE


def test_the_same_person_is_kept_out_of_the_next_campaign(prolific, published, recruiter, study):
    person = "a" * 24
    submitted(prolific, published, person)
    published.pk, published.name, published.external_id = None, "autumn", ""
    published.save(force_insert=True)
    published.external_id = recruiter.create(published, key="campaign-key-2")
    recruiter.publish(published, key="publish-2")
    with pytest.raises(Exception, match="not eligible"):
        prolific.arrive(published.external_id, person)


# Checks


def levels(findings):
    return {finding.field: finding.level for finding in findings}


def test_a_sound_campaign_has_no_error(campaign, recruiter):
    assert Level.ERROR not in levels(recruiter.check(campaign)).values()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"reward_minor": 50}, "reward"),
        ({"places": 10_000, "reward_minor": 1000}, "places"),
        ({"maximum_minutes": 20}, "maximum_minutes"),
        ({"currency": "USD"}, "currency"),
        ({"estimated_minutes": None}, "estimated_minutes"),
        ({"options": {"site": "http://testserver", "description": ""}}, "description"),
        ({"options": {"description": "x"}}, "site"),
        (
            {
                "options": {
                    "site": "http://testserver",
                    "description": "x",
                    "filters": [{"filter_id": "shoe-size", "selected_values": ["1"]}],
                }
            },
            "filters",
        ),
        (
            {
                "options": {
                    "site": "http://testserver",
                    "description": "x",
                    "codes": {"screened_out": {"reward_minor": 150}},
                }
            },
            "codes",
        ),
    ],
)
def test_an_error_names_its_setting_and_says_what_to_do(campaign, recruiter, changes, field):
    for name, value in changes.items():
        setattr(campaign, name, value)
    errors = [finding for finding in recruiter.check(campaign) if finding.level == Level.ERROR]
    assert field in {finding.field for finding in errors}
    assert all(finding.text and finding.remedy for finding in errors)


def test_pay_between_minimum_and_recommendation_is_a_warning(campaign, recruiter):
    campaign.reward_minor = 120
    assert levels(recruiter.check(campaign))["reward"] == Level.WARNING


def test_filters_are_resolved_by_title_and_choice_from_the_platforms_list(recruiter):
    chosen = [
        {"title": "first language", "selected_values": ["English", "german"]},
        {"filter_id": "age", "selected_range": {"lower": 18, "upper": 60}},
    ]
    assert resolved_filters(chosen, recruiter.filters()) == [
        {"filter_id": "first-language", "selected_values": ["19", "25"]},
        {"filter_id": "age", "selected_range": {"lower": 18, "upper": 60}},
    ]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"title": "Shoe size", "selected_values": ["40"]}, "no filter “Shoe size”"),
        ({"title": "Languages", "selected_values": ["Klingon"]}, "no choice “Klingon”"),
        ({"title": "Languages", "selected_values": []}, "no value"),
        ({"title": "Age", "selected_range": {"lower": 5}}, "between 18 and 100"),
        ({"title": "Age", "selected_range": {}}, "between 18 and 100"),
    ],
)
def test_a_filter_outside_the_list_is_refused_before_anything_is_sent(row, problem):
    platform = [
        FilterOption("languages", "Languages", "select", {"19": "English"}),
        FilterOption("age", "Age", "range", {}, 18, 100),
    ]
    with pytest.raises(Refused, match=problem):
        resolved_filters([row], platform)


def test_the_dry_run_shows_the_requests_that_creating_sends(prolific, campaign, recruiter):
    planned = recruiter.plan_calls("create", campaign)
    assert [row.address.removeprefix(prolific.url) for row in planned] == [
        "/api/v1/participant-groups/",
        "/api/v1/studies/",
    ]
    assert prolific.platform.studies == {} and prolific.platform.groups == {}
    number = recruiter.create(campaign, key=KEY)
    study = prolific.platform.study(number)
    for name in ("reward", "description", "external_study_url", "submissions_config"):
        assert planned[1].body[name] == study[name]


# States and places


def test_a_campaign_goes_through_its_states(prolific, published, recruiter):
    assert recruiter.state(published).state == RemoteState.RUNNING
    recruiter.pause(published, key="pause")
    recruiter.pause(published, key="pause")  # reached already
    assert recruiter.state(published).state == RemoteState.PAUSED
    recruiter.resume(published, key="resume")
    recruiter.add_places(published, 3, total=8, key="add")
    recruiter.add_places(published, 3, total=8, key="add")
    assert recruiter.state(published).places == 8
    recruiter.stop(published, key="stop")
    recruiter.stop(published, key="stop")
    assert recruiter.state(published).state == RemoteState.FINISHED


@pytest.mark.parametrize("kind", ["publish", "pause"])
@pytest.mark.parametrize(("fault", "outcome"), [("before", Outcome.NOT_DONE), ("after", Outcome.DONE)])
def test_a_lost_answer_to_a_transition_is_resolved_by_the_state(
    prolific, campaign, recruiter, kind, fault, outcome
):
    campaign.external_id = recruiter.create(campaign, key=KEY)
    if kind == "pause":
        recruiter.publish(campaign, key="publish")
    prolific.fail_next(fault, method="POST", path="/transition/")
    with pytest.raises(AnswerLost):
        getattr(recruiter, kind)(campaign, key=kind)
    assert recruiter.outcome(call(kind, campaign)) == outcome


def test_a_full_study_counts_as_stopped_only_once_the_platform_says_so(prolific, published, recruiter):
    for _ in range(5):
        prolific.arrive(published.external_id)
    assert recruiter.state(published).state == RemoteState.FULL
    recruiter.stop(published, key="stop")  # nothing is left to stop
    assert recruiter.outcome(call("stop", published)) == Outcome.NOT_DONE


def test_too_little_money_is_refused_with_the_platforms_reason(prolific, campaign, recruiter):
    campaign.external_id = recruiter.create(campaign, key=KEY)
    prolific.platform.balance = 10
    with pytest.raises(Refused, match="balance is too low") as error:
        recruiter.publish(campaign, key="publish")
    assert error.value.ends_batch


def test_test_mode_spends_nothing_on_the_real_platform(campaign, recruiter, settings):
    campaign.external_id = recruiter.create(campaign, key=KEY)
    settings.PROLIFIC_URL = "https://api.prolific.com"
    assert recruiter.account.mode == Mode.TEST
    for spend in (
        lambda: recruiter.publish(campaign, key="k"),
        lambda: recruiter.add_places(campaign, 1, total=6, key="k"),
        lambda: recruiter.prepare_bonuses(campaign, [bonus("b" * 24)], key="k"),
        lambda: recruiter.pay_bonuses(campaign, [], key="k", prepared_id="c" * 24),
        lambda: recruiter.approve(stored(campaign, "d" * 24), key="k"),
    ):
        with pytest.raises(Refused, match="test mode"):
            spend()
        Submission.objects.all().delete()


# Submissions


def test_all_pages_are_read_in_the_words_of_every_platform(prolific, published, recruiter):
    recruiter.add_places(published, 200, total=205, key="add")
    people = [prolific.arrive(published.external_id) for _ in range(130)]
    prolific.submit(people[0], published.options["codes"]["complete"]["code"])
    prolific.return_(people[1])
    prolific.time_out(people[2])
    rows = {row.id: row for row in recruiter.submissions(published)}
    assert len(rows) == 130
    status = Submission.Status
    assert [rows[number].status for number in people[:4]] == [
        status.SUBMITTED,
        status.RETURNED,
        status.TIMED_OUT,
        status.ACTIVE,
    ]
    first = rows[people[0]]
    assert first.code == published.options["codes"]["complete"]["code"] and len(first.person) == 24
    assert (first.decide_by - first.submitted_at).days == 20


def test_a_study_without_submissions_has_none(published, recruiter):
    assert list(recruiter.submissions(published)) == []


@pytest.mark.parametrize("kind", ["before", "429", "429-retry-after", "503", "malformed", "502-after"])
def test_reads_are_repeated(prolific, published, recruiter, kind, monkeypatch):
    monkeypatch.setattr("judgments.recruitment.prolific.client.time.sleep", lambda _: None)
    prolific.arrive(published.external_id)
    prolific.fail_next(kind, n=2, method="GET", path="/submissions/")
    assert len(list(recruiter.submissions(published))) == 1


def test_a_read_that_fails_for_long_is_busy(prolific, published, recruiter):
    prolific.fail_next("503", n=3, method="GET", path="/submissions/")
    with pytest.raises(Busy, match="fault of its own"):
        list(recruiter.submissions(published))


def test_a_long_retry_after_is_left_to_the_caller(prolific, published, recruiter, monkeypatch):
    monkeypatch.setattr("tools.doubles.prolific.RETRY_AFTER_S", 300)
    prolific.fail_next("429-retry-after", method="GET", path="/submissions/")
    with pytest.raises(Busy) as error:
        list(recruiter.submissions(published))
    assert error.value.retry_after_s == 300
    assert prolific.count("GET", "/submissions/") == 1


def test_a_page_past_the_end_ends_in_an_error_and_in_no_shorter_list(prolific, published, recruiter):
    client = ProlificClient(prolific.platform.token)
    with pytest.raises(Refused, match="Invalid page"):
        client.read("/submissions/", study=published.external_id, page=2)


# Decisions


def test_an_approval_is_confirmed_however_often(prolific, published, recruiter):
    submission = submitted(prolific, published)
    recruiter.approve(submission, key="a")
    recruiter.approve(submission, key="a")
    assert prolific.money() == {("reward", submission.external_id): 1}


@pytest.mark.parametrize(("fault", "outcome"), [("before", Outcome.NOT_DONE), ("after", Outcome.DONE)])
def test_a_lost_answer_to_an_approval_is_resolved(prolific, published, recruiter, fault, outcome):
    submission = submitted(prolific, published)
    prolific.fail_next(fault, method="POST", path="/transition/")
    with pytest.raises(AnswerLost):
        recruiter.approve(submission, key="a")
    assert recruiter.outcome(call("approve", published, submission=submission)) == outcome
    recruiter.approve(submission, key="a")
    assert prolific.money() == {("reward", submission.external_id): 1}


def test_who_has_not_submitted_cannot_be_approved_yet(prolific, published, recruiter):
    submission = stored(published, prolific.arrive(published.external_id))
    with pytest.raises(Refused, match="reports this submission as “ACTIVE”.*Wait until"):
        recruiter.approve(submission, key="a")


def test_a_rejection_has_a_ground_and_a_message_of_legal_length(prolific, published, recruiter):
    submission = submitted(prolific, published)
    with pytest.raises(Refused, match="100 or more"):
        recruiter.reject(submission, category="LOW_EFFORT", message="Too short.", key="r")
    with pytest.raises(Refused, match="no ground"):
        recruiter.reject(submission, category="UGLY", message=MESSAGE, key="r")
    recruiter.reject(submission, category="LOW_EFFORT", message=MESSAGE, key="r")
    assert prolific.platform.submission(submission.external_id)["status"] == "REJECTED"
    assert recruiter.outcome(call("reject", published, submission=submission)) == Outcome.DONE


def test_a_return_is_requested_once(prolific, published, recruiter):
    submission = submitted(prolific, published)
    for _ in range(2):
        recruiter.request_return(submission, reason="No answers arrived.", key="q")
    assert prolific.count("POST", "/submissions/ID/request-return/") == 1
    assert recruiter.outcome(call("request_return", published, submission=submission)) == Outcome.DONE


# Bonuses


def test_bonuses_are_set_up_and_paid_in_two_steps_with_exact_amounts(prolific, published, recruiter):
    first, second = (submitted(prolific, published) for _ in range(2))
    bonuses = [bonus(first.external_id, 425), bonus(second.external_id, 30)]
    prepared = recruiter.prepare_bonuses(published, bonuses, key="b")
    assert (prepared.amount_minor, prepared.paid_before) == (
        455,
        {first.external_id: 0, second.external_id: 0},
    )
    assert prepared.fee_minor == 152 + 31
    assert prolific.money() == {}
    recruiter.pay_bonuses(published, bonuses, key="b", prepared_id=prepared.id)
    assert prolific.platform.paid("bonus") == {first.external_id: 425, second.external_id: 30}


@pytest.mark.parametrize(
    ("fault", "outcome", "times"),
    [
        ("before", Outcome.CANNOT_SAY, 0),
        ("503", Outcome.CANNOT_SAY, 0),
        ("after", Outcome.DONE, 1),
        ("malformed", Outcome.DONE, 1),
        ("502-after", Outcome.DONE, 1),
    ],
)
def test_paying_is_sent_once_whatever_the_network_does(prolific, published, recruiter, fault, outcome, times):
    submission = submitted(prolific, published)
    bonuses = [bonus(submission.external_id)]
    prepared = recruiter.prepare_bonuses(published, bonuses, key="b")
    prolific.fail_next(fault, method="POST", path="/pay/")
    with pytest.raises(AnswerLost, match="may have acted"):
        recruiter.pay_bonuses(published, bonuses, key="b", prepared_id=prepared.id)
    assert prolific.count(*PAY) == 1
    lost = call("pay_bonuses", published, expected_bonuses={submission.external_id: 125})
    assert recruiter.outcome(lost) == outcome
    assert prolific.money() == ({("bonus", submission.external_id, 125): 1} if times else {})


def test_a_bonus_in_progress_cannot_be_said_yet(prolific, published, recruiter):
    submission = submitted(prolific, published)
    prolific.platform.background_delay_s = 1000
    bonuses = [bonus(submission.external_id)]
    prepared = recruiter.prepare_bonuses(published, bonuses, key="b")
    recruiter.pay_bonuses(published, bonuses, key="b", prepared_id=prepared.id)
    lost = call("pay_bonuses", published, expected_bonuses={submission.external_id: 125})
    assert recruiter.outcome(lost) == Outcome.CANNOT_SAY
    prolific.platform.run_due(all_of_them=True)
    assert recruiter.outcome(lost) == Outcome.DONE


@pytest.mark.parametrize(
    ("paid", "outcome"),
    [
        ([], Outcome.CANNOT_SAY),
        ([125], Outcome.DONE),
        ([200], Outcome.CANNOT_SAY),  # paid by hand, another amount
        ([100, 25], Outcome.CANNOT_SAY),  # by hand, the same sum in other amounts
        ([125, 125], Outcome.CANNOT_SAY),  # ours, one by hand, or both by hand
    ],
)
def test_a_bonus_paid_by_hand_counts_as_ours_only_if_it_looks_the_same(
    prolific, published, recruiter, paid, outcome
):
    submission = submitted(prolific, published)
    with prolific.platform.lock:
        prolific.platform.submissions[submission.external_id]["bonuses"] += paid
    bonuses = [{"submission": submission.external_id, "amount_minor": 125}]
    expected = {submission.external_id: 125}
    lost = call("pay_bonuses", published, expected_bonuses=expected, bonuses=bonuses)
    assert recruiter.outcome(lost) == outcome


def test_a_rate_limit_on_paying_leaves_nothing_behind(prolific, published, recruiter):
    submission = submitted(prolific, published)
    bonuses = [bonus(submission.external_id)]
    prepared = recruiter.prepare_bonuses(published, bonuses, key="b")
    prolific.fail_next("429", method="POST", path="/pay/")
    with pytest.raises(Busy, match="nothing was changed"):
        recruiter.pay_bonuses(published, bonuses, key="b", prepared_id=prepared.id)
    assert prolific.money() == {}


def test_a_bonus_in_another_currency_is_refused(prolific, published, recruiter):
    submission = submitted(prolific, published)
    with pytest.raises(Refused, match="in GBP, USD and the workspace pays in GBP"):
        recruiter.prepare_bonuses(published, [bonus(submission.external_id, currency="USD")], key="b")
    assert prolific.count("POST", "/submissions/bonus-payments/") == 0


def test_the_workspaces_own_currency_decides(prolific, published, recruiter):
    prolific.platform.currency = "USD"
    submission = submitted(prolific, published)
    with pytest.raises(Refused, match="in GBP and the workspace pays in USD"):
        recruiter.prepare_bonuses(published, [bonus(submission.external_id)], key="b")


def test_an_unknown_submission_stops_the_set_up_by_name(published, recruiter, prolific):
    with pytest.raises(Refused):
        recruiter.prepare_bonuses(published, [bonus("f" * 24)], key="b")
    assert prolific.platform.set_ups == {}


# Account


def test_an_expired_token_says_what_to_do_and_ends_a_batch(prolific, published, recruiter, account, study):
    prolific.platform.token = "another-token-there"
    with pytest.raises(Refused, match="does not accept the token.*Create a new token") as error:
        recruiter.state(published)
    assert error.value.ends_batch
    replace_secrets(account, {"token": "another-token-there"}, study=study, by=cast.ada())
    assert ProlificRecruiter(account).state(published).state == RemoteState.RUNNING


def test_no_error_and_no_log_has_the_token(prolific, published, recruiter, caplog, capsys):
    errors = []
    for kind in ("before", "after", "429", "503", "malformed", "401"):
        prolific.fail_next(kind, method="POST", path="/transition/")
        with pytest.raises((Refused, Busy, AnswerLost)) as error:
            recruiter.pause(published, key="p")
        errors.append(repr(error.value) + str(error.value))
        recruiter.resume(published, key="r")
    captured = capsys.readouterr()
    assert prolific.platform.token not in "".join([*errors, caplog.text, captured.out, captured.err])


def test_no_connection_means_nothing_was_sent(published, recruiter, settings):
    settings.PROLIFIC_URL = "http://127.0.0.1:9"
    with pytest.raises(Busy, match="could not be reached"):
        ProlificRecruiter(recruiter.account).client.send("POST", "/messages/", {})


# Messages


def test_messages_are_read_and_answered(prolific, published, recruiter):
    submission = prolific.arrive(published.external_id)
    person = prolific.platform.submission(submission)["participant"]
    question = {"recipient_id": "", "body": "I have no code", "study_id": published.external_id}
    prolific.platform.send_message(question, sender=person)
    recruiter.send_message(published, person=person, text="Here it is.", key="m")
    messages = recruiter.messages(published, person=person)
    assert [(row.is_ours, row.text) for row in messages] == [(False, "I have no code"), (True, "Here it is.")]
    assert recruiter.outcome(call("message", published, person=person, text="Here it is.")) == Outcome.DONE
    assert recruiter.outcome(call("message", published, person=person, text="Other")) == Outcome.NOT_DONE
