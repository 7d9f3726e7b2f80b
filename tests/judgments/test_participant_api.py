"""Participants, pay and deletion by a token."""

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from experiments.models import Experiment, Job
from judgments.models import Judgment, Participant, Payment
from tests import api, cast

pytestmark = pytest.mark.django_db


call = partial(api.call_study, "agreement")


@pytest.fixture
def study() -> Experiment:
    study = cast.study(reward_minor=150, currency="GBP")
    for name in ("pia", "quentin"):
        cast.sit(study, name)
    return study


def test_participants_are_listed_with_their_sessions_in_a_constant_number_of_queries(
    study, django_assert_max_num_queries
):
    with django_assert_max_num_queries(22):
        listed = call("get", "participants/")
    assert listed["count"] == 2
    newest, oldest = listed["results"]
    assert newest["id"] > oldest["id"]
    (session,) = newest["sessions"]
    assert (session["status"], session["n_answered"], session["pay"]) == ("complete", 4, "undecided")
    assert call("get", f"participants/?who={oldest['participant']}")["results"] == [oldest]
    assert call("get", "participants/?flagged=true")["count"] == 0
    assert call("get", "participants/?status=active")["count"] == 0


def test_flags_are_raised_once_and_lifted(study):
    ids = [row["id"] for row in call("get", "participants/")["results"]]
    body = {"participants": ids, "reason": "Took notes."}
    assert call("post", "flags/", body)["changed"] == 2
    assert call("post", "flags/", body)["changed"] == 0
    (flagged, _) = call("get", "participants/?flagged=true")["results"]
    call("delete", f"flags/{flagged['flags'][0]['id']}/", status=204)
    assert call("post", "flags/lift/", {"participants": ids})["changed"] == 1
    stranger = cast.participant(cast.draft("another"), "stranger").pk
    body = {"participants": [*ids, stranger], "reason": "Took notes."}
    assert str(stranger) in call("post", "flags/", body, status=400)["fields"]["participants"][0]
    assert call("post", "flags/", body, status=403, who=cast.ben)["code"] == "permission_denied"


def test_pay_is_decided_for_many_and_for_one_and_undone(study):
    assert call("post", "payments/", {"decision": "approve", "all": True})["changed"] == 2
    assert call("post", "payments/", {"decision": "approve", "all": True})["changed"] == 0
    entries = call("get", "payments/?kind=reward")["results"]
    assert [(row["amount_minor"], row["currency"], row["is_undone"]) for row in entries] == [
        (150, "GBP", False)
    ] * 2
    reversal = call("post", f"payments/{entries[0]['id']}/undo/", status=201)
    assert (reversal["kind"], reversal["reverses"]) == ("reversal", entries[0]["id"])
    session = entries[0]["session"]
    refused = {"decision": "not_paid", "reason": "Nothing was answered."}
    assert call("post", f"sessions/{session}/payments/", refused, status=201)["kind"] == "not_paid"
    bonus = {"decision": "bonus", "amount_minor": 50, "reason": "Long.", "key": "first"}
    first = call("post", f"sessions/{session}/payments/", bonus, status=201)
    assert call("post", f"sessions/{session}/payments/", bonus, status=201) == first
    many = {**bonus, "sessions": [entries[1]["session"]]}
    assert [call("post", "payments/", many)["changed"] for _ in range(2)] == [1, 0]
    undo = {"decision": "undo", "sessions": [entries[1]["session"]]}
    assert call("post", "payments/", undo)["changed"] == 1
    assert Payment.objects.count() == 7
    for wrong in ({"decision": "undo", "all": True}, {"decision": "approve"}, {**many, "all": True}):
        call("post", "payments/", wrong, status=400)
    call("post", f"sessions/{session}/payments/", {**refused, "amount_minor": 1}, status=400)


def test_a_participant_is_exported_and_deleted(study):
    pia = Participant.objects.order_by("pk").first()
    data = call("post", f"participants/{pia.pk}/data/")
    assert data["participant"]["pseudonym"] == pia.pseudonym
    assert call("post", f"participants/{pia.pk}/erase/", {"forget": True}) == {"judgments": 4}
    assert Judgment.objects.count() == 4
    assert call("post", "participants/check/", status=202)["kind"] == "judgments.quality"


def test_a_study_is_deleted_by_its_owner_and_only_when_confirmed(study):
    day = str((timezone.now() + timedelta(days=30)).date())
    call("put", "purge-date/", {"day": day}, status=422)
    call("post", "delete/", {"confirm": "agreement"}, status=422)  # it takes participants
    Experiment.objects.update(status=Experiment.Status.CLOSED)
    assert call("put", "purge-date/", {"day": day}) == {"day": day}
    call("post", "delete/", {"confirm": "agreemnt"}, status=400)
    call("post", "delete/", {"confirm": "agreement"}, status=403, who=cast.ben)
    assert not Job.objects.exists()
    assert call("post", "delete/", {"confirm": "agreement"}, status=202)["kind"] == "judgments.erase_all"


def test_an_untaken_study_is_gone():
    cast.draft("agreement")
    call("post", "delete/", {"confirm": "agreement"}, status=204)
    assert not Experiment.objects.exists()
