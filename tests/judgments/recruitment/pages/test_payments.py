"""The ledger on its page: states, what is unknown, totals, and the file for accounting."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.models import AuditEntry
from judgments.models import PlatformCall, Submission
from judgments.recruitment import decisions, ledger, payments
from tests import cast
from tests.judgments.recruitment.pages.conftest import STUDY

pytestmark = pytest.mark.django_db
PAGE = f"{STUDY}payments/"


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def rows_of(response):
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


@pytest.fixture
def approved(arrive, campaign):
    """A submission whose approval is planned."""
    row = arrive()
    decisions.approve(campaign, Submission.objects.filter(pk=row.pk), by=cast.ada())
    decisions.plan_sending(campaign, by=cast.ada())
    return row


@pytest.fixture
def unknown(approved, campaign, prolific):
    """An approval that the platform carried out without an answer, six minutes ago."""
    prolific.fail_next("after", method="POST", path="/transition/")
    ledger.send_planned(campaign)
    call = PlatformCall.objects.get(kind="approve")
    assert call.state == "unknown"
    PlatformCall.objects.filter(pk=call.pk).update(sent_at=timezone.now() - timedelta(minutes=6))
    return call


def test_a_confirmed_payment_is_in_the_totals_and_the_file(ada, approved, campaign):
    ledger.send_planned(campaign)
    page = text_of(ada.get(PAGE))
    assert "1 reward 1.50 GBP 0.60 GBP 2.10 GBP" in page
    (row,) = rows_of(ada.get(f"{PAGE}accounting.csv"))
    assert (row["amount"], row["fee"], row["currency"], row["state"]) == ("1.50", "0.60", "GBP", "confirmed")
    assert "submission" not in row
    assert approved.external_id not in str(row)


def test_ids_of_the_platform_are_exported_only_when_asked_for_and_noted(ada, approved, campaign):
    ledger.send_planned(campaign)
    (row,) = rows_of(ada.get(f"{PAGE}accounting.csv?ids=yes"))
    assert row["submission"] == approved.external_id
    entry = AuditEntry.objects.get(action="payments downloaded")
    assert entry.details == {"with_platform_ids": True}


def test_an_unknown_payment_is_asked_about_and_never_sent_twice(ada, unknown, campaign, prolific):
    assert "1 without an answer" in text_of(ada.get(PAGE))
    assert "See what is unknown" in text_of(ada.get(f"{STUDY}{campaign.pk}/"))
    page = text_of(ada.post(f"{PAGE}calls/{unknown.pk}/ask/", follow=True))
    assert "acted: the call is confirmed" in page
    ledger.send_planned(campaign)
    assert list(prolific.money().values()) == [1]


def test_a_resolved_bonus_says_that_one_paid_by_hand_looks_the_same(ada, arrive, campaign, prolific):
    row = arrive()
    payments.give_bonus(row.session, amount_minor=50, currency="GBP", reason="thanks", key="1", by=cast.ada())
    decisions.plan_sending(campaign, by=cast.ada())
    prolific.fail_next("after", method="POST", path="/pay/")
    ledger.send_planned(campaign)
    call = PlatformCall.objects.get(kind="pay_bonuses")
    assert call.amount_minor == 50  # of the prepared bonus
    assert call.state == "unknown"
    PlatformCall.objects.filter(pk=call.pk).update(sent_at=timezone.now() - timedelta(minutes=6))
    page = text_of(ada.post(f"{PAGE}calls/{call.pk}/ask/", follow=True))
    assert "paid manually on its site after this was sent looks the same" in page
    assert list(prolific.money().values()) == [1]


def test_a_bonus_that_the_list_does_not_prove_tells_how_to_compare(ada, arrive, campaign, prolific):
    row = arrive()
    payments.give_bonus(row.session, amount_minor=50, currency="GBP", reason="thanks", key="1", by=cast.ada())
    decisions.plan_sending(campaign, by=cast.ada())
    prolific.fail_next("before", method="POST", path="/pay/")
    ledger.send_planned(campaign)
    with prolific.platform.lock:  # the researcher paid another amount on the site meanwhile
        prolific.platform.submissions[row.external_id]["bonuses"].append(75)
    PlatformCall.objects.filter(kind="pay_bonuses").update(sent_at=timezone.now() - timedelta(minutes=6))
    ledger.send_planned(campaign)
    assert PlatformCall.objects.get(kind="pay_bonuses").state == "unknown"
    page = text_of(ada.get(f"{PAGE}?state=unknown"))
    assert "compare the time of each bonus with the time at which this was sent" in page


def test_a_call_that_was_just_sent_is_not_asked_about_yet(ada, unknown):
    PlatformCall.objects.filter(pk=unknown.pk).update(sent_at=timezone.now())
    assert "may still be on its way" in text_of(ada.post(f"{PAGE}calls/{unknown.pk}/ask/", follow=True))
    unknown.refresh_from_db()
    assert unknown.state == "unknown"


def test_a_person_settles_what_the_platform_cannot_say(ada, unknown):
    address = f"{PAGE}calls/{unknown.pk}/settle/"
    assert "whether the platform acted" in text_of(ada.post(address, {"note": "seen"}, follow=True))
    assert "needs a note" in text_of(ada.post(address, {"took_effect": "yes"}, follow=True))
    ada.post(address, {"took_effect": "yes", "note": "Shown as approved on Prolific"})
    unknown.refresh_from_db()
    assert unknown.state == "confirmed"
    assert unknown.response["settled_by"] == "ada"


def test_a_refused_payment_says_why(ada, approved, campaign, prolific):
    prolific.return_(approved.external_id)
    ledger.send_planned(campaign)
    page = text_of(ada.get(f"{PAGE}?state=failed"))
    assert "RETURNED" in page and "approve" in page
    assert "No rows match" in text_of(ada.get(f"{PAGE}?state=confirmed"))


def test_viewers_see_the_ledger_and_take_no_file(client, unknown):
    client.force_login(cast.ben())
    page = text_of(client.get(PAGE))
    assert "1 without an answer" in page and "Ask the platform" not in page
    assert client.get(f"{PAGE}accounting.csv").status_code == 403
    assert client.post(f"{PAGE}calls/{unknown.pk}/ask/").status_code == 403
    client.force_login(cast.cleo())
    assert client.get(PAGE).status_code == 404
