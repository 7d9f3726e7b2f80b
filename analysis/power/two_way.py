"""Power of the mixed model over participants and items, from the mean squares of the planned design.

In a balanced design the mixed model takes from the data an estimate and the mean squares of participants,
items and residual. These are drawn in place of judgments and lead to the same test: variances estimated as 0
are pooled as by restricted maximum likelihood, and degrees of freedom are Satterthwaite's.
``benchmarks/analysis/bench_power.py`` compares the result with simulated studies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from ..rows import Floats

SIGNS = {"choice": (1,), "t": (1, -1), "interaction": (1, -1, -1, 1)}
"""Sign of the effect in each cell: a choice between two sentences, two conditions, a 2×2 design."""
_NODES = 24


@dataclass(frozen=True)
class Components:
    """An effect, and standard deviations of its variation and of one judgment, on the scale of the test."""

    effect: float
    participant_effect: float
    item_effect: float
    residual: float


@dataclass(frozen=True)
class Latent:
    """Normal scale behind answers in steps: cells differ by the effect, units in level and effect."""

    effect: float
    participant: tuple[float, float]
    """SDs of level and effect between participants."""
    item: tuple[float, float]
    residual: float


def stepped_components(
    latent: Latent, *, signs: Sequence[int], thresholds: Sequence[float], step: float = 1.0
) -> Components:
    """Return the components of answers that rise by ``step`` at each threshold of the latent scale.

    Notes
    -----
    A cell with sign s has the latent mean s · effect / cells, and a unit of level a and effect b adds
    a + s · b / cells. The mean answer of a unit is a sum of normal probabilities; its variance is
    integrated over level and effect by Gauss and Hermite's rule.
    """
    sign = np.array(signs, dtype=np.float64)
    place, cuts = sign * latent.effect / len(sign), np.array(thresholds, dtype=np.float64)
    spreads = {unit: _spread(sds, len(sign)) for unit, sds in (("p", latent.participant), ("i", latent.item))}
    total = latent.residual**2 + spreads["p"] + spreads["i"]
    share = scipy.stats.norm.cdf((place[:, None] - cuts) / np.sqrt(total))
    mean = step * share.sum(axis=1)
    variance = step**2 * (share * (2 * np.arange(len(cuts)) + 1)).sum(axis=1) - mean**2
    by_unit = {}
    for unit, sds in (("p", latent.participant), ("i", latent.item)):
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        weight = (weights[:, None] * weights).ravel() / weights.sum() ** 2
        level, effect = (axis.ravel() for axis in np.meshgrid(nodes * sds[0], nodes * sds[1]))
        x = place + level[:, None] + effect[:, None] * sign / len(sign)
        means = step * scipy.stats.norm.cdf((x[..., None] - cuts) / np.sqrt(total - spreads[unit])).sum(
            axis=2
        )
        variance = variance - weight @ (means - mean) ** 2
        by_unit[unit] = float(weight @ (means @ sign - mean @ sign) ** 2)
    return Components(
        float(mean @ sign), np.sqrt(by_unit["p"]), np.sqrt(by_unit["i"]), float(np.sqrt(variance.mean()))
    )


def _spread(sds: tuple[float, float], n_cells: int) -> float:
    return sds[0] ** 2 + (sds[1] / n_cells) ** 2


@dataclass(frozen=True)
class Strata:
    """Expected mean squares of an estimate, each as a part of the estimate's variance."""

    effect: float
    residual: float
    units: tuple[float, ...]
    """Variance of the effect between participants and between items over their numbers, where estimable."""
    df: int
    """Degrees of freedom of the residual."""
    df_units: tuple[int, ...]


def plan_strata(
    components: Components, *, participants: int, items: int, judgments: float, test: str
) -> Strata:
    """Return the strata of a balanced design with ``judgments`` in all.

    Notes
    -----
    The estimate has the variance σ²_u / P + σ²_w / I + m² σ²_e / N, with m the number of cells of the
    contrast (Westfall, Kenny & Judd 2014). A factor has slopes if it has fewer effects than there are
    judgments, as in :func:`obelus.mixed_models.structures.supported_slopes`; else their variance
    is part of the residual.
    """
    m, residual = len(SIGNS[test]), len(SIGNS[test]) ** 2 * components.residual**2 / judgments
    units, df_units, df = [], [], judgments - m
    # z-scores leave no variance to the intercepts of participants, which then join the residual.
    intercepts = (0, min(m - 1, 1))
    for sd, n, has_intercepts in zip(
        (components.participant_effect, components.item_effect),
        (participants, items),
        intercepts,
        strict=True,
    ):
        has_slopes = judgments > n * m
        if has_slopes:
            units.append(sd**2 / n)
            df_units.append(n - 1)
        else:
            residual += sd**2 / n
        df -= (has_intercepts + has_slopes * max(m - 1, 1)) * (n - 1)
    return Strata(components.effect, residual, tuple(units), max(int(df), 1), tuple(df_units))


def draw_tests(
    strata: Strata, *, size: int, rng: np.random.Generator, is_capped: bool = False, df: int | None = None
) -> tuple[Floats, Floats, Floats]:
    """Draw estimates of ``size`` studies; return them with p and the width of the 95 % interval.

    Notes
    -----
    A mean square below the residual's means a variance estimated as 0 and joins the residual.
    ``is_capped``: then its groups - 1 bound the degrees of freedom, as in
    :func:`obelus.effects.contrast_models.share_model`; ``df`` replaces them.

    References
    ----------
    Westfall, Kenny & Judd (2014), Journal of Experimental Psychology: General 143; Satterthwaite (1946),
    Biometrics Bulletin 2.
    """
    variance = sum(strata.units) + strata.residual
    estimate = strata.effect + rng.normal(0, np.sqrt(variance), size)
    df_units = np.array(strata.df_units, dtype=np.float64)[:, None]
    expected = np.array(strata.units, dtype=np.float64)[:, None] + strata.residual
    squares = expected * rng.chisquare(np.broadcast_to(df_units, (len(df_units), size))) / df_units
    order = np.argsort(squares, axis=0)
    squares, dfs = np.take_along_axis(squares, order, axis=0), np.broadcast_to(df_units, order.shape)
    dfs = np.take_along_axis(dfs, order, axis=0)
    total, pooled_df = strata.residual * rng.chisquare(strata.df, size), np.full(size, float(strata.df))
    is_zero = np.zeros(squares.shape, dtype=bool)
    for place in range(len(squares)):  # the smallest first
        is_zero[place] = squares[place] <= total / pooled_df
        total = total + is_zero[place] * dfs[place] * squares[place]
        pooled_df = pooled_df + is_zero[place] * dfs[place]
    residual, has_variance = total / pooled_df, ~is_zero
    left = residual * (1 - has_variance.sum(axis=0))
    error = (has_variance * squares).sum(axis=0) + left
    freedom = error**2 / ((has_variance * squares**2 / dfs).sum(axis=0) + left**2 / pooled_df)
    if is_capped:
        freedom = np.minimum(freedom, np.where(is_zero, dfs, np.inf).min(axis=0, initial=np.inf))
    if df is not None:
        freedom = np.full(size, float(df))
    p = 2 * scipy.stats.t.sf(np.abs(estimate) / np.sqrt(error), freedom)
    width = 2 * scipy.stats.t.ppf(0.975, freedom) * np.sqrt(error)
    return estimate, np.asarray(p, dtype=np.float64), np.asarray(width, dtype=np.float64)
