"""Test of predictors of a mixed model by the likelihood ratio."""

from collections.abc import Sequence

import pandas as pd
import scipy

from analysis.effects.mixed import CROSSED, Random, mixed_model


def likelihood_ratio(
    rows: pd.DataFrame,
    *,
    outcome: str = "value",
    fixed: Sequence[str] = ("condition",),
    dropped: Sequence[str] = ("condition",),
    random: Sequence[Random] = CROSSED,
) -> dict[str, float | str | None]:
    """Test predictors by the likelihood ratio of two models fitted by maximum likelihood.

    Parameters
    ----------
    rows, outcome, fixed, random
        As in :func:`mixed_model`.
    dropped : sequence of str
        Predictors missing from the smaller model.

    Returns
    -------
    dict
        ``statistic`` (χ²), ``df``, ``p`` and ``status``.

    Notes
    -----
    χ² = difference of -2 log-likelihoods, never of REML criteria, which are not comparable between
    models with different predictors.

    References
    ----------
    Wilks (1938), Annals of Mathematical Statistics 9.
    """
    kept = rows.loc[rows[[outcome, *fixed]].notna().all(axis=1)]
    smaller = [name for name in fixed if name not in dropped]
    fits = [
        mixed_model(kept, outcome=outcome, fixed=names, random=random, reml=False)
        for names in (smaller, fixed)
    ]
    small, large = (fit.criterion for fit in fits)
    if small is None or large is None:
        bad = next(fit.status for fit in fits if fit.criterion is None)
        return {"statistic": None, "df": len(dropped), "p": None, "status": bad}
    statistic = max(small - large, 0.0)
    p = float(scipy.stats.chi2.sf(statistic, len(fixed) - len(smaller)))
    return {"statistic": statistic, "df": len(fixed) - len(smaller), "p": p, "status": fits[1].status}
