"""Decisions about several participants at once: the ticked, the page's, or all that match the filters."""

import pytest

from experiments.models import AuditEntry
from judgments.flags import raise_flag
from judgments.models import Flag, Payment
from judgments.sessions.enrollment import record_refusal
from tests import cast

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/agreement/participants/"
DECIDE = f"{ADDRESS}decide/"


@pytest.fixture
def study():
    return cast.study("agreement", reward_minor=150, currency="GBP")


@pytest.fixture
def people(study):
    """Three who completed, in the order of their arrival."""
    return [cast.sit(study, name).participant for name in ("pia", "quentin", "rosa")]


@pytest.fixture
def ada(client):
    client.force_login(cast.ada())
    return client


def decide(client, action, *participants, **sent):
    """The page after an action on the ticked participants."""
    sent = {"action": action, "participant": [participant.pk for participant in participants], **sent}
    return client.post(DECIDE, sent, follow=True).content.decode()


def flagged():
    return {flag.participant.pseudonym for flag in Flag.objects.filter(lifted_at__isnull=True)}


def audited(action):
    return AuditEntry.objects.filter(action=action).count()


def test_the_ticked_are_excluded_and_included_again_once_each(ada, people):
    for _ in range(2):
        page = decide(ada, "exclude", *people[:2], reason="Sat side by side")
    assert "0 of 2 participants flagged" in page  # the second click changes nothing
    names = {participant.pseudonym for participant in people[:2]}
    assert flagged() == names and audited("participant flagged") == 2
    assert {flag.raised_by for flag in Flag.objects.all()} == {cast.ada()}
    for _ in range(2):
        decide(ada, "include", *people)
    assert flagged() == set() and audited("flag lifted") == 2


def test_every_reason_of_a_participant_is_lifted(ada, people):
    for reason in ("Sat side by side", "Too fast"):
        raise_flag(people[0], reason, by=cast.ben())
    assert "1 of 3 participants included again" in decide(ada, "include", *people)
    assert flagged() == set() and audited("flag lifted") == 2


def test_pay_is_approved_refused_and_undone_for_the_ticked(ada, people):
    for _ in range(2):
        decide(ada, "approve", people[0], people[1])
    assert "needs a reason" in decide(ada, "not_paid", people[2])
    for _ in range(2):
        decide(ada, "not_paid", *people, reason="Agreed so")  # those approved stay approved
    kinds = {row.session.participant.pseudonym: row.kind for row in Payment.objects.all()}
    assert Payment.objects.count() == 3
    assert kinds == {
        people[0].pseudonym: "reward",
        people[1].pseudonym: "reward",
        people[2].pseudonym: "not_paid",
    }
    assert (audited("pay: reward"), audited("pay: not paid")) == (2, 1)
    for _ in range(2):
        decide(ada, "undo", *people)
    assert Payment.objects.filter(kind="reversal").count() == 3 == audited("pay: taken back")
    decide(ada, "approve", *people)
    assert Payment.objects.filter(kind="reward").count() == 5


def test_the_same_form_gives_one_bonus_each(ada, people):
    for key in ("a", "a", "b"):
        decide(ada, "bonus", *people[:2], amount="0,25", reason="Thorough", key=key)
    assert [row.amount_minor for row in Payment.objects.all()] == [25] * 4
    assert "Amount" in decide(ada, "bonus", *people, amount="much", reason="Thorough")
    decide(ada, "undo", *people)  # undoes decisions, no bonuses
    assert Payment.objects.count() == 4


def test_all_that_match_the_filters_and_arrived_before_the_page(ada, study, people):
    raise_flag(people[0], "Too fast", by=cast.ada())
    page = ada.get(f"{ADDRESS}?flagged=on")
    cast.sit(study, "sam")
    for newest in (page.context["newest"], ""):
        sent = {"scope": "matching", "return_query": "flagged=on", "newest": newest}
        decide(ada, "not_paid", reason="Agreed so", **sent)
    assert [row.session.participant for row in Payment.objects.all()] == [people[0]]
    decide(ada, "approve", scope="matching", newest=people[2].pk)
    assert Payment.objects.filter(kind="reward").count() == 2  # not of Sam, who came later


def test_all_on_the_page_are_those_that_it_showed(ada, study, people):
    listed = ada.get(ADDRESS).context["shown"]
    cast.sit(study, "sam")
    decide(ada, "exclude", scope="page", shown=listed, reason="Too fast")
    assert flagged() == {participant.pseudonym for participant in people}


def test_bulk_exclusion_skips_participants_without_answers_and_of_other_studies(ada, study, people):
    record_refusal(study, cast.arrival("never"), consent_text="You may stop at any time.")
    stranger = cast.sit(cast.study("other", materials=cast.material_set("other"))).participant
    decide(ada, "exclude", *study.participants.all(), stranger, reason="Too fast")
    assert flagged() == {participant.pseudonym for participant in people}
    decide(ada, "approve", stranger)
    assert not Payment.objects.exists()


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"action": "exclude", "reason": "x"}, "No participant is selected"),
        ({"action": "exclude", "reason": "x", "participant": ["x", "9" * 30]}, "No participant is selected"),
        ({"action": "explode", "scope": "matching"}, "No action was chosen"),
        ({"scope": "matching"}, "No action was chosen"),
    ],
)
def test_impossible_bulk_actions_are_reported(ada, people, sent, problem):
    assert problem in ada.post(DECIDE, sent, follow=True).content.decode()
    assert not Flag.objects.exists()


def test_only_editors_decide_and_see_the_bar(client, people):
    client.force_login(cast.ben())
    page = client.get(ADDRESS).content.decode()
    assert 'id="bulk"' not in page and 'name="participant"' not in page
    assert client.post(DECIDE, {"action": "approve", "participant": people[0].pk}).status_code == 403
    client.force_login(cast.cleo())
    assert client.post(DECIDE, {"action": "approve", "participant": people[0].pk}).status_code == 404
    client.force_login(cast.ada())
    assert client.get(DECIDE).status_code == 405
    assert not Payment.objects.exists()


def test_each_row_has_one_box_and_one_disclosure(ada, people):
    page = ada.get(ADDRESS).content.decode()
    rows = page.split("<tbody>")[1].split("</tbody>")[0].split("<tr>")[1:]
    assert [(row.count('type="checkbox"'), row.count("<summary>")) for row in rows] == [(1, 1)] * 3


def test_pay_is_not_offered_for_all_where_none_is_set(client):
    cast.sit(cast.study("agreement"))
    client.force_login(cast.ada())
    page = client.get(ADDRESS).content.decode()
    assert 'value="not_paid">do not pay' in page and '<option value="approve">' not in page
