"""The answers behind people's scores as codes, for ceilings and draws: ratings, or choices and yes-no."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.agreement.seats import Seats, seats_of
from analysis.columns import require_columns
from analysis.comparison.criteria import FloatArray
from analysis.comparison.halves import Flags, Places, linked, pair_places, strata_of
from analysis.rows import is_kind, tasks
from analysis.scales import zscore_by_participant
from analysis.undecided import is_undecided

UNIT = {"forced_choice": "pair_id", "yes_no": "sentence_id"}


def task_of(judgments: pd.DataFrame) -> str:
    """Give the task whose rows count: ratings, else forced choices, else yes-no.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``task`` and ``kind`` are used when present.

    Returns
    -------
    str
        ``ratings``, ``forced_choice`` or ``yes_no``.

    Examples
    --------
    >>> task_of(pd.DataFrame({"task": ["yes_no", "forced_choice"], "value": [1, 0]}))
    'forced_choice'
    """
    if "task" not in judgments.columns:
        return "ratings"
    answered = judgments["value"].notna() & is_kind(judgments, ("target", "filler"))
    asked = set(tasks(judgments)[answered].astype(str))
    return "ratings" if asked - set(UNIT) or not asked else min(asked)


def is_target_of(judgments: pd.DataFrame, task: str) -> Flags:
    """Tell which rows are targets of one task.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``task`` and ``kind`` are used when present.
    task : str

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> is_target_of(pd.DataFrame({"task": ["yes_no", "likert"], "value": [1, 5]}), "yes_no").tolist()
    [True, False]
    """
    found: Flags = is_kind(judgments, ("target",)) & (tasks(judgments).astype(str) == task).to_numpy()
    return found


@dataclass(frozen=True)
class Ratings:
    """Standardized ratings, one per row; ``strata`` gives each participant's list."""

    participant: Places
    sentence: Places
    z: FloatArray
    strata: Places
    names: pd.Index
    """Ids of the sentences."""
    seats: Seats | None = None


def ratings_of(judgments: pd.DataFrame, pairs: pd.DataFrame | None = None) -> Ratings:
    """Standardize ratings by participant; choices have no place on a scale and are left out.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``participant``, ``sentence_id``, ``value``; ``list``, ``kind`` and ``task`` are used when present.
    pairs : DataFrame, optional
        With them, ``seats`` of participants who sat several lists are found.

    Returns
    -------
    Ratings

    See Also
    --------
    choices_of : The same for choices and yes-no answers.
    """
    if "task" in judgments.columns:  # before z: the 0 and 1 of choices would move means and spreads
        judgments = judgments[~judgments["task"].astype(str).isin(list(UNIT))]
    judgments = judgments.reset_index(drop=True)
    z = zscore_by_participant(judgments).dropna()
    kept = judgments.loc[z.index]
    participant, _ = pd.factorize(kept["participant"])
    sentence, names = pd.factorize(kept["sentence_id"].astype(str))
    participant, sentence, names = participant.astype(np.int64), sentence.astype(np.int64), pd.Index(names)
    seats = None if pairs is None else seats_of(kept, participant, linked(names, pairs)[sentence])
    z_of_row = z.to_numpy(dtype=float)
    return Ratings(participant, sentence, z_of_row, strata_of(kept, participant), names, seats)


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
    seats: Seats | None = None


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
        Rows of other tasks and kinds, about other pairs, or without a value, are left out; an answer of both
        or neither that counts at all gives one half to each member.

    Raises
    ------
    MissingColumns
        If a column is absent.

    See Also
    --------
    analysis.comparison.ceiling.human_ceiling : What it is read for.
    """
    require_columns(judgments, "participant", "value")
    asked = judgments[is_target_of(judgments, task)]
    rows = asked.assign(unit=units_of(asked, pairs, task=task)).dropna(subset=["unit", "value"])
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
    participant = participant.astype(np.int64)
    return Choices(
        participant,
        unit.astype(np.int64),
        rows["value"].to_numpy(dtype=float),
        strata_of(rows, participant, unit="unit"),
        yes_of.astype(np.int64),
        None if no_of is None else no_of.astype(np.int64),
        len(names),
        good,
        bad,
        names,
        seats_of(rows, participant, linked(names, pairs)[yes_of][unit]),
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
