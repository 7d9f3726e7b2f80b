"""Intervals that stay valid however often somebody looks while people still come in.

A fixed-sample interval such as Wilson's covers the truth in 95 % of studies at *one* look planned
beforehand. Who looks after every participant and stops at a good moment misses far more often. The
intervals here cover the truth at all looks together.
"""

import numpy as np
import numpy.typing as npt
from scipy import special

from analysis.errors import BadInput
from analysis.rows import Floats

PRIOR = (0.5, 0.5)
_HALVINGS = 60


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
    likelihood = special.xlogy(sums, doubted) + special.xlog1py(rest, -doubted)
    mixed = special.betaln(prior[0] + sums, prior[1] + rest) - special.betaln(*prior)
    return np.asarray(mixed - likelihood, dtype=np.float64)


def anytime_interval(
    total: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    prior: tuple[float, float] = PRIOR,
) -> tuple[Floats, Floats]:
    """Give an interval of the mean share that holds at every look together: a confidence sequence.

    Parameters
    ----------
    total : array of float
        Sum of the people's shares, each between 0 and 1.
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
    analysis.aggregation.proportions.wilson_interval : Narrower, for one look planned beforehand.

    Notes
    -----
    {p : log M(p) < log 1/α}, M as in :func:`mixture_evidence`. log M is convex in p with its minimum
    at the observed mean, so the ends are found by halving. The interval depends on the sum and the
    number only, not on the order of arrival or on when anybody looked. It assumes that every next
    person's expected share is the same, whatever came before: not a change of materials, lists or
    recruiting in mid-course. One interval says 95 %; of several paradigms each does, not all of
    them together. Where people judge many items each, their shares vary less than single answers
    and the interval is wider than it had to be.

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
