"""The ADC over δ: models, the constant and humans."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ....columns import require_columns
from ....comparison.adc_curve import adc_area, chance_curve
from ....comparison.baselines import constant_baseline
from ....comparison.criteria import Signs, adc_shares
from ....comparison.pairs import PairTable
from ....errors import NotEnoughData
from ....rows import Floats
from ...drawing import Drawing, lacks_labels
from ...evidence import Evidence
from ...points import answering, answers
from ...theme import CHANCE, CONSTANT, PEOPLE, caption, judge_colour, judge_dash, layer_charts

DELTA_MAX = 3.0  # standard deviations
STEPS = 120
HEIGHT = 320
POINT_STEP = 0.5  # δ between the points of a curve that say its height


def curve_frame(
    table: PairTable,
    *,
    signs: Signs = "strict",
    delta_max: float = DELTA_MAX,
    ceiling: dict[float, float] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Gather the curves of all models and of the constant.

    Columns ``judge``, ``delta``, ``adc``, ``area`` (under the whole curve; NaN for humans and chance); empty
    without labelled pairs. ``ceiling`` is the ADC of another human sample; ``chance`` is the mean over the
    models, each with its own scores randomly permuted.
    """
    grid = np.linspace(0, delta_max, STEPS + 1)[1:]
    human = table.human_delta.to_numpy(dtype=float)
    curves: dict[str, Any] = {
        name: adc_shares(
            human, table.model_delta[name].to_numpy(dtype=float), deltas=grid.tolist(), signs=signs
        )
        for name in table.models
    }
    curves[CONSTANT] = constant_baseline(human, deltas=grid.tolist(), signs=signs).adc
    if ceiling:
        curves[PEOPLE] = {delta: adc for delta, adc in sorted(ceiling.items()) if delta <= delta_max}
    if table.is_labeled.any() and table.models:
        chances = [_chance(table, name, grid, signs=signs, seed=seed) for name in table.models]
        curves[CHANCE] = dict(zip(grid.tolist(), np.mean(chances, axis=0).tolist(), strict=True))
    rows = [(judge, 0.0, 0.0) for judge in curves]
    rows += [
        (judge, delta, adc)
        for judge, adc_by_delta in curves.items()
        for delta, adc in adc_by_delta.items()
        if adc is not None
    ]
    frame = pd.DataFrame(rows, columns=["judge", "delta", "adc"])
    areas = {
        name: adc_area(human, table.model_delta[name].to_numpy(dtype=float), delta_max=delta_max, signs=signs)
        for name in table.models
    }
    labeled = human[~np.isnan(human)]
    if len(labeled):
        areas[CONSTANT] = adc_area(
            labeled, np.full(len(labeled), np.median(labeled)), delta_max=delta_max, signs=signs
        )
    frame["area"] = frame["judge"].map(areas).astype(float)
    return frame[frame.groupby("judge")["delta"].transform("size") > 1].reset_index(drop=True)


def _chance(table: PairTable, name: str, grid: Floats, *, signs: Signs, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    return chance_curve(*table.permutation_arrays(name), grid=grid, rng=rng, signs=signs)


def adc_curve_figure(
    curves: pd.DataFrame,
    *,
    n_pairs: int,
    signs: Signs = "strict",
    note: str = "",
    opens: str = "",
) -> alt.LayerChart:
    """Draw the ADC over δ.

    One line per judge: humans dashed, the constant dotted; areas are in the legend. ``opens`` is the address
    that points link to.
    """
    require_columns(curves, "judge", "delta", "adc")
    if not len(curves):
        raise NotEnoughData("no pair has human scores of both members.")
    labels = _with_areas(curves)
    lines = (
        alt.Chart(curves)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("delta:Q", title="δ"),
            y=alt.Y("adc:Q", title="share of pairs within δ", scale=alt.Scale(domain=[0, 1])),
            color=judge_colour(curves["judge"], labels=labels, lines=True),
            strokeDash=judge_dash(curves["judge"], labels=labels),
            tooltip=[
                alt.Tooltip("judge:N"),
                alt.Tooltip("delta:Q", title="δ", format=".2f"),
                alt.Tooltip("adc:Q", title="ADC", format=".3f"),
            ],
        )
    )
    steps = curves["delta"] / POINT_STEP
    marked = curves[(curves["delta"] > 0) & np.isclose(steps, steps.round())]
    says = [
        f"{judge}: ADC {adc:.3f} at δ = {delta:g}"
        for judge, delta, adc in zip(*(marked[column] for column in ("judge", "delta", "adc")), strict=True)
    ]
    points = answering(marked, names=[""] * len(marked), says=says, start=opens)
    dots = points.mark_point(filled=True, size=36, opacity=1).encode(
        **answers(opens),
        x="delta:Q",
        y="adc:Q",
        color=judge_colour(curves["judge"], labels=labels, lines=True),
    )
    title = caption(
        "ADC by δ",
        f"{n_pairs} pairs (signs {signs}).",
        "Dotted: one answer for every pair, the median of people's differences.",
        "Dashed: another sample of people." if PEOPLE in set(curves["judge"]) else "",
        "Dash-dotted: chance, the models' own scores randomly permuted."
        if CHANCE in set(curves["judge"])
        else "",
        f"In brackets: area up to δ = {curves['delta'].max():g}." if "area" in curves.columns else "",
        note,
    )
    return layer_charts([lines, dots], curves, height=HEIGHT, title=title)


def _with_areas(curves: pd.DataFrame) -> dict[str, str]:
    """Names with their areas in brackets."""
    if "area" not in curves.columns:
        return {}
    areas = curves.dropna(subset=["area"]).drop_duplicates("judge")
    return {
        str(name): f"{name} ({area:.3f})".replace("(0.", "(.")
        for name, area in zip(areas["judge"], areas["area"], strict=True)
    }


def _draw(evidence: Evidence) -> alt.LayerChart:
    table = evidence.table
    if table is None:
        raise NotEnoughData("there are no scores of a model.")
    curves = curve_frame(table, signs=evidence.signs, ceiling=evidence.ceiling, seed=evidence.seed)
    n_pairs, start = int(table.is_labeled.sum()), evidence.addresses.comparison
    return adc_curve_figure(
        curves,
        n_pairs=n_pairs,
        signs=evidence.signs,
        note=evidence.note,
        opens=f"{start}{evidence.number}/" if start and evidence.number else "",
    )


DRAWINGS = (
    Drawing(
        name="adc",
        number=4,
        title="ADC by δ",
        shows="A curve per model, the share of pairs within δ for every δ, beside the constant and people",
        needs="scores of people and of a model on the members of minimal pairs",
        about="models",
        lacking=lacks_labels,
        draw=_draw,
    ),
)
