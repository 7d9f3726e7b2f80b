"""Matthews correlation of yes-no decisions with yes-no labels."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.comparison.criteria import as_floats
from analysis.errors import BadInput


class Matthews(NamedTuple):
    """The coefficient, its status (``ok``, ``degenerate``, ``no_data``) and the number of rows."""

    mcc: float | None
    status: str
    n: int


def matthews_correlation(true: npt.ArrayLike, predicted: npt.ArrayLike) -> Matthews:
    """Correlate decisions with labels.

    Parameters
    ----------
    true, predicted : array-like of 0 or 1
        Label and decision of each sentence; rows with a gap are left out.

    Returns
    -------
    Matthews
        The coefficient from -1 to 1; 0 with status ``degenerate`` when either side is constant.

    Raises
    ------
    BadInput
        If a value is neither 0 nor 1.

    Notes
    -----
    ``(TP·TN - FP·FN) / sqrt((TP+FP)(TP+FN)(TN+FP)(TN+FN))``. A threshold for graded scores is to be chosen
    on other data.

    References
    ----------
    Matthews (1975), Biochimica et Biophysica Acta 405.

    Examples
    --------
    >>> matthews_correlation([1, 1, 0, 0], [1, 1, 0, 0]).mcc
    1.0
    """
    label, decision = as_floats(true), as_floats(predicted)
    known = ~(np.isnan(label) | np.isnan(decision))
    label, decision = label[known], decision[known]
    if not np.isin(np.concatenate([label, decision]), (0.0, 1.0)).all():
        raise BadInput("labels and decisions must be 0 or 1.")
    if not label.size:
        return Matthews(None, "no_data", 0)
    tp, tn = float(label @ decision), float((1 - label) @ (1 - decision))
    fp, fn = float((1 - label) @ decision), float(label @ (1 - decision))
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    if product == 0:
        return Matthews(0.0, "degenerate", int(label.size))
    return Matthews((tp * tn - fp * fn) / math.sqrt(product), "ok", int(label.size))
