"""PostgreSQL plans the statements of arrivals and answers once for a connection."""

import pytest
from django.db import DataError, IntegrityError, OperationalError, connection, transaction

from config.env import PREPARE_AFTER
from judgments.models import Session
from judgments.sql.statements import execute, select
from tests import cast
from tests.judgments.deliveries import row, send

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans in no time"),
]
PREPARED = "SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements"


def plans(*starts: str) -> tuple[int, int]:
    """How often statements that begin so ran with the plan kept, and with one made anew."""
    with connection.cursor() as cursor:
        cursor.execute(PREPARED)
        statements = [plan for plan in cursor.fetchall() if plan[0].strip().startswith(starts)]
    return sum(statement[1] for statement in statements), sum(statement[2] for statement in statements)


def test_an_answer_is_stored_by_a_plan_that_is_kept():
    session = cast.begin(cast.study(materials=cast.material_set(n_items=16), n_lists=1), "ada")
    trials = list(session.trials.all())
    for trial in trials[:PREPARE_AFTER]:  # psycopg prepares what a connection has run so often
        send(session, row(trial))
    storing = 'INSERT INTO "judgments_judgment"', "WITH asked"
    before = plans(*storing)
    for trial in trials[PREPARE_AFTER : PREPARE_AFTER + 8]:
        assert send(session, row(trial)).status_code == 200
    assert sum(plans(*storing)) - sum(before) >= 2 * 7


def test_a_query_that_comes_again_is_planned_once():
    for _ in range(PREPARE_AFTER + 3):
        assert select("SELECT 1 + %s::int", [41]) == [(42,)]
    assert sum(plans("SELECT 1 + ")) == 3


@pytest.mark.django_db(transaction=True)
def test_statements_are_prepared_again_after_a_rollback_dropped_them():
    screen = "UPDATE judgments_session SET screen = %s WHERE token = %s"
    code = "UPDATE judgments_session SET completion_code = %s WHERE token = %s"
    token = cast.begin(cast.study(n_lists=1), "ada").token
    assert execute(screen, ["block-1", token]) == 1
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")  # as the driver does after a rollback
    for sql in (code, screen, code, screen):  # the second is dropped, the first is not
        assert execute(sql, ["block-2", token]) == 1
    session = Session.objects.get()
    assert session.screen == session.completion_code == "block-2"


@pytest.mark.django_db(transaction=True)
def test_in_a_transaction_it_is_taken_back_with_the_rest():
    sql = "UPDATE judgments_session SET screen = %s WHERE token = %s"
    token = cast.begin(cast.study(n_lists=1), "ada").token
    assert execute(sql, ["block-1", token]) == 1
    with pytest.raises(RuntimeError), transaction.atomic():
        assert execute(sql, ["block-2", token]) == 1
        raise RuntimeError
    assert Session.objects.get().screen == "block-1"
    assert execute(sql, ["block-3", token]) == 1


@pytest.mark.django_db(transaction=True)
def test_what_the_database_refuses_is_an_error_of_its_kind():
    token = cast.begin(cast.study(n_lists=1), "ada").token
    sql = "UPDATE judgments_session SET status = %s WHERE token = %s"
    for value, kind in ((None, IntegrityError), ("complete\0", DataError), ("x" * 99, DataError)):
        with pytest.raises(kind):
            execute(sql, [value, token])
    assert Session.objects.get().status == "active"


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_was_cut_is_an_operational_error_and_the_next_one_works():
    token = cast.begin(cast.study(n_lists=1), "ada").token
    sql = "UPDATE judgments_session SET screen = %s WHERE token = %s"
    execute(sql, ["block-1", token])
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]
    killer = connection.copy()
    with killer.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    killer.close()
    with pytest.raises(OperationalError):
        execute(sql, ["block-2", token])
    connection.close()
    assert execute(sql, ["block-3", token]) == 1
