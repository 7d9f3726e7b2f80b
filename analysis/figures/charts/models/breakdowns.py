"""Judges by group, and tables of numbers as maps of heat; scatters with a fitted line."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from ....columns import require_columns
from ....errors import NotEnoughData
from ...matrix import DARK, LIGHT
from ...theme import KEEPS_COLOURS, caption, judge_colour, judge_shape, layer_charts

CELL, STEP = 30, 26  # points
NARROW_CELL = 24  # points; a narrower cell has no room for its number


def group_figure(
    frame: pd.DataFrame,
    *,
    title: str,
    quantity: str,
    notes: Sequence[str] = (),
    format: str = "%",
    domain: tuple[float, float] | None = (0.0, 1.0),
    line: float | None = None,
) -> alt.LayerChart:
    """Draw a dot per judge and group.

    Parameters
    ----------
    frame : DataFrame
        ``group`` (a row of the figure, in order), ``judge``, ``value``; with ``ci_low`` and ``ci_high`` also
        lines.
    title, quantity : str
        Heading, and title of the horizontal axis.
    notes : sequence of str
        Sentences below the heading.
    format : str
        D3 format of the axis.
    domain : (low, high), optional
        Ends of the axis; by default those of the data.
    line : float, optional
        Value of a dashed line, such as chance.
    """
    require_columns(frame, "group", "judge", "value")
    rows = frame[frame["value"].notna()]
    if not len(rows):
        raise NotEnoughData("no group has a number to draw.")
    y = alt.Y("group:N", sort=list(dict.fromkeys(rows["group"])), title=None)
    scale = alt.Scale(zero=False) if domain is None else alt.Scale(domain=list(domain))
    x = alt.X("value:Q", title=quantity, scale=scale, axis=alt.Axis(format=format))
    offset, colour = alt.YOffset("judge:N"), judge_colour(rows["judge"])
    base = alt.Chart(rows)
    layers = []
    if line is not None:
        rule = alt.Chart(pd.DataFrame({"line": [line]})).mark_rule(strokeDash=[4, 4])
        layers.append(rule.encode(x="line:Q"))
    if {"ci_low", "ci_high"} <= set(rows.columns) and rows["ci_low"].notna().any():
        bars = base.mark_rule(opacity=0.7, strokeWidth=1.5)
        layers.append(bars.encode(x="ci_low:Q", x2="ci_high:Q", y=y, yOffset=offset, color=colour))
    tooltip = [alt.Tooltip("group:N"), alt.Tooltip("judge:N"), alt.Tooltip("value:Q", format=".3f")]
    dots = base.mark_point(filled=True, size=46, opacity=1)
    layers.append(
        dots.encode(x=x, y=y, yOffset=offset, color=colour, shape=judge_shape(rows["judge"]), tooltip=tooltip)
    )
    height = alt.Step(max(STEP, 9 * rows["judge"].nunique()), **{"for": "position"})
    return layer_charts(layers, rows, height=height, title=caption(title, *notes))


def heat_map_figure(
    frame: pd.DataFrame, *, title: str, notes: Sequence[str] = (), format: str = ".0f", middle: float = 0.0
) -> alt.LayerChart:
    """Draw a table as a map of heat, diverging from ``middle``.

    ``frame`` has ``row``, ``column``, ``value`` (missing: an empty cell) and optionally ``marked``, which
    puts a frame around a cell; rows and columns keep their order. On a phone many columns leave no
    room for the numbers, and the colours are drawn alone.
    """
    require_columns(frame, "row", "column", "value")
    cells = frame[frame["value"].notna()]
    if not len(cells):
        raise NotEnoughData("no cell has a number to draw.")
    rows, columns = (list(dict.fromkeys(frame[name].astype(str))) for name in ("row", "column"))
    reach = float((cells["value"].astype(float) - middle).abs().max()) or 1.0
    is_narrow = f"width < {NARROW_CELL * len(columns)}"
    y = alt.Y("row:N", sort=rows, title=None, scale=alt.Scale(domain=rows))
    x = alt.X(
        "column:N",
        sort=columns,
        title=None,
        scale=alt.Scale(domain=columns),
        axis=alt.Axis(
            orient="top",
            labelAngle=-90,
            labelFontSize=alt.ExprRef(f"{is_narrow} ? 8 : 12"),
            domain=False,
            ticks=False,
        ),
    )
    scale = alt.Scale(scheme="blueorange", domain=[middle - reach, middle + reach], reverse=True)
    base = alt.Chart(cells)
    is_strong = f"abs(datum.value - {middle}) > {0.7 * reach}"
    ink = alt.condition(is_strong, alt.value(LIGHT), alt.value(DARK))
    tooltip = [alt.Tooltip("row:N"), alt.Tooltip("column:N"), alt.Tooltip("value:Q", format=".3f")]
    layers = [
        base.mark_rect().encode(
            x=x, y=y, color=alt.Color("value:Q", scale=scale, legend=None), tooltip=tooltip
        ),
        base.mark_text(fontSize=10, opacity=alt.ExprRef(f"{is_narrow} ? 0 : 1")).encode(
            x=x, y=y, text=alt.Text("value:Q", format=format), color=ink
        ),
    ]
    if "marked" in cells.columns and cells["marked"].any():
        outline = alt.Chart(cells[cells["marked"].astype(bool)])
        layers.append(
            outline.mark_rect(filled=False, stroke=DARK, strokeWidth=2, fillOpacity=0).encode(x=x, y=y)
        )
    chart = layer_charts(layers, cells, height=alt.Step(CELL), title=caption(title, *notes))
    chart.usermeta = KEEPS_COLOURS
    return chart


def scatter_figure(
    frame: pd.DataFrame, *, title: str, x: str, y: str, notes: Sequence[str] = (), is_log: bool = False
) -> alt.LayerChart:
    """Draw points of one or several judges with the least-squares line of each.

    ``frame`` has ``x``, ``y``, ``judge`` and optionally ``name``, shown on hover; ``is_log`` draws the
    horizontal axis on a logarithmic scale (and fits in its logarithm).
    """
    require_columns(frame, "x", "y", "judge")
    rows = frame.dropna(subset=["x", "y"])
    if not len(rows):
        raise NotEnoughData("no point has both coordinates.")
    scale = alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False)
    across = alt.X("x:Q", title=x, scale=scale)
    up = alt.Y("y:Q", title=y, scale=alt.Scale(zero=False))
    colour = judge_colour(rows["judge"])
    base = alt.Chart(rows)
    names = [alt.Tooltip("name:N")] if "name" in rows.columns else []
    tooltip = [
        *names,
        alt.Tooltip("judge:N"),
        alt.Tooltip("x:Q", format=".3f"),
        alt.Tooltip("y:Q", format=".3f"),
    ]
    points = base.mark_point(filled=True, size=30, opacity=0.55).encode(
        x=across, y=up, color=colour, shape=judge_shape(rows["judge"]), tooltip=tooltip
    )
    layers = [points]
    if rows.groupby("judge")["x"].nunique().min() > 1:
        fit = base.transform_regression("x", "y", groupby=["judge"], method="log" if is_log else "linear")
        layers.append(fit.mark_line(strokeWidth=1.5).encode(x=across, y=up, color=colour))
    return layer_charts(layers, rows, height=320, title=caption(title, *notes))


def histogram_figure(
    values: pd.Series, *, title: str, x: str, y: str, notes: Sequence[str] = (), bins: int = 30
) -> alt.LayerChart:
    """Draw the distribution of numbers in bins of equal width."""
    numbers = values.dropna().astype(float)
    if not len(numbers):
        raise NotEnoughData("there is no number to draw.")
    counts, edges = np.histogram(numbers, bins=bins)
    frame = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "count": counts, "base": 0})
    bars = alt.Chart(frame).mark_rect(opacity=0.8)
    layer = bars.encode(
        x=alt.X("low:Q", title=x, scale=alt.Scale(zero=False)),
        x2="high:Q",
        y=alt.Y("count:Q", title=y),
        y2="base:Q",
        tooltip=[alt.Tooltip("low:Q"), alt.Tooltip("high:Q"), alt.Tooltip("count:Q")],
    )
    return layer_charts([layer], frame, height=240, title=caption(title, *notes))
