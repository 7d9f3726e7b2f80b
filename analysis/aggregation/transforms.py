"""Transforms of ratings before averaging."""

import pandas as pd

from analysis.errors import UnknownName
from analysis.magnitudes import log_ratios
from analysis.rows import MIN_RATINGS
from analysis.scales import (
    rank_normal_by_participant,
    robust_z_by_participant,
    usable_ratings,
    zscore_by_participant,
)

TRANSFORMS = ("z", "z-log", "raw", "robust-z", "rank-normal")


def transform_ratings(
    judgments: pd.DataFrame, *, transform: str = "z", ddof: int = 1, min_ratings: int = MIN_RATINGS
) -> pd.Series:
    """Transform ratings to the scale on which they are averaged.

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
    return pd.Series(usable_ratings(judgments), index=judgments.index)
