"""The scales on which ratings are averaged."""

import pandas as pd

from analysis.errors import UnknownName
from analysis.magnitudes import log_ratios
from analysis.moments import MIN_RATINGS
from analysis.scales import (
    rank_normal_by_participant,
    rated,
    robust_z_by_participant,
    zscore_by_participant,
)

TRANSFORMS = ("z", "z-log", "raw", "robust-z", "rank-normal")


def transformed(
    judgments: pd.DataFrame, *, transform: str = "z", ddof: int = 1, min_ratings: int = MIN_RATINGS
) -> pd.Series:
    """Put ratings on the scale that is averaged.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant`` and ``value``.
    transform : {"z", "z-log", "raw", "robust-z", "rank-normal"}
        ``z-log`` is for magnitude estimates only.
    ddof, min_ratings
        As in :func:`analysis.scales.zscore_by_participant`.

    Returns
    -------
    Series of float, same index

    Raises
    ------
    UnknownName
        If the transform is another word.

    Notes
    -----
    z = (x - mean) / SD by participant; z-log the same of log10(x / modulus);
    robust-z = (x - median) / (1.4826 MAD); rank-normal Φ⁻¹ of the participant's ranks.

    References
    ----------
    Schütze & Sprouse (2014), "Judgment data", in *Research Methods in Linguistics*, CUP.
    """
    if transform not in TRANSFORMS:
        raise UnknownName("transform", transform, TRANSFORMS)
    if transform == "z":
        return zscore_by_participant(judgments, ddof=ddof, min_ratings=min_ratings)
    if transform == "z-log":
        logs = judgments.assign(value=log_ratios(judgments), task="log_ratio")
        return zscore_by_participant(logs, ddof=ddof, min_ratings=min_ratings)
    if transform == "robust-z":
        return robust_z_by_participant(judgments)
    if transform == "rank-normal":
        return rank_normal_by_participant(judgments)
    return pd.Series(rated(judgments), index=judgments.index)
