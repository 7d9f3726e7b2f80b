"""Judgments behind human scores as integer codes: ratings, forced choices and yes-no answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ...aggregation.undecided import is_undecided
from ...columns import require_columns
from ...reliability.halves import (
    Slots,
    linked_components,
    list_strata,
    pair_positions,
    participant_slots,
)
from ...rows import Codes, Flags, group_codes, is_kind, merge_answers, tasks
from ...scales import zscore_by_participant
from ..criteria import FloatArray

UNIT = {"forced_choice": "pair_id", "yes_no": "sentence_id"}


def counted_judgments(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the answered, not excluded judgments of targets and fillers, on which scores are based.

    Examples
    --------
    >>> rows = pd.DataFrame({"value": [1, 0], "excluded_by": ["", "catch_failed"]})
    >>> counted_judgments(rows)["value"].tolist()
    [1]
    """
    is_counted = pd.Series(True, index=judgments.index)
    allowed = {"excluded_by": [""], "status": ["", "answered"], "kind": ["", "target", "filler"]}
    for column, values in allowed.items():
        if column in judgments.columns:
            is_counted &= judgments[column].fillna("").astype(str).isin(values)
    return judgments[is_counted]


def compared_judgments(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the counted judgments with a value and a sentence, for ceilings and models of ratings."""
    counted = counted_judgments(judgments)
    has_both = counted["value"].notna() & (counted["sentence_id"].astype(str) != "")
    return counted[has_both].reset_index(drop=True)


def counted_task(judgments: pd.DataFrame) -> str:
    """Return the task of which rows are counted: ratings, else forced choices, else yes-no.

    Examples
    --------
    >>> counted_task(pd.DataFrame({"task": ["yes_no", "forced_choice"], "value": [1, 0]}))
    'forced_choice'
    """
    if "task" not in judgments.columns:
        return "ratings"
    answered = judgments["value"].notna() & is_kind(judgments, ("target", "filler"))
    task_names = set(tasks(judgments)[answered].astype(str))
    return "ratings" if task_names - set(UNIT) or not task_names else min(task_names)


def target_mask(judgments: pd.DataFrame, task: str) -> Flags:
    """Test which rows are targets of one task.

    Examples
    --------
    >>> target_mask(pd.DataFrame({"task": ["yes_no", "likert"], "value": [1, 5]}), "yes_no").tolist()
    [True, False]
    """
    is_target: Flags = is_kind(judgments, ("target",)) & (tasks(judgments).astype(str) == task).to_numpy()
    return is_target


@dataclass(frozen=True)
class Ratings:
    """Standardized ratings, one per row; ``strata`` gives each participant's list."""

    participant: Codes
    sentence: Codes
    z: FloatArray
    strata: Codes
    names: pd.Index
    """Ids of the sentences."""
    slots: Slots | None = None


def encode_ratings(judgments: pd.DataFrame, pairs: pd.DataFrame | None = None) -> Ratings:
    """Standardize ratings by participant; choices have no scale and are omitted."""
    if "task" in judgments.columns:  # before z: the 0 and 1 of choices would distort means and spreads
        judgments = judgments[~judgments["task"].astype(str).isin(list(UNIT))]
    judgments = judgments.reset_index(drop=True)
    z = zscore_by_participant(judgments).dropna()
    rated, z_of_row = merge_answers(judgments.loc[z.index], z.to_numpy(dtype=float), unit="sentence_id")
    # Codes in alphabetical order: the same random halves for any order of the rows.
    participant, _ = group_codes(rated["participant"])
    sentence, ids = group_codes(rated["sentence_id"].astype(str))
    names = pd.Index(ids, dtype=object)
    slots = (
        None
        if pairs is None
        else participant_slots(rated, participant, linked_components(names, pairs)[sentence])
    )
    return Ratings(participant, sentence, z_of_row, list_strata(rated, participant), names, slots)


@dataclass(frozen=True)
class Choices:
    """Yes-no answers, one per row, about units: pairs (was the good member chosen?) or sentences.

    ``yes_of`` and ``no_of`` are the sentences that gain by a yes and by a no of each unit; ``no_of`` is None
    for yes-no answers, which are about one sentence.
    """

    participant: Codes
    unit: Codes
    value: FloatArray
    strata: Codes
    yes_of: Codes
    no_of: Codes | None
    n_sentences: int
    good: Codes
    bad: Codes
    names: pd.Index
    """Ids of the sentences."""
    slots: Slots | None = None


def encode_choices(judgments: pd.DataFrame, pairs: pd.DataFrame, *, task: str) -> Choices:
    """Encode the answers of forced choices or yes-no judgments.

    Notes
    -----
    Rows of other tasks and kinds, about other pairs, or without a value, are omitted; a counted answer
    of both or neither gives one half to each member.
    """
    require_columns(judgments, "participant", "value")
    targets = judgments[target_mask(judgments, task)]
    rows = targets.assign(unit=row_units(targets, pairs, task=task)).dropna(subset=["unit", "value"])
    rows["value"] = rows["value"].mask(is_undecided(rows), 0.5)
    rows, value = merge_answers(rows, rows["value"].to_numpy(dtype=float), unit="unit")
    participant, _ = group_codes(rows["participant"])
    unit, units = group_codes(rows["unit"].astype(str))
    if task == "yes_no":
        names, yes_of, no_of = pd.Index(units), np.arange(len(units)), None
    else:
        members = pairs.set_index(pairs["pair_id"].astype(str)).loc[units, ["good_id", "bad_id"]].astype(str)
        names = pd.Index(pd.unique(members.to_numpy().ravel()))
        yes_of, no_of = names.get_indexer(members["good_id"]), names.get_indexer(members["bad_id"])
    good, bad = pair_positions(pairs, names)
    return Choices(
        participant,
        unit,
        value,
        list_strata(rows, participant, unit="unit"),
        yes_of.astype(np.int64),
        None if no_of is None else no_of.astype(np.int64),
        len(names),
        good,
        bad,
        names,
        participant_slots(rows, participant, linked_components(names, pairs)[yes_of][unit]),
    )


def release_scores(choices: Choices, yes: FloatArray, answers: FloatArray) -> FloatArray:
    """Return scores as in a release: shares, standardized over the judged sentences (ddof 0)."""
    gained = np.bincount(choices.yes_of, weights=yes, minlength=choices.n_sentences)
    showings = np.bincount(choices.yes_of, weights=answers, minlength=choices.n_sentences)
    if choices.no_of is not None:
        gained += np.bincount(choices.no_of, weights=answers - yes, minlength=choices.n_sentences)
        showings += np.bincount(choices.no_of, weights=answers, minlength=choices.n_sentences)
    share = np.where(showings > 0, gained / np.maximum(showings, 1), np.nan)
    judged = share[~np.isnan(share)]
    spread = float(judged.std()) if judged.size else 0.0
    return (share - judged.mean()) / spread if spread > 0 else np.full(share.shape, np.nan)


def row_units(judgments: pd.DataFrame, pairs: pd.DataFrame, *, task: str) -> pd.Series:
    """Return the unit of each row; rows about other pairs have none.

    Examples
    --------
    >>> pairs = pd.DataFrame({"pair_id": ["p"], "good_id": ["a"], "bad_id": ["b"]})
    >>> row_units(pd.DataFrame({"sentence_id": ["b", "z"]}), pairs, task="forced_choice").tolist()
    ['p', nan]
    """
    if task == "yes_no":
        require_columns(judgments, "sentence_id")
        return judgments["sentence_id"].astype(str)
    pair_ids = pairs["pair_id"].astype(str)
    if "pair_id" in judgments.columns:
        own_pairs = judgments["pair_id"].astype(str)
        return own_pairs.where(own_pairs.isin(pair_ids))
    require_columns(judgments, "sentence_id")
    members = pd.concat([pairs["good_id"], pairs["bad_id"]]).astype(str)
    owner = pd.Series(pd.concat([pair_ids, pair_ids]).to_numpy(), index=members.to_numpy())
    return judgments["sentence_id"].astype(str).map(owner[~owner.index.duplicated(keep=False)])


@dataclass(frozen=True)
class WeightedScores:
    """Human scores as a function of the weights of participants, or of each list of a participant."""

    strata: Codes
    """The list of each slot, whose weight is given."""
    owner: Codes
    """The participant of each slot."""
    good: Codes
    bad: Codes
    """Sentences of each pair; -1 without judgments."""
    total: Any
    """Sums of z or of yes, sentences or units × slots."""
    count: Any
    squares: Any
    """Sums of squares of z."""
    choices: Choices | None

    @property
    def n_participants(self) -> int:
        """The number of participants."""
        return len(np.unique(self.owner))

    def differences(self, weights: FloatArray) -> FloatArray:
        """Return the differences of pairs, pairs × columns of weights."""
        total, count = self.total @ weights, self.count @ weights
        if self.choices is not None:
            columns = zip(total.T, count.T, strict=True)
            return np.column_stack([self._delta(release_scores(self.choices, *pair)) for pair in columns])
        return self._delta(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))

    def samples(
        self, weights: FloatArray, n: int, *, rng: np.random.Generator
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield differences of two simulated samples of the weighted size, n times."""
        total, count = self.total @ weights, self.count @ weights
        judged = count > 0
        mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=judged)
        free = np.maximum(count - 1, 0)
        if self.choices is None:
            within = (self.squares @ weights - np.where(judged, total * mean, 0))[judged].sum() / free.sum()
        else:
            several = free > 0
            within = float(((mean * (1 - mean) * count)[several] / free[several]).mean())
        observed, error = float(np.nanvar(mean)), float((within / count[judged]).mean())
        shrinkage = np.sqrt(max(observed - error, 0.0) / observed) if observed > 0 else 0.0
        truth = np.nanmean(mean) + shrinkage * (mean - np.nanmean(mean))
        for _ in range(n):
            if self.choices is None:
                deviation = np.sqrt(within / np.maximum(count, 1)) * rng.standard_normal((2, truth.size))
                first, second = truth + deviation
            else:
                share = np.clip(np.nan_to_num(truth), 0, 1)
                yes = rng.binomial(count.astype(np.int64), share, size=(2, truth.size)).astype(np.float64)
                first, second = (release_scores(self.choices, sample, count) for sample in yes)
            yield self._delta(first), self._delta(second)

    def _delta(self, scores: FloatArray) -> FloatArray:
        unjudged = np.full((1, *scores.shape[1:]), np.nan)
        padded = np.concatenate([scores, unjudged])  # position -1
        delta: FloatArray = padded[self.good] - padded[self.bad]
        return delta


def weighted_scores(judgments: pd.DataFrame, pairs: pd.DataFrame) -> WeightedScores | None:
    """Return human scores as a function of weights; None without judgments of these pairs."""
    task = counted_task(judgments)
    choices = encode_choices(judgments, pairs, task=task) if task in UNIT else None
    coded = choices or encode_ratings(judgments, pairs)
    values, unit = (coded.value, coded.unit) if isinstance(coded, Choices) else (coded.z, coded.sentence)
    if not len(values):
        return None
    slots = coded.slots
    slot = coded.participant if slots is None else slots.of_row
    owner = np.arange(int(slot.max()) + 1) if slots is None else slots.person
    strata = coded.strata if slots is None else slots.lists
    total, count, squares = (
        scipy.sparse.csr_array((data, (unit, slot)), shape=(int(unit.max()) + 1, len(owner)))
        for data in (values, np.ones(len(values)), values**2)
    )
    good, bad = (
        coded.names.get_indexer(pd.Index(pairs[member].astype(str))).astype(np.int64)
        for member in ("good_id", "bad_id")
    )
    return WeightedScores(strata, owner, good, bad, total, count, squares, choices)
