"""Every stored answer pays for every index of its tables: none repeats what another one begins with."""

import pytest
from django.db import IntegrityError, connection

from judgments.models import Consent, Judgment, Participant, Session, Trial
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("model", [Participant, Consent, Session, Trial, Judgment])
def test_no_index_repeats_the_beginning_of_another(model):
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, model._meta.db_table)
    indexed_columns = {
        name: tuple(constraint["columns"])
        for name, constraint in constraints.items()
        if (constraint["index"] or constraint["unique"] or constraint["primary_key"])
        and constraint["columns"]
    }
    partial = {
        constraint.name
        for constraint in model._meta.constraints
        if getattr(constraint, "condition", None) is not None
    }
    assert indexed_columns
    repeated = [
        (name, other)
        for name, columns in indexed_columns.items()
        for other, longer in indexed_columns.items()
        if name != other
        and name not in partial | {other}
        and other not in partial
        and longer[: len(columns)] == columns
        and not (constraints[name]["unique"] and len(longer) > len(columns))
    ]
    assert repeated == []


def test_a_token_names_one_session():
    study = cast.study(n_lists=1)
    token = cast.begin(study, "ada").token
    with pytest.raises(IntegrityError):
        Session.objects.filter(pk=cast.begin(study, "ben").pk).update(token=token)
