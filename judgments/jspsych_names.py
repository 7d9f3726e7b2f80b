"""Judgments under the names that jsPsych gives its data, so that scripts written for it read them."""

from datetime import timedelta

import pandas as pd

from analysis.columns import CONTRACT
from experiments.models import Experiment
from judgments.models import Judgment

NAMES = ("rt", "response", "trial_index", "time_elapsed", "trial_type")
RENAMED = {"rt_ms", "response", "position"}
COLUMNS = [*NAMES, *(name for name in CONTRACT if name not in RENAMED)]


def with_jspsych_names(study: Experiment, frame: pd.DataFrame) -> pd.DataFrame:
    """Add jsPsych's columns: times in ms, ``trial_index`` from 0, ``trial_type`` the task."""
    elapsed = _elapsed_ms(study)
    return frame.assign(
        rt=frame["rt_ms"].astype("Int64"),
        trial_index=frame["position"].astype("int64") - 1,
        time_elapsed=pd.array([elapsed.get(int(trial)) for trial in frame["trial"]], dtype="Int64"),
        trial_type=frame["task"],
    )


def _elapsed_ms(study: Experiment) -> dict[int, int | None]:
    """From the session's beginning to each answer, on the server's clock as far as it is known."""
    rows = Judgment.objects.filter(trial__session__experiment=study).values_list(
        "trial_id", "answered_at", "received_at", "timing__clock_offset_ms", "trial__session__started_at"
    )
    found: dict[int, int | None] = {}
    for trial, answered_at, received_at, offset_ms, started_at in rows.iterator(chunk_size=5_000):
        at = (
            answered_at + timedelta(milliseconds=offset_ms)
            if answered_at and offset_ms is not None
            else received_at
        )
        known = at is not None and started_at is not None
        found[trial] = max(0, round((at - started_at).total_seconds() * 1000)) if known else None
    return found
