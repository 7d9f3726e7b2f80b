"""Predictive probabilities that further judgments change a majority or an inclusion decision."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from ..choices import MORE
from ..errors import BadInput
from ..rows import Codes, Floats
from .inclusion import Rule, ShareRule, Tally
from .majority import N_MIN, USABLE, majority_status

PRIOR = (1.0, 1.0)
DRAWS = 10_000
# Items × draws; larger simulations use the normal approximation.
MAX_SIMULATED_CELLS = 2_000_000
# A simulated mean equal to the threshold counts as reaching it.
_EDGE = 1e-12


@dataclass(frozen=True)
class ItemOutlook:
    """Predicted majority of each item after further judgments."""

    now: np.ndarray
    """As from :func:`obelus.agreement.majority.majority_status`."""
    p_expected: Floats
    p_tie: Floats
    p_change: Floats
    """Probability that the majority differs from ``now``."""
    usable: bool | np.ndarray
    """Whether each item will have enough judgments."""


def agreement_probabilities(
    k: npt.ArrayLike, n: npt.ArrayLike, *, more: int, prior: tuple[float, float] = PRIOR
) -> Floats:
    """Compute the probabilities that 0, 1, … ``more`` of an item's next judgments agree.

    Notes
    -----
    Beta-binomial: C(m, y) B(a + k + y, b + n - k + m - y) / B(a + k, b + n - k), with a = b = 1
    Laplace's rule of succession. Further participants are assumed to be like those so far.

    References
    ----------
    Gelman et al. (2013), *Bayesian Data Analysis*, 3rd ed., §2.3–2.4.

    Examples
    --------
    >>> agreement_probabilities([2], [2], more=1).round(2).tolist()
    [[0.25, 0.75]]
    """
    agreeing, judged = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    a, b = prior[0] + agreeing, prior[1] + judged - agreeing
    chances = scipy.stats.betabinom.pmf(np.arange(more + 1), more, a[:, None], b[:, None])
    return np.asarray(chances, dtype=np.float64)


def item_outlook(
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    more: int = MORE,
    halves: npt.ArrayLike = 0,
    n_min: int = N_MIN,
    prior: tuple[float, float] = PRIOR,
) -> ItemOutlook:
    """Compute the probability that the majority of each item changes with ``more`` further judgments.

    Notes
    -----
    The sum over the further judgments is exact: P(expected) = Σ P(Y = y) over 2 (k + y) > n + more.

    Examples
    --------
    The majority of an item at 3 of 5 may change, that of one at 9 of 10 will not.

    >>> item_outlook([3, 9], [5, 10], more=2).p_change.round(2).tolist()
    [0.21, 0.0]
    """
    if more < 1:
        raise BadInput(f"{more} more judgments change nothing.", remedy="Give at least 1.")
    chosen, judged = np.asarray(k, dtype=np.int64), np.asarray(n, dtype=np.int64)
    half = np.broadcast_to(np.asarray(halves, dtype=np.int64), judged.shape)
    chances = agreement_probabilities(chosen + half / 2, judged, more=more, prior=prior)
    doubled = 2 * (chosen[:, None] + np.arange(more + 1)) + half[:, None]
    later = (judged + more)[:, None]
    p_expected = np.where(doubled > later, chances, 0).sum(axis=1)
    p_tie = np.where(doubled == later, chances, 0).sum(axis=1)
    usable = judged + more >= n_min
    now = majority_status(chosen, judged, n_min=n_min, halves=half)
    p_unexpected = np.clip(1 - p_expected - p_tie, 0, 1)
    stays = np.select(
        [now == "expected", now == "unexpected", now == "tie"],
        [p_expected, p_unexpected, p_tie],
        default=np.where(usable, 0.0, 1.0),
    )
    return ItemOutlook(now, p_expected, p_tie, np.clip(1 - stays, 0, 1), usable)


@dataclass(frozen=True)
class DecisionOutlook:
    """Predicted decision of a rule on a paradigm after further judgments."""

    p_included: float
    p_change: float
    """Probability that the status changes."""
    method: str
    """``exact``, ``drawn`` or ``normal``."""


def decision_outlook(
    rule: Rule,
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    now: str,
    more: int = MORE,
    halves: npt.ArrayLike = 0,
    n_min: int = N_MIN,
    prior: tuple[float, float] = PRIOR,
    seed: int = 0,
    draws: int = DRAWS,
) -> DecisionOutlook:
    """Compute the probability that a rule's decision changes with ``more`` further judgments per item.

    Notes
    -----
    Count rules: the number of right items is a sum of independent Bernoulli variables with unequal
    probabilities (Poisson-binomial), convolved exactly. Share rules: the mean of item shares is simulated;
    above 2 · 10⁶ cells (items × draws) it is normal with the exact mean and variance. Items are treated
    as independent; participants who judge several items violate this, and the true probability of a change
    is then somewhat larger.

    References
    ----------
    Spiegelhalter, Abrams & Myles (2004), *Bayesian Approaches to Clinical Trials*, §6.6: predictive
    power at an interim look. Wang (1993), Statistica Sinica 3: the Poisson-binomial distribution.

    Examples
    --------
    Four of five items right, one of them by a single vote: the decision of BLiMP's rule may change.

    >>> from obelus.agreement.inclusion import parse_rule
    >>> outlook = decision_outlook(parse_rule("blimp"), [9, 9, 9, 6, 2], [10, 10, 10, 11, 10], now="included")
    >>> round(outlook.p_change, 2), outlook.method
    (0.44, 'exact')
    """
    items = item_outlook(k, n, more=more, halves=halves, n_min=n_min, prior=prior)
    if isinstance(rule, ShareRule):
        return _share_outlook(rule, k, n, halves, now=now, more=more, prior=prior, seed=seed, draws=draws)
    usable = np.broadcast_to(items.usable, items.p_expected.shape)
    right = poisson_binomial(items.p_expected[usable])
    words = [rule.decide(Tally(count, int(usable.sum()))) for count in range(len(right))]
    included = float(right[[word == "included" for word in words]].sum())
    stays = float(right[[word == now for word in words]].sum())
    return DecisionOutlook(min(included, 1.0), float(np.clip(1 - stays, 0, 1)), "exact")


def poisson_binomial(chances: npt.ArrayLike) -> Floats:
    """Compute the probabilities that 0, 1, … all of several independent items are right.

    Notes
    -----
    The Poisson-binomial distribution, by convolving (1 - p, p) of one item after the other.

    Examples
    --------
    >>> poisson_binomial([0.5, 0.5]).tolist()
    [0.25, 0.5, 0.25]
    """
    distribution = np.ones(1)
    for chance in np.asarray(chances, dtype=np.float64):
        distribution = np.convolve(distribution, [1 - chance, chance])
    return distribution


def _share_outlook(
    rule: ShareRule,
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    halves: npt.ArrayLike,
    *,
    now: str,
    more: int,
    prior: tuple[float, float],
    seed: int,
    draws: int,
) -> DecisionOutlook:
    agreeing = np.asarray(k, dtype=np.float64) + np.asarray(halves, dtype=np.float64) / 2
    judged = np.asarray(n, dtype=np.int64)
    a, b = prior[0] + agreeing, prior[1] + judged - agreeing
    if not len(judged):
        return DecisionOutlook(0.0, 0.0, "exact")
    if draws * len(judged) <= MAX_SIMULATED_CELLS:
        rng = np.random.default_rng(seed)
        future = rng.binomial(more, rng.beta(a, b, size=(draws, len(judged))))
        means = ((agreeing + future) / (judged + more)).mean(axis=1)
        included, method = float((means >= float(rule.share) - _EDGE).mean()), "drawn"
    else:
        mean, variance = scipy.stats.betabinom.stats(more, a, b)
        centre = ((agreeing + mean) / (judged + more)).mean()
        spread = np.sqrt((variance / (judged + more) ** 2).sum()) / len(judged)
        included, method = float(scipy.stats.norm.sf((float(rule.share) - centre) / spread)), "normal"
    stays = {"included": included, "rejected": 1 - included}.get(now, 0.0)
    return DecisionOutlook(included, float(np.clip(1 - stays, 0, 1)), method)


def items_likely_to_change(outlook: ItemOutlook, *, least: float) -> Codes:
    """Return the positions of items whose majority may change, most probable first.

    Examples
    --------
    >>> items_likely_to_change(item_outlook([9, 5, 3], [10, 10, 5], more=2), least=0.05).tolist()
    [1, 2]
    """
    candidates = np.flatnonzero((outlook.p_change >= least) & np.isin(outlook.now, (*USABLE, "insufficient")))
    order = np.argsort(-outlook.p_change[candidates], kind="stable")
    return np.asarray(candidates[order], dtype=np.int64)
