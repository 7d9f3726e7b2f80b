"""Intervals over pairs and participants at once: both are resampled together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..rows import Codes
from .ceilings.responses import UNIT, counted_task, encode_choices, encode_ratings, release_scores
from .correlation import association
from .criteria import DELTAS, FloatArray, Signs, adc_met, adc_shares
from .intervals import ROUNDING, percentiles
from .pairs import PairTable

RESAMPLES = 2_000
BLOCK = 1_000_000  # weights drawn at once (8 MB)
Scored = Callable[[FloatArray], FloatArray]
"""From weights, participants by draws, to people's scores, sentences by draws."""


@dataclass(frozen=True)
class JointIntervals:
    """Intervals of one model over pairs and participants; None where undefined."""

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
    """Return 95 % intervals of ADC and r over clusters of pairs and participants.

    Notes
    -----
    Each draw resamples participants within list and clusters of pairs, as two independent weights (Owen's
    pigeonhole bootstrap). Human scores are recomputed from the drawn participants; their change is added to
    the given differences, rescaled to the spread of these. Resampled participants are noisier than the
    sample: their error adds to the sample's, which lowers r and moves the ADC. This ``shift`` is not
    uncertainty, so the draws are centred on the estimate: bounds = estimate + percentile - mean of draws,
    clipped to the statistic's range. Adding the shift gives the plain percentiles.

    References
    ----------
    Owen (2007), "The pigeonhole bootstrap", Annals of Applied Statistics 1.

    Examples
    --------
    >>> from obelus.comparison.pairs import pair_table
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
        return {name: _undefined_intervals(deltas, n_people, status) for name in models}
    draws: dict[str, list[FloatArray]] = {name: [] for name in models}
    sample_scores = people.scores(np.ones((n_people, 1)))
    sample_delta = sample_scores[people.good] - sample_scores[people.bad]
    scale = np.nanstd(human) / np.nanstd(sample_delta) if np.nanstd(sample_delta) > 0 else 1.0
    block = max(1, BLOCK // max(len(human), n_people))  # bounds the memory of the weights
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        scores = people.scores(_drawn_within(people.strata, size, rng=rng))
        moved = human[:, None] + scale * (scores[people.good] - scores[people.bad] - sample_delta)
        n_families = int(family.max()) + 1
        weights = (
            rng.multinomial(n_families, np.full(n_families, 1 / n_families), size=size)
            .T[family]
            .astype(np.float64)
        )
        for name, model in models.items():
            draws[name].append(_statistics(moved, model[:, None], weights, deltas=deltas, signs=signs))
    return {
        name: _centered_intervals(np.vstack(draws[name]), human, model, n_people, deltas=deltas, signs=signs)
        for name, model in models.items()
    }


@dataclass(frozen=True)
class _People:
    scores: Scored
    strata: Codes
    """The list of each participant."""
    good: Codes
    bad: Codes


def _people(judgments: pd.DataFrame, table: PairTable) -> _People | None:
    """Return human scores as a function of participant weights; None without judgments of these pairs."""
    task = counted_task(judgments)
    scored = _choosers(judgments, table, task=task) if task in UNIT else _raters(judgments)
    if scored is None:
        return None
    scores, strata, names = scored
    places = [
        names.get_indexer(pd.Index(table.pairs[member].astype(str))).astype(np.int64)
        for member in ("good_id", "bad_id")
    ]
    return _People(scores, strata, *places)


def _raters(judgments: pd.DataFrame) -> tuple[Scored, Codes, pd.Index] | None:
    ratings = encode_ratings(judgments)
    if not len(ratings.z):
        return None
    total = _table(ratings.z, ratings.sentence, ratings.participant)
    count = _table(np.ones(len(ratings.z)), ratings.sentence, ratings.participant)

    def scores(weights: FloatArray) -> FloatArray:
        return _with_unjudged(_ratio(total @ weights, count @ weights))

    return scores, ratings.strata, ratings.names


def _choosers(
    judgments: pd.DataFrame, table: PairTable, *, task: str
) -> tuple[Scored, Codes, pd.Index] | None:
    choices = encode_choices(judgments, table.pairs, task=task)
    if not len(choices.value):
        return None
    yes = _table(choices.value, choices.unit, choices.participant)
    answers = _table(np.ones(len(choices.value)), choices.unit, choices.participant)

    def scores(weights: FloatArray) -> FloatArray:
        n_yes, n = yes @ weights, answers @ weights
        columns = [release_scores(choices, n_yes[:, draw], n[:, draw]) for draw in range(weights.shape[1])]
        return _with_unjudged(np.column_stack(columns))

    return scores, choices.strata, choices.names


def _table(values: FloatArray, unit: Codes, participant: Codes) -> "scipy.sparse.csr_array":
    return scipy.sparse.csr_array((values, (unit, participant)))


def _with_unjudged(scores: FloatArray) -> FloatArray:
    """Append a row of NaN, which position -1 (sentences without judgments) selects."""
    return np.vstack([scores, np.full((1, scores.shape[1]), np.nan)])


def _drawn_within(strata: Codes, size: int, *, rng: np.random.Generator) -> FloatArray:
    """Draw multinomial participant weights within each list."""
    weights = np.empty((len(strata), size))
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        weights[members] = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), size=size).T
    return weights


def _statistics(
    human: FloatArray, model: FloatArray, weights: FloatArray, *, deltas: Sequence[float], signs: Signs
) -> FloatArray:
    """Return the ADC at every δ and r of each draw, draws by statistics."""
    counted_weights = weights * ~(np.isnan(human) | np.isnan(model))
    total = counted_weights.sum(axis=0)
    columns = [
        _ratio((counted_weights * adc_met(human, model, delta=delta, signs=signs)).sum(axis=0), total)
        for delta in deltas
    ]
    return np.column_stack([*columns, _weighted_r(human, model, counted_weights)])


def _weighted_r(human: FloatArray, model: FloatArray, weights: FloatArray) -> FloatArray:
    is_counted = weights > 0
    x, y = np.where(is_counted, model, 0.0), np.where(is_counted, human, 0.0)
    n = weights.sum(axis=0)
    x, y = (values - _ratio((weights * values).sum(axis=0), n) for values in (x, y))
    xx, yy, xy = ((weights * product).sum(axis=0) for product in (x * x, y * y, x * y))
    varied = (xx > ROUNDING * n) & (yy > ROUNDING * n)
    return np.clip(_ratio(xy, np.where(varied, np.sqrt(xx * yy), 0.0)), -1, 1)


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    ratio: FloatArray = np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom > 0)
    return ratio


def _centered_intervals(
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
    intervals, shift = {}, {}
    for column, delta in enumerate(deltas):
        intervals[delta], shift[delta] = _interval(draws[:, column], adc[delta], lowest=0.0)
    return JointIntervals(intervals, _interval(draws[:, -1], r, lowest=-1.0)[0], shift, n_people, "ok")


def _interval(
    draws: FloatArray, estimate: float | None, *, lowest: float
) -> tuple[list[float] | None, float | None]:
    defined = draws[np.isfinite(draws)]
    if estimate is None or not len(defined):
        return None, None
    shift = float(defined.mean()) - estimate
    low, high = np.clip(percentiles(defined[:, None])[0] - shift, lowest, 1.0)
    return [float(low), float(high)], shift


def _undefined_intervals(deltas: Sequence[float], n_people: int, status: str) -> JointIntervals:
    return JointIntervals(dict.fromkeys(deltas), None, dict.fromkeys(deltas), n_people, status)
