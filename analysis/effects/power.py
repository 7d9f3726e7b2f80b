"""How likely a study of n participants is to find an effect: exact and analytic."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from analysis.errors import BadInput
from analysis.rows import Floats

ALPHA = 0.05
TARGET = 0.8


def critical_count(n: int, *, alpha: float = ALPHA, bayes_cut: float | None = None) -> int | None:
    """Give the smallest k above half of n that a two-tailed exact sign test finds significant.

    Parameters
    ----------
    n : int
        Choices, one per participant.
    alpha : float
    bayes_cut : float, optional
        Ask for a Bayes factor above it instead (uniform prior of the share).

    Returns
    -------
    int or None
        None where even n of n is not significant, as with five choices.

    Examples
    --------
    >>> [critical_count(n) for n in (5, 6, 10, 15, 20)]
    [None, 6, 9, 12, 15]
    """
    k = np.arange(n // 2 + 1, n + 1)
    if bayes_cut is None:
        significant = k[2 * scipy.stats.binom.sf(k - 1, n, 0.5) < alpha]
    else:
        significant = k[scipy.special.betaln(k + 1, n - k + 1) + n * np.log(2) > np.log(bayes_cut)]
    return int(significant[0]) if len(significant) else None


def sign_power(
    n: int, share: npt.ArrayLike, *, alpha: float = ALPHA, bayes_cut: float | None = None
) -> Floats:
    """Give the exact power of the two-tailed sign test in the predicted direction.

    Parameters
    ----------
    n : int
        Participants, one choice each.
    share : float or array
        Probability of choosing the expected member.
    alpha, bayes_cut
        As in :func:`critical_count`.

    Returns
    -------
    array of float
        Shape of ``share``.

    Notes
    -----
    Σ over the k that are significant and above half of Bin(k; n, share). It moves in a saw-tooth with n: take
    the smallest n from which it stays high (:func:`enough_participants`).

    Examples
    --------
    >>> round(float(sign_power(10, 0.9)), 6), float(sign_power(5, 0.9))
    (0.736099, 0.0)
    """
    p = np.asarray(share, dtype=np.float64)
    if ((p < 0) | (p > 1)).any():
        raise BadInput("a share is below 0 or above 1.", column="share")
    least = critical_count(n, alpha=alpha, bayes_cut=bayes_cut)
    if least is None:
        return np.zeros(p.shape)
    power: Floats = np.asarray(scipy.stats.binom.sf(least - 1, n, p), dtype=np.float64)
    return power


def paired_t_power(n: int, d_z: npt.ArrayLike, *, alpha: float = ALPHA) -> Floats:
    """Give the power of the two-tailed paired t test in the predicted direction.

    Parameters
    ----------
    n : int
        Participants.
    d_z : float or array
        mean(D) / sd(D) of the participants' differences, not Cohen's d of the two conditions.
    alpha : float

    Returns
    -------
    array of float

    Notes
    -----
    P(T' > t_{1 - α/2}) with T' the noncentral t of n - 1 degrees of freedom and noncentrality d_z √n.

    Examples
    --------
    >>> round(float(paired_t_power(30, 0.5)), 6)
    0.753963
    """
    d = np.asarray(d_z, dtype=np.float64)
    if n < 2:
        return np.zeros(d.shape)
    cut = scipy.stats.t.ppf(1 - alpha / 2, n - 1)
    power: Floats = np.asarray(scipy.stats.nct.sf(cut, n - 1, d * np.sqrt(n)), dtype=np.float64)
    return np.where(np.isnan(power), (d > 0).astype(np.float64), power)


def enough_participants(
    task: str, effect: float, *, target: float = TARGET, alpha: float = ALPHA, most: int = 2_000
) -> int | None:
    """Give the smallest number of participants from which power stays at the target or above.

    Parameters
    ----------
    task : str
        ``forced_choice`` (effect: share of expected choices) or a rating task (effect: d_z).
    effect : float
    target, alpha : float
    most : int
        Numbers above it are not tried.

    Returns
    -------
    int or None
        None where ``most`` participants do not suffice.

    Examples
    --------
    >>> enough_participants("forced_choice", 0.8), enough_participants("likert", 0.5)
    (23, 34)
    """
    power = sign_power if task == "forced_choice" else paired_t_power
    ahead = max(most // 20, 40)
    run = 0
    for n in range(2, most + ahead + 1):
        run = run + 1 if float(power(n, effect, alpha=alpha)) >= target else 0
        if run >= ahead:
            return n - run + 1
        if run == 0 and n >= most:
            return None
    return None


def share_powered(powers: npt.ArrayLike, *, target: float = TARGET) -> float | None:
    """Give the share of phenomena whose power reaches the target: the y axis of published curves.

    Parameters
    ----------
    powers : array of float
        One per phenomenon; NaN is left out.
    target : float

    Returns
    -------
    float or None

    Examples
    --------
    >>> share_powered([0.5, 0.8, 0.95, np.nan])
    0.6666666666666666
    """
    known = np.asarray(powers, dtype=np.float64)
    known = known[~np.isnan(known)]
    return float((known >= target).mean()) if len(known) else None


def conventions(*, alpha: float, seed: int, draws: int) -> dict[str, Any]:
    """Name what every power figure rests on.

    Parameters
    ----------
    alpha : float
        Of a detection.
    seed, draws : int
        Of the simulation.

    Returns
    -------
    dict

    References
    ----------
    Gelman & Carlin (2014), Perspectives on Psychological Science 9: Type S and M.
    """
    return {
        "detection": f"p < {alpha:g} two-tailed and in the predicted direction",
        "type_s": "share of significant results in the wrong direction",
        "type_m": "mean size of significant estimates over the true effect",
        "target": f"power of at least {TARGET:g}",
        "draws": draws,
        "seed": seed,
        "error": "sqrt(p (1 - p) / draws): Monte Carlo only",
    }
