"""Item response models: Rasch's and the two-parameter logistic, by marginal maximum likelihood."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from ..rows import Floats

NODES, REACH = 61, 6.0  # points of the quadrature, and its reach in standard deviations
MOST_ITEMS = 1_000  # for standard errors, which need a matrix of the information of all items
LARGEST_SLOPE = 10.0  # a discrimination above it has no finite estimate


@dataclass(frozen=True)
class ItemResponse:
    """Estimates of items, in SDs of the ability of the participants (mean 0)."""

    difficulty: Floats
    discrimination: Floats
    difficulty_se: Floats
    discrimination_se: Floats
    log_likelihood: float
    status: str
    """``ok``; ``too_many_items`` (estimates without errors), ``not_converged`` or ``too_few``."""


def fit_item_response(responses: npt.ArrayLike, *, has_slopes: bool = False) -> ItemResponse:
    """Fit logit P(x_ui = 1) = a_i (θ_u - b_i), θ normal with mean 0 and SD 1, to right and wrong answers.

    Parameters
    ----------
    responses : array of participants × items
        1, 0 or NaN. Each item needs a right and a wrong answer.
    has_slopes : bool
        Whether each item has a discrimination a_i of its own (two-parameter model), or all have the same
        (Rasch's model).

    Returns
    -------
    ItemResponse
        Difficulties b and discriminations a with their standard errors.

    Notes
    -----
    Marginal maximum likelihood over 61 points of the normal distribution, quasi-Newton; errors from the
    observed information, of b = -d / a by the delta method. The population is that of the participants; other
    test takers are placed on its scale by :func:`estimate_abilities`.

    References
    ----------
    Bock & Aitkin (1981), Psychometrika 46. Rizopoulos (2006), Journal of Statistical Software 17(5).

    Examples
    --------
    >>> rows = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [40, 20, 20, 20], axis=0)
    >>> fit_item_response(rows).difficulty.round(2).tolist()
    [-0.49, -0.49]
    """
    answers = np.asarray(responses, dtype=np.float64)
    n_items = answers.shape[1]
    is_answered = ~np.isnan(answers)
    right, shown = np.where(is_answered, answers, 0.0), is_answered.astype(np.float64)
    nothing = np.full(n_items, np.nan)
    share = right.sum(axis=0) / np.maximum(shown.sum(axis=0), 1)
    if n_items < 2 or len(answers) < 2 or not ((share > 0) & (share < 1)).all():
        return ItemResponse(nothing, nothing, nothing, nothing, np.nan, "too_few")
    nodes = np.linspace(-REACH, REACH, NODES)
    weights = np.exp(-(nodes**2) / 2)
    log_weights = np.log(weights / weights.sum())

    def find_slopes(parameters: Floats) -> Floats:
        free: Floats = parameters[n_items:]
        return free if has_slopes else np.full(n_items, free[0])

    def deviance(parameters: Floats) -> tuple[float, Floats]:
        """Return minus the log-likelihood and its gradient in the intercepts and slopes."""
        logit = parameters[None, :n_items] + nodes[:, None] * find_slopes(parameters)
        joint = right @ logit.T - shown @ np.logaddexp(0.0, logit).T + log_weights
        marginal = scipy.special.logsumexp(joint, axis=1, keepdims=True)
        posterior = np.exp(joint - marginal)
        left = posterior.T @ right - (posterior.T @ shown) * scipy.special.expit(logit)
        of_slopes = nodes @ left
        gradient = np.concatenate([left.sum(axis=0), of_slopes if has_slopes else [of_slopes.sum()]])
        return -float(marginal.sum()), -gradient

    start = np.concatenate([scipy.special.logit(share), np.ones(n_items if has_slopes else 1)])
    optimum = scipy.optimize.minimize(
        deviance, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-12, "gtol": 1e-6}
    )
    parameters: Floats = optimum.x
    if parameters[n_items:].sum() < 0:  # the mirrored solution
        parameters[n_items:] *= -1
    intercept, slope = parameters[:n_items], find_slopes(parameters)
    if np.abs(deviance(parameters)[1]).max() > 1e-2 or np.abs(slope).max() > LARGEST_SLOPE:
        return ItemResponse(nothing, nothing, nothing, nothing, -float(optimum.fun), "not_converged")
    difficulty = -intercept / slope
    if n_items > MOST_ITEMS:
        return ItemResponse(difficulty, slope, nothing, nothing, -float(optimum.fun), "too_many_items")
    information = _information(right, shown, nodes, log_weights, np.stack([intercept, slope]))
    if not has_slopes:  # one parameter for all slopes
        one = np.zeros((n_items + 1, 2 * n_items))
        one[:n_items, :n_items], one[n_items, n_items:] = np.eye(n_items), 1.0
        information = one @ information @ one.T
    if np.linalg.eigvalsh(information)[0] <= 0:
        return ItemResponse(difficulty, slope, nothing, nothing, -float(optimum.fun), "not_converged")
    covariance = np.linalg.inv(information)
    places = np.arange(n_items)
    of_slope = n_items + (places if has_slopes else np.zeros(n_items, dtype=np.int64))
    variance = (
        covariance[places, places]
        + 2 * difficulty * covariance[places, of_slope]
        + difficulty**2 * covariance[of_slope, of_slope]
    ) / slope**2
    errors = np.sqrt(variance), np.sqrt(covariance[of_slope, of_slope])
    return ItemResponse(difficulty, slope, *errors, -float(optimum.fun), "ok")


def _information(right: Floats, shown: Floats, nodes: Floats, log_weights: Floats, items: Floats) -> Floats:
    """Return the observed information of intercepts and slopes, by Louis's identity.

    References
    ----------
    Louis (1982), JRSS B 44: information of complete data less the variance of its score.
    """
    intercept, slope = items
    logit = intercept + nodes[:, None] * slope
    p = scipy.special.expit(logit)
    joint = right @ logit.T - shown @ np.logaddexp(0.0, logit).T + log_weights
    posterior = np.exp(joint - scipy.special.logsumexp(joint, axis=1, keepdims=True))
    spread = (posterior.T @ shown) * p * (1 - p)
    complete = [np.diag((nodes[:, None] ** power * spread).sum(axis=0)) for power in range(3)]
    means = [np.zeros_like(right), np.zeros_like(right)]
    for place, node in enumerate(nodes):
        score = right - shown * p[place]
        weighted = posterior[:, [place]] * score
        product = weighted.T @ score
        for power in range(3):
            complete[power] -= node**power * product
        for power in range(2):
            means[power] += node**power * weighted
    blocks = [complete[a + b] + means[a].T @ means[b] for a in range(2) for b in range(2)]
    information: Floats = np.block([[blocks[0], blocks[1]], [blocks[2], blocks[3]]])
    return (information + information.T) / 2


def estimate_abilities(responses: npt.ArrayLike, items: ItemResponse) -> tuple[Floats, Floats]:
    """Estimate the ability of each row of answers by Warm's weighted likelihood, and its standard error.

    Notes
    -----
    θ solves Σ a_i (x_i - P_i) + J / 2I = 0, I = Σ a_i² P_i Q_i, J = Σ a_i³ P_i Q_i (1 - 2 P_i); error 1 / √I.
    It is finite when all answers are right or wrong, and has no distribution of abilities in it, so that test
    takers from outside the population, such as language models, are not pulled to its mean. NaN without
    answers.

    References
    ----------
    Warm (1989), Psychometrika 54.
    """
    answers = np.asarray(responses, dtype=np.float64)
    is_answered = ~np.isnan(answers)
    right, shown = np.where(is_answered, answers, 0.0), is_answered.astype(np.float64)
    slope, difficulty = items.discrimination, items.difficulty

    def terms(ability: Floats) -> tuple[Floats, Floats]:
        p = scipy.special.expit(slope * (ability[:, None] - difficulty))
        spread = shown * slope**2 * p * (1 - p)
        information = np.maximum(spread.sum(axis=1), 1e-300)
        bias = (spread * slope * (1 - 2 * p)).sum(axis=1)
        return ((right - shown * p) @ slope) + bias / (2 * information), information

    low, high = np.full(len(answers), -40.0), np.full(len(answers), 40.0)
    for _ in range(80):  # bisection: the weighted score falls from the lowest to the highest ability
        middle = (low + high) / 2
        is_above = terms(middle)[0] > 0
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
    ability = (low + high) / 2
    error = 1 / np.sqrt(terms(ability)[1])
    has_answers = is_answered.any(axis=1)
    return np.where(has_answers, ability, np.nan), np.where(has_answers, error, np.nan)
