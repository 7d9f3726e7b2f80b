"""The five analyses of Sprouse, Schütze & Almeida (2013) and their convergence with published contrasts.

Descriptive direction, two-tailed and one-tailed tests, Bayes factor and mixed model for each contrast.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from ..aggregation.decisions import forced_choice_decisions
from ..aggregation.proportions import wilson_interval
from ..aggregation.ratings import transform_ratings
from ..columns import require_columns
from ..mixed_models.linear import CROSSED, Random, random_formula
from ..mixed_models.structures import LARGEST
from ..multiple_tests import CORRECTIONS
from ..notebooks import NotebookResult
from ..rows import column_or_blank, group_codes, is_kind, name_items_apart, none_if_nan, tasks
from .bayes import BayesFactor, jzs_bayes_factor, share_bayes_factor
from .contrast_models import choice_model, contrast_model, share_model, share_with_interval
from .contrasts import (
    Contrast,
    common_language,
    contrast,
    paired_contrast,
    paired_means,
    welch_contrast,
)
from .sign_tests import least_sign_p, sign_test

EXACT = ("exact_estimate", "exact_se")
ENDS = ("ci_low", "ci_high")
NO_RESULT: dict[str, Any] = {"estimate": None, "se": None, "statistic": None, "df": None, "p": None}


def rating_tests(
    rows: pd.DataFrame, *, task: str, random: tuple[Random, ...] | None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Test ratings of acceptable against unacceptable sentences."""
    good = _is_good(rows)
    scores = rows["score"].to_numpy(dtype=float)
    tested, paired = rating_contrast(rows)
    difference = tested.mean_difference
    if difference is None and good.any() and not good.all():
        difference = float(scores[good].mean() - scores[~good].mean())
    n, n_other = (tested.n, 0) if paired else _raters_by_side(rows, good)
    bayes = jzs_bayes_factor(tested.statistic, n, n_other=n_other)
    results = [
        _direction(difference),
        *_tails(tested, method="paired t, participants" if paired else "Welch t, participants"),
        _bayes(tested, bayes),
        contrast_model(rows, good, task=task, random=random),
    ]
    items = contrast(rows, unit="item", value="score")
    return results, {
        **_sizes_and_effects(rows, tested),
        "cles": common_language(scores[good], scores[~good]),
        "t_items": items.statistic,
        "df_items": items.df,
        "p_items": items.p,
    }


def _is_good(rows: pd.DataFrame) -> np.ndarray:
    good: np.ndarray = (rows["expected"] == "acceptable").to_numpy()
    return good


def rating_contrast(rows: pd.DataFrame) -> tuple[Contrast, bool]:
    """Test participants' means, paired where at least half judged both sides; tell whether it is paired."""
    people = paired_means(rows, value="score")
    paired = len(people) >= 2 and 2 * len(people) >= rows["participant"].nunique()
    return contrast(rows, value="score") if paired else _between(rows, _is_good(rows)), paired


def _between(rows: pd.DataFrame, good: np.ndarray) -> Contrast:
    """Compare the means of participants who judged one side each."""
    means = [rows[side].groupby("participant")["score"].mean().to_numpy() for side in (good, ~good)]
    return welch_contrast(means[0], means[1])


def _raters_by_side(rows: pd.DataFrame, good: np.ndarray) -> tuple[int, int]:
    """Count the participants with acceptable and with unacceptable sentences, the samples of Welch's t."""
    n_good, n_bad = (rows.loc[side, "participant"].nunique() for side in (good, ~good))
    return n_good, n_bad


def choice_tests(
    rows: pd.DataFrame, *, task: str, random: tuple[Random, ...] | None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Test choices: the sign test for one per participant, otherwise a t test of participants' shares."""
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
    results = [_direction(estimate), *tails, bayes, share_model(rows)]
    sized = _sizes_and_effects(rows, tested)
    # The second "sample" is the constant 1/2, which has no standard deviation.
    sized |= {"d_av": None, "d_pooled": None}
    logistic = choice_model(rows, random=random)
    columns = ("estimate", "se", "statistic", "p", "method", "status")
    logit = {f"logit_{name}": logistic[name] for name in columns}
    return results, {**sized, "cles": k / n if n else None, **share_with_interval(rows), **logit}


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
    least = least_sign_p(n)
    limit = f"; {n} choices give no p below {least:g}" if least is not None and least > ALPHA else ""
    method = f"exact sign test, participants{limit}"
    shared = {**NO_RESULT, "estimate": estimate, "statistic": k, "method": method}
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
        "n_pairs": tested.n if tested.d_z is not None else None,  # participants behind d_z
        "n_items": rows["item"].nunique(),
        "n": len(rows),
        "mean_difference": tested.mean_difference,
        "ci_low": tested.ci_low,
        "ci_high": tested.ci_high,
        "d_z": tested.d_z,
        "d_av": tested.d_av,
        "d_pooled": tested.d_pooled,
    }


ANALYSES = ("direction", "two_tailed", "one_tailed", "bayes_factor", "mixed_model")
OUTCOMES = ("converges", "reversed", "null", "not_estimable")
ALPHA = 0.05
BAYES_CUT = 3.0


def outcome(
    analysis: str, result: dict[str, Any], *, alpha: float = ALPHA, bayes_cut: float = BAYES_CUT
) -> str:
    """Classify one result with respect to the predicted contrast.

    Examples
    --------
    >>> outcome("two_tailed", {"estimate": 0.4, "statistic": 3.1, "p": 0.004})
    'converges'
    >>> outcome("two_tailed", {"estimate": -0.4, "statistic": -3.1, "p": 0.004})
    'reversed'
    """
    estimate, p = result["estimate"], result["p"]
    if estimate is None or (analysis in ("two_tailed", "one_tailed", "mixed_model") and p is None):
        return "not_estimable"
    if analysis == "direction":
        is_predicted, is_reversed = estimate > 0, estimate < 0
    elif analysis == "one_tailed":
        is_predicted, is_reversed = p < alpha, result["p_less"] is not None and result["p_less"] < alpha
    elif analysis == "bayes_factor":
        if result["statistic"] is None:
            return "not_estimable"
        decided = result["statistic"] > bayes_cut
        is_predicted, is_reversed = decided and estimate > 0, decided and estimate < 0
    else:
        is_predicted, is_reversed = p < alpha and estimate > 0, p < alpha and estimate < 0
    return "converges" if is_predicted else "reversed" if is_reversed else "null"


def convergence_rates(table: pd.DataFrame, *, population: int | None = None) -> pd.DataFrame:
    """Compute, for each task and analysis, the share of estimable contrasts that converge.

    Notes
    -----
    ``task``, ``analysis``, the four outcomes' counts, ``estimable``, ``rate``, ``ci_low``, ``ci_high``
    (Wilson, 95 %; with a finite population the sample counts as n (N - 1) / (N - n)).

    Examples
    --------
    >>> rows = pd.DataFrame({"outcome": ["converges"] * 19 + ["null"]})
    >>> rows = rows.assign(task="likert", analysis="direction")
    >>> convergence_rates(rows)[["estimable", "rate"]].values.tolist()
    [[20.0, 0.95]]
    """
    rows = []
    for (task, analysis), part in table.groupby(["task", "analysis"], sort=False):
        counts = {name: int((part["outcome"] == name).sum()) for name in OUTCOMES}
        n, k = len(part) - counts["not_estimable"], counts["converges"]
        is_finite = bool(population and population > n > 0)
        weight = (population - 1) / (population - n) if is_finite and population else 1.0
        low, high = wilson_interval(k * weight, n * weight)
        ends = {"ci_low": none_if_nan(float(low)), "ci_high": none_if_nan(float(high))}
        rate = k / n if n else None
        rows.append({"task": task, "analysis": analysis, **counts, "estimable": n, "rate": rate, **ends})
    return pd.DataFrame(rows)


# JSON has no infinity: an infinite Bayes factor is written as the largest float.
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, repr=False)
class FiveAnalyses(NotebookResult):
    """Results by phenomenon and analysis, effect sizes by phenomenon, convergence by analysis."""

    table: pd.DataFrame
    """``phenomenon``, ``task``, ``analysis``, ``estimate``, ``se``, ``statistic``, ``df``, ``p``, ``p_holm``,
    ``p_bh``, ``exact_estimate`` and ``exact_se`` (logistic models, at the exact optimum),
    ``ci_low`` and ``ci_high`` (mixed models, 95 %), ``outcome``, ``method`` and
    ``status``; of mixed models ``structure`` (the random structure in words) and ``path`` (larger ones
    that were given up, with the reason)."""
    effects: pd.DataFrame
    rates: pd.DataFrame
    conventions: dict[str, Any]

    def document(self) -> dict[str, Any]:
        """Return all results as plain values for JSON; undefined numbers are None."""
        frames = {"analyses": self.table, "effects": self.effects, "rates": self.rates}
        parts = {
            name: frame.replace([np.inf], _LARGEST)
            .astype(object)
            .where(frame.notna(), None)
            .to_dict("records")
            for name, frame in frames.items()
        }
        return {**parts, "conventions": self.conventions}

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Self:
        """Restore the results from a document."""
        table, effects, rates = (pd.DataFrame(document[name]) for name in ("analyses", "effects", "rates"))
        # A column without any number would be of objects.
        table = table.astype({name: float for name in (*EXACT, *ENDS) if name in table.columns})
        return cls(table, effects, rates, dict(document["conventions"]))


def five_analyses(
    judgments: pd.DataFrame,
    *,
    by: str = "phenomenon",
    transform: str = "z",
    alpha: float = ALPHA,
    bayes_cut: float = BAYES_CUT,
    random: tuple[Random, ...] | None = CROSSED,
    population: int | None = None,
) -> FiveAnalyses:
    """Test every phenomenon's contrast in five ways.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant``, ``item`` and ``value``, and ``expected`` for rating tasks and yes-no. Ratings
        of all target and filler trials set the scale; targets with an expected status are tested.
    by : {"phenomenon", "paradigm"}
        Column that defines the contrasts.
    transform : {"z", "z-log", "raw", "robust-z", "rank-normal"}
        Scale of ratings, as in :func:`obelus.aggregation.ratings.ratings_report`; choices ignore it.
    alpha : float
        Significance level of the tests, two- or one-tailed as each analysis states.
    bayes_cut : float
        A Bayes factor above this value counts as a detection.
    random : tuple of Random, optional
        Random terms of the mixed model; by default crossed intercepts of participants and items. None takes
        the largest structure that the data of each contrast support.
    population : int, optional
        Number of published contrasts from which these are a sample; narrows the interval of the rates by the
        finite-population correction.

    Returns
    -------
    FiveAnalyses
        ``outcome`` in ``table`` is ``converges`` (the criterion is met in the predicted direction),
        ``reversed`` (met in the other), ``null``, or ``not_estimable`` with the reason in ``status``.

    Raises
    ------
    MissingColumns
        If a column is absent.

    Notes
    -----
    Ratings: paired t on participant means (Welch where fewer than half judged both sides), JZS Bayes factor
    with r = √2/2, crossed mixed model by REML with Satterthwaite degrees of freedom. Choices: one for each
    participant gives the exact sign test and the Bayes factor of a share; several give t tests of the
    participants' shares against ½. Choices take a linear mixed model, yes-no a logistic one (Laplace, t
    with the fewer of participants and items less 1); where it has no finite estimate, a logistic regression
    with cluster-robust errors (status ``cluster_robust``), or a penalized one if all agree (``penalized``).
    The corrections of Holm and of Benjamini and Hochberg are over the contrasts of one analysis; the original
    study did not correct.

    References
    ----------
    Sprouse, Schütze & Almeida (2013), Lingua 134.

    Examples
    --------
    >>> rows = [(p, i, c, 3 + 2 * (c < "b") - (p * i + p * (c < "b")) % 3 / 2)
    ...     for p in range(8) for i in range(4) for c in ("acceptable", "unacceptable")]
    >>> frame = pd.DataFrame(rows, columns=["participant", "item", "expected", "value"])
    >>> table = five_analyses(frame.assign(phenomenon="islands", task="likert"), transform="raw").table
    >>> table.set_index("analysis")["outcome"][["direction", "two_tailed", "bayes_factor"]].tolist()
    ['converges', 'converges', 'converges']
    """
    require_columns(judgments, "participant", "value")
    rows, effects = [], []
    for name, task, part in contrast_rows(judgments, by=by, transform=transform):
        analyse = choice_tests if task == "forced_choice" else rating_tests
        results, effect = analyse(part, task=task, random=random)
        effects.append({by: name, "task": task, **effect})
        for analysis, result in zip(ANALYSES, results, strict=True):
            verdict = outcome(analysis, result, alpha=alpha, bayes_cut=bayes_cut)
            rows.append({by: name, "task": task, "analysis": analysis, **result, "outcome": verdict})
    columns = [
        by,
        "task",
        "analysis",
        *NO_RESULT,
        *EXACT,
        *ENDS,
        "outcome",
        "method",
        "status",
        "structure",
        "path",
    ]
    table = pd.DataFrame(rows, columns=columns).fillna({"structure": "", "path": ""})
    for place, correction in enumerate(CORRECTIONS, start=8):
        table.insert(place, f"p_{correction}", _correct_p_values(table, correction))
    rates = convergence_rates(table, population=population)
    conventions = _conventions(by, transform, alpha=alpha, bayes_cut=bayes_cut, random=random)
    sizes, note = _compare_sizes(pd.DataFrame(effects))
    return FiveAnalyses(table, sizes, rates, conventions | {"d_z": note, "population": population})


UNEVEN_TRIALS = 1.1
"""Largest ratio of the numbers of trials per participant between contrasts whose d_z are compared."""


def _compare_sizes(effects: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Remove the d_z of tasks whose contrasts have unequal numbers of trials per participant; return a note.

    d_z grows with the number of trials over which participants' means are taken: the same share of choices
    (.76) has .60 with one trial and 2.40 with twenty.
    """
    note = "mean over standard deviation of participants' differences"
    if effects.empty or "d_z" not in effects.columns:
        return effects, note
    trials = effects["n"] / effects["n_participants"].where(effects["n_participants"] > 0)
    by_task = trials.where(effects["d_z"].notna()).groupby(effects["task"])
    is_uneven = by_task.transform("max") > UNEVEN_TRIALS * by_task.transform("min")
    if not is_uneven.any():
        return effects, note
    return effects.assign(d_z=effects["d_z"].mask(is_uneven)), (
        f"{note}; compared over equal numbers of items only, hence not shown: contrasts have "
        f"{trials[is_uneven].min():.3g} to {trials[is_uneven].max():.3g} trials per participant"
    )


def contrast_rows(
    judgments: pd.DataFrame, *, by: str, transform: str
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield name, task and scored rows of each contrast, task by task."""
    judgments = name_items_apart(judgments)
    codes, names = group_codes(tasks(judgments))
    for number, task in enumerate(names):
        rows = judgments[codes == number]
        how = "raw" if task == "yes_no" else transform
        score = transform_ratings(rows, transform=how) if task != "forced_choice" else rows["value"]
        scored = rows.assign(score=score)
        targets = scored[is_kind(scored, ("target",))]
        if task == "forced_choice":
            scored_rows = forced_choice_decisions(targets).rename(columns={"agrees": "score"})
            scored_rows[by] = column_or_blank(targets, by).array
        else:
            require_columns(targets, "item", "expected")
            scored_rows = targets[targets["expected"].isin(["acceptable", "unacceptable"])]
        scored_rows = scored_rows[scored_rows["score"].notna()]
        for name, part in scored_rows.groupby(
            column_or_blank(scored_rows, by).astype(str), sort=True, observed=True
        ):
            yield str(name), task, part


def _conventions(
    by: str, transform: str, *, alpha: float, bayes_cut: float, random: tuple[Random, ...] | None
) -> dict[str, Any]:
    return {
        "by": by,
        "transform": f"{transform}, for ratings; yes-no and choices as they are",
        "direction": "acceptable minus unacceptable, participant means; choices: share minus 1/2",
        "criterion": f"p < {alpha:g}, or a Bayes factor above {bayes_cut:g}, in the predicted direction",
        "ratings": "paired t on participant means (F1); Welch where fewer than half judged both sides",
        "choices": "exact sign test with one choice per participant, else t of participants' shares",
        "bayes_factor": "JZS, r = sqrt(2)/2, of the t beside it (Welch: two samples); shares: uniform prior",
        "mixed_model": f"score ~ 1 + condition + {LARGEST if random is None else random_formula(random)}; "
        "condition coded by 1/2 and -1/2; REML, Satterthwaite degrees of freedom; "
        "choices: choice - 1/2 ~ 1 + side + (1 | participant) + (1 | item), df at most groups - 1 of a "
        "factor whose variance is estimated as 0; yes-no and logit_*: logistic, Laplace as glmer takes it, "
        "yes-no by t with the fewer of participants and items less 1, logit_* by Wald's z; without a finite "
        "optimum logistic regression with CR2 errors clustered by participants and items, penalized where "
        "all agree",
        "share": "choices: pooled share, 95 % over participants (below 40 of them Wilson with the "
        "effective number of judgments, else bootstrap of whole participants)",
        "p_holm": "Holm over the contrasts of one task and analysis",
        "p_bh": "Benjamini-Hochberg (false discovery rate) over the same contrasts",
        "rates": "converges / estimable; Wilson, 95 %",
    }


def _correct_p_values(table: pd.DataFrame, correction: str) -> list[float | None]:
    corrected: dict[Any, float | None] = {}
    for _, part in table.groupby(["task", "analysis"], sort=False):
        raw = [None if pd.isna(p) else float(p) for p in part["p"]]
        corrected |= dict(zip(part.index, CORRECTIONS[correction](raw), strict=True))
    return [corrected[place] for place in table.index]
