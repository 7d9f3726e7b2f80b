"""Power of other numbers of participants, from a study already run: exact where it can be."""

from collections.abc import Sequence

import pandas as pd

from analysis.effects.choice_power import choice_power
from analysis.effects.resampling import DRAWS, pilot_matrix, resampled_power

CHOICE_SIZES = tuple(range(5, 61))
SIZES = (5, 10, 15, 20, 25, 30, 35, 40, 50, 60, 80, 100)


def pilot_power(
    judgments: pd.DataFrame,
    *,
    by: str = "phenomenon",
    sizes: Sequence[int] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> pd.DataFrame:
    """Give the power of other numbers of participants, from the judgments of a study already run.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment of one task
        As for :func:`analysis.effects.resampling.pilot_matrix`.
    by : str
        Column of the contrasts.
    sizes : sequence of int, optional
        Numbers of participants; by default 5 to 60 for the exact sign test, else twelve up to 100.
    draws, seed : int
        Of the resampling.

    Returns
    -------
    DataFrame
        ``task``, ``test``, ``phenomenon``, ``n``, ``power``, ``wrong_direction``, ``mc_error``, ``n_pilot``.

    Raises
    ------
    BadInput, NotEnoughData
        If the judgments are of several tasks, or there is no contrast.

    Notes
    -----
    One choice per participant and contrast: exact sign test at the pilot's shares, whose saw-tooth is kept.
    Anything else: participants drawn with replacement, t of their means.

    References
    ----------
    Sprouse & Almeida (2017), Glossa 2(1):14.
    """
    matrix, task = pilot_matrix(judgments, by=by)
    choices = task == "forced_choice"
    single = choices and bool((matrix.isna() | matrix.isin([0.0, 1.0])).to_numpy().all())
    if single:
        table, test = choice_power(matrix, sizes or CHOICE_SIZES), "exact sign test"
    else:
        shifted = matrix - 0.5 if choices else matrix
        table = resampled_power(shifted, sizes or SIZES, draws=draws, seed=seed)
        test = "t of participants' shares" if choices else "paired t of participants"
    table.insert(0, "test", test)
    table.insert(0, "task", task)
    return table
