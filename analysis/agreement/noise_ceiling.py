"""From a reliability to the highest correlation to be expected: Spearman–Brown and the noise ceiling."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NoiseCeiling:
    """Highest correlations that can be expected with observed means."""

    model: float | None
    """Of a model that knows the true means: √reliability."""
    sample: float | None
    """Of another sample of participants of the same size: the reliability."""

    def disattenuated(self, r: float | None) -> float | None:
        """Give r divided by the model's ceiling."""
        return None if r is None or not self.model else r / self.model


def noise_ceiling(reliability: float | None) -> NoiseCeiling:
    """Turn a reliability of means into the ceilings that stand beside a model's correlation.

    Parameters
    ----------
    reliability : float or None
        Split-half with Spearman–Brown, or an intraclass correlation of means.

    Returns
    -------
    NoiseCeiling
        None throughout where the reliability is undefined or not positive.

    Notes
    -----
    A perfect model correlates with observed means at √reliability; two samples of people at the
    reliability.

    Examples
    --------
    >>> ceiling = noise_ceiling(0.81)
    >>> ceiling.model, ceiling.sample, round(ceiling.disattenuated(0.45), 3)
    (0.9, 0.81, 0.5)
    """
    if reliability is None or not reliability > 0:
        return NoiseCeiling(None, None)
    return NoiseCeiling(reliability**0.5, reliability)


def spearman_brown(r: float, *, factor: float = 2.0) -> float:
    """Give the reliability of a test ``factor`` times as long: m r / (1 + (m - 1) r).

    Parameters
    ----------
    r : float
    factor : float

    Returns
    -------
    float

    Examples
    --------
    >>> spearman_brown(0.5)
    0.6666666666666666
    """
    return factor * r / (1 + (factor - 1) * r)
