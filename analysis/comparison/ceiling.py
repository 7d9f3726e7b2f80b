"""How well one half of the participants predicts the other: the ceiling for any model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.columns import require_columns
from analysis.comparison.answers import UNIT, Ratings, choices_of, ratings_of, task_of
from analysis.comparison.baselines import adc_shares
from analysis.comparison.choice_ceiling import full_against_full, half_against_half
from analysis.comparison.criteria import DELTAS, FloatArray, Signs
from analysis.comparison.halves import Flags, Places, first_half, mean_shares, means_by_code, pair_places

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
    basis: str = "ratings"


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
        (without it, participants who judged the same form a list); ``kind`` leaves practice and catch
        trials out; ``task`` tells ratings, forced choices (with ``pair_id``) and yes-no answers apart.
    pairs : DataFrame, one row per pair
        Needs ``good_id`` and ``bad_id``, for forced choices ``pair_id``.
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
        ``adc_half`` from real halves, ``adc`` corrected to samples of full size, what they rest on
        (``ratings``, ``forced_choice`` or ``yes_no``), and a status: ``ok``, ``no_data``, ``too_few`` (fewer
        than four people) or ``no_variation``.

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

    Choices have no scale to be standardized on: in each half the scores are made as a release makes them,
    shares of showings in which a sentence was chosen, or of yes, standardized over the judged sentences
    (ddof 0). Their full-size samples draw answers, see
    :func:`analysis.comparison.choice_ceiling.full_against_full`. Where a frame has several tasks, ratings
    go before choices, forced choices before yes-no.

    References
    ----------
    Vázquez Martínez (2021), "The Acceptability Delta Criterion", BlackboxNLP.
    """
    require_columns(judgments, "participant", "sentence_id", "value")
    require_columns(pairs, "good_id", "bad_id")
    task = task_of(judgments)
    if task in UNIT:
        return _from_choices(judgments, pairs, task=task, rng=rng, deltas=deltas, signs=signs, splits=splits)
    ratings = ratings_of(judgments, pairs)
    nothing: dict[float, float | None] = {float(delta): None for delta in deltas}
    raters = int(np.unique(ratings.participant).size)
    if raters < 4:
        return HumanCeiling(
            raters, 0, 0, nothing, dict(nothing), None, "no_data" if not raters else "too_few"
        )
    good, bad = pair_places(pairs, ratings.names)
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
    return HumanCeiling(raters, splits, len(good), mean_shares(halves), full, variance, status)


def _from_choices(
    judgments: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    task: str,
    rng: np.random.Generator,
    deltas: Sequence[float],
    signs: Signs,
    splits: int,
) -> HumanCeiling:
    require_columns(pairs, "pair_id")
    choices = choices_of(judgments, pairs, task=task)
    nothing: dict[float, float | None] = {float(delta): None for delta in deltas}
    people, n_pairs = int(np.unique(choices.participant).size), len(choices.good)
    if people < 4 or not n_pairs:
        status = "no_data" if not people or not n_pairs else "too_few"
        return HumanCeiling(people, 0, n_pairs, nothing, dict(nothing), None, status, task)
    halves = [half_against_half(choices, rng=rng, deltas=deltas, signs=signs) for _ in range(splits)]
    full = full_against_full(choices, rng=rng, deltas=deltas, signs=signs, draws=splits)
    adc, variance = full or (dict(nothing), None)
    found = mean_shares(halves)
    status = "ok" if full and any(value is not None for value in found.values()) else "no_variation"
    return HumanCeiling(people, splits, n_pairs, found, adc, variance, status, task)


def _half_against_half(
    ratings: Ratings,
    good: Places,
    bad: Places,
    *,
    rng: np.random.Generator,
    deltas: Sequence[float],
    signs: Signs,
) -> dict[float, float | None]:
    in_first = first_half(ratings.participant, ratings.strata, ratings.seats, rng=rng)
    first, second = (_means(ratings, in_first), _means(ratings, ~in_first))
    return adc_shares(first[good] - first[bad], second[good] - second[bad], deltas=deltas, signs=signs)


def _means(ratings: Ratings, chosen: Flags) -> FloatArray:
    return means_by_code(ratings.sentence[chosen], ratings.z[chosen], size=len(ratings.names))


def _noise_variance(ratings: Ratings) -> float | None:
    count = np.bincount(ratings.sentence)
    means = _means(ratings, np.ones(ratings.z.size, dtype=np.bool_))
    freedom = int((count - 1).clip(min=0).sum())
    if freedom < 1:
        return None
    return float(((ratings.z - means[ratings.sentence]) ** 2).sum() / freedom)


def _full_size(
    ratings: Ratings,
    good: Places,
    bad: Places,
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
    return mean_shares(found)
