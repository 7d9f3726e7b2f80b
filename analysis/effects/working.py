"""The deviance of a logistic mixed model as R's glmer takes it, a few least-squares steps from a fixed start.

:mod:`analysis.effects.laplace` brings the random effects to their mode and takes the determinant there.
glmer stops its inner steps early and takes the determinant with the weights of its last step. The two
deviances have nearly the same lowest point and curvatures that differ by about one per cent.
"""

import numpy as np
import scipy

from analysis.effects.laplace import Curvature, Laplace
from analysis.rows import Floats

GLMER_TOLERANCE = 1e-7
"""lme4's ``tolPwrss``: inner steps end when the penalized deviance changes by less, relatively."""
_MOST_STEPS = 30


class WorkingDeviance:
    """Glmer's deviance near one point: the start and the number of inner steps belong to that point.

    Notes
    -----
    The start is the joint mode of coefficients and random effects at the point's spreads, as glmer's first
    stage (``nAGQ = 0``) leaves it. glmer counts its steps anew at every point, so that its deviance
    jumps where the count changes; here the count at the point holds around it, and the deviance is smooth.

    References
    ----------
    Bates, Mächler, Bolker & Walker (2015), Journal of Statistical Software 67(1); lme4 1.1, ``pwrssUpdate``.
    """

    def __init__(self, model: Laplace, parameters: Floats) -> None:
        self.model = model
        self.start = self._joint_predictor(np.abs(parameters[model.p :]))
        self.steps = self._steps_at(parameters)

    def __call__(self, parameters: Floats) -> float:
        """Give penalized deviance plus log|H|, H with the weights of the last step.

        Parameters
        ----------
        parameters : array of float
            Coefficients, then the standard deviation of each factor's intercepts.

        Returns
        -------
        float
        """
        eta, value, log_det = self.start, 0.0, 0.0
        for _ in range(self.steps):
            eta, value, log_det = self._step(eta, parameters)
        return value + log_det

    def _step(self, eta: Floats, parameters: Floats) -> tuple[Floats, float, float]:
        """Take one penalized least-squares step; give predictor, penalized deviance and log|H|."""
        model, chance = self.model, scipy.special.expit(eta)
        fixed, sd = model.design @ parameters[: model.p], np.abs(parameters[model.p :])
        weights = chance * (1 - chance)
        curved = Curvature(model, weights, sd)
        modes = curved.solve(model.gathered(weights * (eta - fixed) + model.y - chance, sd))
        eta = fixed + model.spread(modes, sd)
        loss = np.logaddexp(0.0, eta).sum() - model.y @ eta
        return eta, float(2 * loss + sum(u @ u for u in modes)), curved.log_det

    def _steps_at(self, parameters: Floats) -> int:
        eta, before = self.start, np.inf
        for step in range(1, _MOST_STEPS + 1):
            eta, value, _ = self._step(eta, parameters)
            if abs(before - value) < GLMER_TOLERANCE * abs(value):
                return step
            before = value
        return _MOST_STEPS

    def _joint_predictor(self, sd: Floats) -> Floats:
        """Give the predictor at the joint mode of coefficients and random effects."""
        model = self.model
        beta = model.without_groups()
        eta = model.design @ beta
        for _ in range(_MOST_STEPS):
            chance = scipy.special.expit(eta)
            weights = chance * (1 - chance)
            working = weights * eta + model.y - chance
            curved = Curvature(model, weights, sd)
            borders = [model.gathered(weights * column, sd) for column in model.design.T]
            inner = curved.solve(model.gathered(working, sd))
            sides = [curved.solve(border) for border in borders]
            square = model.design.T @ (weights[:, None] * model.design)
            square -= np.array([[_product(one, side) for side in sides] for one in borders])
            pull = model.design.T @ working - np.array([_product(one, inner) for one in borders])
            beta = np.linalg.solve(square, pull)
            modes = [
                found - sum(b * side[place] for b, side in zip(beta, sides, strict=True))
                for place, found in enumerate(inner)
            ]
            before, eta = eta, model.design @ beta + model.spread(modes, sd)
            if np.abs(eta - before).max() < 1e-9:
                break
        return np.asarray(eta, dtype=np.float64)


def _product(one: list[Floats], other: list[Floats]) -> float:
    return float(sum(a @ b for a, b in zip(one, other, strict=True)))
