"""The trail reads as words, whatever was noted."""

import pytest

from experiments.models import AuditEntry
from experiments.templatetags.wording import in_words, labels
from tests import cast


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            {"exclude": "attention", "rule": "", "ties": "strict", "seed": 0},
            "exclude attention, ties strict, seed 0",
        ),
        (["lp", "slor"], "lp, slor"),
        (None, ""),
        (False, "no"),
        (0.5, "0.5"),
        ({"deltas": [0.5, 1.0]}, "deltas 0.5, 1"),
    ],
)
def test_values_are_shown_in_words(value, text):
    assert in_words(value) == text


def test_what_is_empty_is_left_out():
    assert labels({"options": {}, "by_hand": True}) == [("by hand", "yes")]


def test_changed_fields_are_named_in_words():
    assert labels({"fields": ["catch_trials", "debrief"]}) == [("fields", "catch trials, debrief")]


@pytest.mark.django_db
def test_the_overview_prints_no_dictionaries(client):
    study = cast.study("agreement")
    options = {"exclude": "attention", "rule": "0.75"}
    AuditEntry.objects.create(experiment=study, action="release asked for", details={"options": options})
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/").content.decode()
    assert "exclude attention" in page  # in either order: PostgreSQL keeps JSON keys in its own
    assert "rule 0.75" in page
    assert "{&#x27;" not in page and "{'" not in page
