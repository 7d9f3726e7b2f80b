"""The human ceiling of the ADC: how well one sample of participants predicts another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...columns import require_columns
from ...reliability.halves import first_half, mean_shares, means_by_code, pair_positions
from ...rows import Codes, Flags
from ..criteria import DELTAS, FloatArray, Signs, adc_shares
from .responses import (
    UNIT,
    Choices,
    Ratings,
    counted_task,
    encode_choices,
    encode_ratings,
    release_scores,
)

Shares = dict[float, float | None]


def half_against_half(
    choices: Choices, *, rng: np.random.Generator, deltas: Sequence[float], signs: Signs
) -> Shares:
    """Return the ADC of one random half of the participants, taken as the model, against the other.

    References
    ----------
    Vázquez Martínez (2021), "The Acceptability Delta Criterion", BlackboxNLP.
    """
    in_first = first_half(choices.participant, choices.strata, choices.slots, rng=rng)
    first, second = (release_scores(choices, *_counts(choices, half)) for half in (in_first, ~in_first))
    return _share_by_delta(choices, first, second, deltas=deltas, signs=signs)


def full_against_full(
    choices: Choices, *, rng: np.random.Generator, deltas: Sequence[float], signs: Signs, draws: int
) -> tuple[Shares, float] | None:
    """Return the mean ADC of two simulated samples of full size, and the variance within units.

    Notes
    -----
    Observed shares vary more than true ones. True shares are the observed ones shrunk to the variance
    that is left after the mean of p(1 - p)/(n - 1), the unbiased error variance of a share; each sample
    draws as many answers per unit as were observed, from the binomial distribution.

    References
    ----------
    Vázquez Martínez (2021), "The Acceptability Delta Criterion", BlackboxNLP.
    """
    yes, answers = _counts(choices, np.ones(choices.value.size, dtype=np.bool_))
    repeated = answers > 1
    if not repeated.any():
        return None
    share = yes / answers
    within = (share * (1 - share) * answers)[repeated] / (answers[repeated] - 1)
    error, observed = float((within.mean() / answers).mean()), float(share.var())
    shrinkage = np.sqrt(max(observed - error, 0.0) / observed) if observed > 0 else 0.0
    # Observed shares vary more than true ones by their sampling error, which the shrinkage removes.
    truth = np.clip(share.mean() + shrinkage * (share - share.mean()), 0, 1)
    samples = []
    for _ in range(draws):
        first, second = rng.binomial(answers.astype(np.int64), truth, size=(2, truth.size)).astype(float)
        scores = release_scores(choices, first, answers), release_scores(choices, second, answers)
        samples.append(_share_by_delta(choices, *scores, deltas=deltas, signs=signs))
    return mean_shares(samples), float(within.mean())


def _counts(choices: Choices, chosen: Flags) -> tuple[FloatArray, FloatArray]:
    size = choices.yes_of.size
    yes = np.bincount(choices.unit[chosen], weights=choices.value[chosen], minlength=size)
    answers = np.bincount(choices.unit[chosen], minlength=size)
    return yes.astype(np.float64), answers.astype(np.float64)


def _share_by_delta(
    choices: Choices, truth: FloatArray, model: FloatArray, *, deltas: Sequence[float], signs: Signs
) -> Shares:
    human_delta, model_delta = (scores[choices.good] - scores[choices.bad] for scores in (truth, model))
    return adc_shares(human_delta, model_delta, deltas=deltas, signs=signs)


SPLITS = 200


@dataclass(frozen=True)
class HumanCeiling:
    """ADC of one sample of participants against another."""

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
    """Compute the ADC of random halves of the participants, one taken as the truth, the other as the model.

    Column ``list`` keeps halves balanced within list (without it, participants who judged the same
    sentences form a list), ``kind`` omits practice and catch trials, ``task`` distinguishes ratings,
    forced choices (with ``pair_id``) and yes-no answers. The result has ``adc_half`` from observed
    halves, ``adc`` corrected to samples of full size, and a status: ``ok``, ``no_data``, ``too_few``
    (fewer than four participants) or ``no_variation``.

    Notes
    -----
    Ratings are standardized by participant (ddof 1, at least four ratings, constant raters omitted).
    Halves contain half the participants, so they agree less than two full samples. The correction draws
    two samples of full size: true means are the observed ones shrunk to variance V, errors have variance
    σ²/n, where σ² is the pooled variance of z within sentences and V the variance of means less that of
    errors.

    Choices have no scale: in each half the scores are computed as in a release, as shares of presentations
    in which a sentence was chosen, or of yes, standardized over the judged sentences (ddof 0). Their
    full-size samples draw answers, see :func:`obelus.comparison.ceilings.human.full_against_full`. Of
    several tasks in a frame, ratings take precedence over forced choices, these over yes-no.

    References
    ----------
    Vázquez Martínez (2021), "The Acceptability Delta Criterion", BlackboxNLP.
    """
    require_columns(judgments, "participant", "sentence_id", "value")
    require_columns(pairs, "good_id", "bad_id")
    task = counted_task(judgments)
    if task in UNIT:
        return _from_choices(judgments, pairs, task=task, rng=rng, deltas=deltas, signs=signs, splits=splits)
    ratings = encode_ratings(judgments, pairs)
    undefined: dict[float, float | None] = {float(delta): None for delta in deltas}
    raters = int(np.unique(ratings.participant).size)
    if raters < 4:  # a half needs two participants
        return HumanCeiling(
            raters, 0, 0, undefined, dict(undefined), None, "no_data" if not raters else "too_few"
        )
    good, bad = pair_positions(pairs, ratings.names)
    halves = [
        _half_against_half(ratings, good, bad, rng=rng, deltas=deltas, signs=signs) for _ in range(splits)
    ]
    variance = _noise_variance(ratings)
    full = (
        _full_size(ratings, good, bad, variance=variance, rng=rng, deltas=deltas, signs=signs, draws=splits)
        if variance is not None
        else dict(undefined)
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
    choices = encode_choices(judgments, pairs, task=task)
    undefined: dict[float, float | None] = {float(delta): None for delta in deltas}
    people, n_pairs = int(np.unique(choices.participant).size), len(choices.good)
    if people < 4 or not n_pairs:  # a half needs two participants
        status = "no_data" if not people or not n_pairs else "too_few"
        return HumanCeiling(people, 0, n_pairs, undefined, dict(undefined), None, status, task)
    halves = [half_against_half(choices, rng=rng, deltas=deltas, signs=signs) for _ in range(splits)]
    full = full_against_full(choices, rng=rng, deltas=deltas, signs=signs, draws=splits)
    adc, variance = full or (dict(undefined), None)
    adc_half = mean_shares(halves)
    status = "ok" if full and any(value is not None for value in adc_half.values()) else "no_variation"
    return HumanCeiling(people, splits, n_pairs, adc_half, adc, variance, status, task)


def _half_against_half(
    ratings: Ratings,
    good: Codes,
    bad: Codes,
    *,
    rng: np.random.Generator,
    deltas: Sequence[float],
    signs: Signs,
) -> dict[float, float | None]:
    in_first = first_half(ratings.participant, ratings.strata, ratings.slots, rng=rng)
    first, second = (_means(ratings, in_first), _means(ratings, ~in_first))
    return adc_shares(first[good] - first[bad], second[good] - second[bad], deltas=deltas, signs=signs)


def _means(ratings: Ratings, chosen: Flags) -> FloatArray:
    return means_by_code(ratings.sentence[chosen], ratings.z[chosen], size=len(ratings.names))


def _noise_variance(ratings: Ratings) -> float | None:
    count = np.bincount(ratings.sentence)
    means = _means(ratings, np.ones(ratings.z.size, dtype=np.bool_))
    freedom = int((count - 1).clip(min=0).sum())
    if freedom < 1:  # no sentence has two ratings
        return None
    return float(((ratings.z - means[ratings.sentence]) ** 2).sum() / freedom)


def _full_size(
    ratings: Ratings,
    good: Codes,
    bad: Codes,
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
    true_variance = max(observed - float((error**2).mean()), 0.0)
    truth = means
    if observed > 0:
        truth = means.mean() + np.sqrt(true_variance / observed) * (means - means.mean())
    samples = []
    for _ in range(draws):
        first, second = truth + error * rng.standard_normal((2, truth.size))
        human_delta, model_delta = first[good] - first[bad], second[good] - second[bad]
        samples.append(adc_shares(human_delta, model_delta, deltas=deltas, signs=signs))
    return mean_shares(samples)
