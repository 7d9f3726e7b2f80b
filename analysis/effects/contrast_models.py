"""The mixed model of one contrast: linear for scores, logistic for yes-no and for choices."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.agreement.bootstrap import cluster_sums, participant_intervals
from analysis.effects.logistic import logistic_mixed_model
from analysis.effects.mixed import MixedFit, Random, mixed_model
from analysis.rows import Flags, Floats, flags, group_codes, none_if_nan

DRAWS = 2_000


def contrast_model(
    rows: pd.DataFrame, good: Flags, *, task: str, random: tuple[Random, ...]
) -> dict[str, Any]:
    """Test the contrast of rated sentences in a crossed mixed model.

    Parameters
    ----------
    rows : DataFrame, one row per judgment
        Needs ``participant``, ``item`` and ``score`` (for yes-no 1 yes, 0 no).
    good : array of bool
        The acceptable sentences.
    task : str
        ``yes_no`` takes the logistic model, every other task the linear one.
    random : tuple of Random
        Random terms; the logistic model takes the intercepts among them.

    Returns
    -------
    dict
        ``estimate``, ``se``, ``statistic``, ``df``, ``p``, ``method`` and ``status``.

    References
    ----------
    Bates et al. (2015), Journal of Statistical Software 67(1); Barr et al. (2013), JML 68.
    """
    coded = rows.assign(condition=good.astype(float))
    if task == "yes_no":
        intercepts = tuple(term for term in random if not term.slope)
        fit = logistic_mixed_model(coded, outcome="score", random=intercepts)
    else:
        fit = mixed_model(coded, outcome="score", random=random)
    return told(fit, "condition")


def choice_model(rows: pd.DataFrame, *, random: tuple[Random, ...]) -> dict[str, Any]:
    """Test choices against one half in a logistic mixed model, the side shown first accounted for.

    Parameters
    ----------
    rows : DataFrame, one row per choice
        Needs ``participant``, ``item`` and ``score`` (1 the expected member); ``expected_first`` where known.
    random : tuple of Random

    Returns
    -------
    dict
        As from :func:`contrast_model`; the estimate is the logit of the expected choice, between the sides.

    Notes
    -----
    Answers of "both" and "neither" are no choices and stay out. The side enters as ±½ where at least one
    item was shown both ways; where every item has one order only, side and item cannot be told apart and
    the side stays out. ``method`` says which.

    References
    ----------
    Bates et al. (2015), Journal of Statistical Software 67(1): Laplace approximation.
    """
    intercepts = tuple(term for term in random if not term.slope)
    rows = rows[rows["score"].isin([0.0, 1.0])]
    side = _sides(rows)
    fixed = () if side is None else ("side",)
    coded = rows if side is None else rows.assign(side=side)
    fit = logistic_mixed_model(coded, outcome="score", fixed=fixed, random=intercepts)
    if fit.status in ("separated", "no_variation") and side is not None:
        fit = logistic_mixed_model(rows, outcome="score", fixed=(), random=intercepts)
    return told(fit, "intercept")


def _sides(rows: pd.DataFrame) -> Floats | None:
    """Give ½ where the expected member came first and -½ elsewhere, None where that says nothing."""
    if "expected_first" not in rows.columns:
        return None
    first = flags(rows["expected_first"])
    if np.isnan(first).any() or first.min() == first.max():
        return None
    item, names = group_codes(rows["item"])
    shown = np.bincount(item, weights=first, minlength=len(names))
    both = (shown > 0) & (shown < np.bincount(item, minlength=len(names)))
    return first - 0.5 if both.any() else None


def told(fit: MixedFit, term: str) -> dict[str, Any]:
    """Give one term of a fit as the row of a table.

    Parameters
    ----------
    fit : MixedFit
    term : str
        Name of a fixed effect.

    Returns
    -------
    dict
        ``estimate``, ``se``, ``statistic``, ``df``, ``p``, ``method`` and ``status``; the method of a
        logistic model tells the exact optimum's estimate and error.

    See Also
    --------
    analysis.effects.mixed.mixed_model : The fit.
    """
    effect, method = fit[term], f"{fit.formula}; {fit.method}"
    if term in fit.exact:
        method += f" (exact optimum {fit.exact[term].estimate:.4f}, SE {fit.exact[term].se:.4f})"
    return {
        "estimate": effect.estimate,
        "se": effect.se,
        "statistic": effect.statistic,
        "df": effect.df,
        "p": effect.p,
        "method": method,
        "status": fit.status,
    }


def share_with_interval(rows: pd.DataFrame, *, seed: int = 0, draws: int = DRAWS) -> dict[str, Any]:
    """Give the share of expected choices with an interval over participants.

    Parameters
    ----------
    rows : DataFrame, one row per choice
        Needs ``participant`` and ``score``.
    seed, draws : int
        Of the participant-cluster bootstrap.

    Returns
    -------
    dict
        ``share``, ``share_low``, ``share_high`` and ``share_method``; None where undefined.

    See Also
    --------
    analysis.agreement.bootstrap.participant_intervals : The intervals of agreement, made alike.
    """
    if rows.empty:
        return {"share": None, "share_low": None, "share_high": None, "share_method": "none"}
    person, people = group_codes(rows["participant"])
    score, one = rows["score"].to_numpy(dtype=np.float64), np.zeros(len(rows), dtype=np.int64)
    shape = (len(people), 1)
    right = cluster_sums(score, person, one, shape=shape)
    total = cluster_sums(np.ones(len(rows)), person, one, shape=shape)
    ends = participant_intervals(right, total, draws=draws, seed=seed)
    return {
        "share": float(score.mean()),
        "share_low": none_if_nan(float(ends.low[0])),
        "share_high": none_if_nan(float(ends.high[0])),
        "share_method": ends.method[0],
    }
