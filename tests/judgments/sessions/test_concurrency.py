"""Many at once: real threads against the database, be it PostgreSQL or a SQLite file."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from experiments.models import Experiment
from judgments.models import Judgment, Session, SessionEvent
from judgments.sessions.places import StudyClosed
from tests.cast import answer_to, begin, record, study
from tests.judgments.simultaneous import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _needs_a_shared_database():
    if connection.vendor == "sqlite" and connection.is_in_memory_db():
        pytest.skip("threads need a database they share: set DATABASE_URL=postgres://… to run this test")


def per_list(experiment: Experiment) -> list[int]:
    return [
        presentation_list.sessions.filter(status="active").count()
        for presentation_list in experiment.lists.all()
    ]


def arrivals(slug: str, names: list[str]) -> list[Any]:
    works = [lambda name=name: begin(Experiment.objects.get(slug=slug), name) for name in names]
    return at_once(works, expected=StudyClosed)


def test_forty_arrivals_at_once_leave_lists_within_one_of_each_other():
    experiment = study(n_lists=3)
    arrivals("agreement", [f"person {n}" for n in range(40)])
    assert sorted(per_list(experiment)) == [13, 13, 14]
    assert all(session.trials.count() == 4 for session in Session.objects.all())


def test_lists_stay_level_when_a_third_drops_out_and_others_arrive():
    experiment = study(n_lists=4)
    first = arrivals("agreement", [f"person {n}" for n in range(24)])
    dropouts = [session.pk for session in first[::3]]
    Session.objects.filter(pk__in=dropouts).update(
        status="abandoned", lease_expires_at=timezone.now() - timedelta(minutes=1)
    )
    arrivals("agreement", [f"late {n}" for n in range(24)])
    counts = per_list(experiment)
    assert sum(counts) == 40 and max(counts) - min(counts) <= 1


def test_one_arrival_sent_ten_times_at_once_is_one_session():
    study()
    sessions = arrivals("agreement", ["pia"] * 10)
    assert {session.pk for session in sessions} == {Session.objects.get().pk}
    assert Session.objects.get().trials.count() == 4


def test_the_last_place_is_given_to_one_participant():
    study(max_participants=5)
    results = arrivals("agreement", [f"person {n}" for n in range(20)])
    assert sum(isinstance(result, Session) for result in results) == 5
    assert Session.objects.count() == 5


def test_each_answer_posted_twice_at_once_is_one_row_and_two_acknowledgements():
    session = begin(study())
    trials = list(session.trials.all())
    works = [
        lambda trial=trial: record(Session.objects.get(pk=session.pk), trial.public_id, answer_to(trial))
        for trial in trials
        for _ in range(5)
    ]
    results = at_once(works)
    assert Judgment.objects.count() == 4
    assert sum(result.is_new for result in results) == 4
    assert not SessionEvent.objects.exists()


def test_two_different_answers_at_once_keep_one_and_note_the_other():
    session = begin(study())
    trial = session.trials.first()
    at_once(
        [
            lambda choice=choice: record(
                Session.objects.get(pk=session.pk), trial.public_id, answer_to(trial, choose_expected=choice)
            )
            for choice in (True, False)
        ]
    )
    assert Judgment.objects.count() == 1
    assert SessionEvent.objects.filter(kind="conflict").count() == 1


def test_two_different_answers_sent_to_the_api_at_once_keep_the_first_and_report_both():
    session = begin(study())
    trials = list(session.trials.all())[:-1]  # the session goes on

    def send(trial, choice):
        sent = {"trial": trial.public_id, "response": answer_to(trial, choose_expected=choice)}
        return sent, Client().post(
            f"/api/v1/sessions/{session.token}/judgments/",
            {"judgments": [sent]},
            content_type="application/json",
        )

    answers = at_once([lambda t=trial, c=choice: send(t, c) for trial in trials for choice in (True, False)])
    stored = {
        judgment.trial.public_id: judgment.response for judgment in Judgment.objects.select_related("trial")
    }
    assert len(stored) == Judgment.objects.count() == len(trials)
    for sent, answer in answers:
        receipt, is_kept = answer.json(), stored[sent["trial"]] == sent["response"]
        assert receipt["acknowledged"] == [sent["trial"]]
        assert receipt["kept_first"] == ([] if is_kept else [sent["trial"]])
    conflicts = SessionEvent.objects.filter(kind="conflict").select_related("trial")
    late = {conflict.trial.public_id: conflict.details["response"] for conflict in conflicts}
    assert len(late) == conflicts.count() == len(trials)
    assert all(late[name] != stored[name] for name in stored)


def test_the_same_answer_sent_to_the_api_ten_times_at_once_is_one_row():
    session = begin(study())
    trial = session.trials.first()
    sent = {"trial": trial.public_id, "response": answer_to(trial)}
    address = f"/api/v1/sessions/{session.token}/judgments/"
    answers = at_once(
        [lambda: Client().post(address, {"judgments": [sent]}, content_type="application/json")] * 10
    )
    assert [answer.json()["acknowledged"] for answer in answers] == [[trial.public_id]] * 10
    assert Judgment.objects.count() == 1 and not SessionEvent.objects.exists()
