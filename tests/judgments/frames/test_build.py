"""Rows become tidy frames: the columns, what is left out, and the order."""

from io import StringIO

import pandas as pd
import pytest
from django.core.management import call_command
from django.utils import timezone

from analysis.columns import JUDGMENT_COLUMNS
from experiments.models import Experiment, MinimalPair
from judgments.frames.build import judgment_frame, participant_frame, session_frame
from judgments.models import Flag, Participant, Session

pytestmark = pytest.mark.django_db
BATCH = """AssignmentId,WorkerId,AssignmentStatus,Input.list,\
Input.item_1_condition,Input.field_1_1,Input.field_1_2,Input.item_2_condition,Input.field_2_1,Input.field_2_2,\
Answer.Choice1,Answer.Choice2,Answer.native
a1,w1,Approved,L1,svaans2,He run.,He runs.,attnchkans1,This.,That.,2. He runs.,1. This.,1
a2,w2,Rejected,L1,svaans2,He run.,He runs.,attnchkans1,This.,That.,1. He run.,2. That.,0
a3,w3,Approved,L1,svaans2,He run.,He runs.,attnchkans1,This.,That.,{},1. This.,
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "batch.csv"
    path.write_text(BATCH)
    call_command("import_judgments", path, experiment="fc", format="mturk-batch", stdout=StringIO())
    return Experiment.objects.get(slug="fc")


def test_a_frame_has_every_column_of_the_vocabulary_and_one_row_per_judgment(study):
    frame = judgment_frame(study)
    assert list(frame.columns) == list(JUDGMENT_COLUMNS)
    assert len(frame) == 6
    assert frame["position"].tolist() == [1, 2, 1, 2, 1, 2]


def test_in_forced_choice_the_sentence_is_the_chosen_one_and_the_item_the_pair(study):
    frame = judgment_frame(study, kinds=["target"])
    assert frame["item"].tolist() == ["sva:1"] * 3
    assert frame["pair_id"].tolist() == ["sva:1"] * 3
    assert frame["sentence_id"].astype(object).fillna("").tolist() == ["sva:1:good", "sva:1:bad", ""]
    assert frame["expected"].astype(object).fillna("").tolist() == ["acceptable", "unacceptable", ""]
    assert frame["shown_first"].tolist() == ["sva:1:bad"] * 3
    assert frame["expected_first"].tolist() == [False] * 3
    assert frame["value"].fillna(-1).tolist() == [1, 0, -1]
    assert frame["status"].tolist() == ["answered", "answered", "missing"]


def test_an_item_with_several_pairs_gives_each_pair_as_an_item(study):
    first = MinimalPair.objects.get()
    other = first.good.item.sentences.create(
        material_set=first.material_set, key="sva:1:worse", text="He runned.", expected="unacceptable"
    )
    MinimalPair.objects.create(material_set=first.material_set, key="sva:1b", good=first.good, bad=other)
    first.key = "sva:1a"
    first.save()
    assert judgment_frame(study, kinds=["target"])["item"].tolist() == ["sva:1a"] * 3


def test_catch_trials_record_whether_they_were_answered_as_intended(study):
    assert judgment_frame(study, kinds=["catch"])["correct"].tolist() == [True, False, True]


def test_states_flags_and_native_answers_are_in_every_row(study):
    person = Participant.objects.order_by("pk").first()
    Flag.objects.create(participant=person, reason="talked to another participant")
    lifted = Flag.objects.create(participant=Participant.objects.order_by("pk").last(), reason="by mistake")
    lifted.lifted_at = timezone.now()
    lifted.save()
    frame = judgment_frame(study, kinds=["target"])
    assert frame["submission_status"].tolist() == ["approved", "rejected", "approved"]
    assert frame["flagged"].tolist() == [True, False, False]
    assert frame["native"].astype(object).where(frame["native"].notna(), None).tolist() == [True, False, None]
    assert frame["n_planned"].tolist() == [2, 2, 2]
    assert frame["list"].tolist() == ["L1"] * 3


def test_pilots_are_apart_and_withdrawn_people_left_out_of_both(study):
    first, second, _ = Session.objects.order_by("pk")
    Session.objects.filter(pk=first.pk).update(is_test=True)
    Session.objects.filter(pk=second.pk).update(status="withdrawn")
    assert len(judgment_frame(study)) == 2
    assert len(session_frame(study)) == 1
    study.data = "pilot"
    assert len(judgment_frame(study)) == 2 and len(session_frame(study)) == 1


def test_no_frame_holds_the_id_of_a_platform(study):
    frames = [judgment_frame(study), participant_frame(study), session_frame(study)]
    cells = {str(cell) for frame in frames for cell in frame.to_numpy().ravel()}
    assert cells.isdisjoint({"w1", "w2", "w3"})


def test_a_study_without_judgments_gives_an_empty_frame(db):
    study = Experiment.objects.create(slug="empty", title="Empty")
    frame = judgment_frame(study)
    assert list(frame.columns) == list(JUDGMENT_COLUMNS)
    assert len(frame) == len(session_frame(study)) == len(participant_frame(study)) == 0


def test_ratings_name_their_sentence_and_scale(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("participant,item,condition,value,rt_ms\np,i1,a,2,900\np,i1,b,7,\n")
    call_command("import_judgments", path, experiment="r", format="table", stdout=StringIO())
    frame = judgment_frame(Experiment.objects.get(slug="r"))
    assert frame["sentence_id"].tolist() == ["i1:a", "i1:b"]
    assert frame["condition"].tolist() == ["a", "b"]
    assert frame["item"].tolist() == ["i1", "i1"]
    assert frame[["scale_low", "scale_high"]].values.tolist() == [[1, 7], [1, 7]]
    assert pd.isna(frame["rt_ms"].iloc[1])
