"""Likert: frequencies of scale points by condition, stacked around the middle."""

import altair as alt
import numpy as np
import pandas as pd

from ....aggregation.ratings import likert_distribution
from ....columns import require_columns
from ....errors import NotEnoughData
from ....rows import tasks
from ....text import plural
from ...drawing import Drawing, lacks_task
from ...evidence import Evidence
from ...theme import caption, layer_charts

STEP = 24
MOST_DRAWN = 24
LOW, MIDDLE, HIGH = ("#b35806", "#e08214", "#fdb863"), "#d8d8d8", ("#b2abd2", "#8073ac", "#542788")


def scale_point_frame(judgments: pd.DataFrame, *, by: str = "condition") -> pd.DataFrame:
    """Count the scale points of each condition and stack them around the middle of the scale.

    Notes
    -----
    ``row``, ``point``, ``n``, ``share``, ``start`` and ``end`` (shares of the row, 0 between the lower
    and the upper half; a middle point is split between both sides), ``mean``; best rows first.
    """
    if by == "condition":
        counts = likert_distribution(judgments)
    else:
        require_columns(judgments, by)
        counts = likert_distribution(judgments.assign(condition=judgments[by].astype(object)))
    points = [name for name in counts.columns if name.lstrip("-").isdigit()]
    if not points or not len(counts):
        return pd.DataFrame(columns=["row", "point", "n", "share", "start", "end", "mean"])
    summed = counts.assign(row=counts["condition"].fillna("").astype(str).replace("", "all"))
    grouped = summed.groupby("row")[points].sum()
    grouped = grouped[grouped.sum(axis=1) > 0]
    values = np.array([int(point) for point in points], dtype=float)
    share = grouped.div(grouped.sum(axis=1), axis=0).to_numpy(dtype=float)
    mean = share @ values
    middle = (values[0] + values[-1]) / 2
    below = share @ (values < middle) + share @ (values == middle) / 2
    end = share.cumsum(axis=1) - below[:, None]
    rows = []
    for place in np.argsort(-mean, kind="stable"):
        for column, point in enumerate(points):
            rows.append(
                (
                    grouped.index[place],
                    int(point),
                    int(grouped.iloc[place, column]),
                    share[place, column],
                    end[place, column] - share[place, column],
                    end[place, column],
                    mean[place],
                )
            )
    return pd.DataFrame(rows, columns=["row", "point", "n", "share", "start", "end", "mean"])


def scale_point_figure(points: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw a stacked bar per condition, the lower half of the scale to the left."""
    require_columns(points, "row", "point", "n", "share", "start", "end")
    if not len(points):
        raise NotEnoughData("there are no ratings on whole scale points.")
    totals = points.groupby("row", sort=False)["n"].sum()
    largest = set(totals.sort_values(ascending=False, kind="stable").index[:MOST_DRAWN])
    visible = points[points["row"].isin(largest)]
    scale = sorted({int(point) for point in points["point"]})
    reach = float(np.ceil(max(-visible["start"].min(), visible["end"].max()) * 10) / 10)
    order = list(dict.fromkeys(visible["row"]))
    bars = alt.Chart(visible).mark_bar(size=STEP - 6, stroke="#80858e", strokeWidth=0.4).encode(
        x=alt.X(
            "start:Q",
            title="lower half | upper half",
            scale=alt.Scale(domain=[-reach, reach], nice=False),
            axis=alt.Axis(labelExpr="format(abs(datum.value), '.0%')", tickCount=5),
        ),
        x2="end:Q",
        y=alt.Y("row:N", sort=order, title=None),
        color=alt.Color(
            "point:O",
            title=None,
            scale=alt.Scale(domain=scale, range=point_colours(len(scale))),
            legend=alt.Legend(symbolType="square", columnPadding=6),
        ),
        tooltip=[
            alt.Tooltip("row:N"),
            alt.Tooltip("point:O"),
            alt.Tooltip("n:Q", title="ratings"),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )  # fmt: skip
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule().encode(x="zero:Q")
    title = caption(
        "Scale points by condition",
        f"{plural(int(totals.sum()), 'rating')} in {plural(len(totals), 'condition')}, best mean "
        "first; shares of each condition."
        + (" The middle point lies half on either side." if len(scale) % 2 else ""),
        f"The {MOST_DRAWN} with most ratings are drawn." if len(totals) > MOST_DRAWN else "",
        note,
    )
    return layer_charts([bars, zero], visible, height=alt.Step(STEP), title=title)


def point_colours(n: int) -> list[str]:
    """Return colours from orange over grey to purple, distinguishable with every kind of colour vision.

    Examples
    --------
    >>> point_colours(2), len(point_colours(7)), point_colours(7)[3]
    (['#b35806', '#542788'], 7, '#d8d8d8')
    """
    half = n // 2
    low = [LOW[round(place * (len(LOW) - 1) / max(half - 1, 1))] for place in range(half)]
    high = [HIGH[len(HIGH) - 1 - round(place * (len(HIGH) - 1) / max(half - 1, 1))] for place in range(half)]
    return [*low, *([MIDDLE] if n % 2 else []), *reversed(high)]


def row_column(judgments: pd.DataFrame) -> str:
    """Choose the column of the rows: conditions, unless there are too many to draw."""
    if "condition" in judgments.columns and judgments["condition"].nunique() <= MOST_DRAWN:
        return "condition"
    has_expectation = (
        "expected" in judgments.columns and judgments["expected"].replace("", None).notna().any()
    )
    return "expected" if has_expectation else "condition"


def _draw(evidence: Evidence) -> alt.LayerChart:
    judgments = evidence.kept
    rows = judgments[(tasks(judgments) == "likert").to_numpy()]
    return scale_point_figure(scale_point_frame(rows, by=row_column(rows)), note=evidence.note)


DRAWINGS = (
    Drawing(
        name="scale-points",
        number=12,
        title="Scale points by condition",
        shows="A stacked bar per condition with the share of each scale point, around the middle",
        needs="Likert ratings",
        about="study",
        lacking=lacks_task("likert"),
        draw=_draw,
    ),
)
