"""PostgreSQL plans the statements of arrivals and answers once for a connection."""

import pytest
from django.db import connection
from django.test import Client

from judgments.sessions.compiled import planned_once
from tests import cast
from tests.judgments.test_session_api import row, send

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans in no time"),
]
PREPARED = "SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements"


def plans(start: str) -> tuple[int, int]:
    """How often statements that begin so ran with the plan kept, and with one made anew."""
    with connection.cursor() as cursor:
        cursor.execute(PREPARED)
        found = [plan for plan in cursor.fetchall() if plan[0].strip().startswith(start)]
    return sum(one[1] for one in found), sum(one[2] for one in found)


def test_an_answer_is_stored_by_a_plan_that_is_kept():
    session = cast.begin(cast.study(materials=cast.material_set(n_items=12), n_lists=1), "ada")
    Client().get(f"/api/v1/sessions/{session.token}/plan/")
    before = plans('INSERT INTO "judgments_judgment"')
    for trial in session.trials.all()[:10]:
        assert send(session, row(trial)).status_code == 200
    after = plans('INSERT INTO "judgments_judgment"')
    assert after[0] - before[0] == 10 and after[1] == before[1]


def test_a_query_that_comes_again_is_planned_once():
    for _ in range(3):
        with planned_once() as cursor:
            cursor.execute("SELECT 1 + %s", [41])
            assert cursor.fetchone() == (42,)
    assert plans("SELECT 1 + ") == (3, 0)
