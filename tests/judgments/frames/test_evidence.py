"""What was noted beside the answers reaches the signals, and plans read it through the usual doors."""

import pytest

from analysis.quality.report import signal_table
from judgments.frames.build import judgment_frame
from judgments.frames.measurements import evidence_frame
from judgments.models import SessionEvent
from judgments.sessions.completion import finish
from releases.reports.compute import filtered_judgments
from tests import cast

pytestmark = pytest.mark.django_db


def sit_with(study, name, **timing):
    session = cast.begin(study, name)
    for trial in session.trials.select_related("session__experiment"):
        cast.record(session, trial.public_id, cast.answer_to(trial), rt_ms=900, timing=timing)
    return finish(session)


def test_browser_measurements_are_stored_beside_each_answer_only():
    study = cast.study("agreement", questionnaire=[{"name": "age", "label": "Age?", "type": "number"}])
    session = sit_with(study, "pia", trusted=False, focus_lost_ms=2500)
    frame = evidence_frame(study)
    assert frame["is_trusted"].tolist() == [False] * len(frame)
    assert set(frame["n_characters"]) == {len("The keys 1 are here.")}
    assert not frame["honeypot"].any()
    SessionEvent.objects.create(session=session, kind="honeypot", details={"length": 3})
    assert evidence_frame(study)["honeypot"].all()
    assert "is_trusted" not in judgment_frame(study).columns


def test_a_plan_with_a_signal_excludes_through_the_same_door_as_every_plan():
    study = cast.study("agreement")
    sit_with(study, "pia", trusted=True)
    robot = sit_with(study, "quentin", trusted=False)
    judgments = filtered_judgments(study, exclude="signal:untrusted")
    assert robot.participant.pseudonym not in set(judgments.excluded.kept["participant"].astype(str))
    assert judgments.excluded.flow_rows()[-1]["sessions_removed"] == 1


def test_a_study_without_answers_has_no_flags():
    assert signal_table(evidence_frame(cast.study("agreement"))).empty


def test_a_rated_sentence_has_its_own_length():
    study = cast.study("ratings", task="likert")
    sit_with(study, "pia")
    assert evidence_frame(study)["n_characters"].notna().all()
