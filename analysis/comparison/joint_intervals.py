"""Intervals over pairs and participants at once, of models and of the human ceilings, by the jackknife."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..reliability.halves import halve, spearman_brown
from ..rows import Codes
from .baselines import constant_baseline, skill
from .ceilings.human import HumanCeiling
from .ceilings.responses import WeightedScores, weighted_scores
from .correlation import pearson_r
from .criteria import DELTAS, FloatArray, Signs, adc_met, adc_shares
from .intervals import FEWEST_CLUSTERS, ROUNDING
from .pairs import PairTable

HALF_SAMPLES = 60
"""Random halves of the participants, in complementary pairs."""
CLUSTER_GROUPS = 100
"""Groups of clusters of pairs, if there are more clusters."""
SPLITS = 40
"""Halvings of the participants, and simulated samples, of each replicate."""
Interval = list[float] | None


@dataclass(frozen=True)
class JointIntervals:
    """Intervals of one model over pairs and participants; None where undefined."""

    adc: dict[float, Interval]
    pearson_r: Interval
    skill: dict[float, Interval]
    pearson_r_disattenuated: Interval
    participants: int
    status: str


@dataclass(frozen=True)
class CeilingIntervals:
    """Intervals of the human ceilings over pairs and participants; None where undefined."""

    adc: dict[float, Interval]
    model: Interval
    """Of the correlation of a perfect model."""
    sample: Interval
    """Of the correlation of another sample of participants."""


def joint_intervals(
    judgments: pd.DataFrame,
    table: PairTable,
    *,
    rng: np.random.Generator,
    ceiling: HumanCeiling | None = None,
    reliability: float | None = None,
    deltas: Sequence[float] = DELTAS,
    signs: Signs = "strict",
) -> tuple[dict[str, JointIntervals], CeilingIntervals]:
    """Return 95 % intervals over clusters of pairs and participants, of each model and of the ceilings.

    Notes
    -----
    The variance over participants is that of 60 half-samples (balanced within lists), the variance over pairs
    that of the jackknife over clusters; quantiles are of t with the smaller number of participants or
    clusters less one. A jackknife without few participants would exaggerate the variance of the ADC, which is
    no smooth function of the judgments. Shares have Wilson's interval with the effective number of pairs,
    correlations one of Fisher's z, skills and disattenuated correlations one around the estimate. None below
    five clusters.

    Human differences of a half-sample are the given ones, moved by the change of the differences that are
    computed from the judgments, rescaled to the spread of the given ones. Its ceilings are those of a sample
    of the full size. ``ceiling`` and ``reliability`` are the centres of the intervals of the ceilings.
    Coverage: ``benchmarks/analysis/bench_cluster_coverage.py``.

    References
    ----------
    Efron & Tibshirani (1993), *An Introduction to the Bootstrap*, chapter 11. Dean & Pagano (2015), Journal
    of Survey Statistics and Methodology 3(4), 484-503. Shao & Wu (1989), Annals of Statistics 17.

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
    >>> models, _ = joint_intervals(judgments, pair_table(human, pairs, scores), rng=np.random.default_rng(0))
    >>> models["model"].status, models["model"].participants
    ('ok', 8)
    """
    require_columns(judgments, "participant", "sentence_id", "value")
    people = weighted_scores(judgments, table.pairs)
    human = table.human_delta.to_numpy(dtype=np.float64)
    cluster, names = pd.factorize(table.clusters, sort=True)
    n_people = 0 if people is None else people.n_participants
    if people is None or np.isnan(human).all() or n_people < 4 or len(names) < FEWEST_CLUSTERS:
        status = "no_data" if people is None or np.isnan(human).all() else "too_few"
        empty = dict.fromkeys(map(float, deltas))
        undefined = JointIntervals(dict(empty), None, dict(empty), None, n_people, status)
        return dict.fromkeys(table.models, undefined), CeilingIntervals(dict(empty), None, None)
    replicates = _Replicates.of(
        people,
        human,
        rng.permutation(len(names))[cluster] % CLUSTER_GROUPS,
        rng=rng,
        deltas=deltas,
        signs=signs,
    )
    share = ceiling.adc if ceiling is not None else {}
    ceilings = CeilingIntervals(
        {
            delta: replicates.share(share.get(delta), partial(_ceiling_at, delta=delta))
            for delta in map(float, deltas)
        },
        _root(replicates.correlation(reliability, lambda r: r.reliability)),
        replicates.correlation(reliability, lambda r: r.reliability),
    )
    models = {
        name: _model_intervals(
            replicates, table.model_delta[name].to_numpy(dtype=np.float64), human, share, reliability,
            n_people=n_people, deltas=deltas, signs=signs,
        )
        for name in table.models
    }  # fmt: skip
    return models, ceilings


@dataclass(frozen=True)
class _Replicate:
    """Human differences and ceilings without a group of participants, or of some pairs."""

    human: FloatArray
    chosen: Codes
    ceiling: dict[float, float | None]
    reliability: float | None


def _ceiling_at(replicate: _Replicate, *, delta: float) -> float | None:
    return replicate.ceiling[delta]


Statistic = Callable[[_Replicate], float | None]


@dataclass(frozen=True)
class _Replicates:
    """The replicates of both jackknives."""

    participants: list[_Replicate]
    clusters: list[_Replicate]
    n_participants: int

    @classmethod
    def of(
        cls,
        people: WeightedScores,
        human: FloatArray,
        cluster: Codes,
        *,
        rng: np.random.Generator,
        deltas: Sequence[float],
        signs: Signs,
    ) -> "_Replicates":
        samples = _half_samples(people, rng=rng)
        delta = people.differences(samples)
        spread = np.nanstd(delta[:, 0])
        moved = human[:, None] + (np.nanstd(human) / spread if spread > 0 else 1.0) * (delta - delta[:, :1])
        everywhere = np.arange(len(human))
        passes = [_passes(people, weights, rng=rng, deltas=deltas, signs=signs) for weights in samples.T]
        participants = [
            _Replicate(moved[:, place], everywhere, *passes[place].summary(everywhere, deltas))
            for place in range(1, len(passes))
        ]
        parts = [np.flatnonzero(cluster != part) for part in np.unique(cluster)]
        clusters = [_Replicate(human, chosen, *passes[0].summary(chosen, deltas)) for chosen in parts]
        return cls(participants, clusters, people.n_participants)

    def variance(self, statistic: Statistic) -> float:
        """Return the variance over participants and clusters; NaN where a replicate is undefined."""
        halves, cluster_values = (
            np.array([statistic(replicate) for replicate in replicates], dtype=np.float64)
            for replicates in (self.participants, self.clusters)
        )
        return float(halves.var(ddof=1)) + (len(cluster_values) - 1) * float(cluster_values.var())

    @property
    def quantile(self) -> float:
        """The quantile of t."""
        freedom = min(self.n_participants, len(self.clusters)) - 1
        return float(scipy.stats.t.ppf(0.975, freedom))

    def share(self, estimate: float | None, statistic: Statistic) -> Interval:
        """Return Wilson's interval with the effective number of pairs, or the number of clusters."""
        if estimate is None or np.isnan(variance := self.variance(statistic)):
            return None
        spread, q2 = estimate * (1 - estimate), self.quantile**2
        n = spread / variance if variance > ROUNDING and spread > 0 else float(len(self.clusters))
        centre = (estimate + q2 / (2 * n)) / (1 + q2 / n)
        half = float(np.sqrt(q2 * (spread / n + q2 / (4 * n**2)))) / (1 + q2 / n)
        return _round_ends([max(centre - half, 0.0), min(centre + half, 1.0)])

    def correlation(self, estimate: float | None, statistic: Statistic) -> Interval:
        """Return the interval on the scale of Fisher's z."""
        ends = self.around(
            None if estimate is None else _fisher_z(estimate),
            lambda replicate: _fisher_z(statistic(replicate)),
        )
        return None if ends is None else _round_ends([float(np.tanh(end)) for end in ends])

    def around(self, estimate: float | None, statistic: Statistic) -> Interval:
        """Return the estimate plus and minus t times the standard error."""
        if estimate is None or np.isnan(variance := self.variance(statistic)):
            return None
        reach = self.quantile * float(np.sqrt(variance))
        return _round_ends([estimate - reach, estimate + reach])


def _round_ends(ends: list[float]) -> list[float]:
    # The last digits of sums depend on the order of rows.
    return [round(end, 10) for end in ends]


def _fisher_z(r: float | None) -> float:
    return float("nan") if r is None else float(np.arctanh(np.clip(r, -1 + ROUNDING, 1 - ROUNDING)))


def _root(ends: Interval) -> Interval:
    return None if ends is None else [float(np.sqrt(max(end, 0.0))) for end in ends]


def _half_samples(people: WeightedScores, *, rng: np.random.Generator) -> FloatArray:
    """Return weights of slots: 1 of all in the first column, then 2 of the slots in each half-sample."""
    first = np.unique(people.owner, return_index=True)[1]
    halves = [halve(people.strata[first], rng=rng) for _ in range(HALF_SAMPLES // 2)]
    columns = [2.0 * half[people.owner] for in_first in halves for half in (in_first, ~in_first)]
    return np.column_stack([np.ones(len(people.owner)), *columns])


@dataclass(frozen=True)
class _Passes:
    """Pairs by which simulated samples met the ADC of each other, and differences of halves."""

    share_passed: FloatArray
    """Share of samples, pairs × δ."""
    has_scores: FloatArray
    """Whether both members of a pair have a score."""
    halves: list[tuple[FloatArray, FloatArray]]
    factor: float
    """Participants of the reliability, per participant of a half."""

    def summary(
        self, chosen: Codes, deltas: Sequence[float]
    ) -> tuple[dict[float, float | None], float | None]:
        """Return the ceiling of the ADC and the reliability of differences over some pairs."""
        n = self.has_scores[chosen].sum()
        shares = (
            (self.share_passed[chosen] * self.has_scores[chosen, None]).sum(axis=0) / n if n else np.zeros(0)
        )
        ceiling = {float(d): float(shares[k]) if n else None for k, d in enumerate(deltas)}
        stepped = []
        for first, second in self.halves:
            x, y = first[chosen], second[chosen]
            complete = ~(np.isnan(x) | np.isnan(y))
            x, y = x[complete], y[complete]
            if x.size >= 3 and np.ptp(x) > 0 and np.ptp(y) > 0 and (r := pearson_r(x, y)) > -1 / self.factor:
                stepped.append(spearman_brown(r, factor=self.factor))
        return ceiling, float(np.mean(stepped)) if stepped else None


def _passes(
    people: WeightedScores,
    weights: FloatArray,
    *,
    rng: np.random.Generator,
    deltas: Sequence[float],
    signs: Signs,
) -> _Passes:
    """Halve and simulate samples of the weighted participants."""
    slots = np.flatnonzero(weights)
    columns = np.zeros((len(weights), 2 * SPLITS))
    for split in range(SPLITS):
        in_first = halve(people.strata[slots], rng=rng)
        columns[slots, 2 * split], columns[slots, 2 * split + 1] = in_first, ~in_first
    delta = people.differences(columns)
    share_passed = np.zeros((len(delta), len(deltas)))
    has_scores = np.zeros(len(delta))
    for first, second in people.samples(weights, SPLITS, rng=rng):
        for place, limit in enumerate(deltas):
            share_passed[:, place] += adc_met(first, second, delta=limit, signs=signs) / SPLITS
        has_scores = (~np.isnan(first)).astype(np.float64)
    pairs = [(delta[:, place], delta[:, place + 1]) for place in range(0, 2 * SPLITS, 2)]
    return _Passes(share_passed, has_scores, pairs, 2 * float(weights.max()))


def _model_intervals(
    replicates: _Replicates,
    model: FloatArray,
    human: FloatArray,
    ceiling: dict[float, float | None],
    reliability: float | None,
    *,
    n_people: int,
    deltas: Sequence[float],
    signs: Signs,
) -> JointIntervals:
    cache: dict[int, _Numbers] = {}

    def numbers(replicate: _Replicate) -> _Numbers:
        if id(replicate) not in cache:
            x, y = model[replicate.chosen], replicate.human[replicate.chosen]
            cache[id(replicate)] = _numbers(x, y, replicate.ceiling, deltas=deltas, signs=signs)
        return cache[id(replicate)]

    def at_delta(part: Literal[0, 1], delta: float, replicate: _Replicate) -> float | None:
        return numbers(replicate)[part][delta]

    def disattenuate(r: float | None, value: float | None) -> float | None:
        return None if r is None or value is None or value <= 0 else r / value**0.5

    adc, skills, r = _numbers(model, human, ceiling, deltas=deltas, signs=signs)
    return JointIntervals(
        {delta: replicates.share(adc[delta], partial(at_delta, 0, delta)) for delta in adc},
        replicates.correlation(r, lambda replicate: numbers(replicate)[2]),
        {delta: replicates.around(skills[delta], partial(at_delta, 1, delta)) for delta in adc},
        replicates.around(
            disattenuate(r, reliability),
            lambda replicate: disattenuate(numbers(replicate)[2], replicate.reliability),
        ),
        n_people,
        "ok",
    )


_Numbers = tuple[dict[float, float | None], dict[float, float | None], float | None]


def _numbers(
    model: FloatArray,
    human: FloatArray,
    ceiling: dict[float, float | None],
    *,
    deltas: Sequence[float],
    signs: Signs,
) -> _Numbers:
    """Return ADC and skill at each δ, and r."""
    adc = adc_shares(human, model, deltas=deltas, signs=signs)
    constant = constant_baseline(human, deltas=deltas, signs=signs).adc
    complete = ~(np.isnan(human) | np.isnan(model))
    x, y = human[complete], model[complete]
    r = pearson_r(x, y) if x.size >= 3 and np.ptp(x) > 0 and np.ptp(y) > 0 else None
    return adc, skill(adc, constant, ceiling), r
