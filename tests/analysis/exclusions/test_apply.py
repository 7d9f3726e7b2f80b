"""Plans applied: mask, flow, margins, overlap."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.exclusions.apply import apply_plan
from analysis.exclusions.plan import parse_plan

STEPS = ("rejected", "catch_failed", "not_native", "flagged", "too_few", "incomplete")


def study():
    """Four sessions: one fine, one rejected, one failing its catch trial, one of both."""
    rows = []
    for person, (status, caught) in enumerate(
        [("approved", True), ("rejected", True), ("approved", False), ("rejected", False)]
    ):
        for trial in range(5):
            kind = "catch" if trial == 0 else "target"
            rows.append((f"P{person}", f"S{person}", f"{person}-{trial}", kind, status, caught))
    columns = ["participant", "session", "trial", "kind", "submission_status", "correct"]
    return pd.DataFrame(rows, columns=columns).assign(value=1.0)


def test_flow_counts_what_each_step_removes_in_order():
    outcome = apply_plan(study(), parse_plan("rejected,catch_failed"))
    flow = outcome.flow.set_index("step")
    assert flow["participants_left"].tolist() == [4, 2, 1]
    assert flow["sessions_removed"].tolist() == [0, 2, 1]
    assert flow["judgments_left"].tolist() == [16, 8, 4]
    assert outcome.kept["participant"].unique().tolist() == ["P0"]


def test_mask_gives_the_first_step_and_a_reason_for_each_removed_row():
    mask = apply_plan(study(), parse_plan("rejected,catch_failed")).mask
    assert list(mask.columns) == ["trial", "participant", "session", "step", "reason"]
    assert mask.groupby("participant")["step"].first().to_dict() == {
        "P1": "rejected", "P2": "catch_failed", "P3": "rejected",
    }  # fmt: skip
    assert len(mask) == 15 and mask["reason"].str.len().min() > 0


def test_margins_and_overlap_do_not_depend_on_the_order():
    first = apply_plan(study(), parse_plan("rejected,catch_failed"))
    second = apply_plan(study(), parse_plan("catch_failed,rejected"))
    assert first.marginal.set_index("step")["sessions"].to_dict() == {"rejected": 2, "catch_failed": 2}
    assert first.overlap.loc["rejected", "catch_failed"] == 4
    assert second.overlap.loc["rejected", "catch_failed"] == 4
    pd.testing.assert_frame_equal(first.kept, second.kept)


def test_units_without_evidence_are_counted():
    marginal = apply_plan(study(), parse_plan("not_native")).marginal
    assert marginal.loc[0, "no_evidence"] == 4 and marginal.loc[0, "judgments"] == 0


def test_an_empty_plan_changes_nothing():
    frame = study()
    outcome = apply_plan(frame, parse_plan("none"))
    pd.testing.assert_frame_equal(outcome.kept, frame)
    assert outcome.mask.empty and len(outcome.flow) == 1


def test_input_is_untouched_and_the_result_is_its_own():
    frame = study()
    copy = frame.copy()
    remaining = apply_plan(frame, parse_plan("rejected")).kept
    remaining["value"] = 9
    pd.testing.assert_frame_equal(frame, copy)


def test_without_session_column_each_participant_has_one_session():
    frame = study().drop(columns=["session", "trial"])
    outcome = apply_plan(frame, parse_plan("rejected"))
    assert outcome.flow["sessions_left"].tolist() == [4, 2]
    assert outcome.mask["trial"].tolist() == [5, 6, 7, 8, 9, 15, 16, 17, 18, 19]


@pytest.mark.filterwarnings("error")
def test_no_judgments_no_trouble():
    outcome = apply_plan(study()[:0], parse_plan(",".join(STEPS)))
    assert outcome.kept.empty and outcome.flow["judgments_left"].tolist() == [0] * 7


@given(st.lists(st.sampled_from(STEPS), unique=True), st.sampled_from(STEPS))
def test_another_step_never_brings_rows_back(steps, added):
    frame = study().assign(native=[True, False] * 10)
    before = apply_plan(frame, parse_plan(",".join(steps))).kept
    after = apply_plan(frame, parse_plan(",".join([*steps, added]))).kept
    assert set(after.index) <= set(before.index)


@given(st.lists(st.sampled_from(STEPS), unique=True), st.randoms())
def test_kept_rows_do_not_depend_on_the_order_of_steps(steps, shuffler):
    frame = study().assign(flagged=[False] * 16 + [True] * 4)
    first = apply_plan(frame, parse_plan(",".join(steps))).kept
    shuffler.shuffle(steps)
    pd.testing.assert_frame_equal(apply_plan(frame, parse_plan(",".join(steps))).kept, first)
