"""Bayes factors of t tests and proportions."""

from dataclasses import dataclass

import numpy as np
import scipy

from ..errors import BadInput
from ..pingouin_options import unrounded_pingouin

SCALE = 2**0.5 / 2
"""Width r of the Cauchy prior of the effect size: √2/2 exactly, where pingouin's default is .707."""
# Grid of log g with a step of .01: the integrand is negligible outside it, and the sum agrees with R to nine
# digits.
_GRID = np.linspace(-9.0, 60.0, 6901)


@dataclass(frozen=True)
class BayesFactor:
    """Evidence for a difference (10) over none, or one-sided (+0); None where undefined."""

    value: float | None
    log10: float | None
    status: str = "ok"

    @property
    def label(self) -> str:
        """Conventional verbal label of the factor."""
        return bayes_label(self.value)


def jzs_bayes_factor(
    t: float | None, n: int, *, n_other: int = 0, one_sided: bool = False, scale: float = SCALE
) -> BayesFactor:
    """Compute the JZS Bayes factor of a t test: normal data, Cauchy prior of the effect size.

    Notes
    -----
    ``pingouin.bayesfactor_ttest``; an integral in logarithms where it has no answer: one-sided factors, and
    factors above the largest float.

    References
    ----------
    Rouder, Speckman, Sun, Morey & Iverson (2009), Psychonomic Bulletin & Review 16. One-sided: Morey &
    Wagenmakers (2014), Statistics & Probability Letters 92.

    Examples
    --------
    >>> round(jzs_bayes_factor(2.5, 20).value, 6), round(jzs_bayes_factor(2.5, 20, one_sided=True).value, 6)
    (2.702145, 5.325941)
    """
    if not scale > 0:
        raise BadInput(f"the scale of the prior is {scale}.", remedy="Give a positive number.")
    df = n - 1 if n_other == 0 else n + n_other - 2
    if t is None or not np.isfinite(t) or df < 1:
        return BayesFactor(None, None, "too_few")
    if not one_sided:
        with unrounded_pingouin() as pingouin:
            value = float(
                pingouin.bayesfactor_ttest(np.float64(t), n, n_other or None, paired=n_other == 0, r=scale)
            )
        if 0 < value < np.inf:
            return BayesFactor(value, float(np.log10(value)))
    size = n if n_other == 0 else n * n_other / (n + n_other)
    total = _log_factor(float(t), size, df, one_sided=one_sided, scale=scale)
    with np.errstate(over="ignore"):
        return BayesFactor(float(np.exp(np.float64(total))), total / float(np.log(10)))


def _log_factor(t: float, size: float, df: float, *, one_sided: bool, scale: float) -> float:
    """Compute the natural logarithm of the factor.

    With δ | g ~ N(0, g r²) and g ~ InverseGamma(½, ½), the marginal of t given g is a scaled t, and the
    posterior probability of δ > 0 given g is a t distribution function with one more degree of freedom.
    The remaining integral over log g is summed on a fixed grid.
    """
    g = np.exp(_GRID)
    prior = -0.5 / g - 0.5 * _GRID - 0.5 * np.log(2 * np.pi)  # density of log g
    spread = 1 + size * g * scale**2
    fit = -(df + 1) / 2 * (np.log1p(t**2 / (spread * df)) - np.log1p(t**2 / df))
    exponent = prior - 0.5 * np.log(spread) + fit
    if one_sided:
        lean = t * np.sqrt((spread - 1) / spread * (df + 1) / (df + t**2 / spread))
        exponent = exponent + np.log(2) + scipy.stats.t.logcdf(lean, df + 1)
    return float(scipy.special.logsumexp(exponent) + np.log(_GRID[1] - _GRID[0]))


def share_bayes_factor(k: int, n: int) -> BayesFactor:
    """Compute the Bayes factor of a proportion different from one half, with a uniform prior.

    Notes
    -----
    B(k + 1, n - k + 1) / ½ⁿ, ``pingouin.bayesfactor_binom`` with a uniform prior; by the logarithm of that
    formula above the largest float. Like the binomial test it needs independent choices.

    Examples
    --------
    >>> round(share_bayes_factor(9, 10).value, 3)
    9.309
    """
    if n == 0:
        return BayesFactor(None, None, "no_data")
    with unrounded_pingouin() as pingouin:
        value = float(pingouin.bayesfactor_binom(k, n))
    if 0 < value < np.inf:
        return BayesFactor(value, float(np.log10(value)))
    log10 = float((scipy.special.betaln(k + 1, n - k + 1) + n * np.log(2)) / np.log(10))
    return BayesFactor(float(10.0 ** min(log10, 308)), log10)  # 1e308 is close to the largest float64


def bayes_label(factor: float | None) -> str:
    """Label a Bayes factor as strong, moderate or undecided evidence for or against a difference.

    Examples
    --------
    >>> bayes_label(12), bayes_label(0.2)
    ('strong for a difference', 'moderate for no difference')
    """
    if factor is None:
        return "undefined"
    for limit, words in ((10, "strong"), (3, "moderate")):
        if factor > limit:
            return f"{words} for a difference"
        if factor < 1 / limit:
            return f"{words} for no difference"
    return "undecided"
