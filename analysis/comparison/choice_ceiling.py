"""The ceiling from choices: shares of one half of the participants against those of the other."""

from collections.abc import Sequence

import numpy as np

from analysis.comparison.answers import Choices, scores_of
from analysis.comparison.baselines import adc_shares
from analysis.comparison.criteria import FloatArray, Signs
from analysis.comparison.halves import Flags, first_half, mean_shares

Shares = dict[float, float | None]


def half_against_half(
    choices: Choices, *, rng: np.random.Generator, deltas: Sequence[float], signs: Signs
) -> Shares:
    """Let one random half be the truth and the other the model.

    Parameters
    ----------
    choices : Choices
        From :func:`analysis.comparison.answers.choices_of`.
    rng : Generator
        Source of randomness.
    deltas : sequence of float
        The δ wanted.
    signs : {"strict", "published"}
        How zeros are treated.

    Returns
    -------
    dict of δ to float or None

    References
    ----------
    Vázquez Martínez (2021), "The Acceptability Delta Criterion", BlackboxNLP.
    """
    in_first = first_half(choices.participant, choices.strata, choices.seats, rng=rng)
    one, other = (scores_of(choices, *_counts(choices, half)) for half in (in_first, ~in_first))
    return _adc(choices, one, other, deltas=deltas, signs=signs)


def full_against_full(
    choices: Choices, *, rng: np.random.Generator, deltas: Sequence[float], signs: Signs, draws: int
) -> tuple[Shares, float] | None:
    """Simulate two samples of full size.

    Parameters
    ----------
    choices : Choices
        From :func:`analysis.comparison.answers.choices_of`.
    rng : Generator
        Source of randomness.
    deltas : sequence of float
        The δ wanted.
    signs : {"strict", "published"}
        How zeros are treated.
    draws : int
        Number of simulations.

    Returns
    -------
    tuple of dict and float, or None
        ADC by δ, and the mean variance of one answer within its unit; None where no unit has two answers.

    Notes
    -----
    Observed shares vary more than true ones. True shares are the observed ones shrunk to the variance
    that is left after the mean of p(1 - p)/(n - 1), the unbiased error variance of a share; each sample
    draws as many answers per unit as were given, from the binomial distribution.

    References
    ----------
    Vázquez Martínez (2021), "The Acceptability Delta Criterion", BlackboxNLP.
    """
    yes, asked = _counts(choices, np.ones(choices.value.size, dtype=np.bool_))
    repeated = asked > 1
    if not repeated.any():
        return None
    share = yes / asked
    within = (share * (1 - share) * asked)[repeated] / (asked[repeated] - 1)
    error, observed = float((within.mean() / asked).mean()), float(share.var())
    left = np.sqrt(max(observed - error, 0.0) / observed) if observed > 0 else 0.0
    truth = np.clip(share.mean() + left * (share - share.mean()), 0, 1)
    found = []
    for _ in range(draws):
        one, other = rng.binomial(asked.astype(np.int64), truth, size=(2, truth.size)).astype(float)
        scores = scores_of(choices, one, asked), scores_of(choices, other, asked)
        found.append(_adc(choices, *scores, deltas=deltas, signs=signs))
    return mean_shares(found), float(within.mean())


def _counts(choices: Choices, chosen: Flags) -> tuple[FloatArray, FloatArray]:
    size = choices.yes_of.size
    yes = np.bincount(choices.unit[chosen], weights=choices.value[chosen], minlength=size)
    asked = np.bincount(choices.unit[chosen], minlength=size)
    return yes.astype(np.float64), asked.astype(np.float64)


def _adc(
    choices: Choices, truth: FloatArray, model: FloatArray, *, deltas: Sequence[float], signs: Signs
) -> Shares:
    human, theirs = (scores[choices.good] - scores[choices.bad] for scores in (truth, model))
    return adc_shares(human, theirs, deltas=deltas, signs=signs)
