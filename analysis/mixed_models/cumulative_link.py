"""Mixed cumulative link models: ordered ratings, crossed random effects, participants' use of the scale."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import scipy

from ..rows import Codes, Floats, group_codes
from .cross_products import Term, apply_lambda_transpose, correlated_pairs
from .laplace import slope
from .linear import (
    CROSSED,
    Estimate,
    MixedFit,
    Random,
    effect_correlations,
    random_formula,
    random_terms,
)
from .logistic import hessian_inverse
from .reml import one_thread

METHOD = "Laplace, Wald z"
SCALE = "scale"
"""Name of the random effect on the logarithm of participants' discrimination."""
_STEPS = 50  # Newton steps for the mode
_TOLERANCE = 1e-6  # their length at which the mode is reached; the error after a step is about its square
_LONGEST_STEP = (
    5.0  # SDs of the random effects: a longer one overflows exp() of a participant's log discrimination
)
_LARGEST_SD = 12.0  # logits; beyond it the SD is not estimable
_FARTHEST = 100.0  # logits; no threshold, distance of two thresholds or β of an estimable model lies beyond
# An SD below .1 is set to 0 if that raises the deviance by at most 1e-4, a negligible loss of fit.
_SMALL_SD, _NOTHING = 0.1, 1e-4


@dataclass(frozen=True)
class OrdinalFit(MixedFit):
    """A fitted mixed cumulative link model."""

    thresholds: tuple[float, ...] = ()
    severity: pd.DataFrame = field(default_factory=pd.DataFrame)
    """``participant``, ``severity`` (logits; higher: lower ratings of the same sentences), ``ci_low``,
    ``ci_high``, and with participants' use of the scale ``discrimination``, which is 1 on average."""


class CumulativeLink:
    """Data of the model; parameters are thresholds (first, then log gaps), β and the covariance factor θ.

    The modes of one evaluation are the starting values of the next. The last of ``terms`` is on the logarithm
    of the discrimination if ``has_scale``, all others are on the location.
    """

    def __init__(self, y: Codes, x: Floats, *, terms: Sequence[Term], has_scale: bool) -> None:
        self.y, self.x, self.terms, self.has_scale = y, x, list(terms), has_scale
        self.n_gaps, self.n_terms = int(y.max()), len(terms)
        self.pairs = correlated_pairs(terms)
        self.starts = np.concatenate([[0], np.cumsum([term.n_groups for term in terms])]).astype(np.int64)
        self.modes = np.zeros(int(self.starts[-1]))

    def factor(self, parameters: Floats) -> Floats:
        """Return T, terms × terms; the covariance of the random effects of a group is T T'."""
        theta = parameters[self.n_gaps + 1 :]
        factor = np.diag(theta[: self.n_terms])
        for value, pair in zip(theta[self.n_terms :], self.pairs, strict=True):
            factor[pair] = value
        return factor

    def effects(self, factor: Floats) -> Floats:
        """Return the random effects at the modes, term after term."""
        effects = np.zeros_like(self.modes)
        for late, early in np.argwhere(factor):
            rows, source = (slice(self.starts[k], self.starts[k + 1]) for k in (late, early))
            effects[rows] += factor[late, early] * self.modes[source]
        return effects

    def deviance(self, parameters: Floats) -> float:
        """Compute -2 log-likelihood by Laplace's approximation at the mode of the random effects."""
        factor = self.factor(parameters)
        value, gradient, curvature = self._at(parameters, factor)
        for _ in range(_STEPS):
            root = _positive_root(curvature)
            step = scipy.linalg.cho_solve((root, True), gradient, check_finite=False)
            before, reached = self.modes, value
            length = min(1.0, _LONGEST_STEP / max(np.abs(step).max(initial=0.0), _LONGEST_STEP))
            while True:
                self.modes = before + length * step
                value, gradient, curvature = self._at(parameters, factor)
                if value >= reached - 1e-12 * abs(reached) or length < 1e-6:
                    break
                length /= 2
            if np.abs(length * step).max(initial=0.0) < _TOLERANCE:
                break
        root = _positive_root(curvature)
        return float(-2 * value + 2 * np.log(np.diag(root)).sum())

    def _at(self, parameters: Floats, factor: Floats) -> tuple[float, Floats, Floats]:
        """Compute the penalized log-likelihood at the modes, its gradient and negative curvature."""
        effects = self.effects(factor)
        location, scale = parameters[self.n_gaps] * self.x, np.zeros(len(self.x))
        for place, term in enumerate(self.terms):
            part = effects[self.starts[place] : self.starts[place + 1]][term.codes] * term.covariate
            if self.has_scale and place == self.n_terms - 1:
                scale = part
            else:
                location = location + part
        thresholds = np.cumsum(np.r_[parameters[:1], np.exp(parameters[1 : self.n_gaps])])
        edges = np.r_[-np.inf, thresholds, np.inf]
        value, first, second = _ratings(self.y, edges, location, scale)
        gradient, curvature = self._assemble(first, second)
        gradient = apply_lambda_transpose(gradient[:, None], factor, self.starts)[:, 0] - self.modes
        curvature = apply_lambda_transpose(
            apply_lambda_transpose(curvature, factor, self.starts).T, factor, self.starts
        )
        curvature.flat[:: len(curvature) + 1] += 1.0
        return float(value - 0.5 * self.modes @ self.modes), gradient, curvature

    def _assemble(
        self, first: tuple[Floats, Floats], second: tuple[Floats, Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """Sum the derivatives of the rows by random effects; ``second`` is negative."""
        total = int(self.starts[-1])
        gradient, curvature = np.zeros(total), np.zeros((total, total))
        is_scale = [self.has_scale and place == self.n_terms - 1 for place in range(self.n_terms)]
        for a, term in enumerate(self.terms):
            block = slice(self.starts[a], self.starts[a + 1])
            gradient[block] = np.bincount(
                term.codes, weights=first[is_scale[a]] * term.covariate, minlength=term.n_groups
            )
            for b, other in enumerate(self.terms[: a + 1]):
                weights = second[is_scale[a] + is_scale[b]] * term.covariate * other.covariate
                cells = np.bincount(
                    term.codes * other.n_groups + other.codes,
                    weights=weights,
                    minlength=term.n_groups * other.n_groups,
                ).reshape(term.n_groups, other.n_groups)
                other_block = slice(self.starts[b], self.starts[b + 1])
                curvature[block, other_block] = cells
                curvature[other_block, block] = cells.T
        return gradient, curvature

    def conditional(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return the random effects at their modes and their conditional variances."""
        self.deviance(parameters)
        factor = self.factor(parameters)
        inverse = np.linalg.inv(self._at(parameters, factor)[2])
        full = np.zeros_like(inverse)
        for late, early in np.argwhere(factor):
            size = self.terms[late].n_groups
            places = np.arange(size)
            full[self.starts[late] + places, self.starts[early] + places] = factor[late, early]
        return self.effects(factor), np.einsum("ij,jk,ik->i", full, inverse, full)


def _ratings(
    y: Codes, edges: Floats, location: Floats, scale: Floats
) -> tuple[float, tuple[Floats, Floats], tuple[Floats, Floats, Floats]]:
    """Compute log P of the ratings, its derivatives in location and log discrimination, negative second ones.

    P = F(a) - F(b) with a = (θ_y - η) exp(s), b = (θ_(y-1) - η) exp(s). For the logistic F this is
    F(a) F(-b) (1 - exp(b - a)), whose logarithm and derivatives do not underflow far from the data.
    """
    steep = np.exp(scale)
    a, b = ((edge - location) * steep for edge in (edges[y + 1], edges[y]))
    distance = np.maximum((edges[y + 1] - edges[y]) * steep, 1e-300)  # infinite at the ends of the scale
    upper, lower = scipy.special.expit(a), scipy.special.expit(b)
    between = -np.expm1(-distance)
    log_probability = scipy.special.log_expit(a) + scipy.special.log_expit(-b) + np.log(between)
    f, g = upper * (1 - upper), lower * (1 - lower)
    a, b, distance = (np.where(np.isfinite(at), at, 0.0) for at in (a, b, distance))  # no density at the ends
    middle, spread = 1 - upper - lower, np.exp(-distance) * distance / between
    by_scale = a * (1 - upper) - b * lower + spread
    return (
        float(log_probability.sum()),
        (-steep * middle, by_scale),
        (
            steep**2 * (f + g),
            steep * (middle - a * f - b * g),
            a**2 * f + b**2 * g + spread * (spread + distance) - by_scale,
        ),
    )


def _positive_root(curvature: Floats) -> Floats:
    """Factor a curvature; away from the mode a ridge makes it positive definite.

    Raises LinAlgError for a curvature that has no finite numbers: no ridge would help.
    """
    if not np.isfinite(curvature).all():
        raise np.linalg.LinAlgError("The curvature of the likelihood is not finite.")
    ridge = 0.0
    while True:
        try:
            root = np.linalg.cholesky(curvature + ridge * np.eye(len(curvature)))
        except np.linalg.LinAlgError:
            ridge = max(2 * ridge, 0.1)
        else:
            return np.asarray(root, dtype=np.float64)


def ordinal_mixed_model(
    rows: pd.DataFrame,
    *,
    outcome: str = "value",
    fixed: str = "condition",
    random: Sequence[Random] = CROSSED,
    has_scale: bool = False,
    start: MixedFit | None = None,
    confidence: float = 0.95,
) -> OrdinalFit:
    """Fit logit P(Y ≤ j) = (θ_j - β x - random effects) exp(s_participant) to ordered ratings.

    Notes
    -----
    ``status``: ``ok``; ``singular`` (a variance is 0); ``not_converged``; ``no_data``; ``no_variation`` (one
    rating, or a constant predictor). The random effects are those of
    :func:`~obelus.mixed_models.linear.mixed_model`; an intercept of participants shifts all their
    thresholds. With ``has_scale`` they also stretch or compress them: s is the logarithm of a participant's
    discrimination, normal with mean 0; s > 0 for participants who use the ends of the scale for the same
    differences. ``variances`` then has ``scale``.

    The likelihood is Laplace's approximation, as in ``ordinal::clmm``: at θ, β and the covariance factor, the
    random effects are set to their mode by Newton's method, and log|H| / 2 is subtracted, H the curvature
    there. Errors come from the numerical Hessian in all parameters. ``criterion`` is -2 log-likelihood.

    References
    ----------
    Agresti (2010), *Analysis of Ordinal Categorical Data*; Bürkner & Vuorre (2019), AMPPS 2; Christensen, R
    package ordinal.
    """
    names = [outcome, fixed, *dict.fromkeys(term.factor for term in random)]
    complete = rows.loc[rows[names].notna().all(axis=1)]
    words = [
        f"{outcome} ~ {fixed}",
        random_formula(random),
        *(["scale: (1 | participant)"] if has_scale else []),
    ]
    empty = OrdinalFit("no_data", " + ".join(words), method=METHOD, n=len(complete))
    if complete.empty:
        return empty
    y = np.unique(complete[outcome], return_inverse=True)[1].astype(np.int64)
    x = complete[fixed].to_numpy(dtype=np.float64)
    if y.max() == 0 or np.ptp(x) == 0:
        return replace(empty, status="no_variation")
    terms, n_groups = random_terms(complete, random)
    if has_scale:
        codes = next(
            term.codes
            for term, structure in zip(terms, random, strict=True)
            if structure.factor == "participant"
        )
        terms.append(Term(codes, n_groups["participant"], np.ones(len(y))))
    model = CumulativeLink(y, x, terms=terms, has_scale=has_scale)
    variance_names = [*(term.name for term in random), *([SCALE] if has_scale else [])]
    with one_thread():
        return _fit(
            model,
            random,
            variance_names,
            replace(empty, n_groups=n_groups),
            complete,
            fixed,
            start,
            confidence,
        )


def _fit(
    model: CumulativeLink,
    random: Sequence[Random],
    names: Sequence[str],
    empty: OrdinalFit,
    rows: pd.DataFrame,
    fixed: str,
    start: MixedFit | None,
    confidence: float,
) -> OrdinalFit:
    n_fixed = model.n_gaps + 1
    at = _optimum(model, _start(model, names, start))
    if at is None:
        return replace(empty, status="not_converged")
    covariance = hessian_inverse(
        model.deviance, at, free=np.flatnonzero(np.r_[np.ones(n_fixed), at[n_fixed:]])
    )
    if covariance is None:
        return replace(empty, status="not_converged")
    zero = tuple(name for name, size in zip(names, at[n_fixed:], strict=False) if size == 0)
    factor = model.factor(at)
    spread = factor @ factor.T
    beta, se = float(at[model.n_gaps]), float(covariance[model.n_gaps, model.n_gaps] ** 0.5)
    half = float(scipy.stats.norm.ppf(0.5 + confidence / 2))
    estimate = Estimate(
        fixed, beta, se, beta / se, None, float(2 * scipy.stats.norm.sf(abs(beta / se))),
        beta - half * se, beta + half * se,
    )  # fmt: skip
    return replace(
        empty,
        status="singular" if zero else "ok",
        estimates={fixed: estimate},
        variances={name: float(size) for name, size in zip(names, np.diag(spread), strict=True)},
        correlations=effect_correlations(random, spread, model.pairs),
        criterion=model.deviance(at),
        zero_terms=zero,
        thresholds=tuple(np.cumsum(np.r_[at[:1], np.exp(at[1 : model.n_gaps])]).tolist()),
        severity=_severity(model, at, random, rows, half=half),
    )


def _start(model: CumulativeLink, names: Sequence[str], fit: MixedFit | None) -> Floats:
    cumulative = np.cumsum(np.bincount(model.y))[:-1] / len(model.y)
    thresholds, beta = np.log(cumulative / (1 - cumulative)), 0.0
    if isinstance(fit, OrdinalFit) and fit.thresholds:
        thresholds = np.array(fit.thresholds)
        beta = next(iter(fit.estimates.values())).estimate or 0.0
    sizes = [0.5 if fit is None else max(fit.variances.get(name, 0.04) ** 0.5, 0.1) for name in names]
    gaps = np.log(np.diff(thresholds))
    return np.array([thresholds[0], *gaps, beta, *sizes, *[0.0] * len(model.pairs)], dtype=np.float64)


def _optimum(model: CumulativeLink, start: Floats) -> Floats | None:

    def downhill(at: Floats) -> Floats:
        return slope(model.deviance, at)

    n_fixed, n = model.n_gaps + 1, model.n_terms
    far = (-_FARTHEST, _FARTHEST)
    bounds = (
        [far]
        + [(-np.log(_FARTHEST) * 4, np.log(_FARTHEST))] * (model.n_gaps - 1)  # logarithms of distances
        + [far]
        + [(0.0, _LARGEST_SD)] * n
        + [(-_LARGEST_SD, _LARGEST_SD)] * len(model.pairs)
    )
    result = scipy.optimize.minimize(
        model.deviance, start, method="L-BFGS-B", jac=downhill, bounds=bounds,
        options={"ftol": 1e-11, "gtol": 1e-5, "maxiter": 300},
    )  # fmt: skip
    at = np.asarray(result.x, dtype=np.float64)
    for place in range(n_fixed, n_fixed + n):
        trial = at.copy()
        trial[place] = 0.0
        if at[place] < _SMALL_SD and model.deviance(trial) <= model.deviance(at) + _NOTHING:
            at = trial
    reached = np.abs(at[n_fixed:]).max(initial=0.0) < 0.999 * _LARGEST_SD
    return at if np.isfinite(result.fun) and reached else None


def _severity(
    model: CumulativeLink, at: Floats, random: Sequence[Random], rows: pd.DataFrame, *, half: float
) -> pd.DataFrame:
    """Return the severity of each participant, minus the intercept at its mode, with its interval."""
    place = next((k for k, term in enumerate(random) if term.name == "participant"), None)
    if place is None:
        return pd.DataFrame()
    effects, variances = model.conditional(at)
    block = slice(model.starts[place], model.starts[place + 1])
    labels = group_codes(rows["participant"])[1]
    centre, spread = -effects[block], half * np.sqrt(variances[block])
    table = pd.DataFrame({"participant": labels, "severity": centre})
    table = table.assign(ci_low=centre - spread, ci_high=centre + spread)
    if model.has_scale:
        table["discrimination"] = np.exp(effects[model.starts[-2] :])
    return table
