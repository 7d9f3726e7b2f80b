"""Signals of attention checks: catch trials and the exercise with lines of magnitude estimation."""

import numpy as np
import pandas as pd

from ..rows import column_or_blank, flags, is_kind
from .base import Signal, any_mark, session_codes, signal_frame

MAX_WRONG_SHARE = 0.25  # of the answered catch trials


def catch_trials(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions with more than a quarter of their catch trials wrong.

    Notes
    -----
    Attentive participants fail catch trials too. A plan may exclude by this signal; on Prolific, failed
    catch trials do not justify a rejection unless they are permitted instruction checks.
    """
    session, labels = session_codes(judgments)
    correct = flags(column_or_blank(judgments, "correct"))
    is_answered = is_kind(judgments, ("catch",)) & ~np.isnan(correct)
    n = np.bincount(session[is_answered], minlength=len(labels))
    wrong = np.bincount(session[is_answered & (correct == 0)], minlength=len(labels))
    share = wrong / np.maximum(n, 1)
    return signal_frame(
        labels,
        share,
        has_data=n > 0,
        flagged=share > MAX_WRONG_SHARE,
        reason=lambda row: f"{wrong[row]} of {n[row]} catch trials wrong",
    )


CATCH_TRIALS = Signal("catch_trials", 1, "catch trials wrong", catch_trials)


def line_training(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions whose estimates of line lengths did not follow the lengths in two attempts."""
    return any_mark(
        judgments,
        "lines_failed",
        lambda marked, n: "the exercise with lines was not passed in two attempts",
    )


LINE_TRAINING = Signal("line_training", 1, "exercise with lines not passed", line_training)
