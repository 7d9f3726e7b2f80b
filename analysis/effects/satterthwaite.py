"""Degrees of freedom of the fixed effects of a mixed model."""

from collections.abc import Callable

import numpy as np

from analysis.effects.crossed import Crossed
from analysis.effects.reml import differences
from analysis.rows import Floats

_STEP = 1e-2


def satterthwaite(model: Crossed, theta: Floats, *, sigma2: float) -> Floats:
    """Give Satterthwaite degrees of freedom of each coefficient.

    Parameters
    ----------
    model : Crossed
    theta : array of float
        The optimum; terms at 0 count as left out.
    sigma2 : float
        Residual variance at the optimum.

    Returns
    -------
    array of float
        NaN where the curvature cannot be inverted.

    Notes
    -----
    df = 2 v² / (g'Ag), v = Var(β_j), g its gradient in (θ, σ), A twice the inverse Hessian of the REML
    deviance D(θ, σ) = log|L|² + log|S| + (n - p) log(2πσ²) + r²(θ) / σ². Only functions of θ are
    differentiated numerically; the rest is written out.

    References
    ----------
    Kuznetsova, Brockhoff & Christensen (2017), Journal of Statistical Software 82(13).
    """
    free = np.flatnonzero(theta > 0)
    sigma = np.sqrt(sigma2)

    def parts(point: Floats) -> Floats:
        """Penalty, r² and the diagonal of S⁻¹ at the free θ."""
        whole = np.zeros(len(theta))
        whole[free] = point
        state = model.at(whole)
        return np.array([state.log_det + state.log_det_fixed, state.rss, *np.diag(state.inverse)])

    here = theta[free]
    centre, gradient, curvature = parts(here), *_derivatives(parts, here)
    k = len(free)
    hessian = np.zeros((k + 1, k + 1))
    hessian[:k, :k] = curvature[:, :, 0] + curvature[:, :, 1] / sigma2
    hessian[:k, k] = hessian[k, :k] = -2 * gradient[:, 1] / sigma**3
    hessian[k, k] = 4 * (model.n - model.p) / sigma2
    slopes = np.vstack([sigma2 * gradient[:, 2:], 2 * sigma * centre[2:]])
    try:
        spread = np.einsum("kj,kj->j", slopes, 2 * np.linalg.solve(hessian, slopes))
    except np.linalg.LinAlgError:
        return np.full(model.p, np.nan)
    variance = sigma2 * centre[2:]
    df: Floats = np.divide(2 * variance**2, spread, out=np.full(model.p, np.nan), where=spread > 0)
    return df


def _derivatives(function: Callable[[Floats], Floats], point: Floats) -> tuple[Floats, Floats]:
    """Differentiate once and twice, by central differences with one Richardson step."""
    steps = _STEP * np.maximum(np.abs(point), 0.1)
    coarse, fine = (differences(function, point, steps=steps * factor) for factor in (1.0, 0.5))
    first, second = ((4 * b - a) / 3 for a, b in zip(coarse, fine, strict=True))
    return first, second
