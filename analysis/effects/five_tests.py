"""The tests of one contrast: its direction, two-tailed, one-tailed, a Bayes factor and a mixed model."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.effects.bayes import BayesFactor, jzs_bayes_factor, share_bayes_factor
from analysis.effects.contrast_models import choice_model, contrast_model, share_with_interval
from analysis.effects.contrasts import (
    Contrast,
    common_language,
    contrast,
    paired_contrast,
    paired_means,
    welch_contrast,
)
from analysis.effects.mixed import Random
from analysis.effects.sign_tests import sign_test

NO_RESULT: dict[str, Any] = {"estimate": None, "se": None, "statistic": None, "df": None, "p": None}


def rating_tests(
    rows: pd.DataFrame, *, task: str, random: tuple[Random, ...]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Test ratings of acceptable against unacceptable sentences.

    Parameters
    ----------
    rows : DataFrame, one row per rating
        Needs ``participant``, ``item``, ``expected`` and ``score``.
    task : str
    random : tuple of Random
        Random terms of the mixed model.

    Returns
    -------
    tests : list of dict
        One for each of the five analyses.
    effect : dict
        Sizes of the samples and of the effect.

    See Also
    --------
    analysis.effects.five_analyses.five_analyses : The same for every contrast, with the formulas.
    """
    good = (rows["expected"] == "acceptable").to_numpy()
    scores = rows["score"].to_numpy(dtype=float)
    people = paired_means(rows, value="score")
    paired = len(people) >= 2 and 2 * len(people) >= rows["participant"].nunique()
    tested = contrast(rows, value="score") if paired else _between(rows, good)
    difference = tested.mean_difference
    if difference is None and good.any() and not good.all():
        difference = float(scores[good].mean() - scores[~good].mean())
    n, n_other = (tested.n, 0) if paired else _raters_by_side(rows, good)
    bayes = jzs_bayes_factor(tested.statistic, n, n_other=n_other)
    found = [
        _direction(difference),
        *_tails(tested, method="paired t, participants" if paired else "Welch t, participants"),
        _bayes(tested, bayes),
        contrast_model(rows, good, task=task, random=random),
    ]
    items = contrast(rows, unit="item", value="score")
    return found, {
        **_sizes_and_effects(rows, tested),
        "cles": common_language(scores[good], scores[~good]),
        "t_items": items.statistic,
        "df_items": items.df,
        "p_items": items.p,
    }


def _between(rows: pd.DataFrame, good: np.ndarray) -> Contrast:
    """Compare the means of people who judged one side each."""
    means = [rows[side].groupby("participant")["score"].mean().to_numpy() for side in (good, ~good)]
    return welch_contrast(means[0], means[1])


def _raters_by_side(rows: pd.DataFrame, good: np.ndarray) -> tuple[int, int]:
    """Count who judged acceptable and who judged unacceptable sentences: the two samples of Welch's t."""
    one, other = (rows.loc[side, "participant"].nunique() for side in (good, ~good))
    return one, other


def choice_tests(
    rows: pd.DataFrame, *, task: str, random: tuple[Random, ...]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Test choices: one per participant by the sign test, several by the participants' shares.

    Parameters
    ----------
    rows : DataFrame, one row per choice
        Needs ``participant``, ``item`` and ``score``: 1 where the expected member was chosen.
    task : str
        Takes the place that it has for ratings.
    random : tuple of Random
        Random terms of the mixed model.

    Returns
    -------
    tests : list of dict
        One for each of the five analyses.
    effect : dict
        Sizes of the samples and of the effect.

    See Also
    --------
    analysis.effects.five_analyses.five_analyses : The same for every contrast, with the formulas.
    """
    k, n = float(rows["score"].sum()), len(rows)
    shares = rows.groupby("participant")["score"].mean().to_numpy()
    tested = paired_contrast(shares, np.full(len(shares), 0.5))
    estimate = k / n - 0.5 if n else None
    if len(shares) == n or tested.status == "no_variation":
        above, decided = int((shares > 0.5).sum()), int((shares != 0.5).sum())
        tails = _sign_tails(above, decided, estimate)
        bayes = {**NO_RESULT, "estimate": estimate, "method": "binomial, uniform prior", "status": "ok"}
        bayes["statistic"] = share_bayes_factor(above, decided).value
    else:
        tails = _tails(tested, method="t of participants' shares against 1/2")
        bayes = _bayes(tested, jzs_bayes_factor(tested.statistic, tested.n))
    found = [_direction(estimate), *tails, bayes, choice_model(rows, random=random)]
    sized = _sizes_and_effects(rows, tested)
    sized |= {"d_av": None, "d_pooled": None}  # one half has no spread of its own
    return found, {**sized, "cles": k / n if n else None, **share_with_interval(rows)}


def _direction(estimate: float | None) -> dict[str, Any]:
    status = "ok" if estimate is not None else "no_data"
    return {**NO_RESULT, "estimate": estimate, "method": "sign of the difference", "status": status}


def _tails(tested: Contrast, *, method: str) -> list[dict[str, Any]]:
    shared = {
        "estimate": tested.mean_difference,
        "statistic": tested.statistic,
        "df": tested.df,
        "method": method,
        "status": tested.status,
    }
    less = None if tested.p_greater is None else 1 - tested.p_greater
    return [{**shared, "p": tested.p}, {**shared, "p": tested.p_greater, "p_less": less}]


def _sign_tails(k: int, n: int, estimate: float | None) -> list[dict[str, Any]]:
    shared = {**NO_RESULT, "estimate": estimate, "statistic": k, "method": "exact sign test, participants"}
    status = {"status": "ok" if n else "no_data"}
    greater, less = sign_test(k, n, alternative="greater"), sign_test(k, n, alternative="less")
    return [
        {**shared, "p": sign_test(k, n), **status},
        {**shared, "p": greater, "p_less": less, **status},
    ]


def _bayes(tested: Contrast, bayes: BayesFactor) -> dict[str, Any]:
    return {
        **NO_RESULT,
        "estimate": tested.mean_difference,
        "statistic": bayes.value,
        "method": "JZS, r = sqrt(2)/2",
        "status": bayes.status if tested.status == "ok" else tested.status,
    }


def _sizes_and_effects(rows: pd.DataFrame, tested: Contrast) -> dict[str, Any]:
    return {
        "n_participants": rows["participant"].nunique(),
        "n_pairs": tested.n if tested.d_z is not None else None,  # who gave what d_z is of
        "n_items": rows["item"].nunique(),
        "n": len(rows),
        "mean_difference": tested.mean_difference,
        "ci_low": tested.ci_low,
        "ci_high": tested.ci_high,
        "d_z": tested.d_z,
        "d_av": tested.d_av,
        "d_pooled": tested.d_pooled,
    }
