"""Rows and instances inserted together: all or none, and a constraint's refusal is an error."""

import pytest
from django.db import IntegrityError, transaction

from judgments.models import Judgment, Session
from judgments.sql import statements
from judgments.sql.statements import insert_instances
from tests import cast

pytestmark = pytest.mark.django_db


def copies(session: Session, **several: str) -> list[Session]:
    """Sessions of the same participant that are not stored, by token and status."""
    columns = {
        field.attname: getattr(session, field.attname) for field in Session._meta.local_concrete_fields
    }
    return [
        Session(**{**columns, "id": None, "token": token, "status": status})
        for token, status in several.items()
    ]


def test_instances_get_their_own_keys_and_are_stored_with_all_columns():
    first = cast.begin(cast.study(n_lists=1), "ada")
    second, third = copies(first, b="withdrawn", a="complete")
    insert_instances([second, third], key="token")
    assert list(Session.objects.all()) == [first, second, third]
    third.screen = "debrief"
    third.save()
    stored = Session.objects.get(token="a")
    assert (stored, stored.screen, stored.status) == (third, "debrief", "complete")
    assert (stored.started_at, stored.list_id, stored.seed) == (first.started_at, first.list_id, first.seed)


def test_a_second_active_session_of_a_participant_is_an_error_and_nothing_is_stored():
    first = cast.begin(cast.study(n_lists=1), "ada")
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_instances(copies(first, a="withdrawn", b="active"), key="token")
    assert list(Session.objects.all()) == [first]


@pytest.mark.django_db(transaction=True)
def test_more_rows_than_a_statement_takes_are_stored_all_or_none(monkeypatch):
    monkeypatch.setattr(statements, "MAX_PARAMETERS", 20)  # a row in each statement
    session = cast.begin(cast.study(n_lists=1), "ada")
    first, *others = session.trials.all()
    Judgment.objects.create(trial=first, response="x", value=1.0)
    rows = [
        {"trial_id": trial.pk, "status": "missing", "response": "x", "input_type": "form"}
        for trial in (*others, first)  # the last has its answer
    ]
    with pytest.raises(IntegrityError):
        statements.insert_rows(Judgment, rows)
    assert Judgment.objects.count() == 1
    statements.insert_rows(Judgment, rows[:-1])
    assert Judgment.objects.count() == len(rows) > 1
