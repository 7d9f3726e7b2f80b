"""Each criterion: failing, passing, no evidence."""

import pandas as pd
import pytest

from analysis.exclusions.apply import apply_plan
from analysis.exclusions.plan import Plan, Step


def remaining(frame, rule, *, scope="session", on_missing="keep", **parameters):
    """Give the participants that a single step leaves."""
    plan = Plan("one", [Step(rule, scope, rule, parameters, on_missing)])
    return sorted(apply_plan(frame, plan).kept["participant"].unique())


def sessions(**columns):
    """Build one row per participant A, B, C with the given columns."""
    return pd.DataFrame(
        {"participant": list("ABC"), "session": ["1", "2", "3"], "value": [1, 0, 1], **columns}
    )


def test_rejected_submissions_leave_and_undecided_ones_stay():
    frame = sessions(submission_status=["approved", "Rejected", None])
    assert remaining(frame, "rejected") == ["A", "C"]
    assert remaining(frame, "rejected", on_missing="drop") == ["A"]


def test_catch_trials_exclude_and_wrong_targets_do_not():
    frame = sessions(kind=["catch", "catch", "target"], correct=[True, False, False])
    assert remaining(frame, "catch_failed") == ["A", "C"]
    assert remaining(frame, "catch_failed", max_errors=1) == ["A", "B", "C"]
    assert remaining(frame, "catch_failed", on_missing="drop") == ["A"]


def test_unanswered_catch_trial_is_no_evidence():
    frame = sessions(kind="catch", correct=[None, False, True])
    assert remaining(frame, "catch_failed") == ["A", "C"]


@pytest.mark.parametrize("native", [[True, False, None], ["yes", "no", ""], [1, 0, None]])
def test_only_reported_non_natives_leave(native):
    assert remaining(sessions(native=native), "not_native", scope="participant") == ["A", "C"]


def test_flags_by_hand():
    assert remaining(sessions(flagged=[False, True, None]), "flagged") == ["A", "C"]


def test_incomplete_sessions_by_planned_trials():
    frame = pd.DataFrame({"participant": ["A"] * 9 + ["B"] * 8, "session": ["1"] * 9 + ["2"] * 8})
    frame = frame.assign(value=1, n_planned=10)
    assert remaining(frame, "incomplete") == ["A"]
    assert remaining(frame, "incomplete", min_share="0.8") == ["A", "B"]


def test_incomplete_sessions_by_status_where_the_plan_is_unknown():
    frame = sessions(session_status=["complete", "abandoned", None])
    assert remaining(frame, "incomplete") == ["A", "C"]


def test_too_few_counts_answered_targets():
    frame = pd.DataFrame({"participant": list("AAAABBBB"), "value": [1, 0, 1, 1, 1, 1, 1, None]})
    assert remaining(frame, "too_few", scope="participant") == ["A"]
    assert remaining(frame, "too_few", scope="participant", minimum=3) == ["A", "B"]


def test_absent_evidence_excludes_no_session():
    for rule in ("rejected", "catch_failed", "incomplete", "flagged"):
        assert remaining(sessions(), rule) == ["A", "B", "C"]
