"""Specification curve: sorted estimates with intervals on top, the choices behind each of them below."""

import json
import re
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ....choices import MULTIVERSE_MODELS
from ....errors import NotEnoughData
from ...drawing import NO_JUDGMENTS, Drawing
from ...evidence import Evidence
from ...fitting import KEEP_HEIGHT
from ...theme import FAILED, PASSED, caption, layer_charts

ROW = 20  # points for one choice
CURVE = 11  # rows that the curve takes above them
TICKS = 5
GROUPS = ("exclusion", "transform", "model")
SHORT = {**MULTIVERSE_MODELS, "mixed": "mixed, intercepts", "mixed-slopes": "mixed, slopes"}


def specification_frame(report: Mapping[str, Any]) -> pd.DataFrame:
    """Return the specifications with an estimate in ascending order, with ``rank`` from 1."""
    rows = pd.DataFrame([row for row in report["specifications"] if row["estimate"] is not None])
    if rows.empty:
        return rows
    numbers = ["estimate", "ci_low", "ci_high", "p"]
    rows[numbers] = rows[numbers].astype(float)
    is_significant = rows["p"] < 0.05
    kind = np.where(rows["is_current"], "own", np.where(is_significant, "p < .05", "p ≥ .05"))
    return rows.assign(rank=np.arange(1, len(rows) + 1), kind=kind)


def specification_curve(report: Mapping[str, Any], *, note: str = "") -> alt.LayerChart:
    """Draw the curve and the matrix of choices in one frame, which share the axis of specifications."""
    rows = specification_frame(report)
    if rows.empty:
        raise NotEnoughData("no specification has an estimate.")
    choices = [(group, name) for group in GROUPS for name in dict.fromkeys(_in_order(rows, group))]
    # Half a row lies between the groups of choices.
    place = {choice: -(number + 1.0 + GROUPS.index(choice[0]) / 2) for number, choice in enumerate(choices)}
    low = min(0.0, float(rows[["estimate", "ci_low"]].min().min()))
    high = max(0.0, float(rows[["estimate", "ci_high"]].max().max()))
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])

    def height(values: Any) -> Any:
        """Place estimates above the rows of choices, which have the heights -1, -2 …"""
        return 1.0 + (values - low) / (high - low) * CURVE

    points = rows.assign(
        y=height(rows["estimate"]), y_low=height(rows["ci_low"]), y_high=height(rows["ci_high"])
    )
    points = points.sort_values("is_current", kind="stable")  # the study's own on top of the others
    dots = pd.concat(
        [points.assign(y=points[group].map({name: place[(group, name)] for g, name in choices if g == group}))
         for group in GROUPS]
    )  # fmt: skip
    labels = {place[choice]: _label(*choice) for choice in choices}
    labels |= {float(height(tick)): f"{tick:g}".replace("-", "−") for tick in ticks}
    values = sorted(labels)
    expression = (
        f"{json.dumps([labels[value] for value in values])}[indexof({json.dumps(values)}, datum.value)]"
    )
    axis = alt.Axis(
        values=values,
        labelExpr=expression,
        labelOverlap=False,
        labelLimit=150,
        grid=False,
        ticks=False,
        domain=False,
    )
    domain = [min(place.values()) - 0.6, CURVE + 1.4]
    y_scale = alt.Scale(domain=domain, nice=False, zero=False)
    x_scale = alt.Scale(domain=[0, len(rows) + 1], nice=False, zero=False)
    no_labels = alt.Axis(labels=False, ticks=False, grid=False)
    x = alt.X("rank:Q", title="specifications", scale=x_scale, axis=no_labels)
    y = alt.Y("y:Q", title=None, scale=y_scale, axis=axis)
    kinds = ["own", "p < .05", "p ≥ .05"]
    present = [kind for kind in kinds if (points["kind"] == kind).any()]
    colours = {"own": FAILED, "p < .05": PASSED, "p ≥ .05": "#8a8f98"}
    scale = alt.Scale(domain=present, range=[colours[kind] for kind in present])
    colour = alt.Color("kind:N", title=None, scale=scale)
    size = max(8.0, min(45.0, 1500 / len(rows)))  # square points
    tooltip = [
        *(alt.Tooltip(f"{group}:N") for group in GROUPS),
        alt.Tooltip("estimate:Q", format=".3f"),
        alt.Tooltip("p:Q", format=".3g"),
        alt.Tooltip("participants:Q"),
    ]
    zero = alt.Chart(pd.DataFrame({"zero": [float(height(0.0))]})).mark_rule(strokeDash=[4, 4]).encode(
        y=alt.Y("zero:Q", title=None, scale=y_scale, axis=axis)
    )  # fmt: skip
    bounded = points[points["y_low"].notna() & points["y_high"].notna()]
    ends = alt.Chart(bounded).mark_rule(strokeWidth=1.2, opacity=0.6).encode(
        x=x, y=alt.Y("y_low:Q", title=None, scale=y_scale, axis=axis), y2="y_high:Q", color=colour
    )  # fmt: skip
    curve = alt.Chart(points).mark_point(filled=True, size=size, opacity=1).encode(
        x=x, y=y, color=colour, tooltip=tooltip
    )  # fmt: skip
    matrix = alt.Chart(dots).mark_point(filled=True, size=size, opacity=1, shape="square").encode(
        x=x, y=y, color=colour, tooltip=tooltip
    )  # fmt: skip
    unit = (
        "standard deviations"
        if "z" in set(rows["transform"]) or "raw" in set(rows["transform"])
        else "shares"
    )
    title = caption(
        "Specification curve",
        f"{len(rows)} specifications; above: estimates in {unit} with 95 % intervals, dashed: zero; below: "
        "the exclusions, transformation and model of each; own: the study's.",
        note,
    )
    chart = layer_charts(
        [zero, ends, curve, matrix], points, height=round(ROW * (domain[1] - domain[0])), title=title
    )
    chart.usermeta = {KEEP_HEIGHT: True}
    return chart


def _in_order(rows: pd.DataFrame, group: str) -> list[str]:
    """Return the choices of a group: models from the simplest, others as they first appear by name."""
    names = sorted(set(rows[group].astype(str)))
    return [name for name in MULTIVERSE_MODELS if name in names] if group == "model" else names


def _label(group: str, name: str) -> str:
    if group == "model":
        return SHORT[name]
    # The plan that is varied stands in the caption.
    return re.sub(r"^.+ (?=without )", "", name).replace("_", " ")


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers that cover a range."""
    span = max(high - low, 1e-9)
    raw = span / (TICKS - 1)
    power = 10.0 ** np.floor(np.log10(raw))
    step = float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw))
    first, last = int(np.floor(low / step + 1e-9)), int(np.ceil(high / step - 1e-9))
    return [round(number * step, 10) for number in range(first, last + 1)]


def _draw(evidence: Evidence) -> alt.LayerChart:
    if evidence.multiverse is None:
        raise NotEnoughData("the multiverse has not been computed.")
    return specification_curve(evidence.multiverse, note=evidence.note)


def _lacks_multiverse(evidence: Evidence) -> str:
    if not evidence.tasks:
        return NO_JUDGMENTS
    return "" if evidence.multiverse is not None else "It is drawn on the page Multiverse, which computes it."


DRAWINGS = (
    Drawing(
        name="specification-curve",
        number=14,
        title="Specification curve",
        shows="A dot per specification, its estimate with interval in ascending order, and below it its "
        "exclusions, transformation and model",
        needs="the multiverse",
        about="study",
        lacking=_lacks_multiverse,
        draw=_draw,
    ),
)
