"""The ADC as a function of δ, and the area under it."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.comparison.criteria import FloatArray, Signs, as_floats, signs_agree
from analysis.errors import BadInput


def adc_curve(
    human_delta: npt.ArrayLike, model_delta: npt.ArrayLike, *, delta_max: float = 3.0, signs: Signs = "strict"
) -> pd.DataFrame:
    """Give the ADC at every δ where it changes, from 0 to ``delta_max``.

    Parameters
    ----------
    human_delta, model_delta : array-like of float
        Differences of standardized scores, one per pair; pairs with a gap are left out.
    delta_max : float
        Largest δ of the curve.
    signs : {"strict", "published"}
        How zeros are treated.

    Returns
    -------
    DataFrame
        ``delta`` and ``adc``, rising steps: between two rows the lower row's value holds.

    Raises
    ------
    BadInput
        If ``delta_max`` is not positive.

    Notes
    -----
    The curve is the empirical distribution function of ``|Δh - Δlm|`` over the pairs whose signs
    agree. The criterion is strict, so the step at a distance e is taken just above e.

    Examples
    --------
    >>> adc_curve([1.0, 1.0], [0.5, -1.0], delta_max=2).values.tolist()
    [[0.0, 0.0], [0.5, 0.5], [2.0, 0.5]]
    """
    distances, n_pairs = _agreeing_distances(human_delta, model_delta, delta_max=delta_max, signs=signs)
    inside = np.sort(distances[distances < delta_max])
    steps, counts = np.unique(inside, return_counts=True)
    share = np.cumsum(counts) / max(n_pairs, 1)
    reached = float(share[-1]) if share.size else 0.0
    delta = np.concatenate([[0.0], steps, [delta_max]])
    return pd.DataFrame({"delta": delta, "adc": np.concatenate([[0.0], share, [reached]])})


def adc_area(
    human_delta: npt.ArrayLike, model_delta: npt.ArrayLike, *, delta_max: float = 3.0, signs: Signs = "strict"
) -> float | None:
    """Give the mean height of the ADC curve from 0 to ``delta_max``, exactly.

    Parameters
    ----------
    human_delta, model_delta : array-like of float
        Differences of standardized scores, one per pair; pairs with a gap are left out.
    delta_max : float
        Largest δ.
    signs : {"strict", "published"}
        How zeros are treated.

    Returns
    -------
    float or None
        A number from 0 to 1; None when no pair has both differences.

    Raises
    ------
    BadInput
        If ``delta_max`` is not positive.

    Notes
    -----
    ``(1/N) Σ [signs agree] max(0, δ_max - |Δh - Δlm|) / δ_max``: no grid is needed.

    Examples
    --------
    >>> adc_area([1.0, 1.0], [1.0, -1.0])
    0.5
    """
    distances, n_pairs = _agreeing_distances(human_delta, model_delta, delta_max=delta_max, signs=signs)
    if not n_pairs:
        return None
    return float(np.maximum(0.0, delta_max - distances).sum() / delta_max / n_pairs)


def _agreeing_distances(
    human_delta: npt.ArrayLike, model_delta: npt.ArrayLike, *, delta_max: float, signs: Signs
) -> tuple[FloatArray, int]:
    if not delta_max > 0:
        raise BadInput(f"the largest δ must be positive, got {delta_max:g}.", column="delta_max")
    human, model = as_floats(human_delta), as_floats(model_delta)
    known = ~(np.isnan(human) | np.isnan(model))
    agree = known & signs_agree(human, model, signs=signs)
    return np.abs(human - model)[agree], int(known.sum())
