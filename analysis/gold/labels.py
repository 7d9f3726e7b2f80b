"""Gold labels from aggregates (or tie or undecided), and the rules in words."""

import numpy as np
import numpy.typing as npt

from ..agreement.majority import N_MIN, majority_status
from ..rows import RATING_TASKS

Labels = npt.NDArray[np.object_]
TIE, UNDECIDED = "tie", "undecided"

#: Label rule of each task in words, for the card and the manifest.
LABEL_RULES = {
    "forced_choice": (
        "expected if more than half of the kept judgments chose the expected member, unexpected if fewer "
        "than half did, tie if exactly half"
    ),
    "yes_no": (
        "acceptable if more than half of the kept judgments said yes, unacceptable if fewer than half did, "
        "tie if exactly half; a pair is expected if a larger share said yes to its expected member"
    ),
    "rating": (
        "expected if the mean z-score of the expected member is above that of the other, unexpected if "
        "below, tie if equal"
    ),
}


def label_rule(task: str) -> str:
    """Return the label rule of a task in words.

    Examples
    --------
    >>> label_rule("forced_choice").partition(",")[0]
    'expected if more than half of the kept judgments chose the expected member'
    """
    return LABEL_RULES["rating" if task in RATING_TASKS else task if task in LABEL_RULES else "forced_choice"]


def preference_labels(
    k: npt.ArrayLike, n: npt.ArrayLike, *, n_min: int = N_MIN, halves: npt.ArrayLike = 0
) -> Labels:
    """Label forced-choice pairs by strict majority.

    Parameters
    ----------
    k : array of counts
        Number of judgments per pair that chose the expected member.
    n : array of counts
        Number of kept judgments per pair, same shape as ``k``.
    n_min : int
        Pairs with fewer judgments are ``undecided``.
    halves : array of counts, optional
        Number of judgments per pair (*both* or *neither*) that count one half for each member; included
        in ``n``, not in ``k``. By default none.

    Returns
    -------
    array of str
        ``expected``, ``unexpected``, ``tie`` or ``undecided`` for each pair.

    Examples
    --------
    >>> preference_labels([4, 2, 1], [4, 4, 1]).tolist()
    ['expected', 'tie', 'undecided']
    """
    return _majority_labels(k, n, above="expected", below="unexpected", n_min=n_min, halves=halves)


def acceptability_labels(
    k: npt.ArrayLike, n: npt.ArrayLike, *, n_min: int = N_MIN, halves: npt.ArrayLike = 0
) -> Labels:
    """Label sentences of a yes-no task by strict majority.

    Parameters
    ----------
    k : array of counts
        Number of judgments per sentence that said yes.
    n : array of counts
        Number of kept judgments per sentence, same shape as ``k``.
    n_min : int
        Sentences with fewer judgments are ``undecided``.
    halves : array of counts, optional
        Number of participants who said yes and no equally often; included in ``n``, not in ``k``.

    Returns
    -------
    array of str
        ``acceptable``, ``unacceptable``, ``tie`` or ``undecided`` for each sentence.

    Examples
    --------
    >>> acceptability_labels([4, 0], [4, 4]).tolist()
    ['acceptable', 'unacceptable']
    """
    return _majority_labels(k, n, above="acceptable", below="unacceptable", n_min=n_min, halves=halves)


def difference_labels(difference: npt.ArrayLike, n_fewest: npt.ArrayLike, *, n_min: int = N_MIN) -> Labels:
    """Label pairs by the sign of the difference between the expected and the other member.

    Parameters
    ----------
    difference : array of float
        Mean rating of the expected member minus that of the other; NaN if one member has no mean.
    n_fewest : array of counts
        Number of judgments of the member with fewer judgments, same shape as ``difference``.
    n_min : int
        Pairs with fewer judgments are ``undecided``.

    Returns
    -------
    array of str
        ``expected``, ``unexpected``, ``tie`` or ``undecided`` for each pair.

    Examples
    --------
    >>> difference_labels([0.5, float("nan"), 0.0], [9, 9, 9]).tolist()
    ['expected', 'undecided', 'tie']
    """
    delta = np.asarray(difference, dtype=np.float64)
    thin = np.isnan(delta) | (np.asarray(n_fewest, dtype=np.int64) < n_min)
    words = [UNDECIDED, "expected", "unexpected"]
    return np.select([thin, delta > 0, delta < 0], words, default=TIE).astype(object)


def _majority_labels(
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    above: str,
    below: str,
    n_min: int,
    halves: npt.ArrayLike = 0,
) -> Labels:
    words = {"expected": above, "unexpected": below, "tie": TIE}
    status = majority_status(k, n, n_min=n_min, halves=halves)
    return np.array([words.get(word, UNDECIDED) for word in status], dtype=object)
