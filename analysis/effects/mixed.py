"""Linear mixed models with crossed random effects of participants and items, by our own REML solver."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import scipy

from analysis.columns import require_columns
from analysis.effects.crossed import Crossed, Term
from analysis.effects.reml import minimize, single_threaded
from analysis.effects.satterthwaite import satterthwaite
from analysis.errors import BadInput
from analysis.rows import Floats, group_codes


@dataclass(frozen=True)
class Random:
    """A random term: an intercept by ``factor``, or with ``slope`` the effect of that column by factor."""

    factor: str
    slope: str = ""

    @property
    def name(self) -> str:
        """``participant`` or ``participant:condition``."""
        return f"{self.factor}:{self.slope}" if self.slope else self.factor

    @property
    def formula(self) -> str:
        """The term as lme4 writes it."""
        return f"(0 + {self.slope} | {self.factor})" if self.slope else f"(1 | {self.factor})"


CROSSED = (Random("participant"), Random("item"))


@dataclass(frozen=True)
class Estimate:
    """One fixed effect with its t test; None where the model has no answer."""

    term: str
    estimate: float | None = None
    se: float | None = None
    statistic: float | None = None
    df: float | None = None
    p: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


@dataclass(frozen=True)
class MixedFit:
    """A fitted mixed model; ``status`` says whether to trust it."""

    status: str
    formula: str
    method: str = "REML, Satterthwaite"
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    variances: Mapping[str, float] = field(default_factory=dict)
    """Variance of each random term, and of the ``residual``."""
    criterion: float | None = None
    """Minus twice the (restricted) log-likelihood at the optimum."""
    n: int = 0
    n_groups: Mapping[str, int] = field(default_factory=dict)
    zero_terms: tuple[str, ...] = ()
    """Random terms whose variance came out as 0."""
    exact: Mapping[str, Estimate] = field(default_factory=dict)
    """Logistic models: the estimates and errors at the exact optimum, beside those of glmer's summary."""

    @property
    def usable(self) -> bool:
        """Whether there are estimates: status ``ok`` or ``singular``."""
        return self.status in ("ok", "singular")

    def __getitem__(self, term: str) -> Estimate:
        """Give one fixed effect by name; empty where there is none."""
        return self.estimates.get(term, Estimate(term))

    def table(self) -> pd.DataFrame:
        """Give the fixed effects as a frame, one row per term."""
        return pd.DataFrame([vars(estimate) for estimate in self.estimates.values()])


def mixed_model(
    rows: pd.DataFrame,
    *,
    outcome: str = "value",
    fixed: Sequence[str] = ("condition",),
    random: Sequence[Random] = CROSSED,
    reml: bool = True,
    confidence: float = 0.95,
) -> MixedFit:
    """Fit a linear mixed model with crossed random effects and test its fixed effects.

    Parameters
    ----------
    rows : DataFrame, one row per observation
        Needs the outcome, the fixed columns (numbers) and the random terms' columns; rows with a gap in
        one of them are left out.
    outcome : str
        Column of the outcome, for example z-scored ratings.
    fixed : sequence of str
        Numeric predictors; an intercept is always added. Code two conditions as 0 and 1, or -½ and ½.
    random : sequence of Random
        Terms; the default is an intercept by ``participant`` and one by ``item``. Terms are
        uncorrelated.
    reml : bool
        False maximizes the plain likelihood, for likelihood-ratio tests (no degrees of freedom then).
    confidence : float
        Of the t intervals.

    Returns
    -------
    MixedFit
        ``status``: ``ok``; ``singular`` (a variance is 0; degrees of freedom are those of the model
        without it); ``not_converged`` (also where the optimum is flat, as with few rows); ``no_data``;
        ``too_few`` (a factor has one group, or as many groups as rows); ``no_variation`` (constant outcome or
        redundant predictors).

    Raises
    ------
    MissingColumns
        If a column is absent.
    BadInput
        If a predictor or the outcome is not a number, or a random term is given twice.

    See Also
    --------
    analysis.effects.likelihood_ratio : Test of predictors by the plain likelihood.

    Notes
    -----
    Profiled REML as in lme4: with θ the standard deviations of the random terms relative to the
    residual and Λ = diag(θ), minimize 2 Σ log L_jj + log|S| + (n - p)(1 + log(2π r² / (n - p))), where
    L L' = ΛZ'ZΛ + I and r² is the penalized residual sum of squares; σ² = r² / (n - p), Var(β) = σ² S⁻¹.
    Satterthwaite: df = 2 v² / (g'Ag), v = Var(β_j), g its gradient in (θ, σ), A twice the inverse Hessian
    of the REML deviance. Assumes normal residuals and random effects, hence scores on a scale, not
    choices. Name the random structure you fitted: intercepts alone are too liberal where the
    effect varies between people (Barr et al. 2013), all slopes too conservative in small designs (Matuschek
    et al. 2017).

    References
    ----------
    Bates, Mächler, Bolker & Walker (2015), Journal of Statistical Software 67(1). Kuznetsova, Brockhoff &
    Christensen (2017), Journal of Statistical Software 82(13).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> rows = pd.DataFrame({
    ...     "participant": np.repeat(np.arange(20), 10), "item": np.tile(np.arange(10), 20)})
    >>> rows["condition"] = (rows["participant"] + rows["item"]) % 2
    >>> people, things = rng.normal(size=20), rng.normal(size=10)
    >>> noise = rng.normal(size=200) + people[rows["participant"]] + things[rows["item"]]
    >>> rows["value"] = 2 * rows["condition"] + noise
    >>> fit = mixed_model(rows)
    >>> fit.status, round(fit["condition"].estimate), fit["condition"].p < 0.001
    ('ok', 2, True)
    """
    names = [outcome, *fixed, *(column for term in random for column in (term.factor, term.slope) if column)]
    require_columns(rows, *names)
    if len({term.name for term in random}) < len(random):
        raise BadInput("a random term is given twice.", remedy="Give each of them once.")
    kept = rows.loc[rows[list(dict.fromkeys(names))].notna().all(axis=1)]
    formula = " + ".join([f"{outcome} ~ 1", *fixed, *(term.formula for term in random)])
    empty = MixedFit("no_data", formula, method=_method(reml), n=len(kept))
    y = _floats(kept, outcome)
    design = np.column_stack([np.ones(len(kept)), *(_floats(kept, name) for name in fixed)])
    terms, n_groups = _terms(kept, random)
    empty = replace(empty, n_groups=n_groups)
    status = _estimable(y, design, n_groups)
    if status != "ok":
        return replace(empty, status=status)
    return _fit(
        y, design, terms, random, empty, names=["intercept", *fixed], reml=reml, confidence=confidence
    )


def _method(reml: bool) -> str:
    return "REML, Satterthwaite" if reml else "maximum likelihood"


def _floats(rows: pd.DataFrame, name: str) -> Floats:
    try:
        found: Floats = rows[name].to_numpy(dtype=np.float64)
    except (ValueError, TypeError) as error:
        remedy = "Code conditions as numbers, for example 0 and 1."
        raise BadInput("the column does not hold numbers.", column=name, remedy=remedy) from error
    return found


def _terms(rows: pd.DataFrame, random: Sequence[Random]) -> tuple[list[Term], dict[str, int]]:
    coded = {factor: group_codes(rows[factor]) for factor in dict.fromkeys(term.factor for term in random)}
    terms = [
        Term(
            coded[term.factor][0],
            len(coded[term.factor][1]),
            _floats(rows, term.slope) if term.slope else np.ones(len(rows)),
        )
        for term in random
    ]
    return terms, {factor: len(labels) for factor, (_, labels) in coded.items()}


def _estimable(y: Floats, design: Floats, n_groups: Mapping[str, int]) -> str:
    n, p = design.shape
    if n == 0:
        return "no_data"
    if n <= p or any(groups < 2 or groups >= n for groups in n_groups.values()):
        return "too_few"
    spread = np.linalg.svd(design / np.maximum(np.abs(design).max(axis=0), 1e-300), compute_uv=False)
    if np.ptp(y) == 0 or spread[-1] < 1e-10 * spread[0]:
        return "no_variation"
    left = y - design @ np.linalg.lstsq(design, y)[0]
    return "ok" if left @ left > 1e-20 * y @ y else "no_variation"


def _fit(
    y: Floats,
    design: Floats,
    terms: list[Term],
    random: Sequence[Random],
    empty: MixedFit,
    *,
    names: list[str],
    reml: bool,
    confidence: float,
) -> MixedFit:
    centre, unit = float(y.mean()), float(y.std())
    model = Crossed((y - centre) / unit, design, terms=terms)
    freedom = model.n - model.p if reml else model.n
    with single_threaded(model):
        theta, converged = minimize(model, len(terms), reml=reml)
        state = model.at(theta)
        sigma2 = state.rss / freedom
        if not converged or not sigma2 > 1e-14:
            return replace(empty, status="not_converged" if not converged else "no_variation")
        df = satterthwaite(model, theta, sigma2=sigma2) if reml else np.full(model.p, np.nan)
    if reml and np.isnan(df).any():
        return replace(empty, status="not_converged")
    estimates = _estimates(
        state.beta * unit + np.eye(1, model.p)[0] * centre,
        np.sqrt(sigma2 * np.diag(state.inverse)) * unit,
        df,
        names=names,
        confidence=confidence,
    )
    zero = tuple(term.name for term, size in zip(random, theta, strict=True) if size == 0)
    variances = {t.name: float(size**2 * sigma2 * unit**2) for t, size in zip(random, theta, strict=True)}
    return replace(
        empty,
        status="singular" if zero else "ok",
        estimates=estimates,
        variances={**variances, "residual": sigma2 * unit**2},
        criterion=model.criterion(theta, reml=reml) + 2 * freedom * float(np.log(unit)),
        zero_terms=zero,
    )


def _estimates(
    beta: Floats, se: Floats, df: Floats, *, names: Sequence[str], confidence: float
) -> dict[str, Estimate]:
    found = {}
    for name, estimate, error, freedom in zip(names, beta, se, df, strict=True):
        statistic = float(estimate / error)
        known = np.isfinite(freedom) and freedom > 0
        half = float(scipy.stats.t.ppf(0.5 + confidence / 2, freedom) * error) if known else None
        found[name] = Estimate(
            name,
            estimate=float(estimate),
            se=float(error),
            statistic=statistic,
            df=float(freedom) if known else None,
            p=float(2 * scipy.stats.t.sf(abs(statistic), freedom)) if known else None,
            ci_low=None if half is None else float(estimate) - half,
            ci_high=None if half is None else float(estimate) + half,
        )
    return found
