"""Accuracy against the amount of training text."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from analysis.comparison.correlation import pearson_r
from analysis.comparison.criteria import as_floats
from analysis.errors import NotEnoughData


@dataclass(frozen=True)
class LearningCurve:
    """The line accuracy = intercept + slope · log2(tokens)."""

    slope_per_doubling: float
    intercept: float
    r: float
    n: int
    mean_log2: float = math.nan
    spread_log2: float = math.nan
    """Sum of squares of log2(tokens) about their mean."""
    residual_sd: float = math.nan
    """Of the points about the line, n - 2 degrees of freedom; NaN below three points."""

    def log2_tokens_at(self, accuracy: float) -> float | None:
        """Give log2 of the tokens at which the line reaches an accuracy; None when it never rises."""
        return (accuracy - self.intercept) / self.slope_per_doubling if self.slope_per_doubling > 0 else None

    def slope_interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Give the t interval of the slope; None below three points."""
        if self.n < 3:
            return None
        t = float(scipy.stats.t.ppf((1 + level) / 2, self.n - 2))
        half = t * self.residual_sd / math.sqrt(self.spread_log2)
        return self.slope_per_doubling - half, self.slope_per_doubling + half

    def log2_tokens_interval(self, accuracy: float, level: float = 0.95) -> tuple[float, float] | None:
        """Give Fieller's interval of log2 of the tokens at which the line reaches an accuracy.

        None where the line never rises, below three points, or where the slope's own interval holds 0: then
        no number of tokens can be excluded.
        """
        interval, x = self.slope_interval(level), self.log2_tokens_at(accuracy)
        if interval is None or x is None or interval[0] <= 0:
            return None
        t, b = float(scipy.stats.t.ppf((1 + level) / 2, self.n - 2)), self.slope_per_doubling
        g = (t * self.residual_sd / b) ** 2 / self.spread_log2
        away = x - self.mean_log2
        half = t * self.residual_sd / b * math.sqrt((1 - g) / self.n + away**2 / self.spread_log2)
        return self.mean_log2 + (away - half) / (1 - g), self.mean_log2 + (away + half) / (1 - g)


def learning_curve(tokens: npt.ArrayLike, accuracy: npt.ArrayLike) -> LearningCurve:
    """Fit accuracy on the binary logarithm of the number of training tokens.

    Parameters
    ----------
    tokens : array-like of float
        Size of each training corpus, positive.
    accuracy : array-like of float
        Accuracy of the model trained on it.

    Returns
    -------
    LearningCurve
        Slope (gain per doubling), intercept and correlation (NaN when accuracy is constant).

    Raises
    ------
    NotEnoughData
        With fewer than two different sizes, or a size that is not positive.

    Notes
    -----
    A line in log2 has no ceiling: it passes 1 at some size. Reading it beyond the data is a guess; the
    authors conjecture a sigmoid. Points are models: several seeds of one size are several points.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, section 6.3. Fieller (1954), JRSS B 16.

    Examples
    --------
    >>> learning_curve([2e6, 4e6, 8e6], [0.6, 0.7, 0.8]).slope_per_doubling.__round__(6)
    0.1
    """
    sizes, reached = as_floats(tokens), as_floats(accuracy)
    known = ~(np.isnan(sizes) | np.isnan(reached))
    sizes, reached = sizes[known], reached[known]
    if sizes.size < 2 or (sizes <= 0).any() or np.ptp(sizes) == 0:
        raise NotEnoughData("a learning curve needs at least two different positive corpus sizes.")
    x = np.log2(sizes)
    slope = float(np.cov(x, reached, ddof=0)[0, 1] / x.var())
    r = pearson_r(x, reached) if np.ptp(reached) > 0 else math.nan
    intercept = float(reached.mean() - slope * x.mean())
    n, off = int(x.size), reached - intercept - slope * x
    residual_sd = math.sqrt(float(off @ off) / (n - 2)) if n > 2 else math.nan
    spread = float(((x - x.mean()) ** 2).sum())
    return LearningCurve(slope, intercept, r, n, float(x.mean()), spread, residual_sd)
