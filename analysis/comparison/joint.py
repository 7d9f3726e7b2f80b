"""Intervals that hold for other pairs and other people at once: both are resampled together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from analysis.columns import require_columns
from analysis.comparison.answers import UNIT, choices_of, ratings_of, scores_of, task_of
from analysis.comparison.baselines import adc_shares
from analysis.comparison.correlation import association
from analysis.comparison.criteria import DELTAS, FloatArray, Signs, adc_met
from analysis.comparison.deltas import PairTable
from analysis.comparison.halves import Places
from analysis.comparison.intervals import NOTHING, percentiles

RESAMPLES = 2_000
BLOCK = 1_000_000
Scored = Callable[[FloatArray], FloatArray]
"""From weights, participants by draws, to people's scores, sentences by draws."""


@dataclass(frozen=True)
class JointIntervals:
    """Intervals over pairs and people of one model; None where they are undefined."""

    adc: dict[float, list[float] | None]
    pearson_r: list[float] | None
    shift: dict[float, float | None]
    """Mean ADC of the draws less the estimate: what the noise of drawn people does."""
    participants: int
    status: str


def joint_intervals(
    judgments: pd.DataFrame,
    table: PairTable,
    *,
    rng: np.random.Generator,
    deltas: Sequence[float] = DELTAS,
    signs: Signs = "strict",
    resamples: int = RESAMPLES,
) -> dict[str, JointIntervals]:
    """Give 95 % intervals of ADC and r that hold for other families of pairs and other participants.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        As :func:`analysis.comparison.ceiling.human_ceiling` takes them.
    table : PairTable
        The pairs with people's and models' differences.
    rng : Generator
        Source of randomness.
    deltas : sequence of float
        The δ wanted.
    signs : {"strict", "published"}
        How zeros are treated.
    resamples : int
        Number of draws.

    Returns
    -------
    dict of model to JointIntervals
        ``status``: ``ok``, ``too_few`` (fewer than four people or two families) or ``no_data``.

    Raises
    ------
    MissingColumns
        If a column is absent.

    Notes
    -----
    Each draw takes participants with replacement within list and families of pairs with replacement, as two
    independent weights (Owen's pigeonhole bootstrap). People's scores are made again from the drawn
    participants; what they move is added to the differences as given, in the spread of the given ones.
    Drawn people are noisier than people: their error comes on top of the sample's, which lowers r and moves
    the ADC. This ``shift`` is no uncertainty, so the draws are centred on the estimate: ends = estimate +
    percentile - mean of draws, cut to the statistic's range. Adding the shift gives the plain percentiles.

    References
    ----------
    Owen (2007), "The pigeonhole bootstrap", Annals of Applied Statistics 1.

    Examples
    --------
    >>> from analysis.comparison.deltas import pair_table
    >>> seen = [(p, i, m) for p in range(8) for i in range(6) for m in "gb"]
    >>> rows = [(f"P{p}", f"{m}{i}", (m == "g") * 2.0 + (p * i) % 3) for p, i, m in seen]
    >>> judgments = pd.DataFrame(rows, columns=["participant", "sentence_id", "value"])
    >>> human = judgments.groupby("sentence_id")["value"].mean().rename("score").reset_index()
    >>> pairs = pd.DataFrame({"pair_id": range(6), "good_id": [f"g{i}" for i in range(6)]})
    >>> pairs["bad_id"] = [f"b{i}" for i in range(6)]
    >>> scores = human.rename(columns={"score": "model"})
    >>> found = joint_intervals(judgments, pair_table(human, pairs, scores), rng=np.random.default_rng(0))
    >>> found["model"].status, found["model"].participants
    ('ok', 8)
    """
    require_columns(judgments, "participant", "sentence_id", "value")
    people = _people(judgments, table)
    human = table.human_delta.to_numpy(dtype=np.float64)
    family = pd.factorize(table.clusters)[0].astype(np.int64)
    models = {name: table.model_delta[name].to_numpy(dtype=np.float64) for name in table.models}
    n_people = 0 if people is None else len(people.strata)
    if people is None or np.isnan(human).all() or n_people < 4 or family.max() < 1:
        status = "no_data" if people is None or np.isnan(human).all() else "too_few"
        return {name: _nothing(deltas, n_people, status) for name in models}
    draws: dict[str, list[FloatArray]] = {name: [] for name in models}
    even = people.scores(np.ones((n_people, 1)))
    own = even[people.good] - even[people.bad]
    scale = np.nanstd(human) / np.nanstd(own) if np.nanstd(own) > 0 else 1.0
    block = max(1, BLOCK // max(len(human), n_people))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        scores = people.scores(_drawn_within(people.strata, size, rng=rng))
        moved = human[:, None] + scale * (scores[people.good] - scores[people.bad] - own)
        n_families = int(family.max()) + 1
        weights = (
            rng.multinomial(n_families, np.full(n_families, 1 / n_families), size=size)
            .T[family]
            .astype(np.float64)
        )
        for name, model in models.items():
            draws[name].append(_statistics(moved, model[:, None], weights, deltas=deltas, signs=signs))
    return {
        name: _centred(np.vstack(draws[name]), human, model, n_people, deltas=deltas, signs=signs)
        for name, model in models.items()
    }


@dataclass(frozen=True)
class _People:
    scores: Scored
    strata: Places
    """The list of each participant."""
    good: Places
    bad: Places


def _people(judgments: pd.DataFrame, table: PairTable) -> _People | None:
    """Say how people's scores come from weighted participants; None without judgments of these pairs."""
    task = task_of(judgments)
    found = _choosers(judgments, table, task=task) if task in UNIT else _raters(judgments)
    if found is None:
        return None
    scores, strata, names = found
    places = [
        names.get_indexer(pd.Index(table.pairs[member].astype(str))).astype(np.int64)
        for member in ("good_id", "bad_id")
    ]
    return _People(scores, strata, *places)


def _raters(judgments: pd.DataFrame) -> tuple[Scored, Places, pd.Index] | None:
    ratings = ratings_of(judgments)
    if not len(ratings.z):
        return None
    total = _table(ratings.z, ratings.sentence, ratings.participant)
    count = _table(np.ones(len(ratings.z)), ratings.sentence, ratings.participant)

    def scores(weights: FloatArray) -> FloatArray:
        return _with_nobody(_ratio(total @ weights, count @ weights))

    return scores, ratings.strata, ratings.names


def _choosers(
    judgments: pd.DataFrame, table: PairTable, *, task: str
) -> tuple[Scored, Places, pd.Index] | None:
    choices = choices_of(judgments, table.pairs, task=task)
    if not len(choices.value):
        return None
    yes = _table(choices.value, choices.unit, choices.participant)
    asked = _table(np.ones(len(choices.value)), choices.unit, choices.participant)

    def scores(weights: FloatArray) -> FloatArray:
        said, n = yes @ weights, asked @ weights
        columns = [scores_of(choices, said[:, draw], n[:, draw]) for draw in range(weights.shape[1])]
        return _with_nobody(np.column_stack(columns))

    return scores, choices.strata, choices.names


def _table(values: FloatArray, unit: Places, participant: Places) -> "scipy.sparse.csr_array":
    return scipy.sparse.csr_array((values, (unit, participant)))


def _with_nobody(scores: FloatArray) -> FloatArray:
    """Add a last row, of sentences that nobody judged: place -1."""
    return np.vstack([scores, np.full((1, scores.shape[1]), np.nan)])


def _drawn_within(strata: Places, size: int, *, rng: np.random.Generator) -> FloatArray:
    """Draw how often each participant is taken, as many from each list as it has."""
    weights = np.empty((len(strata), size))
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        weights[members] = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), size=size).T
    return weights


def _statistics(
    human: FloatArray, model: FloatArray, weights: FloatArray, *, deltas: Sequence[float], signs: Signs
) -> FloatArray:
    """Give each draw's ADC at every δ and r, draws by statistics."""
    known = weights * ~(np.isnan(human) | np.isnan(model))
    columns = [
        _ratio((known * adc_met(human, model, delta=delta, signs=signs)).sum(axis=0), known.sum(axis=0))
        for delta in deltas
    ]
    return np.column_stack([*columns, _weighted_r(human, model, known)])


def _weighted_r(human: FloatArray, model: FloatArray, weights: FloatArray) -> FloatArray:
    used = weights > 0
    x, y = np.where(used, model, 0.0), np.where(used, human, 0.0)
    n = weights.sum(axis=0)
    x, y = (values - _ratio((weights * values).sum(axis=0), n) for values in (x, y))
    xx, yy, xy = ((weights * product).sum(axis=0) for product in (x * x, y * y, x * y))
    varied = (xx > NOTHING * n) & (yy > NOTHING * n)
    return np.clip(_ratio(xy, np.where(varied, np.sqrt(xx * yy), 0.0)), -1, 1)


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    found: FloatArray = np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom > 0)
    return found


def _centred(
    draws: FloatArray,
    human: FloatArray,
    model: FloatArray,
    n_people: int,
    *,
    deltas: Sequence[float],
    signs: Signs,
) -> JointIntervals:
    adc = adc_shares(human, model, deltas=deltas, signs=signs)
    r = association(human, model)["pearson_r"]
    ends, shift = {}, {}
    for column, delta in enumerate(deltas):
        ends[delta], shift[delta] = _ends(draws[:, column], adc[delta], lowest=0.0)
    return JointIntervals(ends, _ends(draws[:, -1], r, lowest=-1.0)[0], shift, n_people, "ok")


def _ends(
    draws: FloatArray, estimate: float | None, *, lowest: float
) -> tuple[list[float] | None, float | None]:
    known = draws[np.isfinite(draws)]
    if estimate is None or not len(known):
        return None, None
    shift = float(known.mean()) - estimate
    low, high = np.clip(percentiles(known[:, None])[0] - shift, lowest, 1.0)
    return [float(low), float(high)], shift


def _nothing(deltas: Sequence[float], n_people: int, status: str) -> JointIntervals:
    return JointIntervals(dict.fromkeys(deltas), None, dict.fromkeys(deltas), n_people, status)
