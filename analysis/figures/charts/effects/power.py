"""Power by number of participants: by phenomenon, over phenomena, and of a planned study."""

import json
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ....choices import POWER_TARGET
from ....columns import require_columns
from ....errors import NotEnoughData
from ....power.pilot import DRAWS, describe_sample, powered_by_size
from ....text import plural
from ...drawing import Drawing, lacks_expectation
from ...evidence import Evidence
from ...theme import FAILED, PASSED, TOO_FAR, caption, layer_charts

HEIGHT = 300
MOST_NAMED = 6
_EXACT = "Exact: the saw-tooth is real."


def power_figure(
    power: pd.DataFrame, *, chosen: int | None = None, draws: int = DRAWS, note: str = ""
) -> alt.LayerChart:
    """Draw a curve per phenomenon with the band of the Monte Carlo error."""
    require_columns(power, "phenomenon", "n", "power", "mc_error")
    if not len(power):
        raise NotEnoughData("there is no contrast to compute power of.")
    names = list(dict.fromkeys(power["phenomenon"].astype(str)))
    has_names = len(names) <= MOST_NAMED
    labelled = power.assign(
        low=np.clip(power["power"] - 1.96 * power["mc_error"], 0, 1),
        high=np.clip(power["power"] + 1.96 * power["mc_error"], 0, 1),
    )
    base = alt.Chart(labelled)
    x, y = _axes(labelled, title="power")
    by = _name_colour(names) if has_names else alt.value(PASSED)
    detail = "phenomenon:N"
    thin = base.mark_line(strokeWidth=2.5 if has_names else 1, opacity=1 if has_names else 0.35)
    lines = [thin.encode(x=x, y=y, color=by, detail=detail, tooltip=_tooltip())]
    has_error = bool((labelled["mc_error"] > 0).any())
    if has_names and has_error:
        under = [
            base.mark_area(opacity=0.2).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=by, detail=detail)
        ]
        error_note = f"Bands: Monte Carlo error of {draws} draws."
    else:
        under = []
        error_note = (
            f"Monte Carlo error: at most {float(power['mc_error'].max()):.3f}." if has_error else _EXACT
        )
    if not has_names:
        lines += _median_line(labelled, x, y)
        error_note = f"Thick: their median. {error_note}"
    test = str(power["test"].iloc[0]) if "test" in power.columns else ""
    whose = f"Across: {describe_sample(power)}." if "n_pilot" in power.columns else ""
    title = caption(
        "Power by number of participants",
        f"{plural(len(names), 'contrast')}; {test or 'test as planned'}, two-tailed p < .05 in the predicted "
        f"direction; dashed: {POWER_TARGET:g}.",
        error_note,
        whose,
        _chosen_words(chosen),
        note,
    )
    return layer_charts([*under, *lines, *_marks(chosen)], power, height=HEIGHT, title=title)


def powered_share_figure(
    shares: pd.DataFrame, *, chosen: int | None = None, whose: str = "", note: str = ""
) -> alt.LayerChart:
    """Draw the share of phenomena with power at the target, by task."""
    require_columns(shares, "task", "n", "phenomena", "share_powered")
    if not len(shares):
        raise NotEnoughData("there is no contrast to compute power of.")
    tasks = list(dict.fromkeys(shares["task"].astype(str).str.replace("_", " ")))
    labelled = shares.assign(phenomenon=shares["task"].astype(str).str.replace("_", " "))
    x, y = _axes(
        labelled, title=f"share of contrasts with power ≥ {POWER_TARGET:g}", field="share_powered", format="%"
    )
    lines = alt.Chart(labelled).mark_line(
        strokeWidth=2.5, interpolate="step-after", point=len(labelled) < 40
    ).encode(
        x=x,
        y=y,
        color=_name_colour(tasks),
        tooltip=[
            alt.Tooltip("phenomenon:N", title="task"),
            alt.Tooltip("n:Q", title="participants"),
            alt.Tooltip("share_powered:Q", title="share", format=".1%"),
        ],
    )  # fmt: skip
    title = caption(
        "Contrasts with enough power",
        f"{plural(int(shares['phenomena'].max()), 'contrast')}; share with power of at least "
        f"{POWER_TARGET:g}, not mean power; dashed: {POWER_TARGET:.0%}.",
        f"Across: {whose}." if whose else "",
        _chosen_words(chosen),
        note,
    )
    return layer_charts([lines, *_marks(chosen)], shares, height=HEIGHT, title=title)


def planned_power_figure(
    designs: pd.DataFrame,
    *,
    chosen: int | None = None,
    costs: Mapping[int, str] | None = None,
    note: str = "",
) -> alt.LayerChart:
    """Draw the power of a planned study by participants, one curve per number of items.

    Notes
    -----
    ``costs`` are the costs of numbers of participants as text; with them the axis has a second line.
    """
    require_columns(designs, "participants", "items", "power", "mc_error")
    if not len(designs):
        raise NotEnoughData("there is no planned design.")
    ordered = designs.sort_values(["items", "participants"], kind="stable")
    curves = pd.DataFrame({
        "phenomenon": [f"{items} items" for items in ordered["items"]],
        "n": ordered["participants"].to_numpy(),
        "power": ordered["power"].to_numpy(dtype=float),
        "mc_error": ordered["mc_error"].to_numpy(dtype=float),
    })  # fmt: skip
    effect = f"effect {float(designs['effect'].iloc[0]):g} SD; " if "effect" in designs.columns else ""
    chart = power_figure(curves, chosen=chosen, note=note)
    title = caption(
        "Power of the planned study",
        f"{effect}{len(designs)} designs simulated; two-tailed p < .05 in the predicted direction; dashed: "
        f"{POWER_TARGET:g}. Bands: Monte Carlo error.",
        _chosen_words(chosen),
        note,
    )
    chart.title, chart.data = title, designs
    return _with_costs(chart, costs) if costs else chart


def _with_costs(chart: alt.LayerChart, costs: Mapping[int, str]) -> alt.LayerChart:
    """Put the tick marks at the numbers of participants whose costs are known, and the costs below them."""
    labels = json.dumps({str(n): [f"{n}", cost] for n, cost in costs.items()}, ensure_ascii=False)
    axis = alt.Axis(values=sorted(costs), labelExpr=f"({labels})[datum.value]", labelOverlap="greedy")
    for layer in chart.layer:
        x: Any = getattr(layer.encoding, "x", alt.Undefined)
        if getattr(x, "shorthand", None) == "n:Q":
            x.axis, x.title = axis, "participants, and what they cost"
    return chart


def _median_line(rows: pd.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    middle = rows.groupby("n", as_index=False)["power"].median()
    return [alt.Chart(middle).mark_line(strokeWidth=3, color=TOO_FAR).encode(x=x, y=y)]


def _axes(rows: pd.DataFrame, *, title: str, field: str = "power", format: str = "") -> tuple[alt.X, alt.Y]:
    ends = [float(rows["n"].min()), float(rows["n"].max())]
    x = alt.X(
        "n:Q", title="participants", scale=alt.Scale(domain=ends, nice=False), axis=alt.Axis(tickCount=6)
    )
    axis = alt.Axis(format=format) if format else alt.Axis()
    return x, alt.Y(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis)


def _name_colour(names: list[str]) -> alt.Color:
    return alt.Color(
        "phenomenon:N",
        title=None,
        scale=alt.Scale(domain=["", *names]),
        legend=alt.Legend(values=names, symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=3),
    )


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("phenomenon:N"),
        alt.Tooltip("n:Q", title="participants"),
        alt.Tooltip("power:Q", format=".2f"),
        alt.Tooltip("mc_error:Q", title="Monte Carlo error", format=".3f"),
    ]


def _marks(chosen: int | None) -> list[alt.Chart]:
    target = (
        alt.Chart(pd.DataFrame({"target": [POWER_TARGET]})).mark_rule(strokeDash=[4, 4]).encode(y="target:Q")
    )
    if chosen is None:
        return [target]
    line = alt.Chart(pd.DataFrame({"chosen": [chosen]})).mark_rule(color=FAILED, strokeWidth=2, clip=True)
    return [target, line.encode(x="chosen:Q")]


def _chosen_words(chosen: int | None) -> str:
    return f"Vertical: {chosen} participants." if chosen is not None else ""


def _draw_curves(evidence: Evidence) -> alt.LayerChart:
    return power_figure(evidence.power, note=evidence.note)


def _draw_shares(evidence: Evidence) -> alt.LayerChart:
    table = evidence.power
    shares = powered_by_size(table).assign(task=str(table["task"].iloc[0]))
    return powered_share_figure(shares, whose=describe_sample(table), note=evidence.note)


def _draw_planned(evidence: Evidence) -> alt.LayerChart:
    if evidence.planned is None:
        raise NotEnoughData("there is no planned design.")
    return planned_power_figure(evidence.planned, chosen=evidence.chosen)


def _lacks_design(evidence: Evidence) -> str:
    return "" if evidence.planned is not None else "No planned design was simulated."


DRAWINGS = (
    Drawing(
        name="power",
        number=9,
        title="Power by number of participants",
        shows="A curve per contrast, its power by number of participants",
        needs="judgments of contrasts",
        about="study",
        lacking=lacks_expectation,
        draw=_draw_curves,
    ),
    Drawing(
        name="power-share",
        number=9,
        title="Contrasts with enough power",
        shows="The share of contrasts with power of at least .8, by number of participants",
        needs="judgments of contrasts",
        about="study",
        lacking=lacks_expectation,
        draw=_draw_shares,
    ),
    Drawing(
        name="power-planned",
        number=9,
        title="Power of the planned study",
        shows="A curve per number of items, the power of the planned study by number of participants",
        needs="a simulated design",
        about="study",
        lacking=_lacks_design,
        draw=_draw_planned,
    ),
)
