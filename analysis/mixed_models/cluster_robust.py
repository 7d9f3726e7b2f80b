"""Logistic regression without random effects: where no mixed model can be fitted.

Cluster-robust standard errors where the answers vary, and Firth's penalized likelihood where they do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from ..rows import Codes, Floats, group_codes
from .linear import Estimate, MixedFit

ROBUST = "logistic regression, CR2 standard errors clustered by {factors}, t with Satterthwaite df"
PENALIZED = "Firth's penalized logistic regression, participants counted once a condition, likelihood ratio"
_STEPS, _TOLERANCE = 100, 1e-10


@dataclass(frozen=True)
class Sandwich:
    """Covariance of the coefficients under one clustering, with Satterthwaite degrees of freedom."""

    covariance: Floats
    df: Floats


def cluster_robust_logistic(
    rows: pd.DataFrame,
    *,
    outcome: str = "value",
    fixed: Sequence[str] = (),
    clusters: Sequence[str] = ("participant", "item"),
    confidence: float = 0.95,
) -> MixedFit:
    """Fit a logistic regression with standard errors that allow for clusters of participants and items.

    Notes
    -----
    ``status`` is ``cluster_robust``, or ``separated`` (a cell of the predictors has equal answers),
    ``too_few`` (no factor with two clusters).

    Each clustering has the bias-reduced sandwich CR2 of Bell & McCaffrey with working weights μ(1 - μ); the
    degrees of freedom are those of its quadratic form. Two clusterings add up: V = V_participant + V_item -
    V_both, where V_both clusters by pairs of them; the variance of a coefficient is at least that of each
    clustering alone, its degrees of freedom the smaller. The coefficient is a population average: nearer
    to 0 than that of a mixed model, which holds for one participant and one item.

    References
    ----------
    Pustejovsky & Tipton (2018), Journal of Business & Economic Statistics 36; Cameron, Gelbach & Miller
    (2011), Journal of Business & Economic Statistics 29.
    """
    y = rows[outcome].to_numpy(dtype=np.float64)
    design = np.column_stack([np.ones(len(rows)), *(rows[name].to_numpy(dtype=float) for name in fixed)])
    coded = {name: group_codes(rows[name]) for name in clusters}
    usable = [name for name, (_, labels) in coded.items() if len(labels) > 1]
    n_groups = {name: len(labels) for name, (_, labels) in coded.items()}
    formula = " + ".join([f"logit {outcome} ~ 1", *fixed])
    method = ROBUST.format(factors=" and ".join(usable))
    empty = MixedFit("too_few", formula, method=method, n=len(rows), n_groups=n_groups)
    if not usable:
        return empty
    beta = _fit(y, design)
    if beta is None:
        return MixedFit("separated", formula, method=method, n=len(rows), n_groups=n_groups)
    parts = [sandwich(y, design, beta, codes=coded[name][0]) for name in usable]
    variance = np.max([np.diag(part.covariance) for part in parts], axis=0)
    if len(parts) > 1:
        first, second = (coded[name][0] for name in usable)
        pairs = np.unique(first * (second.max() + 1) + second, return_inverse=True)[1]
        intersection = sandwich(y, design, beta, codes=pairs)
        total = parts[0].covariance + parts[1].covariance - intersection.covariance
        variance = np.maximum(variance, np.diag(total))
    df = np.min([part.df for part in parts], axis=0)
    estimates = {
        name: _estimate(name, float(beta[k]), float(variance[k] ** 0.5), float(df[k]), confidence)
        for k, name in enumerate(["intercept", *fixed])
    }
    return MixedFit(
        "cluster_robust", formula, method=method, n=len(rows), n_groups=n_groups, estimates=estimates
    )


def _estimate(name: str, estimate: float, se: float, df: float, confidence: float) -> Estimate:
    if not se > 0:
        return Estimate(name, estimate=estimate)
    half = float(scipy.stats.t.ppf(0.5 + confidence / 2, df) * se)
    return Estimate(
        name,
        estimate=estimate,
        se=se,
        statistic=estimate / se,
        df=df,
        p=float(2 * scipy.stats.t.sf(abs(estimate / se), df)),
        ci_low=estimate - half,
        ci_high=estimate + half,
    )


def _fit(y: Floats, design: Floats) -> Floats | None:
    """Maximize the likelihood; None where the answers are separated."""
    beta = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chance = scipy.special.expit(design @ beta)
        weights = chance * (1 - chance)
        try:
            step = np.linalg.solve(design.T @ (weights[:, None] * design), design.T @ (y - chance))
        except np.linalg.LinAlgError:
            return None
        beta = beta + np.clip(step, -2, 2)
        if np.abs(beta).max() > 30:
            return None
        if np.abs(step).max() < _TOLERANCE:
            return np.asarray(beta, dtype=np.float64)
    return None


def sandwich(y: Floats, design: Floats, beta: Floats, *, codes: Codes) -> Sandwich:
    """Compute CR2 of a logistic regression and the degrees of freedom of every coefficient.

    Notes
    -----
    V = M Σ X'W A e e' A' W X M over clusters, M = (X'WX)⁻¹, W = μ(1 - μ), e = (y - μ) / W the working
    residuals, A = D B^(-1/2) D, B = D (W⁻¹ - X M X') D, D = W^(-1/2), as in R's clubSandwich. With
    a = A W X M c for one coefficient c and b = X'a in every cluster, P = diag(a'W⁻¹a) - b'Mb and
    df = (tr P)² / Σ P².
    """
    chance = scipy.special.expit(design @ beta)
    weights = chance * (1 - chance)
    errors = (y - chance) / weights
    bread = np.asarray(np.linalg.inv(design.T @ (weights[:, None] * design)), dtype=np.float64)
    p = design.shape[1]
    if len(np.unique(codes)) == len(codes):
        return _singletons(design, errors, weights, bread)
    meat, squares_by_cluster, inner = np.zeros((p, p)), [], []
    order = np.argsort(codes, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        x, w = design[rows], weights[rows]
        root = w**-0.5
        square = root[:, None] * (np.diag(1 / w) - x @ bread @ x.T) * root
        values, vectors = np.linalg.eigh(square)
        # A cluster that determines a coefficient by itself has eigenvalues of 0; they are left out, as in R.
        powers = np.where(values > 1e-12 * values.max(), np.maximum(values, 1e-300) ** -0.5, 0.0)
        adjust = root[:, None] * ((vectors * powers) @ vectors.T) * root
        pulled = adjust @ (w[:, None] * x)  # A W X
        score = pulled.T @ errors[rows]
        meat += np.outer(score, score)
        along = pulled @ bread  # a of every coefficient
        squares_by_cluster.append((along**2 / w[:, None]).sum(axis=0))
        inner.append(x.T @ along)
    df = [
        _satterthwaite(np.array(squares_by_cluster)[:, k], np.array([part[:, k] for part in inner]), bread)
        for k in range(p)
    ]
    return Sandwich(bread @ meat @ bread, np.array(df))


def _satterthwaite(squares_by_cluster: Floats, inner: Floats, bread: Floats) -> float:
    """Compute (tr P)² / Σ P² without the matrix of clusters by clusters P = diag(own) - inner M inner'."""
    cross = bread @ inner.T @ inner
    squares = (
        (squares_by_cluster**2).sum()
        - 2 * squares_by_cluster @ np.einsum("cj,jk,ck->c", inner, bread, inner)
        + (cross * cross.T).sum()
    )
    return float((squares_by_cluster.sum() - np.trace(cross)) ** 2 / squares)


def _singletons(design: Floats, errors: Floats, weights: Floats, bread: Floats) -> Sandwich:
    """Compute CR2 where every row is a cluster, without a loop."""
    adjust = (1 - weights * np.einsum("ij,jk,ik->i", design, bread, design)) ** -0.5
    pulled = (adjust * weights)[:, None] * design
    scores = pulled * errors[:, None]
    along = pulled @ bread
    df = [
        _satterthwaite(along[:, k] ** 2 / weights, design * along[:, [k]], bread)
        for k in range(design.shape[1])
    ]
    return Sandwich(bread @ scores.T @ scores @ bread, np.array(df))


def penalized_logistic(
    rows: pd.DataFrame,
    *,
    outcome: str = "value",
    fixed: Sequence[str] = (),
    cluster: str = "participant",
    confidence: float = 0.95,
) -> MixedFit:
    """Fit a logistic regression with Firth's penalty, which is finite where all answers of a cell agree.

    Notes
    -----
    Answers of a participant in one cell of the predictors count as one, their mean: without variation nothing
    shows how far they depend on each other. The penalty is Jeffreys' prior ½ log|X'WX|; p is by the
    penalized likelihood ratio, the interval by Wald.

    References
    ----------
    Firth (1993), Biometrika 80; Heinze & Schemper (2002), Statistics in Medicine 21.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": range(20), "value": 1.0})
    >>> round(penalized_logistic(rows)["intercept"].estimate, 4), round(float(np.log(20.5 / 0.5)), 4)
    (3.7136, 3.7136)
    """
    cells = rows.groupby([cluster, *fixed], observed=True)[outcome].mean().reset_index()
    y = cells[outcome].to_numpy(dtype=np.float64)
    design = np.column_stack([np.ones(len(cells)), *(cells[name].to_numpy(dtype=float) for name in fixed)])
    names = ["intercept", *fixed]
    formula = " + ".join([f"logit {outcome} ~ 1", *fixed])
    empty = MixedFit("not_converged", formula, method=PENALIZED, n=len(rows))
    free = np.ones(len(names), dtype=bool)
    beta = _penalized_fit(y, design, free)
    if beta is None:
        return empty
    likelihood, information = _penalized_likelihood(y, design, beta)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    half = float(scipy.stats.norm.ppf(0.5 + confidence / 2))
    estimates = {}
    for k, name in enumerate(names):
        null = _penalized_fit(y, design, free & (np.arange(len(names)) != k))
        if null is None:
            return empty
        ratio = max(2 * (likelihood - _penalized_likelihood(y, design, null)[0]), 0.0)
        estimates[name] = Estimate(
            name,
            estimate=float(beta[k]),
            se=float(errors[k]),
            statistic=float(np.sign(beta[k]) * ratio**0.5),
            p=float(scipy.stats.chi2.sf(ratio, 1)),
            ci_low=float(beta[k] - half * errors[k]),
            ci_high=float(beta[k] + half * errors[k]),
        )
    return MixedFit("penalized", formula, method=PENALIZED, n=len(rows), estimates=estimates)


def _penalized_likelihood(y: Floats, design: Floats, beta: Floats) -> tuple[float, Floats]:
    """Compute the penalized log-likelihood and the information X'WX."""
    eta = design @ beta
    chance = scipy.special.expit(eta)
    information = design.T @ ((chance * (1 - chance))[:, None] * design)
    value = y @ eta - np.logaddexp(0.0, eta).sum() + 0.5 * np.linalg.slogdet(information)[1]
    return float(value), information


def _penalized_fit(y: Floats, design: Floats, free: Floats | np.ndarray) -> Floats | None:
    """Solve Firth's score equations for the free coefficients; the others stay 0."""
    beta = np.zeros(design.shape[1])
    if not free.any():
        return beta
    for _ in range(_STEPS):
        chance = scipy.special.expit(design @ beta)
        weights = chance * (1 - chance)
        try:
            inverse = np.linalg.inv(design.T @ (weights[:, None] * design))
        except np.linalg.LinAlgError:
            return None
        leverage = weights * np.einsum("ij,jk,ik->i", design, inverse, design)
        score = design.T @ (y - chance + leverage * (0.5 - chance))
        block = np.linalg.inv(np.linalg.inv(inverse)[np.ix_(free, free)])
        step = np.zeros(len(beta))
        step[free] = block @ score[free]
        beta = beta + np.clip(step, -2, 2)
        if np.abs(step).max() < _TOLERANCE:
            return np.asarray(beta, dtype=np.float64)
    return None
