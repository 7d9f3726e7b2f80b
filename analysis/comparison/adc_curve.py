"""The ADC as a function of δ, the area below it, and the curves of models, baselines and humans."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..errors import BadInput
from .baselines import (
    constant_baseline,
    held_out_mean,
    permutation_chance,
    recalibrated_delta,
)
from .ceilings.human import human_ceiling
from .criteria import FloatArray, Signs, adc_shares, as_floats, signs_agree
from .pairs import PairTable


def adc_curve(
    human_delta: npt.ArrayLike, model_delta: npt.ArrayLike, *, delta_max: float = 3.0, signs: Signs = "strict"
) -> pd.DataFrame:
    """Compute the ADC at every δ where it changes, from 0 to ``delta_max``.

    Parameters
    ----------
    human_delta : array-like of float
        Differences of standardized human scores, one per pair; pairs with a missing difference are left out.
    model_delta : array-like of float
        The same differences of the model's standardized scores, same length.
    delta_max : float
        Largest δ of the curve, in standard deviations; positive.
    signs : {"strict", "published"}
        How differences of zero are treated. ``strict``: both differences must be non-zero and have the
        same sign. ``published``: the test is ``(human > 0) == (model > 0)``, which accepts a zero beside
        a negative difference and reproduces the published table.

    Returns
    -------
    DataFrame
        ``delta`` and ``adc``, an increasing step function: each value holds until the next row.

    Raises
    ------
    BadInput
        If ``delta_max`` is not positive.

    Notes
    -----
    The curve is the empirical distribution function of ``|Δh - Δlm|`` over the pairs whose signs
    agree. The criterion is strict, so the step at a distance e is taken just above e.

    Examples
    --------
    >>> adc_curve([1.0, 1.0], [0.5, -1.0], delta_max=2).values.tolist()
    [[0.0, 0.0], [0.5, 0.5], [2.0, 0.5]]
    """
    distances, n_pairs = _agreeing_distances(human_delta, model_delta, delta_max=delta_max, signs=signs)
    below_maximum = np.sort(distances[distances < delta_max])
    steps, counts = np.unique(below_maximum, return_counts=True)
    share = np.cumsum(counts) / max(n_pairs, 1)
    reached = float(share[-1]) if share.size else 0.0
    delta = np.concatenate([[0.0], steps, [delta_max]])
    return pd.DataFrame({"delta": delta, "adc": np.concatenate([[0.0], share, [reached]])})


def adc_area(
    human_delta: npt.ArrayLike, model_delta: npt.ArrayLike, *, delta_max: float = 3.0, signs: Signs = "strict"
) -> float | None:
    """Return the mean height of the ADC curve from 0 to ``delta_max``, exactly.

    Notes
    -----
    ``(1/N) Σ [signs agree] max(0, δ_max - |Δh - Δlm|) / δ_max``: no grid is needed.

    Examples
    --------
    >>> adc_area([1.0, 1.0], [1.0, -1.0])
    0.5
    """
    distances, n_pairs = _agreeing_distances(human_delta, model_delta, delta_max=delta_max, signs=signs)
    if not n_pairs:
        return None
    return float(np.maximum(0.0, delta_max - distances).sum() / delta_max / n_pairs)


def _agreeing_distances(
    human_delta: npt.ArrayLike, model_delta: npt.ArrayLike, *, delta_max: float, signs: Signs
) -> tuple[FloatArray, int]:
    if not delta_max > 0:
        raise BadInput(f"the largest δ must be positive, got {delta_max:g}.", column="delta_max")
    human, model = as_floats(human_delta), as_floats(model_delta)
    complete = ~(np.isnan(human) | np.isnan(model))
    agree = complete & signs_agree(human, model, signs=signs)
    return np.abs(human - model)[agree], int(complete.sum())


CHANCE_PERMUTATIONS = 100  # only a mean curve is drawn, no interval


def chance_curve(
    scores: FloatArray,
    good: npt.NDArray[np.int64],
    bad: npt.NDArray[np.int64],
    human_delta: FloatArray,
    *,
    grid: FloatArray,
    rng: np.random.Generator,
    signs: Signs = "strict",
    permutations: int = CHANCE_PERMUTATIONS,
) -> FloatArray:
    """Return the mean ADC at every δ of a grid over random permutations of the standardized scores.

    Notes
    -----
    Distances of pairs whose signs agree are sorted once per permutation; the count below δ is strict.

    Examples
    --------
    >>> scores, human = np.array([1.0, -1.0]), np.array([2.0])
    >>> rng = np.random.default_rng(0)
    >>> float(chance_curve(scores, np.array([0]), np.array([1]), human, grid=np.array([0.5]), rng=rng)[0]) < 1
    True
    """
    if not len(good):
        return np.full(len(grid), np.nan)
    total = np.zeros(len(grid))
    for _ in range(permutations):
        shuffled = rng.permutation(scores)
        model = shuffled[good] - shuffled[bad]
        agree = signs_agree(human_delta, model, signs=signs)
        distances = np.sort(np.abs(human_delta - model)[agree])
        total += np.searchsorted(distances, grid, side="left") / len(good)
    return total / permutations


DELTA_MAX = 3.0  # standard deviations
STEPS = 30  # a grid of 0.1 up to DELTA_MAX
CURVE_PERMUTATIONS = 200


def all_curves(
    table: PairTable,
    *,
    signs: Signs,
    judgments: pd.DataFrame | None,
    rng: np.random.Generator,
    delta_max: float = DELTA_MAX,
) -> dict[str, Any]:
    """Return the ADC on a grid of δ and the exact area for every curve.

    Notes
    -----
    The area of models and constants is exact (:func:`obelus.comparison.adc_curve.adc_area`), that of
    chance and humans a trapezoidal sum over the grid. Recalibrated: a straight line from Δlm to Δh fitted on
    the other clusters of pairs, ten folds; for the constant the mean of the other clusters.

    References
    ----------
    Vázquez Martínez (2021), "The Acceptability Delta Criterion", BlackboxNLP.
    """
    grid = [float(step) for step in np.round(np.linspace(0, delta_max, STEPS + 1)[1:], 6)]
    human = table.human_delta.to_numpy(dtype=float)
    if not table.is_labeled.any():
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
    held_out = held_out_mean(human, table.clusters)
    flat = np.full(human.shape, constant.value if constant.value is not None else np.nan)
    curves.append(curve(f"constant Δ = {constant.value:.4g}", "constant", flat))
    curves.append(curve("constant of the other families", "recalibrated constant", held_out))
    if judgments is not None:
        ceiling = human_ceiling(judgments, table.pairs, rng=rng, deltas=grid, signs=signs)
        curves.append(_on_grid("people", "people", ceiling.adc, pairs=ceiling.pairs, delta_max=delta_max))
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
    scores, good, bad, human = table.permutation_arrays(name)
    chance = permutation_chance(
        scores, good, bad, human, rng=rng, deltas=grid, signs=signs, permutations=CURVE_PERMUTATIONS
    )
    return _on_grid(name, "chance", chance.adc, pairs=len(good), delta_max=delta_max)


def _on_grid(
    judge: str, kind: str, adc: dict[float, float | None], *, pairs: int, delta_max: float
) -> dict[str, Any]:
    shares = [value for value in adc.values() if value is not None]
    area = None
    if len(shares) == len(adc) and shares:
        area = float(np.trapezoid([0.0, *shares], [0.0, *adc]) / delta_max)
    return {"judge": judge, "kind": kind, "adc": list(adc.values()), "area": area, "pairs": pairs}
