"""Answers come out of the database as columns: in order, complete, the same whichever way they are read."""

import numpy as np
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from experiments.models import TrialKind
from judgments.frames import fetch_postgres
from judgments.frames.build import DETAILS, judgment_frame
from judgments.models import Judgment, Session, Trial
from releases.reports.compute import compute_agreement, filtered_judgments
from tests import cast


@pytest.fixture
def study(db):
    """Three people, who answered the last trial first; one answer of the second timed out."""
    study = cast.study()
    for name in ("pia", "quentin", "rosa"):
        session = cast.begin(study, name)
        for number, trial in enumerate(session.trials.order_by("-position")):
            judgment = Judgment(trial=trial, response=f"é{number}", value=number % 2, rt_ms=700 + number)
            judgment.chosen = trial.pair.good if number % 2 else trial.pair.bad
            if name == "quentin" and number == 0:
                judgment = Judgment(trial=trial, status="timed_out", response="")
            judgment.save()
    return study


def test_rows_come_by_session_and_position_however_they_were_stored(study):
    frame = judgment_frame(study)
    keys = list(zip(frame["session"].astype(int), frame["position"], strict=True))
    assert keys == sorted(keys)
    assert len(frame) == Judgment.objects.count()


def test_every_cell_is_what_the_row_holds(study):
    frame = judgment_frame(study).set_index("trial")
    for judgment in Judgment.objects.select_related("trial__pair", "chosen"):
        row = frame.loc[str(judgment.trial_id)]
        assert (row["response"], row["status"], row["kind"]) == (
            judgment.response,
            judgment.status,
            judgment.trial.kind,
        )
        assert row["expected_first"] == judgment.trial.expected_first
        if judgment.status == "answered":
            assert (row["value"], row["rt_ms"], row["sentence_id"]) == (
                judgment.value,
                judgment.rt_ms,
                judgment.chosen.key,
            )
        else:
            assert np.isnan(row["value"]) and np.isnan(row["rt_ms"])


@pytest.mark.parametrize("share", [0.0, 1.0], ids=["along the ids", "session by session"])
def test_small_blocks_give_the_same_frame(study, monkeypatch, share):
    frame = judgment_frame(study)
    monkeypatch.setattr(fetch_postgres, "BLOCK", 3)
    monkeypatch.setattr(fetch_postgres, "_DENSE", share + share)
    assert judgment_frame(study).equals(frame)


@pytest.mark.parametrize("answer", ["both", "é"])
def test_a_narrow_frame_holds_the_same_but_for_details(study, answer):
    undecided = Judgment.objects.filter(status="answered").first()
    Judgment.objects.filter(pk=undecided.pk).update(chosen=None, response=answer)
    full, narrow = judgment_frame(study), judgment_frame(study, narrow=True)
    assert set(full.columns) - set(narrow.columns) == set(DETAILS)
    same = [name for name in narrow.columns if name != "response"]
    assert narrow[same].equals(full[same])
    where = full["response"].isin(["both"]).to_numpy()
    assert where.any() == (answer == "both")
    assert (narrow["response"].astype(str) == np.where(where, "both", "")).all()


@pytest.mark.parametrize("exclude", ["", "rejected,catch_failed,incomplete,not_native,flagged"])
def test_agreement_of_a_narrow_frame_is_that_of_the_whole(study, exclude):
    judgments = filtered_judgments(study, exclude=exclude)
    assert compute_agreement(study, exclude=exclude) == compute_agreement(
        study, exclude=exclude, filtered=judgments
    )


def test_another_study_is_left_out(study):
    other = cast.study("other")
    session = cast.begin(other, "zoe")
    for trial in session.trials.all():
        Judgment.objects.create(trial=trial, response="x", value=1, chosen=trial.pair.good)
    assert set(judgment_frame(other)["session"]) == {str(session.pk)}
    assert str(session.pk) not in set(judgment_frame(study)["session"])


def test_a_study_without_answers_gives_an_empty_frame(db):
    assert judgment_frame(cast.study()).empty


def test_people_who_withdrew_are_left_out(study):
    withdrawn = Session.objects.filter(experiment=study).order_by("pk")[1]
    withdrawn.status = Session.Status.WITHDRAWN
    withdrawn.save()
    assert str(withdrawn.pk) not in set(judgment_frame(study)["session"])


@pytest.mark.django_db(transaction=True)
def test_several_connections_read_the_same_frame(monkeypatch):
    if connection.vendor != "postgresql":
        pytest.skip("only PostgreSQL packs columns: set DATABASE_URL to run this test")
    study = cast.study()
    for name in ("pia", "quentin"):
        for trial in cast.begin(study, name).trials.all():
            Judgment.objects.create(trial=trial, response="x", value=1, chosen=trial.pair.good)
    frame = judgment_frame(study)
    monkeypatch.setattr(fetch_postgres, "BLOCK", 1)
    assert Trial.objects.count() >= fetch_postgres._SEVERAL
    assert judgment_frame(study).equals(frame)


@pytest.mark.parametrize("words", [TrialKind.values, Judgment.Status.values])
def test_first_letters_distinguish_kinds_and_states(words):
    assert len({word[0] for word in words}) == len(words)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40, unique=True))
def test_rows_of_ids_are_found(ids):
    import pandas as pd

    from judgments.frames.labels import _rows

    table = pd.DataFrame(index=pd.Index(sorted(ids)))
    keys = np.arange(-1, 53)
    assert _rows(table, keys).tolist() == table.index.get_indexer(keys).tolist()
