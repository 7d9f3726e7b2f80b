"""The ceiling from choices: shares of one half of the participants against those of the other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.columns import require_columns
from analysis.comparison.baselines import adc_shares
from analysis.comparison.criteria import FloatArray, Signs
from analysis.comparison.halves import Flags, Places, halve, mean_shares, pair_places, strata_of
from analysis.undecided import is_undecided

Shares = dict[float, float | None]
UNIT = {"forced_choice": "pair_id", "yes_no": "sentence_id"}


@dataclass(frozen=True)
class Choices:
    """Yes or no, once per row, about units: pairs (was the good member chosen?) or sentences.

    ``yes_of`` and ``no_of`` give the sentences that gain by a yes and by a no of each unit; without
    ``no_of`` (yes-no) only one sentence is concerned.
    """

    participant: Places
    unit: Places
    value: FloatArray
    strata: Places
    yes_of: Places
    no_of: Places | None
    n_sentences: int
    good: Places
    bad: Places
    names: pd.Index
    """Ids of the sentences."""


def choices_of(judgments: pd.DataFrame, pairs: pd.DataFrame, *, task: str) -> Choices:
    """Read the answers that choices' scores rest on.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``participant`` and ``value`` (0 or 1); forced choice needs ``pair_id`` or, where every sentence
        stands in one pair only, the chosen ``sentence_id``; yes-no needs ``sentence_id``.
    pairs : DataFrame
        ``good_id`` and ``bad_id``; forced choice ``pair_id`` too.
    task : {"forced_choice", "yes_no"}
        What was asked.

    Returns
    -------
    Choices
        Rows about other pairs, or without a value, are left out; an answer of both or neither that counts
        at all gives one half to each member.

    Raises
    ------
    MissingColumns
        If a column is absent.

    See Also
    --------
    analysis.comparison.ceiling.human_ceiling : What it is read for.
    """
    require_columns(judgments, "participant", "value")
    rows = judgments.assign(unit=units_of(judgments, pairs, task=task)).dropna(subset=["unit", "value"])
    rows["value"] = rows["value"].mask(is_undecided(rows), 0.5)
    participant, _ = pd.factorize(rows["participant"])
    unit, units = pd.factorize(rows["unit"].astype(str))
    if task == "yes_no":
        names, yes_of, no_of = pd.Index(units), np.arange(len(units)), None
    else:
        members = pairs.set_index(pairs["pair_id"].astype(str)).loc[units, ["good_id", "bad_id"]].astype(str)
        names = pd.Index(pd.unique(members.to_numpy().ravel()))
        yes_of, no_of = names.get_indexer(members["good_id"]), names.get_indexer(members["bad_id"])
    good, bad = pair_places(pairs, names)
    return Choices(
        participant.astype(np.int64),
        unit.astype(np.int64),
        rows["value"].to_numpy(dtype=float),
        strata_of(rows, participant.astype(np.int64), unit="unit"),
        yes_of.astype(np.int64),
        None if no_of is None else no_of.astype(np.int64),
        len(names),
        good,
        bad,
        names,
    )


def scores_of(choices: Choices, yes: FloatArray, asked: FloatArray) -> FloatArray:
    """Give sentences the score of a release: share, standardized over the judged sentences (ddof 0).

    Parameters
    ----------
    choices : Choices
        Who asked what.
    yes, asked : ndarray of float
        Count of yes, and of answers, for each unit.

    Returns
    -------
    ndarray of float
        NaN for sentences nobody judged; NaN throughout where every share is the same.

    See Also
    --------
    choices_of : What it takes.
    """
    gained = np.bincount(choices.yes_of, weights=yes, minlength=choices.n_sentences)
    shown = np.bincount(choices.yes_of, weights=asked, minlength=choices.n_sentences)
    if choices.no_of is not None:
        gained += np.bincount(choices.no_of, weights=asked - yes, minlength=choices.n_sentences)
        shown += np.bincount(choices.no_of, weights=asked, minlength=choices.n_sentences)
    share = np.where(shown > 0, gained / np.maximum(shown, 1), np.nan)
    known = share[~np.isnan(share)]
    spread = float(known.std()) if known.size else 0.0
    return (share - known.mean()) / spread if spread > 0 else np.full(share.shape, np.nan)


def half_against_half(
    choices: Choices, *, rng: np.random.Generator, deltas: Sequence[float], signs: Signs
) -> Shares:
    """Let one random half be the truth and the other the model.

    Parameters
    ----------
    choices : Choices
        From :func:`choices_of`.
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
    in_first = halve(choices.strata, rng=rng)[choices.participant]
    one, other = (scores_of(choices, *_counts(choices, half)) for half in (in_first, ~in_first))
    return _adc(choices, one, other, deltas=deltas, signs=signs)


def full_against_full(
    choices: Choices, *, rng: np.random.Generator, deltas: Sequence[float], signs: Signs, draws: int
) -> tuple[Shares, float] | None:
    """Simulate two samples of full size.

    Parameters
    ----------
    choices : Choices
        From :func:`choices_of`.
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


def units_of(judgments: pd.DataFrame, pairs: pd.DataFrame, *, task: str) -> pd.Series:
    """Name the unit of each row; rows about other pairs have none.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``sentence_id``, for forced choices ``pair_id`` where known.
    pairs : DataFrame
        ``pair_id``, ``good_id``, ``bad_id``.
    task : {"forced_choice", "yes_no"}
        What was asked.

    Returns
    -------
    Series of text
        The pair, or for yes-no the sentence.

    Examples
    --------
    >>> pairs = pd.DataFrame({"pair_id": ["p"], "good_id": ["a"], "bad_id": ["b"]})
    >>> units_of(pd.DataFrame({"sentence_id": ["b", "z"]}), pairs, task="forced_choice").tolist()
    ['p', nan]
    """
    if task == "yes_no":
        require_columns(judgments, "sentence_id")
        return judgments["sentence_id"].astype(str)
    known = pairs["pair_id"].astype(str)
    if "pair_id" in judgments.columns:
        named = judgments["pair_id"].astype(str)
        return named.where(named.isin(known))
    require_columns(judgments, "sentence_id")
    members = pd.concat([pairs["good_id"], pairs["bad_id"]]).astype(str)
    owner = pd.Series(pd.concat([known, known]).to_numpy(), index=members.to_numpy())
    return judgments["sentence_id"].astype(str).map(owner[~owner.index.duplicated(keep=False)])


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
