"""The people of a study: progress, catch trials, flags by hand."""

import csv
import io
import json

import pytest

from experiments.models import AuditEntry
from experiments.studies.lifecycle import open_study
from judgments.flags import raise_flag
from judgments.frames.build import judgment_frame
from judgments.models import Flag, Session
from judgments.recruitment.payments import approve
from judgments.sessions.completion import finish
from judgments.sessions.enrollment import arrive, record_refusal
from judgments.sessions.removal import erase, leave
from tests import cast

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/agreement/participants/"


@pytest.fixture
def session():
    return cast.sit(cast.study("agreement"), n=2)


def test_each_person_is_shown_with_state_progress_and_list(client, session):
    client.force_login(cast.ben())
    page = client.get(ADDRESS)
    (participant_row,) = page.context["participants"]
    (sitting,) = participant_row["sessions"]
    assert participant_row["participant"] == session.participant
    assert sitting.n_answered == 2
    assert sitting.n_planned == session.list.n_trials or sitting.n_planned == session.trials.count()


def test_refusals_have_no_answers_to_exclude_or_delete(client):
    study = cast.study("agreement")
    record_refusal(study, cast.arrival("never"), consent_text="You may stop at any time.")
    client.force_login(cast.ada())
    page = client.get(ADDRESS).content.decode()
    assert "declined consent: no answers" in page
    assert "Exclude manually" not in page and "Delete the answers" not in page


def test_participants_whose_answers_enter_no_result_are_not_shown_as_included(client, session):
    leave(session)
    study = session.experiment
    erase(cast.sit(study, "quentin").participant, reason="asked")
    trial = cast.sit(study, "rosa")
    Session.objects.filter(pk=trial.pk).update(is_test=True)
    client.force_login(cast.ada())
    page = client.get(ADDRESS).content.decode()
    for words in ("withdrew: left out", "no answers left", "never counted"):
        assert page.count(words) == 1
    assert ">included<" not in page and "3, 1 of them in previews or the pilot" in page
    cast.sit(study, "sam")
    assert client.get(ADDRESS).content.decode().count(">included<") == 1


def test_an_editor_flags_with_a_reason_and_lifts_again_and_both_are_on_the_trail(client, session):
    client.force_login(cast.ada())
    person = session.participant
    for _ in range(2):
        client.post(f"{ADDRESS}{person.pk}/flag/", {"reason": "sat beside a friend"})
    flag = Flag.objects.get()
    assert judgment_frame(person.experiment)["flagged"].all()
    assert "sat beside a friend" in client.get(ADDRESS).content.decode()
    for _ in range(2):
        client.post(f"/studies/agreement/flags/{flag.pk}/lift/")
    assert not judgment_frame(person.experiment)["flagged"].any()
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))[-2:] == [
        "participant flagged",
        "flag lifted",
    ]


def test_a_flag_without_a_reason_is_refused(client, session):
    client.force_login(cast.ada())
    page = client.post(f"{ADDRESS}{session.participant.pk}/flag/", {"reason": " "}, follow=True)
    assert "a flag needs a reason" in page.content.decode()
    assert not Flag.objects.exists()


def test_viewers_look_and_do_not_flag_and_strangers_find_nothing(client, session):
    client.force_login(cast.ben())
    assert client.post(f"{ADDRESS}{session.participant.pk}/flag/", {"reason": "x"}).status_code == 403
    client.force_login(cast.cleo())
    assert client.get(ADDRESS).status_code == 404


def test_people_are_narrowed_by_state_and_flag(client, session):
    client.force_login(cast.ada())
    assert not client.get(f"{ADDRESS}?status=complete").context["participants"]
    assert not client.get(f"{ADDRESS}?flagged=on").context["participants"]
    Flag.objects.create(participant=session.participant, reason="x")
    assert len(client.get(f"{ADDRESS}?flagged=on").context["participants"]) == 1


@pytest.mark.parametrize("query", ["?status=dream", "?page=999"])
def test_senseless_queries_still_give_a_page(client, session, query):
    client.force_login(cast.ada())
    assert client.get(f"{ADDRESS}{query}").status_code == 200


def test_instruction_checks_are_counted_apart_from_gold_sentences(client):
    instruction_check = {"text": "Please choose 2 here.", "correct": 2, "check": "instruction"}
    gold = {"text": "Sat he there.", "correct": [1, 2]}
    study = cast.draft("agreement", task="likert", catch_trials=[instruction_check, gold])
    open_study(study, cast.ada())
    session = cast.begin(study)
    checks = {}
    for trial in session.trials.all():
        checks[trial.shown["text"]] = trial.correct.get("check")
        cast.record(session, trial.public_id, "1")
    assert (checks["Please choose 2 here."], checks["Sat he there."]) == ("instruction", None)
    client.force_login(cast.ben())
    page = client.get(ADDRESS)
    (sitting,) = page.context["participants"][0]["sessions"]
    assert (sitting.n_catch, sitting.n_catch_right) == (2, 1)
    assert (sitting.n_instructions, sitting.n_instructions_right) == (1, 0)
    assert "instructions 0/1" in page.content.decode()
    raw = client.get("/api/v1/studies/agreement/judgments.jsonl?columns=raw")
    rows = [json.loads(line) for line in b"".join(raw.streaming_content).decode().splitlines()]
    assert {(row["check"], row["kind"]) for row in rows if row["check"]} == {
        ("instruction", "catch"),
        ("gold", "catch"),
    }
    assert all(row["kind"] != "catch" for row in rows if row["check"] is None)


def test_a_participant_is_found_by_code_pseudonym_or_platform_id(client):
    study = cast.study("agreement")
    ident = "5f0c1d2e3a4b5c6d7e8f9012"
    pia = arrive(
        study, cast.arrival("pia", recruiter="prolific", external_id=ident), consent_text=study.consent
    )
    quentin = cast.sit(study, "quentin")
    code = finish(quentin).completion_code

    def participant_ids(search, **more):
        page = client.get(ADDRESS, {"who": search, **more})
        return {row["participant"].pk for row in page.context["participants"]}

    client.force_login(cast.ada())
    assert (
        participant_ids(f" {code.lower()} ")
        == participant_ids(quentin.participant.pseudonym)
        == {quentin.participant_id}
    )
    assert participant_ids(ident) == participant_ids(ident, status="active") == {pia.participant_id}
    assert (
        participant_ids(ident[:-1])
        == participant_ids("%")
        == participant_ids(ident, status="complete")
        == set()
    )
    assert ident not in client.get(ADDRESS).content.decode()
    client.force_login(cast.ben())  # a viewer learns nothing of the vault
    assert participant_ids(ident) == set() and participant_ids(code) == {quentin.participant_id}


def test_decisions_codes_and_reasons_come_in_one_table_without_platform_ids(client):
    study = cast.study("agreement", reward_minor=150)
    pia = cast.sit(study, "pia", recruiter="prolific", external_id="5f0c1d2e3a4b5c6d7e8f9012")
    cast.sit(study, "quentin", n=1)
    pia.signals.create(name="side_bias", version=1, value=1, reason="the first in 20 of 20 trials")
    raise_flag(pia.participant, "Answers in a rhythm", by=cast.ada())
    approve(pia, amount_minor=150, currency="GBP", by=cast.ada())
    client.force_login(cast.ada())
    answer = client.get("/studies/agreement/participants.csv")
    text = b"".join(answer.streaming_content).decode()
    quentin, first = csv.DictReader(io.StringIO(text))
    assert (first["participant"], first["state"], first["pay"]) == (
        pia.participant.pseudonym,
        "complete",
        "approved",
    )
    assert first["completion_code"] == pia.completion_code and "1.50" in first["pay_entries"]
    assert first["excluded_by_hand"] == "Answers in a rhythm" and "20 of 20" in first["signals"]
    assert (quentin["state"], quentin["answered"], quentin["pay"]) == ("active", "1", "undecided")
    assert "5f0c1d2e" not in text
    narrowed = client.get("/studies/agreement/participants.csv", {"status": "active"})
    assert len(b"".join(narrowed.streaming_content).decode().splitlines()) == 2
    client.force_login(cast.ben())
    assert client.get("/studies/agreement/participants.csv").status_code == 403


def test_no_cell_of_the_file_is_a_formula(client):
    study = cast.study("agreement")
    pia = cast.sit(study, "pia")
    Session.objects.filter(pk=pia.pk).update(attributes={"label": "+1+cmd"})
    client.force_login(cast.ada())
    reason = '=HYPERLINK("https://example.org";"open")'
    client.post(f"/studies/agreement/participants/{pia.participant_id}/flag/", {"reason": reason})
    client.post(
        f"/studies/agreement/sessions/{pia.pk}/pay/",
        {"decision": "not_paid", "reason": "@SUM(1)", "key": "k1", "amount": "0", "currency": "GBP"},
    )
    text = b"".join(client.get("/studies/agreement/participants.csv")).decode()
    assert "HYPERLINK" in text and "cmd" in text
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert [cell for cell in cells if cell[:1] in {"=", "+", "-", "@"} and len(cell) > 1] == []
