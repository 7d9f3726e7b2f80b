"""Whether fast answers are wrong ones: catch trials right by response time."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.aggregation.proportions import wilson_interval
from analysis.columns import require_columns
from analysis.errors import NotEnoughData
from analysis.figures.drawing import Drawing, lacks_kind
from analysis.figures.evidence import Evidence
from analysis.figures.theme import BAND, caption, layered
from analysis.figures.times import time_axis, timed
from analysis.quality.base import column_numbers
from analysis.rows import flags

HEIGHT = 240
BINS = 5


def catch_times_frame(judgments: pd.DataFrame, *, bins: int = BINS) -> pd.DataFrame:
    """Give the share of catch trials right by response time.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``rt_ms`` and ``correct`` of catch trials.
    bins : int
        Groups of about equally many trials, from the fastest to the slowest.

    Returns
    -------
    DataFrame
        ``from_ms``, ``to_ms``, ``median_ms``, ``right``, ``n``, ``share``, ``ci_low``, ``ci_high`` (Wilson,
        95 %).
    """
    require_columns(judgments, "rt_ms", "correct")
    right = flags(judgments["correct"])
    used = timed(judgments, ("catch",)) & ~np.isnan(right)
    rows = pd.DataFrame({"rt": column_numbers(judgments, "rt_ms")[used], "right": right[used]})
    if not len(rows):
        return pd.DataFrame(columns=["from_ms", "to_ms", "median_ms", "right", "n", "share"])
    group = pd.qcut(rows["rt"], min(bins, rows["rt"].nunique()), labels=False, duplicates="drop")
    parts = rows.groupby(group.fillna(0).astype(int))
    table = pd.DataFrame(parts["rt"].agg(from_ms="min", to_ms="max", median_ms="median"))
    table = table.assign(right=parts["right"].sum().astype(int), n=parts.size())
    low, high = wilson_interval(table["right"], table["n"])
    return table.assign(share=table["right"] / table["n"], ci_low=low, ci_high=high).reset_index(drop=True)


def catch_times_figure(times: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw the share of catch trials right, from fast to slow answers.

    Parameters
    ----------
    times : DataFrame
        From :func:`catch_times_frame`.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or there are no times.
    """
    require_columns(times, "from_ms", "to_ms", "median_ms", "n", "share")
    if not len(times):
        raise NotEnoughData("no catch trial has a response time.")
    base = alt.Chart(times)
    x = time_axis("median_ms", [float(times["from_ms"].min()) / 1.1, float(times["to_ms"].max()) * 1.1])
    y = alt.Y(
        "share:Q", title="catch trials right", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")
    )
    spans = base.mark_rule(strokeWidth=1, opacity=0.5).encode(
        x=alt.X("from_ms:Q"), x2="to_ms:Q", y=y
    )  # fmt: skip
    ends = base.mark_rule(strokeWidth=1.5, color=BAND).encode(x=x, y=alt.Y("ci_low:Q"), y2="ci_high:Q")
    dots = base.mark_point(filled=True, size=60, color=BAND, opacity=1).encode(
        x=x, y=y, tooltip=[alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("n:Q", title="catch trials")]
    )
    title = caption(
        "Catch trials by response time",
        f"{int(times['n'].sum())} catch trials in {len(times)} groups from fast to slow; vertical lines: "
        "95 % Wilson intervals; horizontal lines: the times of the group.",
        note,
    )
    return layered([spans, ends, dots], times, height=HEIGHT, title=title)


def _draw(evidence: Evidence) -> alt.LayerChart:
    return catch_times_figure(catch_times_frame(evidence.everyone), note=evidence.note_before)


DRAWINGS = (
    Drawing(
        name="catch-times",
        number=7,
        title="Catch trials by response time",
        shows="The share of catch trials right, from fast to slow answers",
        needs="catch trials with response times",
        about="study",
        lacking=lacks_kind("catch", "correct", "rt_ms"),
        draw=_draw,
    ),
)
