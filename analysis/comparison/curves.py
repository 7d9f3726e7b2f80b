"""The curves of one picture: models as they are and recalibrated, one constant, chance, people."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.comparison.baselines import adc_shares, constant_baseline, permutation_chance
from analysis.comparison.ceiling import human_ceiling
from analysis.comparison.criteria import FloatArray, Signs
from analysis.comparison.curve import adc_area
from analysis.comparison.deltas import PairTable
from analysis.comparison.recalibration import held_out_mean, recalibrated_delta

DELTA_MAX = 3.0
STEPS = 30
PERMUTATIONS = 200


def all_curves(
    table: PairTable,
    *,
    signs: Signs,
    judgments: pd.DataFrame | None,
    rng: np.random.Generator,
    delta_max: float = DELTA_MAX,
) -> dict[str, Any]:
    """Give the ADC on a grid of δ and the exact area for every curve.

    Parameters
    ----------
    table : PairTable
        The joined data.
    signs : {"strict", "published"}
        How zeros are treated.
    judgments : DataFrame or None
        Judgments by participant, for people's own curve.
    rng : Generator
        Source of randomness.
    delta_max : float
        Largest δ.

    Returns
    -------
    dict
        ``grid`` and ``curves``: rows of ``judge``, ``kind`` (``model``, ``recalibrated``, ``chance``,
        ``constant``, ``recalibrated constant``, ``people``), ``adc`` on the grid, ``area``, ``pairs``.

    Notes
    -----
    The area of models and constants is exact (:func:`analysis.comparison.curve.adc_area`); those of chance
    and people are trapezoids over the grid. Recalibrated: a straight line from Δlm to Δh fitted on the other
    families of pairs, ten folds; for the constant the mean of the other families.

    References
    ----------
    Vázquez Martínez (2021), "The Acceptability Delta Criterion", BlackboxNLP.
    """
    grid = [float(step) for step in np.round(np.linspace(0, delta_max, STEPS + 1)[1:], 6)]
    human = table.human_delta.to_numpy(dtype=float)
    if not table.labeled.any():
        return {"grid": grid, "delta_max": delta_max, "curves": []}

    def curve(judge: str, kind: str, delta: FloatArray) -> dict[str, Any]:
        shares = adc_shares(human, delta, deltas=grid, signs=signs)
        return {
            "judge": judge, "kind": kind, "adc": list(shares.values()),
            "area": adc_area(human, delta, delta_max=delta_max, signs=signs),
            "pairs": int((~(np.isnan(human) | np.isnan(delta))).sum()),
        }  # fmt: skip

    curves = []
    for name in table.models:
        delta = table.model_delta[name].to_numpy(dtype=float)
        curves.append(curve(name, "model", delta))
        fitted = recalibrated_delta(human, delta, table.clusters)
        curves.append(curve(name, "recalibrated", fitted))
        curves.append(_chance(table, name, grid=grid, signs=signs, rng=rng, delta_max=delta_max))
    constant = constant_baseline(human, deltas=grid, signs=signs)
    others = held_out_mean(human, table.clusters)
    flat = np.full(human.shape, constant.value if constant.value is not None else np.nan)
    curves.append(curve(f"constant Δ = {constant.value:.4g}", "constant", flat))
    curves.append(curve("constant of the other families", "recalibrated constant", others))
    if judgments is not None:
        people = human_ceiling(judgments, table.pairs, rng=rng, deltas=grid, signs=signs)
        curves.append(_on_grid("people", "people", people.adc, pairs=people.pairs, delta_max=delta_max))
    return {"grid": grid, "delta_max": delta_max, "curves": curves}


def _chance(
    table: PairTable,
    name: str,
    *,
    grid: Sequence[float],
    signs: Signs,
    rng: np.random.Generator,
    delta_max: float,
) -> dict[str, Any]:
    z = table.standardized[name].dropna()
    good = z.index.get_indexer(pd.Index(table.pairs["good_id"]))
    bad = z.index.get_indexer(pd.Index(table.pairs["bad_id"]))
    used = (good >= 0) & (bad >= 0) & table.labeled
    found = permutation_chance(
        z.to_numpy(dtype=float),
        good[used].astype(np.int64),
        bad[used].astype(np.int64),
        table.human_delta.to_numpy(dtype=float)[used],
        rng=rng,
        deltas=grid,
        signs=signs,
        permutations=PERMUTATIONS,
    )
    return _on_grid(name, "chance", found.adc, pairs=int(used.sum()), delta_max=delta_max)


def _on_grid(
    judge: str, kind: str, adc: dict[float, float | None], *, pairs: int, delta_max: float
) -> dict[str, Any]:
    known = [value for value in adc.values() if value is not None]
    area = None
    if len(known) == len(adc) and known:
        area = float(np.trapezoid([0.0, *known], [0.0, *adc]) / delta_max)
    return {"judge": judge, "kind": kind, "adc": list(adc.values()), "area": area, "pairs": pairs}
