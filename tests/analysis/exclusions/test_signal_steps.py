"""Quality signals as steps of a plan: named, versioned, and stamped where they score analysed items."""

import pandas as pd
import pytest

from analysis.errors import BadInput, UnknownName
from analysis.exclusions.apply import apply_plan
from analysis.exclusions.criteria import CRITERIA
from analysis.exclusions.plan import Plan, Step, parse_plan


def judgments():
    """Pia answers with care; Quentin always 4."""
    rows = [
        {
            "participant": name,
            "session": f"{name}-1",
            "trial": f"{name}-{position}",
            "task": "likert",
            "position": position,
            "sentence_id": f"s{position}",
            "value": 4 if name == "quentin" else 1 + position % 7,
        }
        for name in ("pia", "quentin")
        for position in range(1, 13)
    ]
    return pd.DataFrame(rows)


def test_a_signal_removes_the_sessions_it_flags_and_gives_its_reason():
    excluded = apply_plan(judgments(), parse_plan("signal:straight_lining"))
    assert set(excluded.kept["participant"]) == {"pia"}
    assert set(excluded.mask["step"]) == {"signal:straight_lining"}
    assert "straight-lining: the same answer in nearly all trials (signal, version 1)" in set(
        excluded.mask["reason"]
    )


def test_a_signal_without_evidence_removes_no_session():
    excluded = apply_plan(judgments(), parse_plan("signal:untrusted"))
    assert len(excluded.kept) == 24
    assert excluded.marginal["no_evidence"].tolist() == [2]


def test_a_plan_keeps_the_version_it_was_written_for_and_another_is_refused():
    step = parse_plan("signal:speed").steps[0]
    assert step.parameters["version"] == 1
    with pytest.raises(BadInput, match="version 2 of a signal that now has version 1"):
        Plan("old", [Step("speed", "session", "signal:speed", {"version": 2})])


def test_likeness_to_others_is_stamped_because_it_raises_agreement():
    assert parse_plan("signal:leave_one_out").has_signals
    excluded = apply_plan(judgments(), parse_plan("signal:leave_one_out"))
    assert len(excluded.kept) == 24  # too few sentences to say anything
    assert "raises agreement" in CRITERIA["signal:leave_one_out"].reason


def test_agreement_with_a_model_is_for_review_only():
    with pytest.raises(UnknownName):
        parse_plan("signal:model_agreement")
