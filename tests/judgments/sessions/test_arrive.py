"""An arrival takes the least-filled list, once."""

from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.models import Design, Experiment
from experiments.studies.lifecycle import open_study
from judgments.models import Consent, Participant, PlatformIdentity, Session
from judgments.sessions.arrival import ConsentRefused
from judgments.sessions.enrollment import record_refusal
from judgments.sessions.places import StudyClosed
from tests.cast import ada, arrival, begin, draft, material_set, sit, study

pytestmark = pytest.mark.django_db


def per_list(experiment: Experiment) -> list[int]:
    return [presentation_list.sessions.count() for presentation_list in experiment.lists.all()]


def test_arrivals_fill_the_lists_evenly():
    experiment = study(n_lists=4)
    for n in range(10):
        begin(experiment, f"person {n}")
    assert sorted(per_list(experiment)) == [2, 2, 3, 3]


def test_the_same_arrival_sent_twice_is_one_session():
    experiment = study()
    assert begin(experiment, "pia") == begin(experiment, "pia")
    assert (Session.objects.count(), Participant.objects.count(), Consent.objects.count()) == (1, 1, 1)


def test_a_verified_platform_id_is_stored_in_the_vault_only_and_finds_its_session():
    experiment = study()
    first = begin(experiment, "laptop", external_id="worker-7", is_verified=True)
    assert begin(experiment, "phone", external_id="worker-7", is_verified=True) == first
    assert PlatformIdentity.objects.get().external_id == "worker-7"
    assert "worker-7" not in f"{first.participant.pseudonym}{first.attributes}{first.external_id}"


def test_trials_are_written_as_planned_with_opaque_ids():
    session = begin(study(n_lists=1))
    trials = list(session.trials.all())
    assert [trial.position for trial in trials] == [1, 2, 3, 4]
    assert [trial.expected_first for trial in trials] == [True, False, True, False]
    first, second = trials[1].shown["options"]
    assert (first["text"], second["text"]) == ("The keys 2 is here.", "The keys 2 are here.")
    assert (first["sentence_id"], first["language"]) == ("subject_verb-2-bad", "en")
    assert len({option["id"] for trial in trials for option in trial.shown["options"]}) == 8


def test_practice_and_catch_keep_their_intended_answer_on_the_server():
    extras = (
        {"kind": "practice", "payload": {"good": "He goes.", "bad": "He go.", "feedback": "He needs goes."}},
        {"kind": "catch", "payload": {"good": "It is.", "bad": "Is is it."}, "expected_first": False},
    )
    session = begin(study(n_lists=1, extras=extras))
    practice, catch = session.trials.get(kind="practice"), session.trials.get(kind="catch")
    texts = {option["id"]: option["text"] for option in practice.shown["options"]}
    assert texts[practice.correct["option"]] == "He goes."
    assert catch.shown["options"][1]["id"] == catch.correct["option"]


def test_a_sentence_task_keeps_the_range_of_right_answers():
    extras = (
        {"kind": "practice", "payload": {"sentence": "He sat.", "feedback": "Quite so."}},
        {"kind": "catch", "payload": {"sentence": "He sat.", "correct": [6, 7]}},
    )
    session = begin(study(task="likert", n_lists=1, extras=extras))
    intended = [trial.correct for trial in session.trials.exclude(kind="target")]
    assert intended == [{"feedback": "Quite so."}, {"low": 6, "high": 7}]


def test_a_study_opened_by_its_researcher_gives_what_it_wrote():
    experiment = draft(
        practice=[{"options": [{"text": "Either."}, {"text": "Or."}]}],
        catch_trials=[{"options": [{"text": "Is is it."}, {"text": "It is."}], "correct": 1}],
    )
    Design.objects.create(experiment=experiment, n_lists=2)
    open_study(experiment, ada())
    session = begin(experiment)
    practice, catch = session.trials.get(kind="practice"), session.trials.get(kind="catch")
    correct_option = next(
        option for option in catch.shown["options"] if option["id"] == catch.correct["option"]
    )
    assert (practice.correct, correct_option["text"]) == ({}, "It is.")
    assert session.trials.count() == session.list.n_trials == 6


def test_sides_of_yes_and_no_alternate_between_participants_of_a_list():
    experiment = study(task="yes_no", n_lists=1)
    sides = [begin(experiment, f"person {n}").trials.first().shown["answers"][0] for n in range(4)]
    assert sides == ["yes", "no", "yes", "no"]


def test_a_sentences_own_language_wins_over_the_sets():
    materials = material_set("mixed", language="fa")
    materials.sentences.filter(key="subject_verb-1-good").update(language="ckb")
    options = begin(study("mixed", materials=materials, n_lists=1)).trials.first().shown["options"]
    assert [option["language"] for option in options] == ["ckb", "fa"]


@pytest.mark.parametrize(
    ("status", "reason"), [("paused", "paused"), ("closed", "closed"), ("draft", "not_open")]
)
def test_a_study_that_is_not_open_admits_no_participant(status, reason):
    experiment = study(status=status)
    with pytest.raises(StudyClosed) as door:
        begin(experiment)
    assert door.value.reason == reason
    assert Participant.objects.count() == 0


def test_a_full_study_admits_no_participant_until_a_lease_expires():
    experiment = study(max_participants=2)
    sit(experiment, "pia")
    waiting = begin(experiment, "quentin")
    with pytest.raises(StudyClosed) as door:
        begin(experiment, "rosa")
    assert door.value.reason == "full"
    Session.objects.filter(pk=waiting.pk).update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    assert begin(experiment, "rosa").status == Session.Status.ACTIVE


def test_a_lapsed_session_gives_its_list_to_the_next_arrival():
    experiment = study(n_lists=2)
    lapsed, other = begin(experiment, "pia"), begin(experiment, "quentin")
    assert {lapsed.list_id, other.list_id} == set(experiment.lists.values_list("pk", flat=True))
    Session.objects.filter(pk=lapsed.pk).update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    assert begin(experiment, "rosa").list_id == lapsed.list_id


def test_pilot_runs_are_marked_and_do_not_fill_the_lists():
    experiment = study(status="pilot", n_lists=2, max_participants=1)
    assert begin(experiment, "pia").is_test
    experiment.status = "open"
    experiment.save(update_fields=["status"])
    assert not begin(experiment, "quentin").is_test


def test_refusal_keeps_a_count_and_no_list():
    experiment = study()
    for _ in range(2):
        record_refusal(experiment, arrival("pia"), consent_text=experiment.consent)
    session = Session.objects.get()
    assert (session.status, session.list, session.consents.get().given) == ("refused", None, False)
    with pytest.raises(ConsentRefused):
        begin(experiment, "pia")
    assert Session.objects.count() == 1
