"""Rounds, splits and left-out items by a token."""

from functools import partial

import pytest

from experiments.models import AuditEntry, Design
from tests import api, cast

pytestmark = pytest.mark.django_db
on_study = partial(api.call_study, "agreement")


def test_rounds_are_added_changed_and_taken_away():
    cast.draft("agreement")
    assert [row["number"] for row in on_study("post", "rounds/", status=201)["rounds"]] == [1, 2]
    changed = on_study("patch", "rounds/2/", {"n_lists": 4, "max_participants": 9})["rounds"][1]
    assert (changed["n_lists"], changed["max_participants"]) == (4, 9)
    assert on_study("patch", "rounds/2/", {"max_participants": None})["rounds"][1]["max_participants"] is None
    on_study("patch", "rounds/3/", {"n_lists": 3}, status=404)
    on_study("delete", "rounds/2/", who=cast.ben, status=403)
    assert len(on_study("delete", "rounds/2/")["rounds"]) == 1
    assert Design.objects.get().rounds == []
    assert AuditEntry.objects.filter(action__startswith="round ").count() == 4


def test_a_split_that_is_not_proposed_and_a_check_without_items():
    cast.draft("agreement")
    on_study("post", "design/split/", {"n_lists": 77}, status=422)
    on_study("post", "design/left-out/", {"check": "no_such"}, status=400)
    left_out = {"check": "duplicate_pair"}
    assert on_study("post", "design/left-out/", left_out)["coverage"]["shown"]
    on_study("post", "design/left-out/", {**left_out, "of_fillers": True}, status=422)
