"""Would more judgments change a decision? Predictive chances for items and for inclusion rules."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from analysis.agreement.inclusion import Rule, ShareRule, Tally
from analysis.agreement.majority import N_MIN, USABLE, majority_status
from analysis.errors import BadInput
from analysis.rows import Codes, Floats

PRIOR = (1.0, 1.0)
MORE = 5
DRAWS = 10_000
MOST_DRAWN = 2_000_000
_EDGE = 1e-12


@dataclass(frozen=True)
class ItemOutlook:
    """What the majority of each item may become."""

    now: np.ndarray
    """As from :func:`analysis.agreement.majority.majority_status`."""
    p_expected: Floats
    p_tie: Floats
    p_change: Floats
    """Chance that the word of ``now`` is another one then."""
    usable: bool | np.ndarray
    """Which items will have enough judgments."""


def more_agreeing(
    k: npt.ArrayLike, n: npt.ArrayLike, *, more: int, prior: tuple[float, float] = PRIOR
) -> Floats:
    """Give the chances that 0, 1, … ``more`` of an item's next judgments agree.

    Parameters
    ----------
    k, n : arrays of counts
        Judgments that agree, a half each where one counts so, and all of them.
    more : int
        Further judgments of each item.
    prior : (float, float)
        a and b of the Beta distribution of an item's share.

    Returns
    -------
    array of float, items by ``more + 1``

    Notes
    -----
    Beta-binomial: C(m, y) B(a + k + y, b + n - k + m - y) / B(a + k, b + n - k), with a = b = 1
    Laplace's rule of succession. The next people are taken to be like those who came.

    References
    ----------
    Gelman et al. (2013), *Bayesian Data Analysis*, 3rd ed., §2.3–2.4.

    Examples
    --------
    >>> more_agreeing([2], [2], more=1).round(2).tolist()
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
    """Give the chance that the majority of each item changes with ``more`` further judgments.

    Parameters
    ----------
    k, n : arrays of counts
        Judgments for the expected label, and all kept judgments.
    more : int
        Further judgments of each item.
    halves : array of counts
        Judgments among ``n`` that count one half for each side.
    n_min : int
        Items with fewer judgments have no majority.
    prior : (float, float)
        As in :func:`more_agreeing`.

    Returns
    -------
    ItemOutlook

    Raises
    ------
    BadInput
        If ``more`` is below 1.

    Notes
    -----
    The next judgments are summed out exactly: P(expected) = Σ P(Y = y) over 2 (k + y) > n + more.

    Examples
    --------
    An item at 3 of 5 is nearly open, one at 9 of 10 is not.

    >>> item_outlook([3, 9], [5, 10], more=2).p_change.round(2).tolist()
    [0.21, 0.0]
    """
    if more < 1:
        raise BadInput(f"{more} more judgments change nothing.", remedy="Give at least 1.")
    chosen, judged = np.asarray(k, dtype=np.int64), np.asarray(n, dtype=np.int64)
    half = np.broadcast_to(np.asarray(halves, dtype=np.int64), judged.shape)
    chances = more_agreeing(chosen + half / 2, judged, more=more, prior=prior)
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
    """What a rule may say of a paradigm then."""

    p_included: float
    p_change: float
    """Chance that the status is another one then."""
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
    """Give the chance that a rule decides otherwise with ``more`` further judgments of every item.

    Parameters
    ----------
    rule : Rule
        As from :func:`analysis.agreement.inclusion.parse_rule`.
    k, n, more, halves, n_min, prior
        As in :func:`item_outlook`; the items of one paradigm.
    now : str
        What the rule says today: ``included``, ``rejected`` or ``insufficient_items``.
    seed, draws : int
        Of the draws, for share rules.

    Returns
    -------
    DecisionOutlook

    Raises
    ------
    BadInput
        If ``more`` is below 1.

    Notes
    -----
    Count rules: the number of right items is a sum of independent yes-or-no variables with unequal
    chances (Poisson-binomial), convolved exactly. Share rules: the mean of item shares is drawn; above
    2 · 10⁶ cells (items × draws) it is normal with the exact mean and variance. Items are taken
    as independent; people who judge several items make them less so, and real chances of a change are
    then somewhat larger.

    References
    ----------
    Spiegelhalter, Abrams & Myles (2004), *Bayesian Approaches to Clinical Trials*, §6.6: predictive
    power at an interim look. Wang (1993), Statistica Sinica 3: the Poisson-binomial distribution.

    Examples
    --------
    Four of five items right, one of them by a single vote: BLiMP's rule may still turn.

    >>> from analysis.agreement.inclusion import parse_rule
    >>> found = decision_outlook(parse_rule("blimp"), [9, 9, 9, 6, 2], [10, 10, 10, 11, 10], now="included")
    >>> round(found.p_change, 2), found.method
    (0.44, 'exact')
    """
    items = item_outlook(k, n, more=more, halves=halves, n_min=n_min, prior=prior)
    if isinstance(rule, ShareRule):
        return _share_outlook(rule, k, n, halves, now=now, more=more, prior=prior, seed=seed, draws=draws)
    usable = np.broadcast_to(items.usable, items.p_expected.shape)
    right = right_items(items.p_expected[usable])
    words = [rule.decide(Tally(count, int(usable.sum()))) for count in range(len(right))]
    included = float(right[[word == "included" for word in words]].sum())
    stays = float(right[[word == now for word in words]].sum())
    return DecisionOutlook(min(included, 1.0), float(np.clip(1 - stays, 0, 1)), "exact")


def right_items(chances: npt.ArrayLike) -> Floats:
    """Give the chances that 0, 1, … all of several independent items are right.

    Parameters
    ----------
    chances : array of float
        Of each item.

    Returns
    -------
    array of float, one longer

    Notes
    -----
    The Poisson-binomial distribution, by convolving (1 - p, p) of one item after the other.

    Examples
    --------
    >>> right_items([0.5, 0.5]).tolist()
    [0.25, 0.5, 0.25]
    """
    found = np.ones(1)
    for chance in np.asarray(chances, dtype=np.float64):
        found = np.convolve(found, [1 - chance, chance])
    return found


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
    if draws * len(judged) <= MOST_DRAWN:
        rng = np.random.default_rng(seed)
        drawn = rng.binomial(more, rng.beta(a, b, size=(draws, len(judged))))
        means = ((agreeing + drawn) / (judged + more)).mean(axis=1)
        included, method = float((means >= float(rule.share) - _EDGE).mean()), "drawn"
    else:
        mean, variance = scipy.stats.betabinom.stats(more, a, b)
        centre = ((agreeing + mean) / (judged + more)).mean()
        spread = np.sqrt((variance / (judged + more) ** 2).sum()) / len(judged)
        included, method = float(scipy.stats.norm.sf((float(rule.share) - centre) / spread)), "normal"
    stays = {"included": included, "rejected": 1 - included}.get(now, 0.0)
    return DecisionOutlook(included, float(np.clip(1 - stays, 0, 1)), method)


def nearest_items(outlook: ItemOutlook, *, least: float) -> Codes:
    """Give the places of the items whose majority may change, the likeliest first.

    Parameters
    ----------
    outlook : ItemOutlook
        As from :func:`item_outlook`.
    least : float
        Smallest chance of a change that is listed.

    Returns
    -------
    array of int

    Examples
    --------
    >>> nearest_items(item_outlook([9, 5, 3], [10, 10, 5], more=2), least=0.05).tolist()
    [1, 2]
    """
    open_ = np.flatnonzero((outlook.p_change >= least) & np.isin(outlook.now, (*USABLE, "insufficient")))
    order = np.argsort(-outlook.p_change[open_], kind="stable")
    return np.asarray(open_[order], dtype=np.int64)
