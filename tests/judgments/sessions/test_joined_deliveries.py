"""Answers that come at once are read and stored together; one that fails does not fail the others."""

import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import DataError, IntegrityError, OperationalError, transaction
from django.utils import timezone

from judgments.models import Judgment, Session, SessionEvent, Trial
from judgments.sessions import recording
from judgments.sessions.payload import SentAnswer
from judgments.sessions.recording import JoinedCalls
from tests.cast import answer_to, begin, study
from tests.judgments.deliveries import row, send
from tests.judgments.simultaneous import at_once

FOREVER_S = 1000
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that waits for another one without need waits forever; none did anything before."""
    monkeypatch.setattr(recording, "JOIN_WITHIN_S", FOREVER_S)
    monkeypatch.setattr(recording, "_join", JoinedCalls(recording._store_together))


class Doubled:
    """A function of whole numbers that notes which it gets together and may wait in the middle."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.started, self.may_end = threading.Event(), threading.Event()

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.calls.append(sorted(numbers))
        if numbers == [0]:
            self.started.set()
            assert self.may_end.wait(20)
        return [2 * number for number in numbers]


def test_a_thread_that_is_alone_waits_for_nobody():
    double = Doubled()
    joined = JoinedCalls(double)
    assert [joined(1), joined(2), joined(3)] == [2, 4, 6] and double.calls == [[1], [2], [3]]


def test_as_many_calls_are_joined_as_there_were_threads_at_the_last_call():
    double = Doubled()
    joined = JoinedCalls(double)

    def others() -> list[Any]:
        assert double.started.wait(20)
        assert joined(1) == 2  # while 0 is in its call, which nobody waits for
        double.may_end.set()
        first.join(20)
        return at_once([lambda: joined(2), lambda: joined(3)])

    first = threading.Thread(target=joined, args=(0,))
    first.start()
    assert others() == [4, 6] and double.calls == [[0], [1], [2, 3]]


def test_more_calls_than_enough_are_not_waited_for(monkeypatch):
    monkeypatch.setattr(recording, "ENOUGH_CALLS", 2)
    double = Doubled()
    joined = JoinedCalls(double)
    joined.n_here = 7  # threads that are in earlier calls
    joined(1)
    assert at_once([lambda: joined(2), lambda: joined(3)]) == [4, 6] and double.calls == [[1], [2, 3]]


def test_a_thread_that_does_not_come_is_waited_for_once_and_briefly(monkeypatch):
    monkeypatch.setattr(recording, "JOIN_WITHIN_S", 0.01)
    double = Doubled()
    joined = JoinedCalls(double)
    joined.n_expected = 2
    assert joined(1) == 2
    monkeypatch.setattr(recording, "JOIN_WITHIN_S", FOREVER_S)
    assert joined(2) == 4 and double.calls == [[1], [2]]


def joined_by_three(function: Callable[[Sequence[int]], Any], **expected: Any) -> list[Any]:
    """The outcomes of three calls that are made as one."""
    joined = JoinedCalls(function)
    joined.n_expected = 3
    return at_once([lambda number=number: joined(number) for number in (1, 2, 3)], **expected)


def test_each_thread_acts_by_itself_when_the_joined_call_fails():
    def fail(numbers: Sequence[int]) -> list[int]:
        raise IntegrityError

    assert joined_by_three(fail) == [None] * 3


def test_one_thread_meets_a_database_that_does_not_answer_and_the_others_act_by_themselves():
    def fail(numbers: Sequence[int]) -> list[int]:
        raise OperationalError

    outcomes = joined_by_three(fail, expected=OperationalError)
    assert outcomes.count(None) == 2 and sum(isinstance(one, OperationalError) for one in outcomes) == 1


def test_no_thread_is_left_waiting_when_the_one_that_makes_the_call_is_ended():
    class Ended(BaseException):
        pass

    def end(numbers: Sequence[int]) -> list[int]:
        raise Ended

    joined = JoinedCalls(end)
    joined.n_expected = 3

    def work() -> str | None:
        try:
            return joined(1)
        except Ended:
            return "ended"

    assert sorted(map(str, at_once([work] * 3))) == ["None", "None", "ended"]


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


class Statements:
    """How many sessions each read asked for, and how many rows each insert had."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reads: list[int] = []
        self.inserts: list[int] = []
        self.before_insert: Callable[[], Any] = lambda: None
        read, insert = recording.read_states, recording.insert_rows

        def read_noted(asked: Sequence[tuple[str, str]]) -> Any:
            self.reads.append(len(asked))
            return read(asked)

        def insert_noted(model: type, rows: Sequence[dict[str, Any]]) -> None:
            self.inserts.append(len(rows))
            self.before_insert()
            insert(model, rows)

        monkeypatch.setattr(recording, "read_states", read_noted)
        monkeypatch.setattr(recording, "insert_rows", insert_noted)


@pytest.fixture
def statements(sessions: list[Session], monkeypatch: pytest.MonkeyPatch) -> Statements:
    """The statements of answers after the first."""
    return Statements(monkeypatch)


@pytest.fixture
def together() -> Callable[..., list[Any]]:
    """Run requests in threads so that their answers are joined."""

    def run(works: Sequence[Callable[[], Any]], **expected: Any) -> list[Any]:
        recording._join.n_expected = len(works)
        return at_once(works, **expected)

    return run


def sent(session: Session, trial: Trial, **fields: Any) -> Callable[[], Any]:
    """A request with one answer, which returns the receipt."""
    return lambda: send(session, row(trial, **fields)).json()


def test_answers_of_several_sessions_are_read_and_stored_by_one_statement_each(
    sessions, trials, statements, together
):
    receipts = together([sent(*pair) for pair in zip(sessions, trials, strict=True)])
    assert [receipt["acknowledged"] for receipt in receipts] == [[trial.public_id] for trial in trials]
    assert [receipt["position"] for receipt in receipts] == [2, 2, 2]
    assert statements.reads == [3] and statements.inserts == [3]
    for session, trial in zip(sessions, trials, strict=True):
        judgment = Judgment.objects.select_related("trial__pair").get(trial=trial)
        assert judgment.response == answer_to(trial) and judgment.trial.session_id == session.pk
        assert judgment.chosen_id in {trial.pair.good_id, trial.pair.bad_id}


def test_answers_that_need_more_than_an_insert_do_not_hold_back_the_others(
    sessions, trials, statements, together
):
    Session.objects.filter(pk=sessions[1].pk).update(lease_expires_at=timezone.now())
    SessionEvent.objects.all().delete()
    receipts = together(
        [
            sent(sessions[0], trials[0]),
            sent(sessions[1], trials[1]),  # takes its place again
            sent(sessions[2], trials[2], events=[{"kind": "hidden", "details": {"ms": 40}}]),
        ]
    )
    assert [receipt["acknowledged"] for receipt in receipts] == [[trial.public_id] for trial in trials]
    assert statements.reads == [3] and statements.inserts == [1, 1, 1]
    kinds = SessionEvent.objects.order_by("session").values_list("session", "kind")
    assert list(kinds) == [(sessions[1].pk, "resumed"), (sessions[2].pk, "hidden")]
    sessions[1].refresh_from_db()
    assert sessions[1].lease_expires_at > timezone.now()


def leases(sessions: list[Session]) -> list[datetime]:
    return [Session.objects.get(pk=session.pk).lease_expires_at for session in sessions]


def test_leases_that_were_not_renewed_just_now_are_renewed_together_with_the_answers(
    sessions, trials, statements, together
):
    soon = timezone.now() + timedelta(minutes=2)
    Session.objects.filter(pk__in=[session.pk for session in sessions[:2]]).update(lease_expires_at=soon)
    fresh = leases(sessions)[2]
    receipts = together([sent(*pair) for pair in zip(sessions, trials, strict=True)])
    assert [receipt["acknowledged"] for receipt in receipts] == [[trial.public_id] for trial in trials]
    assert statements.reads == [3] and statements.inserts == [3]
    first, second, third = leases(sessions)
    assert first > soon and second > soon and third == fresh
    assert Judgment.objects.filter(trial__in=trials).count() == 3


def test_an_expired_lease_among_leases_to_renew_is_left_to_its_own_thread(
    sessions, trials, statements, together
):
    now = timezone.now()
    Session.objects.filter(pk=sessions[0].pk).update(lease_expires_at=now)
    Session.objects.filter(pk=sessions[1].pk).update(lease_expires_at=now + timedelta(minutes=2))
    receipts = together([sent(*pair) for pair in zip(sessions, trials, strict=True)])
    assert [receipt["acknowledged"] for receipt in receipts] == [[trial.public_id] for trial in trials]
    assert statements.reads == [3] and statements.inserts == [2, 1]
    assert all(lease > now + timedelta(minutes=3) for lease in leases(sessions))
    assert [event.session_id for event in SessionEvent.objects.filter(kind="resumed")] == [sessions[0].pk]


def test_no_lease_is_renewed_without_its_answer(sessions, trials, statements, together):
    soon = timezone.now() + timedelta(minutes=2)
    Session.objects.update(lease_expires_at=soon)

    def fail() -> None:
        raise DataError

    statements.before_insert = fail
    works = [sent(*pair) for pair in zip(sessions, trials, strict=True)]
    together(works, expected=DataError)
    assert sorted(statements.inserts) == [1, 1, 1, 3]
    assert leases(sessions) == [soon] * 3 and not Judgment.objects.filter(trial__in=trials).exists()


@pytest.mark.parametrize("are_due", [True, False])
def test_leases_and_rows_are_written_in_the_order_of_their_keys(sessions, trials, monkeypatch, are_due):
    """Two processes that write the same ones in another order would wait for each other."""
    if are_due:
        Session.objects.update(lease_expires_at=timezone.now() + timedelta(minutes=2))
    leases_written, rows_written = list[int](), list[int]()
    renew, insert = recording.renew_live, recording.insert_rows

    def renew_noted(session_id: int, *arguments: Any, **options: Any) -> bool:
        leases_written.append(session_id)
        return renew(session_id, *arguments, **options)

    def insert_noted(model: type, rows: Sequence[dict[str, Any]]) -> None:
        rows_written.extend(row["trial_id"] for row in rows)
        insert(model, rows)

    monkeypatch.setattr(recording, "renew_live", renew_noted)
    monkeypatch.setattr(recording, "insert_rows", insert_noted)
    pairs = zip(sessions[:2], trials[:2], strict=True)
    several = [(session.token, SentAnswer(trial.public_id, answer_to(trial))) for session, trial in pairs]
    states = recording.read_states([(token, answer.trial) for token, answer in several])
    backwards = dict(sorted(states.items(), key=lambda item: -item[1].pk))  # the database may give any order
    monkeypatch.setattr(recording, "read_states", lambda asked: backwards)
    recording._store_together(several)
    assert leases_written == (sorted(session.pk for session in sessions[:2]) if are_due else [])
    assert rows_written == sorted(trial.pk for trial in trials[:2])


def test_an_answer_sent_twice_at_once_is_stored_once_and_delays_no_other(
    sessions, trials, statements, together
):
    receipts = together(
        [sent(sessions[0], trials[0]), sent(sessions[1], trials[1]), sent(sessions[0], trials[0])]
    )
    acknowledged = [receipt["acknowledged"] for receipt in receipts]
    assert acknowledged == [[trials[0].public_id], [trials[1].public_id], [trials[0].public_id]]
    assert statements.reads == [2, 1] and statements.inserts == [2]
    assert Judgment.objects.filter(trial__in=trials).count() == 2


def test_two_answers_of_one_session_at_once_are_both_stored_and_counted(sessions, statements, together):
    second, third = sessions[0].trials.all()[1:3]
    receipts = together([sent(sessions[0], second), sent(sessions[0], third)])
    assert max(receipt["position"] for receipt in receipts) == 3
    assert Judgment.objects.filter(trial__in=[second, third]).count() == 2


def test_two_different_answers_to_one_trial_at_once_keep_one_and_record_the_other(
    sessions, trials, statements, together
):
    options = [option["id"] for option in trials[0].shown["options"]]
    receipts = together([sent(sessions[0], trials[0], response=option) for option in options])
    kept = Judgment.objects.get(trial=trials[0]).response
    conflict = SessionEvent.objects.get(kind="conflict")
    assert {kept, conflict.details["response"]} == set(options)
    assert sorted(receipt["kept_first"] for receipt in receipts) == [[], [trials[0].public_id]]


def test_an_answer_that_another_process_stores_meanwhile_does_not_fail_the_others(
    sessions, trials, statements, together
):
    def store_elsewhere() -> None:
        statements.before_insert = lambda: None
        Judgment.objects.create(trial=trials[0], response=answer_to(trials[0]), value=1.0)

    statements.before_insert = store_elsewhere
    receipts = together([sent(*pair) for pair in zip(sessions, trials, strict=True)])
    assert [receipt["acknowledged"] for receipt in receipts] == [[trial.public_id] for trial in trials]
    assert statements.inserts[0] == 3 and sorted(statements.inserts[1:]) == [1, 1]
    assert Judgment.objects.filter(trial__in=trials).count() == 3


def test_unknown_sessions_and_trials_are_refused_and_the_others_stored(
    sessions, trials, statements, together
):
    stranger = Session(token="nobody-has-this")
    receipts = together(
        [sent(sessions[0], trials[0]), sent(stranger, trials[1]), sent(sessions[2], trials[1])]
    )
    assert receipts[0]["acknowledged"] == [trials[0].public_id]
    assert receipts[1]["code"] == "session_unknown"
    assert [refusal["code"] for refusal in receipts[2]["refused"]] == ["unknown_trial"]
    assert list(Judgment.objects.filter(trial__in=trials).values_list("trial", flat=True)) == [trials[0].pk]


def test_sessions_that_are_over_or_left_alone_for_long_are_refused_and_the_others_stored(
    sessions, trials, statements, together
):
    Session.objects.filter(pk=sessions[1].pk).update(last_seen_at=timezone.now() - timedelta(days=8))
    Session.objects.filter(pk=sessions[2].pk).update(status=Session.Status.WITHDRAWN)
    receipts = together([sent(*pair) for pair in zip(sessions, trials, strict=True)])
    assert receipts[0]["acknowledged"] == [trials[0].public_id]
    assert [receipt["code"] for receipt in receipts[1:]] == ["session_expired", "session_over"]
    assert list(Judgment.objects.filter(trial__in=trials).values_list("trial", flat=True)) == [trials[0].pk]


def test_an_answer_within_a_transaction_stays_in_it(sessions, trials, statements):
    recording._join.n_expected = 2  # somebody else, who never comes
    with pytest.raises(KeyError), transaction.atomic():
        assert sent(sessions[0], trials[0])()["acknowledged"]
        assert Judgment.objects.filter(trial=trials[0]).exists()
        raise KeyError
    assert not Judgment.objects.filter(trial=trials[0]).exists()
