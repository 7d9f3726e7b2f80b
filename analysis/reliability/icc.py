"""Intraclass correlation: the share of the variance of ratings that is due to sentences."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ..columns import require_columns
from ..mixed_models.linear import MixedFit, Random, mixed_model
from ..notebooks import NotebookResult
from ..pingouin_options import unrounded_pingouin
from ..rows import group_codes, is_kind, merge_answers, numbers

FORMS = ("ICC(1,1)", "ICC(A,1)", "ICC(C,1)", "ICC(1,k)", "ICC(A,k)", "ICC(C,k)")
_UNIT_INTERCEPT = Random("unit")


@dataclass(frozen=True, repr=False)
class IntraclassCorrelation(NotebookResult):
    """Intraclass correlations of one set of ratings, empty if ``status`` forbids an estimate."""

    status: str
    method: str = ""
    """``anova`` for complete tables, ``reml`` for tables with missing or repeated ratings."""
    n_units: int = 0
    n_raters: int = 0
    ratings_per_unit: float | None = None
    """The k of the k-rater forms: harmonic mean of the number of ratings of a unit."""
    table: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=["form", "value"]))
    variances: Mapping[str, float] = field(default_factory=dict)

    def __getitem__(self, form: str) -> float | None:
        """Return the value of one form, for example ``ICC(A,1)``."""
        values = self.table.loc[self.table["form"] == form, "value"]
        return float(values.iloc[0]) if len(values) else None


def intraclass_correlation(judgments: pd.DataFrame, *, unit: str = "sentence_id") -> IntraclassCorrelation:
    """Compute the six intraclass correlations of McGraw and Wong, for complete and sparse designs.

    Parameters
    ----------
    judgments : DataFrame, one row per rating
        Needs ``participant`` (the raters), the column of the units and ``value``.
    unit : str
        Column of the rated units (pingouin's targets).

    Returns
    -------
    IntraclassCorrelation
        ``table`` with the six forms, and ``result["ICC(C,1)"]`` for the value of one.

    Raises
    ------
    MissingColumns
        If one of these columns is absent.

    Notes
    -----
    ``table`` has ``form``, ``value`` and, if every participant rated every unit once, ``ci_low``,
    ``ci_high``, ``statistic`` (F), ``df1``, ``df2`` and ``p``. ``status``: ``ok``, ``no_data``,
    ``too_few`` (one unit, one rater or no unit with two ratings), ``no_variation``, or ``singular`` where
    a variance is 0.

    (1,·) takes raters as nested in units, (A,·) is absolute agreement and (C,·) consistency of crossed
    raters; (·,k) is the reliability of a mean of k ratings. Complete tables: ``pingouin.intraclass_corr``;
    where the interval of ICC(A,1) contains -1/(k - 1), a pole of the step to k ratings, ICC(A,k) has none.
    Otherwise variance components by REML: ICC(A,1) = σ²_unit / (σ²_unit + σ²_rater + σ²_e),
    ICC(C,1) the same without σ²_rater, ICC(1,1) from the model without raters; k is the harmonic mean of
    the ratings of a unit. Mean squares would drop every unit that lacks a rater, that is all units
    of a list design.

    References
    ----------
    McGraw & Wong (1996), Psychological Methods 1; Shrout & Fleiss (1979), Psychological Bulletin 86.

    Examples
    --------
    >>> rows = pd.DataFrame({
    ...     "participant": list("abc") * 3, "sentence_id": [1] * 3 + [2] * 3 + [3] * 3,
    ...     "value": [1, 2, 3, 4, 5, 7, 8, 8, 9]})
    >>> round(intraclass_correlation(rows)["ICC(C,1)"], 3)
    0.973
    """
    require_columns(judgments, "participant", "value", unit)
    value = numbers(judgments)
    answered = is_kind(judgments, ("target",)) & ~np.isnan(value)
    answers, scores = merge_answers(judgments.loc[answered], value[answered], unit=unit)
    units, unit_names = group_codes(answers[unit])
    raters, rater_names = group_codes(answers["participant"])
    rows = pd.DataFrame({"unit": units, "rater": raters, "score": scores})
    n, k = len(unit_names), len(rater_names)
    if len(rows) == 0:
        return IntraclassCorrelation("no_data")
    counts = np.bincount(units)
    if n < 2 or k < 2 or counts.max() < 2:
        return IntraclassCorrelation("too_few", n_units=n, n_raters=k)
    if rows["score"].nunique() < 2:
        return IntraclassCorrelation("no_variation", n_units=n, n_raters=k)
    if len(rows) == n * k and not rows.duplicated(["unit", "rater"]).any():
        return _complete(rows, n=n, k=k)
    return _incomplete(rows, n=n, k=k, per_unit=float(len(counts) / (1 / counts).sum()))


def _complete(rows: pd.DataFrame, *, n: int, k: int) -> IntraclassCorrelation:
    """Return ``pingouin.intraclass_corr`` of a table in which every rater rated every unit once."""
    with unrounded_pingouin() as pingouin:
        forms = pingouin.intraclass_corr(rows, targets="unit", raters="rater", ratings="score")
    forms[["ci_low", "ci_high"]] = np.array(forms["CI95"].tolist(), dtype=np.float64)
    forms = forms.rename(columns={"Type": "form", "ICC": "value", "F": "statistic", "pval": "p"})
    table = forms[["form", "value", "ci_low", "ci_high", "statistic", "df1", "df2", "p"]].copy()
    beyond_pole = ~table["value"].between(table["ci_low"], table["ci_high"])
    table.loc[beyond_pole, ["ci_low", "ci_high"]] = np.nan
    status = "ok" if np.isfinite(table["value"]).all() else "no_variation"
    return IntraclassCorrelation(status, "anova", n, k, float(k), table if status == "ok" else table.iloc[:0])


def _incomplete(rows: pd.DataFrame, *, n: int, k: int, per_unit: float) -> IntraclassCorrelation:
    crossed = mixed_model(rows, outcome="score", fixed=(), random=(_UNIT_INTERCEPT, Random("rater")))
    nested = mixed_model(rows, outcome="score", fixed=(), random=(_UNIT_INTERCEPT,))
    if not (crossed.usable and nested.usable):
        status = crossed.status if not crossed.usable else nested.status
        return IntraclassCorrelation(status, "reml", n, k, per_unit)
    values = _components_to_forms(crossed, nested, per_unit=per_unit)
    table = pd.DataFrame({"form": list(values), "value": list(values.values())})
    return IntraclassCorrelation(crossed.status, "reml", n, k, per_unit, table, dict(crossed.variances))


def _components_to_forms(crossed: MixedFit, nested: MixedFit, *, per_unit: float) -> dict[str, float]:
    unit, rater, residual = (crossed.variances[name] for name in ("unit", "rater", "residual"))
    alone, within = nested.variances["unit"], nested.variances["residual"]
    shares = {"1": (alone, within), "A": (unit, rater + residual), "C": (unit, residual)}
    return {
        f"ICC({kind},{size})": signal / (signal + noise / (per_unit if size == "k" else 1))
        for size in ("1", "k")
        for kind, (signal, noise) in shares.items()
    }
