"""Rows of several threads share a statement; rows that fail do not fail the others."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from judgments.models import Judgment, Session, Trial
from judgments.sessions import recording
from judgments.sql import statements
from judgments.sql.statements import SharedInsert
from tests.cast import begin, study
from tests.judgments.deliveries import row, send
from tests.judgments.simultaneous import at_once

pytestmark = pytest.mark.django_db(transaction=True)
FOREVER_S = 1000


@pytest.fixture
def inserts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows in each insert; a thread that waits for another one without need waits forever."""
    numbers: list[int] = []
    insert = statements.insert_rows

    def noted(model: type, rows: Sequence[dict[str, Any]]) -> None:
        numbers.append(len(rows))
        insert(model, rows)

    monkeypatch.setattr(statements, "insert_rows", noted)
    monkeypatch.setattr(statements, "SHARE_WITHIN_S", FOREVER_S)
    return numbers


@pytest.fixture
def sessions() -> list[Session]:
    """Three sessions whose lease was just renewed by a first answer."""
    experiment = study(n_lists=3)
    people = [begin(experiment, name) for name in ("pia", "quentin", "rosa")]
    for session in people:
        assert send(session, row(session.trials.all()[0])).status_code == 200
    return people


@pytest.fixture
def trials(sessions: list[Session]) -> list[Trial]:
    """The second trial of each session, which has no answer yet."""
    return [session.trials.all()[1] for session in sessions]


def answer(trial: Trial) -> dict[str, Any]:
    """The columns of an answer."""
    return {
        "trial_id": trial.pk,
        "status": "missing",
        "response": "x",
        "input_type": "form",
        "received_at": trial.session.started_at,
    }


def inserted_together(insert: SharedInsert, several: Sequence[Sequence[dict[str, Any]]]) -> list[Any]:
    """Insert the rows of several threads that all expect each other."""
    gate = threading.Barrier(len(several))

    def work(rows: Sequence[dict[str, Any]]) -> None:
        with insert.expected():
            gate.wait()
            insert(rows)

    return at_once([lambda rows=rows: work(rows) for rows in several], expected=IntegrityError)


def test_rows_of_threads_that_expect_each_other_are_one_insert(trials, inserts):
    assert (
        inserted_together(SharedInsert(Judgment, order="trial_id"), [[answer(trial)] for trial in trials])
        == [None] * 3
    )
    assert inserts == [3] and Judgment.objects.filter(trial__in=trials).count() == 3


def test_a_thread_that_is_alone_waits_for_nobody(trials, inserts):
    insert = SharedInsert(Judgment, order="trial_id")
    insert([answer(trials[0])])
    with insert.expected():
        insert([answer(trials[1])])
    assert inserts == [1, 1]


def test_an_expected_thread_that_inserts_nothing_keeps_no_other_waiting(trials, inserts):
    insert, gate = SharedInsert(Judgment, order="trial_id"), threading.Barrier(2)

    def inserting() -> None:
        with insert.expected():
            gate.wait()
            insert([answer(trials[0])])

    def leaving() -> None:
        with insert.expected():
            gate.wait()

    assert at_once([inserting, leaving]) == [None, None] and inserts == [1]


def test_a_thread_that_takes_long_is_not_waited_for(trials, inserts, monkeypatch):
    monkeypatch.setattr(statements, "SHARE_WITHIN_S", 0.01)
    insert, gate, stored = SharedInsert(Judgment, order="trial_id"), threading.Barrier(2), threading.Event()

    def fast() -> None:
        with insert.expected():
            gate.wait()
            insert([answer(trials[0])])
        stored.set()

    def slow() -> None:
        with insert.expected():
            gate.wait()
            assert stored.wait(20), "the other thread waits for this one"
            insert([answer(trials[1])])

    assert at_once([fast, slow]) == [None, None] and inserts == [1, 1]


def test_rows_that_fail_raise_in_their_own_thread_and_the_others_are_stored(trials, inserts):
    again = {**answer(trials[1]), "trial_id": trials[1].session.trials.all()[0].pk}  # has its answer
    several = [[answer(trials[0])], [answer(trials[1]), again], [answer(trials[2])]]
    outcomes = inserted_together(SharedInsert(Judgment, order="trial_id"), several)
    assert outcomes[0] is outcomes[2] is None and isinstance(outcomes[1], IntegrityError)
    assert inserts[0] == 4 and sorted(inserts[1:]) == [1, 1, 2]
    stored = set(Judgment.objects.filter(trial__in=trials).values_list("trial", flat=True))
    assert stored == {trials[0].pk, trials[2].pk}


def test_no_row_counts_as_stored_when_the_thread_that_inserts_was_ended(trials, monkeypatch):
    monkeypatch.setattr(statements, "SHARE_WITHIN_S", FOREVER_S)

    def ends(model: type, rows: Sequence[dict[str, Any]]) -> None:
        raise SystemExit

    monkeypatch.setattr(statements, "insert_rows", ends)
    insert, gate = SharedInsert(Judgment, order="trial_id"), threading.Barrier(3)

    def work(trial: Trial) -> str:
        with insert.expected():
            gate.wait()
            try:
                insert([answer(trial)])
            except SystemExit:
                return "ended"
        return "stored"

    works = [lambda trial=trial: work(trial) for trial in trials]
    outcomes = at_once(works, expected=RuntimeError)
    assert outcomes.count("ended") == 1 and sum(isinstance(one, RuntimeError) for one in outcomes) == 2


def test_rows_of_a_transaction_stay_in_it(trials, inserts):
    insert = SharedInsert(Judgment, order="trial_id")
    insert.coming.add(0)  # somebody else, who never comes
    with pytest.raises(KeyError), transaction.atomic():
        insert([answer(trials[0])])
        assert Judgment.objects.filter(trial=trials[0]).exists()
        raise KeyError
    assert inserts == [1] and not Judgment.objects.filter(trial=trials[0]).exists()


def test_more_rows_than_a_statement_takes_are_stored_all_or_none(sessions, monkeypatch):
    monkeypatch.setattr(statements, "MAX_PARAMETERS", 20)  # a row in each statement
    session = sessions[0]
    first, *others = session.trials.all()
    rows = [answer(trial) for trial in (*others, first)]  # the last has its answer
    with pytest.raises(IntegrityError):
        statements.insert_rows(Judgment, rows)
    assert Judgment.objects.filter(trial__session=session).count() == 1


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[Callable[[], Any]]], list[Any]]:
    """Run requests in threads, each of which has read its session when the first inserts."""
    read = recording.read_state

    def run(works: Sequence[Callable[[], Any]]) -> list[Any]:
        gate, waited = threading.Barrier(len(works)), threading.local()

        def read_all(*arguments: Any) -> Any:
            state = read(*arguments)
            if not hasattr(waited, "yes"):  # a second attempt reads again
                waited.yes = gate.wait()
            return state

        monkeypatch.setattr(recording, "read_state", read_all)
        return at_once(works)

    return run


def test_answers_of_several_sessions_are_stored_by_one_insert(sessions, trials, inserts, together):
    works = [
        lambda session=session, trial=trial: send(session, row(trial)).json()
        for session, trial in zip(sessions, trials, strict=True)
    ]
    receipts = together(works)
    assert [receipt["acknowledged"] for receipt in receipts] == [[trial.public_id] for trial in trials]
    assert inserts == [3]
    assert all(Judgment.objects.get(trial=trial).response == row(trial)["response"] for trial in trials)


def test_an_answer_sent_twice_at_once_is_stored_once_and_delays_no_other(sessions, trials, inserts, together):
    twice, other = row(trials[0]), row(trials[1])
    receipts = together(
        [
            lambda: send(sessions[0], twice).json(),
            lambda: send(sessions[1], other).json(),
            lambda: send(sessions[0], twice).json(),
        ]
    )
    assert [receipt["acknowledged"] for receipt in receipts] == [
        [trials[0].public_id],
        [trials[1].public_id],
        [trials[0].public_id],
    ]
    assert inserts == [3, 1, 1, 1]
    assert Judgment.objects.filter(trial__in=trials).count() == 2
