"""Likert ratings as ordered categories: the cumulative link model."""

import warnings
from dataclasses import dataclass, field

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class CumulativeLink:
    """A fitted cumulative link model; empty where it could not be fitted."""

    status: str
    beta: dict[str, float] = field(default_factory=dict)
    se: dict[str, float] = field(default_factory=dict)
    z: dict[str, float] = field(default_factory=dict)
    thresholds: list[float] = field(default_factory=list)
    n: int = 0


def cumulative_link(ratings: pd.Series, predictors: pd.DataFrame) -> CumulativeLink:
    """Fit logit P(Y ≤ j) = θ_j - xβ to ordered ratings.

    Parameters
    ----------
    ratings : Series
        Scale points; their order is that of the numbers.
    predictors : DataFrame, same index
        Numeric columns without an intercept (the thresholds take its place).

    Returns
    -------
    CumulativeLink
        ``beta``, ``se`` and ``z`` by predictor, and the thresholds θ_1 < … < θ_{J-1}. ``status`` is
        ``ok``, ``no_data``, ``no_variation`` (one scale point, or a constant predictor) or
        ``not_converged``.

    Notes
    -----
    A fixed-effects model: it ignores that ratings of one person go together, so its errors are too
    small and its β is shrunken where participants differ;
    :func:`~analysis.aggregation.ordinal_mixed.mixed_cumulative_link` has their intercepts.
    The library stores the gaps between thresholds as logarithms; they
    come out as thresholds.

    References
    ----------
    Agresti (2010), *Analysis of Ordinal Categorical Data*; Liddell & Kruschke (2018), JESP 79.
    """
    rows = ratings.notna() & predictors.notna().all(axis=1)
    outcome, exog = ratings[rows], predictors[rows].astype(float)
    if outcome.empty:
        return CumulativeLink("no_data")
    if outcome.nunique() < 2 or (exog.nunique() < 2).any():
        return CumulativeLink("no_variation", n=len(outcome))
    levels = pd.Categorical(outcome, categories=sorted(outcome.unique()), ordered=True)
    from statsmodels.miscmodels.ordinal_model import OrderedModel  # slow to import

    model = OrderedModel(pd.Series(levels, index=outcome.index), exog, distr="logit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = model.fit(method="bfgs", maxiter=500, gtol=1e-6, disp=False)
    names = list(predictors.columns)
    if not result.mle_retvals["converged"] or not np.isfinite(result.bse).all():
        return CumulativeLink("not_converged", n=len(outcome))
    thresholds = model.transform_threshold_params(result.params.to_numpy())[1:-1]
    return CumulativeLink(
        "ok",
        beta={name: float(result.params[name]) for name in names},
        se={name: float(result.bse[name]) for name in names},
        z={name: float(result.tvalues[name]) for name in names},
        thresholds=[float(threshold) for threshold in thresholds],
        n=len(outcome),
    )
