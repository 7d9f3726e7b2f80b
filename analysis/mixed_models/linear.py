"""Linear mixed models with crossed random effects: REML fit, Satterthwaite tests and likelihood ratios."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..errors import BadInput
from ..rows import Floats, group_codes
from .cross_products import Crossed, Term
from .reml import differences, minimize, single_threaded

# Relative step of the numerical derivatives: large, because the criterion carries rounding error, and its
# bias is removed by Richardson extrapolation.
_STEP = 1e-2


def satterthwaite(model: Crossed, theta: Floats, *, sigma2: float, weights: Floats | None = None) -> Floats:
    """Compute the Satterthwaite degrees of freedom of each coefficient, or of each row of ``weights``.

    Notes
    -----
    df = 2 v² / (g'Ag), v = Var(β_j), g its gradient in (θ, σ), A twice the inverse Hessian of the REML
    deviance D(θ, σ) = log|L|² + log|S| + (n - p) log(2πσ²) + r²(θ) / σ². Only functions of θ are
    differentiated numerically; derivatives in σ are analytic.

    References
    ----------
    Kuznetsova, Brockhoff & Christensen (2017), Journal of Statistical Software 82(13).
    """
    free = np.flatnonzero(theta)
    sigma = np.sqrt(sigma2)
    weights = np.eye(model.p) if weights is None else weights

    def parts(points: Floats) -> Floats:
        """Return penalty, r² and the diagonal of S⁻¹ at the free elements of each θ."""
        full_thetas = np.zeros((len(points), len(theta)))
        full_thetas[:, free] = points
        state = model.at(full_thetas)
        penalty, diagonal = state.log_det + state.log_det_fixed, _variances(state.inverse, weights)
        return np.column_stack([penalty, state.rss, diagonal])

    here = theta[free]
    centre, (gradient, curvature) = parts(here[None])[0], _derivatives(parts, here)
    k = len(free)
    hessian = np.zeros((k + 1, k + 1))
    hessian[:k, :k] = curvature[:, :, 0] + curvature[:, :, 1] / sigma2
    hessian[:k, k] = hessian[k, :k] = -2 * gradient[:, 1] / sigma**3
    hessian[k, k] = 4 * (model.n - model.p) / sigma2
    slopes = np.vstack([sigma2 * gradient[:, 2:], 2 * sigma * centre[2:]])
    try:
        spread = np.einsum("kj,kj->j", slopes, 2 * np.linalg.solve(hessian, slopes))
    except np.linalg.LinAlgError:
        return np.full(len(weights), np.nan)
    variance = sigma2 * centre[2:]
    df: Floats = np.divide(2 * variance**2, spread, out=np.full(len(weights), np.nan), where=spread > 0)
    return df


def _variances(inverse: Floats, weights: Floats) -> Floats:
    """Return the variances of combinations of coefficients, in units of σ², for each of several θ."""
    variances: Floats = np.einsum("ij,kjl,il->ki", weights, inverse, weights)
    return variances


def _derivatives(function: Callable[[Floats], Floats], point: Floats) -> tuple[Floats, Floats]:
    """Differentiate once and twice, by central differences with one Richardson step."""
    steps = _STEP * np.maximum(np.abs(point), 0.1)
    coarse, fine = (differences(function, point, steps=steps * factor) for factor in (1.0, 0.5))
    first, second = ((4 * b - a) / 3 for a, b in zip(coarse, fine, strict=True))
    return first, second


@dataclass(frozen=True)
class Random:
    """A random term: an intercept by ``factor``, or a slope of the column ``slope`` by ``factor``."""

    factor: str
    slope: str = ""
    is_correlated: bool = False
    """Whether it correlates with the other such terms of the factor."""

    @property
    def name(self) -> str:
        """``participant`` or ``participant:condition``."""
        return f"{self.factor}:{self.slope}" if self.slope else self.factor

    @property
    def formula(self) -> str:
        """The term in lme4 notation."""
        return f"(0 + {self.slope} | {self.factor})" if self.slope else f"(1 | {self.factor})"


CROSSED = (Random("participant"), Random("item"))


def random_formula(random: Sequence[Random]) -> str:
    """Write random terms in the notation of lme4.

    Examples
    --------
    >>> random_formula([Random("item"), Random("item", "condition")])
    '(1 | item) + (0 + condition | item)'
    >>> random_formula([Random("item", is_correlated=True), Random("item", "condition", is_correlated=True)])
    '(1 + condition | item)'
    """
    blocks: dict[Any, list[str]] = {}
    for term in random:
        key = term.factor if term.is_correlated else term
        blocks.setdefault(key, []).append(term.slope or "1")
    return " + ".join(
        f"({' + '.join(words if words[0] == '1' else ['0', *words])} | {getattr(key, 'factor', key)})"
        for key, words in blocks.items()
    )


@dataclass(frozen=True)
class Estimate:
    """One fixed effect with its test; None where the model gives no estimate."""

    term: str
    estimate: float | None = None
    se: float | None = None
    statistic: float | None = None
    df: float | None = None
    p: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


@dataclass(frozen=True)
class JointTest:
    """F test of one or more combinations of fixed effects; the estimate is that of a single one."""

    statistic: float | None
    df1: int
    df2: float | None
    p: float | None
    estimate: Estimate


@dataclass(frozen=True)
class MixedFit:
    """A fitted mixed model; ``status`` is the outcome of the fit."""

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
    """Random terms with an estimated variance of 0."""
    correlations: Mapping[str, float] = field(default_factory=dict)
    """Correlations of the effects of correlated terms: ``participant, participant:condition``."""
    structure: str = ""
    """The random structure in words, where it was chosen from the data."""
    path: tuple[str, ...] = ()
    """Larger structures that were fitted and given up, each with its reason."""
    exact: Mapping[str, Estimate] = field(default_factory=dict)
    """Logistic models: estimates at the exact optimum; ``estimates`` are those of glmer."""
    tests: Mapping[str, JointTest] = field(default_factory=dict)
    """Tests of the hypotheses that were given."""

    @property
    def usable(self) -> bool:
        """Whether there are estimates: status ``ok`` or ``singular``."""
        return self.status in ("ok", "singular")

    def __getitem__(self, term: str) -> Estimate:
        """Return one fixed effect by name; an empty estimate if there is none."""
        return self.estimates.get(term, Estimate(term))

    def table(self) -> pd.DataFrame:
        """Return the fixed effects as a frame, one row per term."""
        return pd.DataFrame([vars(estimate) for estimate in self.estimates.values()])


def mixed_model(
    rows: pd.DataFrame,
    *,
    outcome: str = "value",
    fixed: Sequence[str] = ("condition",),
    random: Sequence[Random] = CROSSED,
    reml: bool = True,
    confidence: float = 0.95,
    start: MixedFit | None = None,
    hypotheses: Mapping[str, Floats] | None = None,
) -> MixedFit:
    """Fit a linear mixed model with crossed random effects and test its fixed effects.

    Notes
    -----
    ``status``: ``ok``; ``singular`` (a variance is 0; degrees of freedom are those of the model
    without it); ``not_converged`` (also where the optimum is flat, as with few rows); ``no_data``;
    ``too_few`` (a factor has one group, or as many groups as rows); ``no_variation`` (constant outcome or
    redundant predictors).

    Profiled REML as in lme4: with θ the lower triangle of the covariance factor of the random effects
    relative to the residual and Λ made of it, minimize
    2 Σ log L_jj + log|S| + (n - p)(1 + log(2π r² / (n - p))), where L L' = Λ'Z'ZΛ + I and r² is the
    penalized residual sum of squares; σ² = r² / (n - p), Var(β) = σ² S⁻¹.
    Satterthwaite: df = 2 v² / (g'Ag), v = Var(β_j), g its gradient in (θ, σ), A twice the inverse Hessian
    of the REML deviance. Assumes normal residuals and random effects, hence scores on a scale, not
    choices. Report the random structure: intercepts alone are too liberal if the effect
    varies between participants (Barr et al. 2013), all slopes too conservative in small designs (Matuschek
    et al. 2017); :func:`obelus.mixed_models.structures.fit_largest` chooses it. ``start`` is a fit of a
    smaller structure, at whose variances the search begins.

    ``hypotheses`` are tested jointly by F: each a matrix with one row per combination of the coefficients
    (intercept, then ``fixed``). The denominator's degrees of freedom are 2E / (E - q) with E = Σ ν / (ν - 2)
    over the Satterthwaite ν > 2 of the q independent combinations (Fai & Cornelius 1996, as in lmerTest).

    References
    ----------
    Bates, Mächler, Bolker & Walker (2015), Journal of Statistical Software 67(1). Fai & Cornelius (1996),
    Journal of Statistical Computation and Simulation 54. Kuznetsova, Brockhoff & Christensen (2017), Journal
    of Statistical Software 82(13).

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
    complete = rows.loc[rows[list(dict.fromkeys(names))].notna().all(axis=1)]
    formula = " + ".join([f"{outcome} ~ 1", *fixed, random_formula(random)])
    empty = MixedFit("no_data", formula, method=_method(reml), n=len(complete))
    y = _floats(complete, outcome)
    design = np.column_stack([np.ones(len(complete)), *(_floats(complete, name) for name in fixed)])
    terms, n_groups = random_terms(complete, random)
    empty = replace(empty, n_groups=n_groups)
    status = _estimable(y, design, n_groups)
    if status != "ok":
        return replace(empty, status=status)
    return _fit(
        y, design, terms, random, empty, names=["intercept", *fixed], reml=reml, confidence=confidence,
        start=start, hypotheses=hypotheses or {},
    )  # fmt: skip


def _method(reml: bool) -> str:
    return "REML, Satterthwaite" if reml else "maximum likelihood"


def _floats(rows: pd.DataFrame, name: str) -> Floats:
    try:
        values: Floats = rows[name].to_numpy(dtype=np.float64)
    except (ValueError, TypeError) as error:
        remedy = "Code conditions as numbers, for example 0 and 1."
        raise BadInput("the column does not hold numbers.", column=name, remedy=remedy) from error
    return values


def random_terms(rows: pd.DataFrame, random: Sequence[Random]) -> tuple[list[Term], dict[str, int]]:
    """Return the random terms as arrays, and the number of groups of each factor."""
    coded = {factor: group_codes(rows[factor]) for factor in dict.fromkeys(term.factor for term in random)}
    terms = [
        Term(
            coded[term.factor][0],
            len(coded[term.factor][1]),
            _floats(rows, term.slope) if term.slope else np.ones(len(rows)),
            term.is_correlated,
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
    start: MixedFit | None,
    hypotheses: Mapping[str, Floats],
) -> MixedFit:
    # Standardized outcomes: the tolerances of the optimizer are absolute.
    centre, unit = float(y.mean()), float(y.std())
    model = Crossed((y - centre) / unit, design, terms=terms)
    freedom = model.n - model.p if reml else model.n
    with single_threaded(model):
        theta, converged = minimize(model, reml=reml, start=_start(model, random, start))
        state = model.at(theta[None])
        sigma2 = float(state.rss[0]) / freedom
        if not converged or not sigma2 > 1e-14:
            return replace(empty, status="not_converged" if not converged else "no_variation")
        covariance_fixed = sigma2 * state.inverse[0]
        rotated = {name: _independent(rows, covariance_fixed) for name, rows in hypotheses.items()}
        weights = np.vstack([np.eye(model.p), *rotated.values()])
        df = (
            satterthwaite(model, theta, sigma2=sigma2, weights=weights)
            if reml
            else np.full(len(weights), np.nan)
        )
    if reml and np.isnan(df).any():
        return replace(empty, status="not_converged")
    beta = state.beta[0] * unit + np.eye(1, model.p)[0] * centre
    error = np.sqrt(np.einsum("ij,jl,il->i", weights, covariance_fixed, weights)) * unit
    p = model.p
    estimates = _estimates(beta, error[:p], df[:p], names=names, confidence=confidence)
    tests, first = {}, p
    for name, rows in rotated.items():
        span = slice(first, first := first + len(rows))
        tests[name] = _joint_test(name, rows @ beta, error[span], df[span], confidence=confidence)
    zero = tuple(term.name for term, size in zip(random, theta, strict=False) if size == 0)
    factor = model.relative_factor(theta)
    covariance = sigma2 * unit**2 * factor @ factor.T
    variances = {term.name: float(size) for term, size in zip(random, np.diag(covariance), strict=True)}
    return replace(
        empty,
        status="singular" if zero else "ok",
        correlations=effect_correlations(random, covariance, model.pairs),
        estimates=estimates,
        variances={**variances, "residual": sigma2 * unit**2},
        criterion=model.criterion(theta, reml=reml) + 2 * freedom * float(np.log(unit)),
        zero_terms=zero,
        tests=tests,
    )


def _independent(weights: Floats, covariance: Floats) -> Floats:
    """Rotate several combinations of coefficients so that their estimates are independent."""
    if len(weights) == 1:
        return weights
    _, axes = np.linalg.eigh(weights @ covariance @ weights.T)
    rotated: Floats = axes.T @ weights
    return rotated


def _joint_test(name: str, values: Floats, error: Floats, df: Floats, *, confidence: float) -> JointTest:
    """Test independent combinations of coefficients by F; of a single one with its estimate."""
    q, statistic = len(values), float(np.mean((values / error) ** 2))
    if q == 1:
        estimate = _estimates(values, error, df, names=[name], confidence=confidence)[name]
        return JointTest(statistic, 1, estimate.df, estimate.p, estimate)
    large = df[df > 2]
    sum_of_ratios = float((large / (large - 2)).sum())
    df2 = 2 * sum_of_ratios / (sum_of_ratios - q) if sum_of_ratios > q else None
    p = None if df2 is None else float(scipy.stats.f.sf(statistic, q, df2))
    return JointTest(statistic, q, df2, p, Estimate(name))


def _start(model: Crossed, random: Sequence[Random], fit: MixedFit | None) -> Floats | None:
    """Return θ at the variances of an earlier fit, uncorrelated; SDs at least a tenth of the residual's."""
    if fit is None:
        return None
    ratios = [fit.variances[term.name] / fit.variances["residual"] for term in random]
    diagonal = np.maximum(np.sqrt(np.array(ratios, dtype=np.float64)), 0.1)
    return np.concatenate([diagonal, np.zeros(len(model.pairs))])


def effect_correlations(
    random: Sequence[Random], covariance: Floats, pairs: Sequence[tuple[int, int]]
) -> dict[str, float]:
    """Return the correlations of the effects of correlated terms."""
    sd = np.sqrt(np.diag(covariance))
    return {
        f"{random[early].name}, {random[late].name}": float(covariance[late, early] / (sd[late] * sd[early]))
        for late, early in pairs
        if sd[late] > 0 and sd[early] > 0
    }


def _estimates(
    beta: Floats, se: Floats, df: Floats, *, names: Sequence[str], confidence: float
) -> dict[str, Estimate]:
    estimates = {}
    for name, estimate, error, freedom in zip(names, beta, se, df, strict=True):
        statistic = float(estimate / error)
        has_df = np.isfinite(freedom) and freedom > 0
        half = float(scipy.stats.t.ppf(0.5 + confidence / 2, freedom) * error) if has_df else None
        estimates[name] = Estimate(
            name,
            estimate=float(estimate),
            se=float(error),
            statistic=statistic,
            df=float(freedom) if has_df else None,
            p=float(2 * scipy.stats.t.sf(abs(statistic), freedom)) if has_df else None,
            ci_low=None if half is None else float(estimate) - half,
            ci_high=None if half is None else float(estimate) + half,
        )
    return estimates


def likelihood_ratio(
    rows: pd.DataFrame,
    *,
    outcome: str = "value",
    fixed: Sequence[str] = ("condition",),
    dropped: Sequence[str] = ("condition",),
    random: Sequence[Random] = CROSSED,
) -> dict[str, float | str | None]:
    """Test predictors by the likelihood ratio of two models fitted by maximum likelihood.

    Notes
    -----
    χ² = difference of -2 log-likelihoods, never of REML criteria, which are not comparable between
    models with different predictors.

    References
    ----------
    Wilks (1938), Annals of Mathematical Statistics 9.
    """
    complete = rows.loc[rows[[outcome, *fixed]].notna().all(axis=1)]
    smaller = [name for name in fixed if name not in dropped]
    fits = [
        mixed_model(complete, outcome=outcome, fixed=names, random=random, reml=False)
        for names in (smaller, fixed)
    ]
    small, large = (fit.criterion for fit in fits)
    if small is None or large is None:
        bad = next(fit.status for fit in fits if fit.criterion is None)
        return {"statistic": None, "df": len(dropped), "p": None, "status": bad}
    statistic = max(small - large, 0.0)
    p = float(scipy.stats.chi2.sf(statistic, len(fixed) - len(smaller)))
    return {"statistic": statistic, "df": len(fixed) - len(smaller), "p": p, "status": fits[1].status}
