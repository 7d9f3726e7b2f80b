"""Submissions on their pages: facts of both sides, decisions, undo, sending, messages and bonuses."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from experiments.models import Job
from experiments.operation import job_runner
from judgments.models import Payment, PlatformCall, Signal, Submission
from judgments.recruitment import campaigns, decisions, ledger, reconcile
from tests import cast
from tests.judgments.recruitment.pages.conftest import STUDY
from tests.webhook_events import subscribed

pytestmark = pytest.mark.django_db
MESSAGE = (
    "In two of forty lines you were asked to choose a given number. Both had another answer, and all took"
    " one minute."
)


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


@pytest.fixture
def page(campaign):
    """The address of the campaign."""
    return f"{STUDY}{campaign.pk}/"


def decide(browser, page, submissions, action, **more):
    form = {"scope": "ticked", "action": action, "submission": [row.pk for row in submissions], **more}
    return browser.post(f"{page}submissions/decide/", form, follow=True)


def send(browser, page, campaign):
    """Press the button, and let the worker send."""
    response = browser.post(f"{page}send/", follow=True)
    ledger.send_planned(campaign)
    return response


def test_both_sides_stand_beside_each_other(ada, page, arrive, campaign, prolific):
    row = arrive()
    stranger = prolific.arrive(campaign.external_id)
    prolific.submit(stranger, "WRONG")
    reconcile.reconcile(campaign)
    listed = text_of(ada.get(f"{page}submissions/"))
    assert row.session.participant.pseudonym in listed and "complete, 4 of 4" in listed
    assert "no session here belongs to it" in listed and "WRONG" in listed
    assert "WRONG" not in text_of(ada.get(f"{page}submissions/?show=clear"))
    facts = text_of(ada.get(f"{page}submissions/{row.pk}/"))
    assert "AWAITING REVIEW" in facts and "4 of 4" in facts
    assert campaign.options["codes"]["complete"]["code"] in facts


def test_an_approval_is_undone_until_it_is_sent(ada, page, arrive, campaign, prolific):
    row = arrive()
    assert "1 of 1 selected approved" in text_of(decide(ada, page, [row], "approve"))
    assert prolific.money() == {}
    assert "1 of 1 selected undone" in text_of(decide(ada, page, [row], "undo"))
    row.refresh_from_db()
    assert row.decision == ""
    decide(ada, page, [row], "approve")
    assert "Send and pay 2.10 GBP" in text_of(ada.get(f"{page}send/"))
    send(ada, page, campaign)
    assert prolific.money() == {("reward", row.external_id): 1}
    assert "0 of 1 selected undone" in text_of(decide(ada, page, [row], "undo"))
    send(ada, page, campaign)
    assert prolific.money() == {("reward", row.external_id): 1}


def test_all_that_match_are_approved_and_none_that_came_later(ada, page, arrive):
    early = arrive()
    shown = ada.get(f"{page}submissions/?show=undecided").content.decode()
    newest = re.search(r'name="newest" value="(\d+)"', shown)[1]
    late = arrive()
    form = {"scope": "matching", "action": "approve", "newest": newest, "return_query": "show=undecided"}
    ada.post(f"{page}submissions/decide/", form)
    early.refresh_from_db()
    late.refresh_from_db()
    assert (early.decision, late.decision) == ("approve", "")


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"category": "LOW_EFFORT", "message": "Too fast."}, "The message has 9 characters"),
        ({"category": "", "message": MESSAGE}, "Choose a ground"),
    ],
)
def test_a_rejection_needs_a_ground_and_a_long_enough_message(ada, page, arrive, form, words):
    row = arrive()
    response = ada.post(f"{page}submissions/{row.pk}/", {"decide": "yes", "decision": "reject", **form})
    assert response.status_code == 422
    assert words in text_of(response)
    row.refresh_from_db()
    assert row.decision == ""


def test_a_rejection_reaches_the_platform_with_its_message(ada, page, arrive, campaign, prolific):
    row = arrive()
    form = {"decide": "yes", "decision": "reject", "category": "LOW_EFFORT", "message": MESSAGE}
    ada.post(f"{page}submissions/{row.pk}/", form)
    sending = text_of(ada.get(f"{page}send/"))
    assert "1 submission to reject" in sending and "Be sure that you can show" in sending
    send(ada, page, campaign)
    assert prolific.platform.submissions[row.external_id]["status"] == "REJECTED"
    assert prolific.money() == {}


def test_nobody_is_rejected_in_bulk(ada, page, arrive):
    row = arrive()
    assert 'value="reject"' not in ada.get(f"{page}submissions/").content.decode()
    assert "No action was chosen" in text_of(decide(ada, page, [row], "reject", reason=MESSAGE))
    row.refresh_from_db()
    assert row.decision == ""


def test_a_bonus_is_given_once_however_often_the_form_is_sent(ada, page, arrive, campaign, prolific):
    rows = [arrive(), arrive()]
    for _ in range(2):
        decide(ada, page, rows, "bonus", amount="0.50", reason="Follow-up question", key="form-1")
    assert Payment.objects.filter(kind="bonus").count() == 2
    send(ada, page, campaign)
    assert prolific.money() == {("bonus", row.external_id, 50): 1 for row in rows}


def test_a_message_is_sent_once_and_read_again(ada, page, arrive, prolific):
    row = arrive()
    for _ in range(2):
        ada.post(f"{page}submissions/{row.pk}/message/", {"text": "Did the page close early?", "key": "k"})
    assert len(prolific.platform.messages) == 1
    assert "Did the page close early?" not in text_of(ada.get(f"{page}submissions/{row.pk}/"))
    assert "Did the page close early?" in text_of(ada.get(f"{page}submissions/{row.pk}/?messages=1"))


def test_a_payment_above_the_limit_waits_for_another_person(ada, client, page, arrive, campaign, prolific):
    row = arrive()
    ada.post(f"{page}limits/", {"two_people_above": "1.00"})
    decide(ada, page, [row], "approve")
    send(ada, page, campaign)
    assert prolific.money() == {}
    waiting = ada.get(f"{page}send/").content.decode()
    assert "1 payment waits for a second person" in waiting and "Confirm and send" not in waiting
    assert "you planned these payments yourself" in text_of(ada.post(f"{page}release/", follow=True)).lower()
    cast.ben().memberships.update(role="editor")
    client.force_login(cast.ben())
    assert "Confirm and send" in client.get(f"{page}send/").content.decode()
    client.post(f"{page}release/")
    ledger.send_planned(campaign)
    assert prolific.money() == {("reward", row.external_id): 1}


def test_viewers_decide_nothing(client, page, arrive):
    row = arrive()
    client.force_login(cast.ben())
    assert client.get(f"{page}submissions/").status_code == 200
    assert decide(client, page, [row], "approve").status_code == 403
    assert client.post(f"{page}submissions/{row.pk}/", {"undo": "yes"}).status_code == 403
    assert client.post(f"{page}send/").status_code == 403


def test_a_submission_of_another_study_is_not_found(ada, arrive):
    row = arrive()
    cast.study("islands")
    address = f"/studies/islands/campaigns/{row.campaign_id}/submissions/{row.pk}/"
    assert ada.get(address).status_code == 404


def test_a_platform_that_cannot_be_asked_keeps_the_decisions(ada, page, arrive, prolific):
    row = arrive()
    decide(ada, page, [row], "approve")
    prolific.fail_next("503", n=50)
    assert "Your decisions are kept" in text_of(ada.get(f"{page}send/"))
    row.refresh_from_db()
    assert row.decision == "approve"
    assert not PlatformCall.objects.filter(kind="approve").exists()


def test_the_list_takes_as_many_queries_for_ten_thousand_submissions_as_for_a_few(
    ada, page, arrive, campaign
):
    arrive()

    def n_queries():
        with CaptureQueriesContext(connection) as queries:
            assert ada.get(f"{page}submissions/").status_code == 200
        return len(queries)

    def add(numbers):
        now = timezone.now()
        Submission.objects.bulk_create(
            Submission(campaign=campaign, external_id=f"s{n}", status="submitted", last_seen_at=now)
            for n in numbers
        )

    add(range(60))
    few = n_queries()
    add(range(60, 10_000))
    assert n_queries() <= few
    assert "Page 1 of 201" in text_of(ada.get(f"{page}submissions/"))


def test_a_campaign_is_closed_when_everybody_is_decided_and_paid(ada, page, arrive, campaign, prolific):
    row = arrive()
    ada.post(f"{page}act/", {"action": "stop"})
    assert "without a decision on the platform" in text_of(ada.get(page))
    ada.post(f"{page}act/", {"action": "close"})
    campaign.refresh_from_db()
    assert campaign.state == "finished"
    decide(ada, page, [row], "approve")
    send(ada, page, campaign)
    reconcile.reconcile(campaign)
    assert campaigns.open_matters(campaign) == []
    ada.post(f"{page}act/", {"action": "close"})
    campaign.refresh_from_db()
    assert campaign.state == "closed"
    assert (
        "Decide"
        not in text_of(ada.get(f"{page}submissions/{row.pk}/")).split("Grounds")[1].split("Messages")[1]
    )


def test_places_are_added_and_the_mode_is_on_every_page(ada, page, campaign, prolific, arrive):
    row = arrive()
    assert "3 places added, 9 in all" in text_of(ada.post(f"{page}places/", {"n": "3"}, follow=True))
    (remote,) = prolific.platform.studies.values()
    assert remote["total_available_places"] == 9
    for name in ("", "submissions/", "send/", f"submissions/{row.pk}/"):
        assert "Test mode." in text_of(ada.get(f"{page}{name}"))


def select_passing(browser, page):
    """The fields of the form that approves all that pass, as the page has them."""
    shown = browser.get(f"{page}submissions/").content.decode()
    newest = re.search(r'name="scope" value="passing".*?name="newest" value="(\d+)"', shown, re.DOTALL)[1]
    return {"scope": "passing", "action": "approve", "newest": newest}


def test_all_that_pass_are_approved_after_a_preview_of_the_money(ada, page, arrive, campaign, prolific):
    passing = [arrive(), arrive()]
    other_code = arrive(code="WRONG")
    signalled = arrive()
    Signal.objects.create(session=signalled.session, name="too_fast", version=1, value=1, reason="fast")
    listed = text_of(ada.get(f"{page}submissions/"))
    assert "2 pass everything" in listed and "Preview: approve 2" in listed
    form = select_passing(ada, page)
    preview = ada.post(f"{page}submissions/decide/", {**form, "preview": "yes"})
    assert "Total 4.20 GBP" in text_of(preview) and "None has a remark" in text_of(preview)
    assert not Submission.objects.exclude(decision="").exists()
    ada.post(f"{page}submissions/decide/", {**form, "note": "Complete, and every check passed."})
    decided = Submission.objects.filter(decision="approve").order_by("pk")
    assert [row.pk for row in decided] == [row.pk for row in passing]
    assert {row.reason for row in decided} == {"Complete, and every check passed."}
    assert "For the team: Complete" in text_of(ada.get(f"{page}submissions/{passing[0].pk}/"))
    assert Submission.objects.filter(pk__in=[other_code.pk, signalled.pk], decision="").count() == 2
    decide(ada, page, passing, "undo")
    assert not Submission.objects.exclude(decision="", reason="").exists()
    assert prolific.money() == {}


def test_a_preview_names_who_is_left_out_and_whom_a_remark_is_about(ada, page, arrive, campaign):
    decided, wrong = arrive(), arrive(code="WRONG")
    decide(ada, page, [decided], "approve")
    ada.post(f"{page}limits/", {"total_limit": "3.00"})
    form = {"scope": "ticked", "action": "approve", "submission": [decided.pk, wrong.pk], "preview": "yes"}
    preview = text_of(ada.post(f"{page}submissions/decide/", form))
    assert "1 of 2 selected waits for a decision" in preview and "1 left out: decided before" in preview
    assert f"1 with a remark {wrong.session.participant.pseudonym}" in preview
    assert "Decided before and not sent yet: 2.10 GBP" in preview
    assert "This costs 4.20 GBP, and the budget leaves 3.00 GBP" in preview
    assert Submission.objects.filter(decision="approve").count() == 1


def test_decisions_that_reached_the_platform_are_an_event(ada, study, page, arrive, campaign, prolific):
    def run_sending():
        for job_id in Job.objects.filter(kind=decisions.SEND).values_list("pk", flat=True):
            job_runner.run(job_id)

    decide(ada, page, [arrive()], "approve")
    with subscribed(study, "submissions.sent") as subscription:
        prolific.fail_next("429", method="POST", path="/transition/")
        ada.post(f"{page}send/")
        run_sending()
        assert subscription.data("submissions.sent") == []  # the platform was busy: nothing reached it
        for _ in range(2):  # pressed twice
            ada.post(f"{page}send/")
            run_sending()
        [data] = subscription.data("submissions.sent")
    assert data["campaign"] == campaign.name and data["calls"]["confirmed"] == 1
    assert sum(data["calls"].values()) == 1 and len(prolific.money()) == 1
