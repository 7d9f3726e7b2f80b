"""Statements run on cursors that a thread keeps as long as its connection."""

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from judgments.models import Judgment, Session
from judgments.sql.statements import MAX_CURSORS, insert_rows, select
from tests import cast
from tests.judgments.deliveries import row, send
from tests.judgments.simultaneous import at_once

pytestmark = pytest.mark.django_db(transaction=True)
SUM = "SELECT CAST(%s AS int) + 1"


@pytest.fixture
def session() -> Session:
    """A session of eight trials."""
    return cast.begin(cast.study(materials=cast.material_set(n_items=8), n_lists=1), "ada")


def test_answers_are_stored_after_the_connection_was_closed(session):
    for number, trial in enumerate(session.trials.all()):
        if number % 2:
            connection.close()
        assert send(session, row(trial)).json()["acknowledged"] == [trial.public_id]
    assert Judgment.objects.count() == 8


def test_values_of_other_types_give_their_own_results():
    values = ["a", 7, None, "b"]
    assert [select("SELECT CAST(%s AS text)", [value])[0][0] for value in values] == ["a", "7", None, "b"]


def test_a_statement_that_failed_runs_again(session):
    for trial in session.trials.all()[:2]:
        answer = {
            **{"trial_id": trial.pk, "status": "missing", "response": "x"},
            **{"input_type": "form", "received_at": timezone.now()},
        }
        insert_rows(Judgment, [answer])
        with pytest.raises(IntegrityError):
            insert_rows(Judgment, [answer])
    assert Judgment.objects.count() == 2


def test_each_thread_has_its_own():
    def total(number: int) -> int:
        return sum(select(SUM, [number])[0][0] for _ in range(50))

    assert at_once([lambda number=number: total(number) for number in range(4)]) == [50, 100, 150, 200]


def test_any_number_of_statements():
    results = [select(f"{SUM} + {number}", [1])[0][0] for number in range(2 * MAX_CURSORS)]
    assert results == list(range(2, 2 * MAX_CURSORS + 2))
