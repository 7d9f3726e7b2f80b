"""Confidence sequences: intervals that are valid at any number of interim looks at the data.

A fixed-sample interval such as Wilson's covers the true value in 95 % of studies at *one* look planned
beforehand. Looking after every participant and stopping early lowers the coverage considerably. The
intervals here cover the true value at all looks together.
"""

import numpy as np
import numpy.typing as npt
import scipy

from ..errors import BadInput
from ..rows import Floats

PRIOR = (0.5, 0.5)
# Bets in the mixture; exact for up to 2 · 1024 - 1 answers of 0 and 1.
NODES = 1024
# Halves an interval of length 1 to 3e-14.
_BISECTIONS = 45
# An end this close to 0 or 1 is reported as 0 or 1.
_ZERO = 1e-12
# Log evidence is infinite at 0 and 1; the search for a root needs finite values.
_CLIP = 1e6


def mixture_evidence(
    total: npt.ArrayLike, n: npt.ArrayLike, share: npt.ArrayLike, *, prior: tuple[float, float] = PRIOR
) -> Floats:
    """Compute the log evidence against a true mean share by a beta-binomial mixture.

    Notes
    -----
    M = ∫ Π q^x (1-q)^(1-x) dBeta(q; a, b) / Π p^x (1-p)^(1-x)
    = B(a + Σx, b + n - Σx) / [B(a, b) p^Σx (1-p)^(n - Σx)].

    If the expected share of every further participant is p, M is a supermartingale that starts at 1, also
    for x between 0 and 1: one factor (q/p)^x ((1-q)/(1-p))^(1-x) is convex in x and therefore below its
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
    failures = np.maximum(people - sums, 0.0)
    likelihood = scipy.special.xlogy(sums, doubted) + scipy.special.xlog1py(failures, -doubted)
    mixed = scipy.special.betaln(prior[0] + sums, prior[1] + failures) - scipy.special.betaln(*prior)
    return np.asarray(mixed - likelihood, dtype=np.float64)


def anytime_interval(
    total: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    prior: tuple[float, float] = PRIOR,
) -> tuple[Floats, Floats]:
    """Compute a confidence sequence for a share: an interval valid at all interim looks together.

    Parameters
    ----------
    total : array of float
        Number of participants who answered yes; a sum of shares between 0 and 1 is allowed, but
        :func:`anytime_mean_interval` is then narrower.
    n : array of counts
        Number of participants, same shape as ``total``.
    confidence : float
        Confidence level between 0 and 1, valid for all looks at the data together.
    prior : (float, float)
        Parameters a and b of the Beta distribution that mixes the alternatives, both positive. Choose
        them before the first look; the default Beta(1/2, 1/2) has no preferred share.

    Returns
    -------
    low, high : arrays of float
        Ends of the interval of each share; 0 and 1 where ``n`` is 0.

    Raises
    ------
    BadInput
        If a total exceeds its n, or the prior is not positive.

    See Also
    --------
    anytime_mean_interval : Narrower if participants contribute shares rather than one answer each.
    obelus.aggregation.proportions.wilson_interval : For a single look planned beforehand.

    Notes
    -----
    {p : log M(p) < log 1/α}, M as in :func:`mixture_evidence`. log M is convex in p with its minimum
    at the observed mean, so the ends are found by bisection. The interval depends on the sum and the
    number only, not on the order of arrival or the times of the looks. It assumes that the expected share of
    the next participant stays the same: do not change materials, lists or recruiting during data collection.

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
        outer, inner = np.full(sums.shape, far), centre.copy()
        for _ in range(_BISECTIONS):
            middle = (outer + inner) / 2
            within = mixture_evidence(sums, people, middle, prior=prior) < limit
            inner, outer = np.where(within, middle, inner), np.where(within, outer, middle)
        reaches = mixture_evidence(sums, people, np.full(sums.shape, far), prior=prior) < limit
        ends.append(np.where(reaches, far, inner))
    return ends[0], ends[1]


def share_evidence(shares: npt.ArrayLike, mean: npt.ArrayLike, *, nodes: int = NODES) -> Floats:
    """Compute the log evidence against a true mean by a mixture of bets on participants' shares.

    Notes
    -----
    M = (1/N) Σ_j Π_i [x_i q_j / p + (1 - x_i) (1 - q_j) / (1 - p)], q_j = (1 + cos((2j - 1) π / 2N)) / 2,
    the Gauss-Chebyshev nodes of Beta(1/2, 1/2). Each factor is linear in x_i with expectation 1 where
    the expected share of the next participant is p, so M is a martingale for any N and any
    spread of the shares: the wealth of a fixed bet on each participant, averaged over N bets. For answers
    0 and 1 it is the beta-binomial mixture (exactly, up to 2N - 1 participants); for other shares it is
    larger. Each factor is log-convex in p, and so is M: the values of p with small M form an interval.

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
    """Compute a confidence sequence for the mean of participants' shares.

    Parameters
    ----------
    shares : array of float
        One share between 0 and 1 per participant, in any order.
    confidence : float
        Confidence level between 0 and 1, valid for all looks at the data together.
    nodes : int
        Number of bets that are mixed; more give a narrower interval for more participants, in more time.
        Choose it before the first look.

    Returns
    -------
    low, high : float
        Ends of the interval; 0 and 1 without participants.

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
    on the shares only, not on the order of arrival or the times of the looks, and is narrower if
    participants agree with each other. It assumes that the expected share of the next participant stays the
    same: do not change materials, lists or recruiting during data collection. The confidence level holds for
    one interval, not for the intervals of several paradigms jointly.

    References
    ----------
    Orabona & Jun (2024), IEEE Transactions on Information Theory 70. Waudby-Smith & Ramdas (2024),
    Journal of the Royal Statistical Society B 86.

    Examples
    --------
    Forty participants, each of whom agrees on four or five of five items:

    >>> low, high = anytime_mean_interval([0.8, 1.0] * 20)
    >>> round(low, 2), round(high, 2)
    (0.79, 0.95)
    """
    if not 0 < confidence < 1:
        raise BadInput(f"confidence {confidence} is no share.", remedy="Give a number such as 0.95.")
    values = np.asarray(shares, dtype=np.float64)
    if not values.size:
        return 0.0, 1.0
    limit, mean = -np.log1p(-confidence), float(values.mean())
    inner = min(max(mean, _ZERO), 1 - _ZERO)

    def excess(doubted: float) -> float:
        return float(np.clip(share_evidence(values, doubted, nodes=nodes) - limit, -_CLIP, _CLIP))

    ends = []
    for far in (0.0, 1.0):
        near = abs(far - _ZERO)
        reaches = abs(mean - far) < _ZERO or excess(near) < 0
        ends.append(far if reaches else float(scipy.optimize.brentq(excess, near, inner, xtol=1e-13)))
    return ends[0], ends[1]
