"""Codes and messages: submissions without a valid code with their sessions' facts, and what people wrote."""

import re

import pytest

from judgments.models import PlatformCall, Session, Submission
from judgments.recruitment import decisions, ledger, reconcile
from tests import cast
from tests.judgments.recruitment.pages.conftest import STUDY

pytestmark = pytest.mark.django_db


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


@pytest.fixture
def page(campaign):
    return f"{STUDY}{campaign.pk}/codes/"


@pytest.fixture
def without_code(prolific, campaign, arrive):
    """Somebody who submits on the platform without a code, complete here or not."""

    def submit(*, is_complete: bool) -> Submission:
        row = arrive(is_complete=False)
        if is_complete:
            session = row.session
            for trial in session.trials.select_related("session__experiment"):
                cast.record(session, trial.public_id, cast.answer_to(trial))
            cast.finish(Session.objects.get(pk=session.pk))
        prolific.submit(row.external_id, "")
        reconcile.reconcile(campaign)
        return Submission.objects.get(pk=row.pk)

    return submit


def test_a_complete_session_without_a_code_is_approved_from_its_facts(
    ada, page, campaign, prolific, without_code
):
    row = without_code(is_complete=True)
    assert row.mismatches == ["no_code"]
    text = text_of(ada.get(page))
    assert "Submitted on the platform without a completion code" in text
    assert "4 of 4" in text and "NOCODE" in text
    assert f"expected {campaign.options['codes']['complete']['code']}" in text
    assert "The session is complete: approve." in text
    form = {"decide": "yes", "decision": "approve", "back": "codes"}
    response = ada.post(f"{STUDY}{campaign.pk}/submissions/{row.pk}/", form, follow=True)
    assert response.redirect_chain == [(page, 302)]
    assert "Every submission that waits for a decision has a valid code" in text_of(response)
    decisions.plan_sending(campaign, by=cast.ada())
    ledger.send_planned(campaign)
    assert prolific.money() == {("reward", row.external_id): 1}


def test_a_null_code_is_no_code_where_the_campaign_has_codes(ada, page, campaign, prolific, without_code):
    row = without_code(is_complete=True)
    prolific.platform.submissions[row.external_id]["code"] = None
    reconcile.reconcile(campaign)
    row.refresh_from_db()
    assert (row.entered_code, row.mismatches) == ("", ["no_code"])
    text = text_of(ada.get(page))
    assert "Submitted on the platform without a completion code" in text and "None" not in text
    assert "The session is complete: approve." in text


def test_an_incomplete_session_without_a_code_is_asked_to_return_with_a_message(
    ada, page, campaign, without_code
):
    row = without_code(is_complete=False)
    html = ada.get(page).content.decode()
    assert "The session is not complete: ask the participant" in html
    message = re.search(r"<textarea[^>]*>([^<]*)</textarea>", html)[1]
    assert "we have 0 of 4 answers of you" in message
    form = {"decide": "yes", "decision": "request_return", "message": message, "back": "codes"}
    ada.post(f"{STUDY}{campaign.pk}/submissions/{row.pk}/", form)
    row.refresh_from_db()
    assert (row.decision, row.message) == ("request_return", message)


def test_a_mistyped_code_is_listed_and_a_right_one_is_not(ada, page, arrive, prolific, campaign):
    right, mistyped = arrive(), arrive(code="TYPO")
    text = text_of(ada.get(page))
    assert mistyped.session.participant.pseudonym in text and "TYPO" in text
    assert right.session.participant.pseudonym not in text


def test_what_participants_wrote_is_read_when_asked_for_and_leads_to_the_answer(
    ada, page, campaign, prolific, without_code
):
    row = without_code(is_complete=True)
    person = prolific.platform.submissions[row.external_id]["participant"]
    values = {"study_id": campaign.external_id, "recipient_id": "", "body": "I lost the code, sorry."}
    prolific.platform.send_message(values, sender=person)
    assert "I lost the code" not in text_of(ada.get(page))
    response = ada.get(f"{page}?messages=1")
    assert "I lost the code, sorry." in text_of(response)
    assert "complete here, 4 of 4 answers, code NOCODE" in text_of(response)
    assert person not in response.content.decode()
    own = f"{STUDY}{campaign.pk}/submissions/{row.pk}/"
    assert f"{own}?messages=1#messages" in response.content.decode()
    answer = text_of(ada.post(f"{own}message/", {"text": "No problem: paid.", "key": "k"}, follow=True))
    assert "I lost the code, sorry." in answer and "No problem: paid." in answer
    assert PlatformCall.objects.get(kind="message").state == "confirmed"
    again = text_of(ada.get(f"{page}?messages=1"))
    assert "No problem: paid." not in again  # what we wrote is in the thread, not among what they wrote


def test_messages_that_cannot_be_read_say_so_and_leave_the_page(ada, page, prolific, campaign):
    prolific.fail_next("503", n=10, path="/messages/")
    text = text_of(ada.get(f"{page}?messages=1"))
    assert "Prolific has a fault of its own (503)" in text
    assert "Every submission that waits" in text


def test_a_viewer_sees_the_facts_and_no_button(client, page, campaign, without_code):
    without_code(is_complete=True)
    client.force_login(cast.ben())
    html = client.get(page).content.decode()
    assert "The session is complete" in html and "Approve," not in html
