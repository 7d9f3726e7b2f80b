"""Intervals that stay valid however often somebody looks while people still come in.

A fixed-sample interval such as Wilson's covers the truth in 95 % of studies at *one* look planned
beforehand. Who looks after every participant and stops at a good moment misses far more often. The
intervals here cover the truth at all looks together.
"""

import numpy as np
import numpy.typing as npt
import scipy

from analysis.errors import BadInput
from analysis.rows import Floats

PRIOR = (0.5, 0.5)
NODES = 1024
_HALVINGS = 45
_ZERO = 1e-12


def mixture_evidence(
    total: npt.ArrayLike, n: npt.ArrayLike, share: npt.ArrayLike, *, prior: tuple[float, float] = PRIOR
) -> Floats:
    """Give the log of the evidence against a true mean share: a beta-binomial mixture.

    Parameters
    ----------
    total : array of float
        Sum of the shares, each between 0 and 1, of the people so far.
    n : array of counts
        People so far.
    share : array of float
        The mean share that is doubted.
    prior : (float, float)
        a and b of the Beta distribution that mixes the alternatives; fixed before the first look.

    Returns
    -------
    array of float
        log M; infinite where the share is impossible.

    Raises
    ------
    BadInput
        If a total exceeds its n, or the prior is not positive.

    See Also
    --------
    anytime_interval : The shares with little evidence against them.

    Notes
    -----
    M = ∫ Π q^x (1-q)^(1-x) dBeta(q; a, b) / Π p^x (1-p)^(1-x)
    = B(a + Σx, b + n - Σx) / [B(a, b) p^Σx (1-p)^(n - Σx)].

    If every next person's expected share is p, M is a supermartingale that starts at 1, also for x
    between 0 and 1: one factor (q/p)^x ((1-q)/(1-p))^(1-x) is convex in x, so it lies below its
    chord, whose expectation is 1. Ville's inequality: M ever reaches 1/α with probability α at most.

    References
    ----------
    Ville (1939), *Étude critique de la notion de collectif*. Robbins (1970), Annals of Mathematical
    Statistics 41. Howard, Ramdas, McAuliffe & Sekhon (2021), Annals of Statistics 49 (sub-Bernoulli
    beta-binomial mixture).

    Examples
    --------
    Eighteen of twenty agree: the evidence against one half is e^5.6, some 270 to 1.

    >>> round(float(mixture_evidence(18, 20, 0.5)), 1)
    5.6
    """
    sums, people, doubted = (np.asarray(value, dtype=np.float64) for value in (total, n, share))
    if min(prior) <= 0:
        raise BadInput(f"the prior {prior} is not positive.", remedy="Give two numbers above 0.")
    if ((sums < 0) | (sums > people + 1e-9)).any():
        raise BadInput("a sum of shares is below 0 or above its n.", remedy="Give shares between 0 and 1.")
    rest = np.maximum(people - sums, 0.0)
    likelihood = scipy.special.xlogy(sums, doubted) + scipy.special.xlog1py(rest, -doubted)
    mixed = scipy.special.betaln(prior[0] + sums, prior[1] + rest) - scipy.special.betaln(*prior)
    return np.asarray(mixed - likelihood, dtype=np.float64)


def anytime_interval(
    total: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    prior: tuple[float, float] = PRIOR,
) -> tuple[Floats, Floats]:
    """Give an interval of a share that holds at all looks together, from the number of people who say yes.

    Parameters
    ----------
    total : array of float
        People who say yes; also a sum of shares between 0 and 1, but see below.
    n : array of counts
        People so far.
    confidence : float
    prior : (float, float)
        As in :func:`mixture_evidence`.

    Returns
    -------
    low, high : arrays of float
        0 and 1 without anybody: nothing is known yet.

    Raises
    ------
    BadInput
        If a total exceeds its n, or the prior is not positive.

    See Also
    --------
    anytime_mean_interval : Narrower where people give shares rather than one answer each.
    analysis.aggregation.proportions.wilson_interval : For one look planned beforehand.

    Notes
    -----
    {p : log M(p) < log 1/α}, M as in :func:`mixture_evidence`. log M is convex in p with its minimum
    at the observed mean, so the ends are found by halving. The interval depends on the sum and the
    number only, not on the order of arrival or on when anybody looked. It assumes that every next
    person's expected share is the same, whatever came before: not a change of materials, lists or
    recruiting in mid-course.

    References
    ----------
    Robbins (1970), Annals of Mathematical Statistics 41. Howard, Ramdas, McAuliffe & Sekhon (2021),
    Annals of Statistics 49.

    Examples
    --------
    >>> low, high = anytime_interval(18, 20)
    >>> round(float(low), 3), round(float(high), 3)
    (0.591, 0.996)
    """
    if not 0 < confidence < 1:
        raise BadInput(f"confidence {confidence} is no share.", remedy="Give a number such as 0.95.")
    sums, people = np.broadcast_arrays(np.asarray(total, dtype=np.float64), np.asarray(n, dtype=np.float64))
    limit = -np.log1p(-confidence)
    centre = np.divide(sums, people, out=np.full(sums.shape, 0.5), where=people > 0)
    ends = []
    for far in (0.0, 1.0):
        outside, inside = np.full(sums.shape, far), centre.copy()
        for _ in range(_HALVINGS):
            middle = (outside + inside) / 2
            within = mixture_evidence(sums, people, middle, prior=prior) < limit
            inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
        reaches = mixture_evidence(sums, people, np.full(sums.shape, far), prior=prior) < limit
        ends.append(np.where(reaches, far, inside))
    return ends[0], ends[1]


def share_evidence(shares: npt.ArrayLike, mean: npt.ArrayLike, *, nodes: int = NODES) -> Floats:
    """Give the log of the evidence against a true mean: bets on people's shares, mixed.

    Parameters
    ----------
    shares : array of float
        One share between 0 and 1 per person, in any order.
    mean : array of float
        The means that are doubted, strictly between 0 and 1.
    nodes : int
        Bets that are mixed; fixed before the first look.

    Returns
    -------
    array of float, one per mean
        log M.

    Raises
    ------
    BadInput
        If a share is below 0 or above 1.

    See Also
    --------
    mixture_evidence : The same for answers 0 and 1, in closed form.

    Notes
    -----
    M = (1/N) Σ_j Π_i [x_i q_j / p + (1 - x_i) (1 - q_j) / (1 - p)], q_j = (1 + cos((2j - 1) π / 2N)) / 2,
    the Gauss-Chebyshev nodes of Beta(1/2, 1/2). Each factor is linear in x_i with expectation 1 where
    the next person's expected share is p, so M is a martingale, whatever N and whatever the
    spread of the shares: wealth by a fixed bet on each person, shared among N bets. For answers 0 and
    1 it is the beta-binomial mixture (exactly, up to 2N - 1 people); for other shares it is larger.
    Each factor is log-convex in p, and so is M: where it is small is an interval.

    References
    ----------
    Cover (1991), Mathematical Finance 1. Orabona & Jun (2024), IEEE Transactions on Information
    Theory 70. Waudby-Smith & Ramdas (2024), Journal of the Royal Statistical Society B 86.

    Examples
    --------
    >>> round(float(share_evidence([1] * 18 + [0] * 2, 0.5)), 1)
    5.6
    """
    values, counts = np.unique(np.asarray(shares, dtype=np.float64), return_counts=True)
    if len(values) and (values[0] < 0 or values[-1] > 1 or np.isnan(values).any()):
        raise BadInput("a share is below 0 or above 1.", remedy="Give shares between 0 and 1.")
    bets = (1 + np.cos((2 * np.arange(1, nodes + 1) - 1) * np.pi / (2 * nodes))) / 2
    doubted = np.asarray(mean, dtype=np.float64)[..., None, None]
    factors = values[:, None] * bets / doubted + (1 - values[:, None]) * (1 - bets) / (1 - doubted)
    wealth = (counts[:, None] * np.log(factors)).sum(axis=-2)
    return np.asarray(scipy.special.logsumexp(wealth, axis=-1) - np.log(nodes), dtype=np.float64)


def anytime_mean_interval(
    shares: npt.ArrayLike, *, confidence: float = 0.95, nodes: int = NODES
) -> tuple[float, float]:
    """Give an interval of the mean of people's shares that holds at all looks together.

    Parameters
    ----------
    shares : array of float
        One share between 0 and 1 per person, in any order.
    confidence : float
    nodes : int
        As in :func:`share_evidence`.

    Returns
    -------
    low, high : float
        0 and 1 without anybody: nothing is known yet.

    Raises
    ------
    BadInput
        If a share is below 0 or above 1.

    See Also
    --------
    anytime_interval : The same for answers 0 and 1.

    Notes
    -----
    {p : log M(p) < log 1/α}, M as in :func:`share_evidence`; at the observed mean M is at most 1. It depends
    on the shares only, not on the order of arrival or on when anybody looked, and narrows where
    people agree with each other. It assumes that every next person's expected share is the same,
    whatever came before: not a change of materials, lists or recruiting in mid-course.
    One interval says 95 %; of several paradigms each does, not all of them together.

    References
    ----------
    Orabona & Jun (2024), IEEE Transactions on Information Theory 70. Waudby-Smith & Ramdas (2024),
    Journal of the Royal Statistical Society B 86.

    Examples
    --------
    Forty people of whom each agrees on four or all of five items:

    >>> low, high = anytime_mean_interval([0.8, 1.0] * 20)
    >>> round(low, 2), round(high, 2)
    (0.79, 0.95)
    """
    if not 0 < confidence < 1:
        raise BadInput(f"confidence {confidence} is no share.", remedy="Give a number such as 0.95.")
    given = np.asarray(shares, dtype=np.float64)
    if not given.size:
        return 0.0, 1.0
    limit, ends = -np.log1p(-confidence), []
    for far in (0.0, 1.0):
        outside, inside = far, float(given.mean())
        for _ in range(_HALVINGS if inside != far else 0):
            middle = (outside + inside) / 2
            if share_evidence(given, middle, nodes=nodes) < limit:
                inside = middle
            else:
                outside = middle
        ends.append(far if abs(inside - far) < _ZERO else inside)
    return ends[0], ends[1]
