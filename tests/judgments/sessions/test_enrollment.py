"""Arrivals of one moment take their places together, each as if it came alone."""

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from experiments.models import Experiment
from judgments.models import Consent, Participant, PlatformIdentity, Session
from judgments.sessions import enrollment as arrive_module
from judgments.sessions import enrollment as places_module
from judgments.sessions.arrival import ConsentRefused
from judgments.sessions.enrollment import ArrivalQueue, PlaceRequest, allocate_places, record_refusal
from judgments.sessions.places import StudyClosed
from tests.cast import arrival, begin, sit, study

pytestmark = pytest.mark.django_db


def wish(experiment: Experiment, name: str, **fields) -> PlaceRequest:
    return PlaceRequest(experiment.current_version(), arrival(name, **fields), "You may stop at any time.")


def together(*wishes: PlaceRequest) -> list[Session | Exception]:
    allocate_places(wishes[0].version, wishes)
    return [wish.session or wish.error for wish in wishes]


def test_new_people_fill_the_lists_evenly_and_are_not_mixed_up():
    experiment = study(n_lists=3)
    begin(experiment, "before")
    names = [f"person {n}" for n in range(7)]
    sessions = together(*(wish(experiment, name, user_agent=name) for name in names))
    assert [session.user_agent for session in sessions] == names
    stored = {session.pk: session for session in Session.objects.select_related("participant")}
    for session in sessions:
        row = stored[session.pk]
        assert (row.token, row.user_agent) == (session.token, session.user_agent)
        assert row.participant == session.participant and row.consents.get().given
        assert row.trials.count() == 4
    assert sorted(presentation_list.sessions.count() for presentation_list in experiment.lists.all()) == [
        2,
        3,
        3,
    ]


def test_a_batch_gives_each_participant_the_same_result_as_alone():
    experiment = study(max_participants=4)
    by_link = begin(experiment, "laptop", external_id="worker-7", is_verified=True)
    by_cookie = sit(experiment, "cookie")
    record_refusal(experiment, arrival("never"), consent_text="You may stop at any time.")
    answers = together(
        wish(experiment, "phone", external_id="worker-7", is_verified=True),
        wish(experiment, "new", external_id="worker-8", is_verified=True),
        wish(experiment, "again", earlier=by_cookie.token),
        wish(experiment, "never"),
        wish(experiment, "cookie"),
        wish(experiment, "also new"),
        wish(experiment, "too late", external_id="worker-9", is_verified=True),
    )
    assert answers[0] == by_link and answers[2] == answers[4] == by_cookie
    assert isinstance(answers[3], ConsentRefused)
    assert isinstance(answers[6], StudyClosed) and answers[6].reason == "full"
    admitted = {answers[1].pk, answers[5].pk}
    assert set(Session.objects.filter(status="active").values_list("pk", flat=True)) == {
        by_link.pk,
        *admitted,
    }
    vault = dict(PlatformIdentity.objects.values_list("external_id", "participant"))
    assert vault == {"worker-7": by_link.participant_id, "worker-8": answers[1].participant_id}
    assert (
        Participant.objects.count() == 5
    )  # two from before, one who said no, two new; nothing of the late one
    assert Consent.objects.filter(session__in=admitted, given=True).count() == 2


def test_a_study_that_closed_meanwhile_admits_no_participant_and_stores_nothing():
    experiment = study()
    wishes = [wish(experiment, "a"), wish(experiment, "b")]
    Experiment.objects.update(status="paused")
    assert [outcome.reason for outcome in together(*wishes)] == ["paused", "paused"]
    assert not Participant.objects.exists() and not Consent.objects.exists()


def test_six_share_all_lookups():
    experiment = study(n_lists=1)

    def queries_of(*names):
        wishes = [wish(experiment, name) for name in names]
        with CaptureQueriesContext(connection) as captured:
            together(*wishes)
        return [query["sql"] for query in captured if query["sql"].startswith("SELECT")]

    queries_of("the first")  # what never changes is read once in a process
    assert len(queries_of(*(f"person {n}" for n in range(6)))) == len(queries_of("alone"))


def test_two_of_one_person_come_one_after_the_other():
    experiment = study()
    wishes = [
        wish(experiment, "double click"),
        wish(experiment, "double click"),
        wish(experiment, "laptop", external_id="worker-7", is_verified=True),
        wish(experiment, "phone", external_id="worker-7", is_verified=True),
    ]
    arrival_queue = ArrivalQueue()
    arrival_queue.pending = wishes[:-1]
    arrival_queue.serve(wishes[-1])
    first, second, third, fourth = (wish.session for wish in wishes)
    assert first == second != third == fourth
    assert Session.objects.count() == 2


def test_a_failing_arrival_does_not_affect_others_of_the_batch(monkeypatch):
    experiment = study()
    stores = places_module.store_consents

    def fails(sessions, texts, **options):
        if any(session.user_agent == "cursed" for session in sessions):
            raise DatabaseError("no")
        stores(sessions, texts, **options)

    monkeypatch.setattr(places_module, "store_consents", fails)
    wishes = [wish(experiment, "a"), wish(experiment, "b", user_agent="cursed"), wish(experiment, "c")]
    arrival_queue = ArrivalQueue()
    arrival_queue.pending = wishes[:-1]
    assert arrival_queue.serve(wishes[-1]) == wishes[2].session
    assert wishes[0].session is not None and isinstance(wishes[1].error, DatabaseError)
    assert Session.objects.count() == Participant.objects.count() == 2
    with pytest.raises(DatabaseError):
        arrive_module.arrive(experiment, arrival("b", user_agent="cursed"), consent_text="")
