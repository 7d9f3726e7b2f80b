"""Matrix of labelled cells, for figures of correlations and overlaps."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from ..errors import NotEnoughData
from .theme import layer_charts

CELL = 34
DARK, LIGHT = "#101216", "#ffffff"


def number_names(names: Sequence[str]) -> list[str]:
    """Prefix each name with a number, so that columns need no long labels.

    Examples
    --------
    >>> number_names(["people", "trigram"])
    ['1 people', '2 trigram']
    """
    return [f"{place} {name}" for place, name in enumerate(names, start=1)]


def matrix_figure(
    cells: pd.DataFrame,
    names: Sequence[str],
    *,
    domain: tuple[float, float],
    title: alt.TitleParams,
    small: bool = False,
    data: pd.DataFrame | None = None,
) -> alt.LayerChart:
    """Draw a matrix whose columns are labelled by the numbers of its rows."""
    if not len(cells):
        raise NotEnoughData("there is nothing to compare.")
    rows = number_names(names)
    place = {name: number for number, name in enumerate(names)}
    placed = cells.assign(
        row=[rows[place[name]] for name in cells["a"]], column=[str(place[name] + 1) for name in cells["b"]]
    )
    y = alt.Y("row:N", sort=rows, title=None, scale=alt.Scale(domain=rows))
    columns = [str(number + 1) for number in range(len(names))]
    x = alt.X(
        "column:N",
        sort=columns,
        title=None,
        scale=alt.Scale(domain=columns),
        axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False),
    )
    base = alt.Chart(placed)
    middle = domain[0] + 0.6 * (domain[1] - domain[0])
    ink = alt.condition(f"datum.value > {middle}", alt.value(DARK), alt.value(LIGHT))
    tiles = base.mark_rect(stroke="transparent").encode(
        x=x,
        y=y,
        color=alt.Color(
            "value:Q", scale=alt.Scale(scheme="viridis", domain=list(domain), clamp=True), legend=None
        ),
    )
    words = base.mark_text(fontSize=12, dy=-5 if small else 0).encode(x=x, y=y, text="text:N", color=ink)
    layers = [tiles, words]
    if small:
        layers.append(base.mark_text(fontSize=10, dy=9).encode(x=x, y=y, text="below:N", color=ink))
    return layer_charts(layers, cells if data is None else data, height=alt.Step(CELL), title=title)
