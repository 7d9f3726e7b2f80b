"""Accuracy against the amount of training text."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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

    def log2_tokens_at(self, accuracy: float) -> float | None:
        """Give log2 of the tokens at which the line reaches an accuracy; None when it never rises."""
        return (accuracy - self.intercept) / self.slope_per_doubling if self.slope_per_doubling > 0 else None


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
    A line in log2 has no ceiling: it passes 1 at some size. Reading it beyond the data is a guess.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, section 6.3.

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
    return LearningCurve(slope, float(reached.mean() - slope * x.mean()), r, int(x.size))
