"""Power from a pilot of single choices: exact, nothing needs to be drawn."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.aggregation.proportions import wilson_interval
from analysis.effects.power import ALPHA, sign_power
from analysis.effects.resampling import BAYES_CUT, CRITERIA
from analysis.errors import UnknownName
from analysis.rows import Floats


def choice_power(
    matrix: pd.DataFrame, sizes: Sequence[int], *, alpha: float = ALPHA, criterion: str = "t"
) -> pd.DataFrame:
    """Give the exact power of the sign test at the pilot's shares; nothing needs to be drawn.

    Parameters
    ----------
    matrix : DataFrame, participants × phenomena
        Shares of expected choices, as from :func:`analysis.effects.resampling.pilot_matrix`.
    sizes : sequence of int
    alpha : float
    criterion : {"t", "bayes"}
        Detection: p < alpha of the sign test, or a Bayes factor of the share above 3.

    Returns
    -------
    DataFrame
        As from :func:`analysis.effects.resampling.resampled_power`, without error and ``n_drawn_from``;
        one choice per participant is assumed. ``pilot_low`` and ``pilot_high`` are the power at the ends of
        the Wilson interval of the pilot's share: power rises with the share, so nothing needs to be drawn
        for them either.

    Raises
    ------
    UnknownName
        If the criterion is another word.

    Examples
    --------
    >>> shares = pd.DataFrame({"islands": [1.0] * 9 + [0.0]})
    >>> choice_power(shares, [5, 10])[["n", "power"]].round(3).values.tolist()
    [[5.0, 0.0], [10.0, 0.736]]
    """
    if criterion not in CRITERIA:
        raise UnknownName("criterion", criterion, CRITERIA)
    shares = matrix.mean(axis=0).to_numpy(dtype=np.float64)
    judges = matrix.notna().sum(axis=0).to_numpy()
    low, high = wilson_interval(matrix.sum(axis=0).to_numpy(dtype=np.float64), judges)
    cut = BAYES_CUT if criterion == "bayes" else None

    def power(n: int, share: Floats) -> Floats:
        return sign_power(n, share, alpha=alpha, bayes_cut=cut)

    parts = [
        pd.DataFrame(
            {
                "phenomenon": list(matrix.columns),
                "n": n,
                "power": power(n, shares),
                "wrong_direction": power(n, 1 - shares),
                "pilot_low": power(n, low),
                "pilot_high": power(n, high),
            }
        )
        for n in sizes
    ]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(mc_error=0.0, n_pilot=np.tile(judges, len(sizes)))
