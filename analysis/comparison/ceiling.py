"""How well one half of the participants predicts the other: the ceiling for any model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.columns import require_columns
from analysis.comparison.baselines import adc_shares
from analysis.comparison.criteria import DELTAS, FloatArray, Signs
from analysis.scales import zscore_by_participant

SPLITS = 200


@dataclass(frozen=True)
class HumanCeiling:
    """ADC of people against people."""

    participants: int
    splits: int
    pairs: int
    adc_half: dict[float, float | None]
    adc: dict[float, float | None]
    noise_variance: float | None
    status: str


@dataclass(frozen=True)
class _Ratings:
    participant: npt.NDArray[np.int64]
    sentence: npt.NDArray[np.int64]
    z: FloatArray
    strata: npt.NDArray[np.int64]
    names: pd.Index


def human_ceiling(
    judgments: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    rng: np.random.Generator,
    deltas: Sequence[float] = DELTAS,
    signs: Signs = "strict",
    splits: int = SPLITS,
) -> HumanCeiling:
    """Let one random half of the participants be the truth and the other half the model.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant``, ``sentence_id`` and ``value``; ``list`` keeps halves balanced within list
        (without it, participants who rated the same sentences form a list); ``kind`` leaves practice and
        catch trials out.
    pairs : DataFrame, one row per pair
        Needs ``good_id`` and ``bad_id``.
    rng : Generator
        Source of randomness.
    deltas : sequence of float
        The δ wanted.
    signs : {"strict", "published"}
        How zeros are treated.
    splits : int
        Number of random halvings.

    Returns
    -------
    HumanCeiling
        ``adc_half`` from real halves, ``adc`` corrected to samples of full size, and a status: ``ok``,
        ``no_data``, ``too_few`` (fewer than four raters) or ``no_variation``.

    Raises
    ------
    MissingColumns
        If a column is absent.

    Notes
    -----
    Ratings are standardized by participant (ddof 1, at least four ratings, constant raters left out).
    Halves hold half the people, so they agree less than two full samples would. The correction draws
    two samples of full size: true means are the observed ones shrunk to variance V, errors have variance
    σ²/n, where σ² is the pooled variance of z within sentences and V what it leaves of the variance of means.
    """
    require_columns(judgments, "participant", "sentence_id", "value")
    require_columns(pairs, "good_id", "bad_id")
    ratings = _standardized(judgments.reset_index(drop=True))
    nothing: dict[float, float | None] = {float(delta): None for delta in deltas}
    raters = int(np.unique(ratings.participant).size)
    if raters < 4:
        return HumanCeiling(
            raters, 0, 0, nothing, dict(nothing), None, "no_data" if not raters else "too_few"
        )
    good, bad = _places(pairs, ratings.names)
    halves = [
        _half_against_half(ratings, good, bad, rng=rng, deltas=deltas, signs=signs) for _ in range(splits)
    ]
    variance = _noise_variance(ratings)
    full = (
        _full_size(ratings, good, bad, variance=variance, rng=rng, deltas=deltas, signs=signs, draws=splits)
        if variance is not None
        else dict(nothing)
    )
    status = "ok" if variance is not None and len(good) else "no_variation" if len(good) else "no_data"
    return HumanCeiling(raters, splits, len(good), _mean(halves), full, variance, status)


def _standardized(judgments: pd.DataFrame) -> _Ratings:
    """Standardize ratings by participant; forced choices have no place on a scale and are left out."""
    z = zscore_by_participant(judgments)
    if "task" in judgments.columns:
        z = z.mask(judgments["task"].astype(str) == "forced_choice")
    z = z.dropna()
    kept = judgments.loc[z.index]
    participant, _ = pd.factorize(kept["participant"])
    sentence, names = pd.factorize(kept["sentence_id"].astype(str))
    return _Ratings(
        participant.astype(np.int64),
        sentence.astype(np.int64),
        z.to_numpy(dtype=float),
        _strata(kept, participant),
        pd.Index(names),
    )


def _strata(kept: pd.DataFrame, participant: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Give each participant's list: the named one, else the set of sentences rated."""
    if "list" in kept.columns and kept["list"].notna().all():
        labels = kept.groupby(participant)["list"].first()
    else:
        labels = kept.groupby(participant)["sentence_id"].agg(lambda ids: "\n".join(sorted(set(ids))))
    return pd.factorize(labels)[0].astype(np.int64)


def _places(pairs: pd.DataFrame, names: pd.Index) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    good = names.get_indexer(pd.Index(pairs["good_id"].astype(str)))
    bad = names.get_indexer(pd.Index(pairs["bad_id"].astype(str)))
    known = (good >= 0) & (bad >= 0)
    return good[known].astype(np.int64), bad[known].astype(np.int64)


def _half_against_half(
    ratings: _Ratings,
    good: npt.NDArray[np.int64],
    bad: npt.NDArray[np.int64],
    *,
    rng: np.random.Generator,
    deltas: Sequence[float],
    signs: Signs,
) -> dict[float, float | None]:
    in_first = _halve(ratings.strata, rng=rng)[ratings.participant]
    first, second = (_means(ratings, in_first), _means(ratings, ~in_first))
    return adc_shares(first[good] - first[bad], second[good] - second[bad], deltas=deltas, signs=signs)


def _halve(strata: npt.NDArray[np.int64], *, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Put half of each list in the first half; odd ones out alternate, starting at random."""
    shuffled = rng.permutation(strata.size)
    order = shuffled[np.argsort(strata[shuffled], kind="stable")]
    in_first = np.zeros(strata.size, dtype=np.bool_)
    in_first[order[int(rng.integers(2)) :: 2]] = True
    return in_first


def _means(ratings: _Ratings, chosen: npt.NDArray[np.bool_]) -> FloatArray:
    size = len(ratings.names)
    total = np.bincount(ratings.sentence[chosen], weights=ratings.z[chosen], minlength=size)
    count = np.bincount(ratings.sentence[chosen], minlength=size)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _noise_variance(ratings: _Ratings) -> float | None:
    count = np.bincount(ratings.sentence)
    means = _means(ratings, np.ones(ratings.z.size, dtype=np.bool_))
    freedom = int((count - 1).clip(min=0).sum())
    if freedom < 1:
        return None
    return float(((ratings.z - means[ratings.sentence]) ** 2).sum() / freedom)


def _full_size(
    ratings: _Ratings,
    good: npt.NDArray[np.int64],
    bad: npt.NDArray[np.int64],
    *,
    variance: float,
    rng: np.random.Generator,
    deltas: Sequence[float],
    signs: Signs,
    draws: int,
) -> dict[float, float | None]:
    count = np.bincount(ratings.sentence)
    means = _means(ratings, np.ones(ratings.z.size, dtype=np.bool_))
    error = np.sqrt(variance / count)
    observed = float(means.var())
    left = max(observed - float((error**2).mean()), 0.0)
    truth = means.mean() + np.sqrt(left / observed) * (means - means.mean()) if observed > 0 else means
    found = []
    for _ in range(draws):
        one, other = truth + error * rng.standard_normal((2, truth.size))
        found.append(adc_shares(one[good] - one[bad], other[good] - other[bad], deltas=deltas, signs=signs))
    return _mean(found)


def _mean(shares: Sequence[dict[float, float | None]]) -> dict[float, float | None]:
    frame = pd.DataFrame(shares, dtype=float)
    means = frame.mean()
    return {float(delta): None if np.isnan(means[delta]) else float(means[delta]) for delta in frame.columns}
