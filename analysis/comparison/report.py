"""The comparison of models with people: one document for page, command, API and notebook."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import pandas as pd

from analysis.agreement.noise_ceiling import NoiseCeiling
from analysis.comparison.baselines import (
    Constant,
    adc_shares,
    constant_baseline,
    permutation_chance,
    skill,
)
from analysis.comparison.breakdown import by_paradigm, by_phenomenon
from analysis.comparison.ceiling import HumanCeiling, human_ceiling
from analysis.comparison.conventions import AREA_TO, conventions
from analysis.comparison.correlation import association, correlation_rows
from analysis.comparison.criteria import Signs, adc_passes
from analysis.comparison.curve import adc_area
from analysis.comparison.deltas import PairTable, left_out, pair_table, standardization
from analysis.comparison.differences import model_differences
from analysis.comparison.intervals import cluster_bootstrap, correlation_bootstrap
from analysis.comparison.joint import JointIntervals, joint_intervals
from analysis.comparison.noise import correlation_ceilings
from analysis.comparison.recalibration import held_out_mean, recalibrated_adc
from analysis.errors import BadInput, UnknownName

Document = dict[str, Any]


def compare_report(
    human: pd.DataFrame | None,
    pairs: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    already_standardized: bool = False,
    signs: Signs = "strict",
    deltas: Sequence[float] = (0.5, 1, 5),
    judgments: pd.DataFrame | None = None,
    constants: Sequence[float] = (),
    seed: int = 0,
) -> Document:
    """Compare models with people on minimal pairs.

    Parameters
    ----------
    human : DataFrame or None
        ``sentence_id`` and ``score`` (standardized mean of people's ratings), used as given. Without it the
        BLiMP criterion is still given and everything about people is None.
    pairs : DataFrame
        ``pair_id``, ``good_id``, ``bad_id``, perhaps ``paradigm`` and ``phenomenon``.
    scores : DataFrame
        ``sentence_id`` and one column of scores per model; higher is better.
    already_standardized : bool
        Use model scores as given instead of standardizing them over all their sentences.
    signs : {"strict", "published"}
        How the ADC treats zero differences.
    deltas : sequence of float
        The δ of the ADC.
    judgments : DataFrame, optional
        Ratings or choices by participant; they give the human ceiling, without which skill is undefined.
    constants : sequence of float
        Further constants to score beside the median.
    seed : int
        Seed of permutations, bootstrap and halvings.

    Returns
    -------
    dict
        Ready for JSON: ``pairs``, ``labeled_pairs``, ``standardization``, ``models``, ``baselines``;
        beside these ``differences``, ``correlations``, ``left_out`` and ``conventions``.
        Undefined numbers are None.

    Raises
    ------
    MissingColumns, BadInput, NotEnoughData
        If the frames cannot be compared.

    Notes
    -----
    All numbers of a model are over its labelled pairs; without any label, over all its pairs
    (``blimp_all_pairs`` is over all of them in either case).

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8. Vázquez Martínez (2021), the Acceptability Delta Criterion.

    Examples
    --------
    >>> names = [f"s{n}" for n in range(8)]
    >>> human = pd.DataFrame({"sentence_id": names, "score": [1, -1] * 4})
    >>> pairs = pd.DataFrame({"pair_id": range(4), "good_id": names[::2], "bad_id": names[1::2]})
    >>> scores = pd.DataFrame({"sentence_id": names, "model": [-9, -12, -8, -12, -9, -11, -12, -10]})
    >>> model = compare_report(human, pairs, scores)["models"][0]
    >>> model["blimp"], model["adc"]["1"]
    (0.75, 0.75)
    """
    deltas = _checked(deltas, signs)
    table = pair_table(human, pairs, scores, already_standardized=already_standardized)
    constant = constant_baseline(table.human_delta, deltas=deltas, signs=signs)
    given = [constant_baseline(table.human_delta, value, deltas=deltas, signs=signs) for value in constants]
    ceiling = (
        human_ceiling(judgments, table.pairs, rng=_rng(seed, "ceiling"), deltas=deltas, signs=signs)
        if judgments is not None
        else None
    )
    models = [
        _model(table, name, deltas=deltas, signs=signs, constant=constant, ceiling=ceiling, seed=seed)
        for name in table.models
    ]
    if judgments is not None:
        joint = joint_intervals(judgments, table, rng=_rng(seed, "joint"), deltas=deltas, signs=signs)
        models = [one | {"intervals": one["intervals"] | _joint(joint[one["model"]])} for one in models]
    noise = None if judgments is None else _correlation_ceiling(judgments, table, seed=seed)
    reach = NoiseCeiling(None if noise is None else noise["model"], None)
    models = [one | {"pearson_r_disattenuated": reach.disattenuated(one["pearson_r"])} for one in models]
    return {
        "pairs": len(table.pairs),
        "labeled_pairs": int(table.labeled.sum()),
        "standardization": standardization(table, already_standardized=already_standardized),
        "models": models,
        "baselines": {
            "constant": _constant(constant),
            "constant_recalibrated": {"adc": _keyed(_of_constant(table, deltas=deltas, signs=signs))},
            "constants": [_constant(one) for one in given],
            "human_ceiling": None if ceiling is None else _ceiling(ceiling) | {"correlation": noise},
        },
        "differences": model_differences(table, deltas=deltas, signs=signs, rng=_rng(seed, "flips")),
        "correlations": correlation_rows(_judges(table)),
        "left_out": left_out(table),
        "conventions": conventions(table, signs=signs, seed=seed, ceiling=ceiling),
    }


def _checked(deltas: Sequence[float], signs: str) -> list[float]:
    if signs not in get_args(Signs):
        raise UnknownName("way to compare signs", signs, get_args(Signs))
    for delta in deltas:
        if not 0 < delta < float("inf"):
            raise BadInput(f"δ must be a positive number, got {delta:g}.", column="delta")
    return list(dict.fromkeys(float(delta) for delta in deltas))


def delta_key(delta: float) -> str:
    """Write δ as it stands in the document.

    Parameters
    ----------
    delta : float
        A δ.

    Returns
    -------
    str
        Without needless zeros.

    Examples
    --------
    >>> [delta_key(0.5), delta_key(5.0)]
    ['0.5', '5']
    """
    return format(delta, "g")


def _model(
    table: PairTable,
    name: str,
    *,
    deltas: Sequence[float],
    signs: Signs,
    constant: Constant,
    ceiling: HumanCeiling | None,
    seed: int,
) -> Document:
    human = table.human_delta.to_numpy(dtype=float)
    model = table.model_delta[name].to_numpy(dtype=float)
    prefers = table.prefers_good[name].to_numpy(dtype=float)
    counted = ~np.isnan(prefers) & (table.labeled | (not table.labeled.any()))
    adc = adc_shares(human, model, deltas=deltas, signs=signs)
    chance = _chance(table, name, deltas=deltas, signs=signs, seed=seed)
    people = ceiling.adc if ceiling is not None else {}
    beside = association(human, model)
    return {
        "model": name,
        "pairs": int(counted.sum()),
        "left_out": len(table.pairs) - int(counted.sum()),
        "sentences": int(table.scores[name].notna().sum()),
        "blimp": float(prefers[counted].mean()) if counted.any() else None,
        "blimp_all_pairs": float(np.nanmean(prefers)) if not np.isnan(prefers).all() else None,
        "equal_scores": int((model[counted] == 0).sum()),
        "adc": _keyed(adc),
        "adc_area": adc_area(human, model, delta_max=AREA_TO, signs=signs),
        "adc_recalibrated": _keyed(
            recalibrated_adc(human, model, table.clusters, deltas=deltas, signs=signs)
        ),
        "pearson_r": beside["pearson_r"],
        "spearman_r": beside["spearman_r"],
        "mean_abs_difference": beside["mean_abs_difference"],
        "slope": beside["slope"],
        "intercept": beside["intercept"],
        "status": beside["status"],
        "chance": chance["adc"],
        "chance_interval": chance["interval"],
        "chance_blimp": chance["blimp"],
        "skill": _keyed(skill(adc, constant.adc, people)),
        "intervals": _intervals(table, name, counted, deltas=deltas, signs=signs, seed=seed),
        "by_phenomenon": by_phenomenon(table, name, counted, deltas=deltas, signs=signs),
        "by_paradigm": by_paradigm(table, name, counted, deltas=deltas, signs=signs),
    }


def _chance(table: PairTable, name: str, *, deltas: Sequence[float], signs: Signs, seed: int) -> Document:
    z = table.standardized[name].dropna()
    human = table.human_delta.to_numpy(dtype=float)
    good = z.index.get_indexer(pd.Index(table.pairs["good_id"]))
    bad = z.index.get_indexer(pd.Index(table.pairs["bad_id"]))
    used = (good >= 0) & (bad >= 0) & table.labeled
    found = permutation_chance(
        z.to_numpy(dtype=float),
        good[used].astype(np.int64),
        bad[used].astype(np.int64),
        human[used],
        rng=_rng(seed, "chance"),
        deltas=deltas,
        signs=signs,
    )
    interval = {
        delta_key(delta): None if ends is None else list(ends) for delta, ends in found.interval.items()
    }
    return {"adc": _keyed(found.adc), "interval": interval, "blimp": found.blimp}


def _intervals(
    table: PairTable, name: str, counted: Any, *, deltas: Sequence[float], signs: Signs, seed: int
) -> Document:
    human = table.human_delta.to_numpy(dtype=float)
    model = table.model_delta[name].to_numpy(dtype=float)
    prefers = np.where(counted, table.prefers_good[name].to_numpy(dtype=float), np.nan)
    passes = [adc_passes(human, model, delta=delta, signs=signs) for delta in deltas]
    ends = cluster_bootstrap(table.clusters, np.column_stack([prefers, *passes]), rng=_rng(seed, "bootstrap"))
    pairs = [None if np.isnan(low) else [float(low), float(high)] for low, high in ends]
    low, high = correlation_bootstrap(table.clusters, human, model, rng=_rng(seed, "bootstrap"))
    return {
        "blimp": pairs[0],
        "adc": {delta_key(delta): found for delta, found in zip(deltas, pairs[1:], strict=True)},
        "pearson_r": None if low is None else [low, high],
        "joint": None,
    }


def _joint(found: JointIntervals) -> Document:
    ends = {delta_key(delta): one for delta, one in found.adc.items()}
    numbers = {"adc": ends, "pearson_r": found.pearson_r, "shift": _keyed(found.shift)}
    return {"joint": {**numbers, "participants": found.participants, "status": found.status}}


def _judges(table: PairTable) -> pd.DataFrame:
    judges = table.model_delta.copy()
    if table.labeled.any():
        judges.insert(0, "people", table.human_delta.to_numpy())
    return judges


def _of_constant(table: PairTable, *, deltas: Sequence[float], signs: Signs) -> dict[float, float | None]:
    human = table.human_delta.to_numpy(dtype=float)
    return adc_shares(human, held_out_mean(human, table.clusters), deltas=deltas, signs=signs)


def _constant(one: Constant) -> Document:
    return {"value": one.value, "blimp": one.blimp, "adc": _keyed(one.adc)}


def _ceiling(found: HumanCeiling) -> Document:
    return {
        "adc": _keyed(found.adc),
        "adc_half": _keyed(found.adc_half),
        "participants": found.participants,
        "pairs": found.pairs,
        "splits": found.splits,
        "noise_variance": found.noise_variance,
        "basis": found.basis,
        "status": found.status,
    }


def _correlation_ceiling(judgments: pd.DataFrame, table: PairTable, *, seed: int) -> Document:
    found: Document = correlation_ceilings(judgments, table.pairs, rng=_rng(seed, "correlations"))["deltas"]
    return found


def _keyed(values: Mapping[float, float | None]) -> dict[str, float | None]:
    return {delta_key(delta): value for delta, value in values.items()}


def _rng(seed: int, use: str) -> np.random.Generator:
    """Give each use its own stream, so that adding one leaves the others' numbers alone."""
    return np.random.default_rng([seed, *use.encode()])
