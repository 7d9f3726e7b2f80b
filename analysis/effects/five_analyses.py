"""The five analyses of Sprouse, Schütze & Almeida (2013), for each phenomenon.

Descriptive direction, two-tailed and one-tailed tests, Bayes factor and mixed model; what each
says of the author's contrast, and how many contrasts hold.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from analysis.aggregation.transforms import transformed
from analysis.agreement.decisions import forced_choice_decisions
from analysis.columns import require_columns
from analysis.comparison.differences import holm
from analysis.effects.convergence import ALPHA, ANALYSES, BAYES_CUT, convergence_rates, outcome
from analysis.effects.five_tests import NO_RESULT, choice_tests, rating_tests
from analysis.effects.mixed import CROSSED, Random
from analysis.rows import column_or_blank, group_codes, is_kind, tasks

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class FiveAnalyses:
    """Results by phenomenon and analysis, effect sizes by phenomenon, convergence by analysis."""

    table: pd.DataFrame
    """``phenomenon``, ``task``, ``analysis``, ``estimate``, ``se``, ``statistic``, ``df``, ``p``, ``p_holm``,
    ``outcome``, ``method`` and ``status``."""
    effects: pd.DataFrame
    rates: pd.DataFrame
    conventions: dict[str, Any]

    def document(self) -> dict[str, Any]:
        """Give everything as plain values for JSON; undefined numbers are None."""
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
        """Give back what was written as a document."""
        table, effects, rates = (pd.DataFrame(document[name]) for name in ("analyses", "effects", "rates"))
        return cls(table, effects, rates, dict(document["conventions"]))


def five_analyses(
    judgments: pd.DataFrame,
    *,
    by: str = "phenomenon",
    transform: str = "z",
    alpha: float = ALPHA,
    bayes_cut: float = BAYES_CUT,
    random: tuple[Random, ...] = CROSSED,
    population: int | None = None,
) -> FiveAnalyses:
    """Test every phenomenon's contrast in five ways.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant``, ``item`` and ``value``, and ``expected`` for rating tasks and yes-no. Ratings
        of all target and filler trials set the scale; targets with an expected status are tested.
    by : str
        Column of the contrasts: ``phenomenon`` or ``paradigm``.
    transform : str
        Of ratings, as in :func:`analysis.aggregation.transforms.transformed`.
    alpha : float
    bayes_cut : float
        A Bayes factor above it is a detection.
    random : tuple of Random
        Random terms of the mixed model.
    population : int, optional
        Number of published contrasts of which these are a sample: narrows the interval of the rates.

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
    participants' shares against ½. Choices and yes-no take a logistic mixed model (Laplace,
    Wald z); where everybody agrees its estimate is infinite and the status ``separated``. Holm's
    correction is over the contrasts of one analysis; the original study did not correct.

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
    for name, task, part in _contrasts(judgments, by=by, transform=transform):
        analyse = choice_tests if task == "forced_choice" else rating_tests
        found, effect = analyse(part, task=task, random=random)
        effects.append({by: name, "task": task, **effect})
        for analysis, result in zip(ANALYSES, found, strict=True):
            verdict = outcome(analysis, result, alpha=alpha, bayes_cut=bayes_cut)
            rows.append({by: name, "task": task, "analysis": analysis, **result, "outcome": verdict})
    columns = [by, "task", "analysis", *NO_RESULT, "outcome", "method", "status"]
    table = pd.DataFrame(rows, columns=columns)
    table.insert(8, "p_holm", _holm(table))
    rates = convergence_rates(table, population=population)
    told = _conventions(by, transform, alpha=alpha, bayes_cut=bayes_cut, random=random)
    return FiveAnalyses(table, pd.DataFrame(effects), rates, told | {"population": population})


def _contrasts(
    judgments: pd.DataFrame, *, by: str, transform: str
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Give each contrast's rows, scored, task by task."""
    codes, names = group_codes(tasks(judgments))
    for number, task in enumerate(names):
        rows = judgments[codes == number]
        how = "raw" if task == "yes_no" else transform
        score = transformed(rows, transform=how) if task != "forced_choice" else rows["value"]
        scored = rows.assign(score=score)
        targets = scored[is_kind(scored, ("target",))]
        if task == "forced_choice":
            kept = forced_choice_decisions(targets).rename(columns={"agrees": "score"})
            kept[by] = column_or_blank(targets, by).array
        else:
            require_columns(targets, "item", "expected")
            kept = targets[targets["expected"].isin(["acceptable", "unacceptable"])]
        kept = kept[kept["score"].notna()]
        for name, part in kept.groupby(column_or_blank(kept, by).astype(str), sort=True, observed=True):
            yield str(name), task, part


def _conventions(
    by: str, transform: str, *, alpha: float, bayes_cut: float, random: tuple[Random, ...]
) -> dict[str, Any]:
    return {
        "by": by,
        "transform": f"{transform}, for ratings; yes-no and choices as they are",
        "direction": "acceptable minus unacceptable, participant means; choices: share minus 1/2",
        "criterion": f"p < {alpha:g}, or a Bayes factor above {bayes_cut:g}, in the predicted direction",
        "ratings": "paired t on participant means (F1); Welch where fewer than half judged both sides",
        "choices": "exact sign test with one choice per participant, else t of participants' shares",
        "bayes_factor": "JZS, r = sqrt(2)/2, of the t beside it (Welch: two samples); shares: uniform prior",
        "mixed_model": " + ".join(["score ~ 1 + condition", *(term.formula for term in random)]) + "; REML, "
        "Satterthwaite degrees of freedom; choices and yes-no: logistic, Laplace as glmer takes it, Wald z",
        "share": "choices: pooled share, 95 % over participants (bootstrap of whole participants)",
        "p_holm": "Holm over the contrasts of one task and analysis",
        "rates": "converges / estimable; Wilson, 95 %",
    }


def _holm(table: pd.DataFrame) -> list[float | None]:
    corrected: dict[Any, float | None] = {}
    for _, part in table.groupby(["task", "analysis"], sort=False):
        raw = [None if pd.isna(p) else float(p) for p in part["p"]]
        corrected |= dict(zip(part.index, holm(raw), strict=True))
    return [corrected[place] for place in table.index]
