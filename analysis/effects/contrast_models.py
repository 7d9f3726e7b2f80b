"""Mixed models of one contrast: linear for scores, logistic for yes-no judgments and choices."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..agreement.bootstrap import cluster_sums, participant_intervals
from ..mixed_models.cluster_robust import cluster_robust_logistic, penalized_logistic
from ..mixed_models.linear import CROSSED, Estimate, MixedFit, Random, mixed_model
from ..mixed_models.logistic import logistic_mixed_model
from ..mixed_models.structures import fit_largest
from ..rows import Flags, Floats, flags, group_codes, none_if_nan

DRAWS = 2_000  # bootstrap samples of participants


def contrast_model(
    rows: pd.DataFrame, good: Flags, *, task: str, random: tuple[Random, ...] | None
) -> dict[str, Any]:
    """Test the contrast of rated sentences in a crossed mixed model; without ``random`` in the largest.

    Notes
    -----
    The condition is coded ±½: uncorrelated intercepts and slopes depend on the coding. Yes-no: z of the
    logistic model is compared with t on the groups of the factor with fewer groups - 1, since Wald's z is
    too liberal with few items.

    References
    ----------
    Bates et al. (2015), Journal of Statistical Software 67(1); Barr et al. (2013), JML 68.
    """
    coded = rows.assign(condition=good - 0.5)
    model = logistic_mixed_model if task == "yes_no" else mixed_model
    if random is not None:
        fit = model(coded, outcome="score", random=random)
    else:
        fit = fit_largest(
            lambda terms, start: model(coded, outcome="score", random=terms, start=start),
            coded,
            slopes=("condition",),
        )
    if task == "yes_no" and fit.usable:
        df = least_groups_df(*(rows[factor].nunique() for factor in ("participant", "item")))
        estimates = {term: _with_df(estimate, df) for term, estimate in fit.estimates.items()}
        fit = replace(fit, estimates=estimates, method=fit.method.replace("Wald z", "t on groups - 1"))
    return term_result(_with_fallback(fit, coded, fixed=("condition",)), "condition")


def least_groups_df(participants: int, items: int) -> int:
    """Return the degrees of freedom of yes-no contrasts: the fewer of participants and items, less 1.

    Examples
    --------
    >>> least_groups_df(20, 12)
    11
    """
    return max(min(participants, items) - 1, 1)


FALLBACKS = {
    "not_converged": "no mixed model: Laplace's likelihood has no optimum at SDs within 6 logits",
    "separated": "no mixed model: all answers of a cell agree, and its estimate is infinite",
}
"""Reasons for a logistic regression without random effects, by the status of the mixed model."""


def _with_fallback(fit: MixedFit, rows: pd.DataFrame, *, fixed: Sequence[str]) -> MixedFit:
    """Return a logistic regression without random effects where a logistic mixed model has no estimate.

    Cluster-robust where the answers of every cell vary, else penalized. ``path`` holds the reason.
    """
    if fit.status not in FALLBACKS or not fit.formula.startswith("logit"):
        return fit
    robust = cluster_robust_logistic(rows, outcome="score", fixed=fixed)
    if robust.status == "separated":
        robust = penalized_logistic(rows, outcome="score", fixed=fixed)
    if not robust.estimates:
        return fit
    structure = f"none, {robust.status.replace('_', '-')}"
    return replace(robust, structure=structure, path=(*fit.path, FALLBACKS[fit.status]))


def share_model(rows: pd.DataFrame) -> dict[str, Any]:
    """Test choices against one half over participants and items: a linear mixed model of choice - 1/2.

    Notes
    -----
    The intercept is the contrast, so intercepts by participant and item are its slopes; a factor
    with as many groups as choices has none. Wald tests of the logistic model are too liberal with few
    items; Satterthwaite's degrees of freedom, at most groups - 1 of a factor whose variance is estimated as
    0, keep the level (``benchmarks/analysis/bench_type_one.py``). Where all choices agree, see
    :func:`choice_model`.

    References
    ----------
    Kuznetsova, Brockhoff & Christensen (2017), Journal of Statistical Software 82(13).
    """
    rows = rows.assign(choice=rows["score"] - 0.5)
    side = _order_code(rows)
    random = tuple(term for term in CROSSED if rows[term.factor].duplicated().any())
    if rows["item"].nunique() < 2:
        random = CROSSED  # no claim about other items
    fit = mixed_model(
        rows if side is None else rows.assign(side=side),
        outcome="choice",
        fixed=() if side is None else ("side",),
        random=random or CROSSED,
    )
    if fit.status == "no_variation":
        return choice_model(rows, random=None)
    capped = [_cap_df(estimate, fit) for estimate in fit.estimates.values()]
    fit = replace(fit, estimates={estimate.term: estimate for estimate in capped})
    return term_result(fit, "intercept")


def _cap_df(estimate: Estimate, fit: MixedFit) -> Estimate:
    """Bound the degrees of freedom by the groups of every factor whose variance is estimated as 0."""
    bounds = [fit.n_groups[factor] - 1 for factor in fit.n_groups if fit.variances.get(factor) == 0]
    if estimate.df is None or estimate.statistic is None or estimate.df <= min(bounds, default=np.inf):
        return estimate
    return _with_df(estimate, min(bounds))


def _with_df(estimate: Estimate, df: float) -> Estimate:
    """Test an estimate by t with other degrees of freedom."""
    if estimate.statistic is None:
        return estimate
    half = float(scipy.stats.t.ppf(0.975, df)) * (estimate.se or 0.0)
    centre = estimate.estimate or 0.0
    p = float(2 * scipy.stats.t.sf(abs(estimate.statistic), df))
    return replace(estimate, df=float(df), p=p, ci_low=centre - half, ci_high=centre + half)


def choice_model(rows: pd.DataFrame, *, random: tuple[Random, ...] | None) -> dict[str, Any]:
    """Test choices against one half in a logistic mixed model with presentation order as a predictor.

    Notes
    -----
    The intercept is the contrast, so intercepts by participant and item are its slopes.
    Answers of "both" and "neither" are omitted. The order enters as ±½ if at least one item was shown in
    both orders; otherwise it is confounded with the item and omitted. ``method`` contains the formula.

    References
    ----------
    Bates et al. (2015), Journal of Statistical Software 67(1): Laplace approximation.
    """
    intercepts = CROSSED if random is None else tuple(term for term in random if not term.slope)
    rows = rows[rows["score"].isin([0.0, 1.0])]
    side = _order_code(rows)
    fixed = () if side is None else ("side",)
    coded = rows if side is None else rows.assign(side=side)
    fit = logistic_mixed_model(coded, outcome="score", fixed=fixed, random=intercepts)
    # With the order as a predictor a cell may be separated although the intercept is estimable.
    if fit.status in ("separated", "no_variation") and side is not None:
        coded, fixed = rows, ()
        fit = logistic_mixed_model(rows, outcome="score", fixed=(), random=intercepts)
    return term_result(_with_fallback(fit, coded, fixed=fixed), "intercept")


def _order_code(rows: pd.DataFrame) -> Floats | None:
    """Code presentation order as ±½ (+½: expected member first); None if it is not informative."""
    if "expected_first" not in rows.columns:
        return None
    first = flags(rows["expected_first"])
    if np.isnan(first).any() or first.min() == first.max():
        return None
    item, names = group_codes(rows["item"])
    n_first = np.bincount(item, weights=first, minlength=len(names))
    is_mixed = (n_first > 0) & (n_first < np.bincount(item, minlength=len(names)))
    return first - 0.5 if is_mixed.any() else None


def term_result(fit: MixedFit, term: str) -> dict[str, Any]:
    """Return the result of one fixed effect as a table row.

    Notes
    -----
    ``estimate``, ``se``, ``statistic``, ``df``, ``p``, ``ci_low``, ``ci_high``, ``method``, ``status``,
    ``structure`` (the random structure in words) and ``path`` (larger structures that the data do not
    support); for a logistic model, also ``exact_estimate`` and ``exact_se`` at the exact optimum.
    """
    effect, exact = fit[term], fit.exact.get(term)
    return {
        "estimate": effect.estimate,
        "se": effect.se,
        "statistic": effect.statistic,
        "df": effect.df,
        "p": effect.p,
        "ci_low": effect.ci_low,
        "ci_high": effect.ci_high,
        "exact_estimate": exact.estimate if exact else None,
        "exact_se": exact.se if exact else None,
        "method": f"{fit.formula}; {fit.method}",
        "status": fit.status,
        "structure": fit.structure,
        "path": "; ".join(fit.path),
    }


def share_with_interval(rows: pd.DataFrame, *, seed: int = 0, draws: int = DRAWS) -> dict[str, Any]:
    """Compute the share of expected choices with an interval over participants."""
    if rows.empty:
        return {"share": None, "share_low": None, "share_high": None, "share_method": "none"}
    person, people = group_codes(rows["participant"])
    score, single_group = rows["score"].to_numpy(dtype=np.float64), np.zeros(len(rows), dtype=np.int64)
    shape = (len(people), 1)
    right = cluster_sums(score, person, single_group, shape=shape)
    total = cluster_sums(np.ones(len(rows)), person, single_group, shape=shape)
    ends = participant_intervals(right, total, draws=draws, seed=seed)
    return {
        "share": float(score.mean()),
        "share_low": none_if_nan(float(ends.low[0])),
        "share_high": none_if_nan(float(ends.high[0])),
        "share_method": ends.method[0],
    }
