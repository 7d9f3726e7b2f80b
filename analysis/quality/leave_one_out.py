"""Unlike everybody else."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.joint_groups import joint_codes
from analysis.quality.base import Signal, answered, measured, session_codes
from analysis.rows import RATING_TASKS, Codes, Flags, Floats, column_or_blank, group_codes

LEAST_ITEMS = 20
LEAST_OTHERS = 2
LOWEST_R = 0.2


@dataclass(frozen=True)
class BesideOthers:
    """Answers with the mean of everybody else's answers to the same sentence."""

    rows: Flags
    own: Floats
    others: Floats
    session: Codes
    labels: list[str]


def beside_others(judgments: pd.DataFrame) -> BesideOthers:
    """Put each rating or yes-no answer beside the mean of the other participants' answers.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``participant``, ``sentence_id`` and ``value``.

    Returns
    -------
    BesideOthers
        ``rows`` marks answers to sentences that at least two others answered.

    Notes
    -----
    Magnitudes enter as logarithms.
    """
    session, labels = session_codes(judgments)
    rows, values = answered(judgments, of=(*RATING_TASKS, "yes_no"))
    codes, names = group_codes(column_or_blank(judgments, "task"))
    magnitude = np.array([name == "magnitude_estimation" for name in names], dtype=bool)[codes]
    rows &= ~magnitude | (values > 0)
    own = np.where(magnitude & rows, np.log(np.where(values > 0, values, 1)), values)
    sentence, _ = group_codes(column_or_blank(judgments, "sentence_id"))
    person, _ = group_codes(column_or_blank(judgments, "participant"))
    mine, _, of_sentence = joint_codes(person, sentence)
    weight, used = np.where(rows, own, 0.0), rows.astype(float)
    total, n = (np.bincount(sentence, weights=what) for what in (weight, used))
    own_total, own_n = (np.bincount(mine, weights=what) for what in (weight, used))
    left = (n[of_sentence] - own_n)[mine]
    mean = (total[of_sentence] - own_total)[mine] / np.maximum(left, 1)
    return BesideOthers(rows & (left >= LEAST_OTHERS), own, mean, session, labels)


def correlations(
    rows: Flags, first: Floats, second: Floats, *, session: Codes, n_sessions: int
) -> tuple[Floats, Floats]:
    """Correlate two columns within each session.

    Parameters
    ----------
    rows : array of bool
    first, second : arrays of float
    session : array of int
    n_sessions : int

    Returns
    -------
    r : array of float
        Pearson's r, NaN where a side does not vary.
    n : array of float
        Rows of each session.
    """
    unit, x, y = session[rows], first[rows], second[rows]
    n = np.bincount(unit, minlength=n_sessions).astype(np.float64)
    means = [np.bincount(unit, weights=each, minlength=n_sessions) / np.maximum(n, 1) for each in (x, y)]
    x, y = x - means[0][unit], y - means[1][unit]
    xy, xx, yy = (np.bincount(unit, weights=each, minlength=n_sessions) for each in (x * y, x * x, y * y))
    spread = np.sqrt(xx * yy)
    r: Floats = np.where(spread > 1e-12, xy / np.where(spread > 1e-12, spread, 1), np.nan)
    return r, n


def leave_one_out(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions whose answers correlate below .2 with the means of everybody else's.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Ratings or yes-no answers: ``participant``, ``sentence_id``, ``value``.

    Returns
    -------
    DataFrame indexed by session
        ``value`` is Pearson's r over at least 20 sentences that at least two others answered.

    Notes
    -----
    Forced choice is left out: where nearly everybody chooses the expected sentence, r is noise. The
    signal is unkind to speakers of dialects; report who it removes by group. Excluding by it raises
    agreement.

    References
    ----------
    Sprouse (2011), "A validation of Amazon Mechanical Turk for the collection of acceptability judgments
    in linguistic theory", Behavior Research Methods 43.
    """
    beside = beside_others(judgments)
    r, n = correlations(
        beside.rows, beside.own, beside.others, session=beside.session, n_sessions=len(beside.labels)
    )
    return measured(
        beside.labels,
        r,
        seen=(n >= LEAST_ITEMS) & ~np.isnan(r),
        flagged=r < LOWEST_R,
        reason=lambda one: (
            f"r = {r[one]:.2f} with the means of all others over {n[one]:.0f} sentences; dialects differ too"
        ),
    )


SIGNAL = Signal("leave_one_out", 1, "unlike everybody else", leave_one_out, scores_analysed=True)
