"""Signal: low correlation with the other participants."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..rows import RATING_TASKS, Codes, Flags, Floats, column_or_blank, group_codes, joint_codes
from .base import Signal, answered_rows, session_codes, signal_frame

MIN_ITEMS = 20  # sentences behind a correlation
MIN_OTHERS = 2  # other participants behind a mean
MIN_R = 0.2


@dataclass(frozen=True)
class MeansOfOthers:
    """Answers with the mean of the other participants' answers to the same sentence."""

    rows: Flags
    values: Floats
    means: Floats
    session: Codes
    labels: list[str]


def means_of_others(judgments: pd.DataFrame) -> MeansOfOthers:
    """Compute the mean of the other participants' answers for each rating or yes-no answer.

    Notes
    -----
    Magnitudes are log-transformed; estimates of zero have no logarithm and are left out.
    """
    session, labels = session_codes(judgments)
    rows, values = answered_rows(judgments, of=(*RATING_TASKS, "yes_no"))
    codes, names = group_codes(column_or_blank(judgments, "task"))
    magnitude = np.array([name == "magnitude_estimation" for name in names], dtype=bool)[codes]
    rows &= ~magnitude | (values > 0)
    rated = np.where(magnitude & rows, np.log(np.where(values > 0, values, 1)), values)
    sentence, _ = group_codes(column_or_blank(judgments, "sentence_id"))
    person, _ = group_codes(column_or_blank(judgments, "participant"))
    cell, _, of_sentence = joint_codes(person, sentence)
    summands, is_used = np.where(rows, rated, 0.0), rows.astype(float)
    total, n = (np.bincount(sentence, weights=weights) for weights in (summands, is_used))
    own_total, own_n = (np.bincount(cell, weights=weights) for weights in (summands, is_used))
    left = (n[of_sentence] - own_n)[cell]
    mean = (total[of_sentence] - own_total)[cell] / np.maximum(left, 1)
    return MeansOfOthers(rows & (left >= MIN_OTHERS), rated, mean, session, labels)


def correlations(
    rows: Flags, first: Floats, second: Floats, *, session: Codes, n_sessions: int
) -> tuple[Floats, Floats]:
    """Correlate two columns within each session."""
    unit, x, y = session[rows], first[rows], second[rows]
    n = np.bincount(unit, minlength=n_sessions).astype(np.float64)
    means = [np.bincount(unit, weights=each, minlength=n_sessions) / np.maximum(n, 1) for each in (x, y)]
    x, y = x - means[0][unit], y - means[1][unit]
    xy, xx, yy = (np.bincount(unit, weights=each, minlength=n_sessions) for each in (x * y, x * x, y * y))
    spread = np.sqrt(xx * yy)
    r: Floats = np.where(spread > 1e-12, xy / np.where(spread > 1e-12, spread, 1), np.nan)
    return r, n


def leave_one_out(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions whose answers correlate below .2 with the means of the other participants.

    Notes
    -----
    Forced choice is left out: r is unreliable if nearly all participants choose the expected sentence. The
    signal is biased against speakers of dialects; report removed participants by group. Excluding by it
    raises agreement.

    References
    ----------
    Sprouse (2011), "A validation of Amazon Mechanical Turk for the collection of acceptability judgments
    in linguistic theory", Behavior Research Methods 43.
    """
    beside = means_of_others(judgments)
    r, n = correlations(
        beside.rows, beside.values, beside.means, session=beside.session, n_sessions=len(beside.labels)
    )
    return signal_frame(
        beside.labels,
        r,
        has_data=(n >= MIN_ITEMS) & ~np.isnan(r),
        flagged=r < MIN_R,
        reason=lambda row: (
            f"r = {r[row]:.2f} with the means of the other participants over {n[row]:.0f} sentences; "
            "dialects differ too"
        ),
    )


SIGNAL = Signal(
    "leave_one_out", 1, "low agreement with other participants", leave_one_out, scores_analysed=True
)
