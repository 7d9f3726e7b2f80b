"""Accuracy against the amount of training text, on a binary logarithm."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.columns import require_columns
from analysis.comparison.learning_curve import learning_curve
from analysis.errors import NotEnoughData
from analysis.figures.drawing import Drawing
from analysis.figures.evidence import Evidence
from analysis.figures.theme import caption, layered, renamed

HEIGHT = 320
MOST_DRAWN = 7
TOKENS = "datum.value >= 1e9 ? datum.value / 1e9 + ' G' : datum.value >= 1e6 ? datum.value / 1e6 + ' M' : "
TOKENS += "datum.value >= 1e3 ? datum.value / 1e3 + ' k' : datum.value"


def learning_frame(learning: pd.DataFrame, *, by: str = "phenomenon") -> pd.DataFrame:
    """Fit a line on log2 tokens to each group of models.

    Parameters
    ----------
    learning : DataFrame, one row per model and group
        ``tokens``, ``accuracy`` and perhaps the column ``by``; without it all rows are one group.
    by : str
        Column of the groups.

    Returns
    -------
    DataFrame
        The rows with ``group``, ``slope`` (gain per doubling), ``intercept`` and ``fitted``; groups with
        fewer than two sizes have no line.
    """
    require_columns(learning, "tokens", "accuracy")
    group = learning[by].astype(str) if by in learning.columns else pd.Series("all", index=learning.index)
    frame = learning.assign(group=group.replace("", "all"), slope=np.nan, intercept=np.nan)
    for _, part in frame.groupby("group"):
        if part["tokens"].nunique() > 1:
            found = learning_curve(part["tokens"], part["accuracy"])
            frame.loc[part.index, ["slope", "intercept"]] = [found.slope_per_doubling, found.intercept]
    frame["fitted"] = frame["intercept"] + frame["slope"] * np.log2(frame["tokens"].astype(float))
    return frame.sort_values(["group", "tokens"], kind="stable", ignore_index=True)


def learning_figure(curves: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw accuracy by tokens: points for models, a line per group.

    Parameters
    ----------
    curves : DataFrame
        From :func:`learning_frame`.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart
        At most seven groups, those with the steepest lines.

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or there is no model.
    """
    require_columns(curves, "group", "tokens", "accuracy", "slope", "fitted")
    if not len(curves):
        raise NotEnoughData("there is no model with a known amount of training text.")
    slopes = curves.groupby("group")["slope"].first().sort_values(ascending=False, kind="stable")
    names = list(slopes.index[:MOST_DRAWN])
    drawn = curves[curves["group"].isin(names)]
    x = alt.X(
        "tokens:Q",
        title="training tokens (each step doubles)",
        scale=alt.Scale(type="log", base=2, nice=False, padding=12),
        axis=alt.Axis(labelExpr=TOKENS, values=_doublings(drawn), labelOverlap=True),
    )
    low = min(0.5, float(drawn["accuracy"].min()))
    y = alt.Y(
        "accuracy:Q",
        title="accuracy",
        scale=alt.Scale(domain=[np.floor(low * 10) / 10, 1]),
        axis=alt.Axis(format="%"),
    )
    said = {name: f"{name} ({_gain(slopes[name])})" for name in names}
    colour = alt.Color(
        "group:N",
        title=None,
        scale=alt.Scale(domain=["", *names]),
        legend=alt.Legend(values=names, labelExpr=renamed(said)),
    )
    base = alt.Chart(drawn)
    dots = base.mark_point(filled=True, size=50, opacity=0.9).encode(
        x=x,
        y=y,
        color=colour,
        tooltip=[
            alt.Tooltip("group:N"),
            *([alt.Tooltip("model:N")] if "model" in drawn.columns else []),
            alt.Tooltip("tokens:Q", format="~s"),
            alt.Tooltip("accuracy:Q", format=".1%"),
        ],
    )
    lines = base.transform_filter("isValid(datum.fitted)").mark_line(strokeWidth=2, clip=True).encode(
        x=x, y=alt.Y("fitted:Q"), color=colour
    )  # fmt: skip
    sizes = curves["tokens"].nunique()
    title = caption(
        "Learning curves",
        f"{len(curves)} accuracies, {curves['group'].nunique()} groups, {sizes} amounts of text. Lines: "
        "least squares on log2 tokens; in brackets: points gained per doubling. A line has no ceiling: do "
        "not read it beyond the data.",
        f"The {MOST_DRAWN} steepest are drawn." if len(slopes) > MOST_DRAWN else "",
        note,
    )
    return layered([lines, dots], drawn, height=HEIGHT, title=title)


def _gain(slope: float) -> str:
    return "no line" if np.isnan(slope) else f"{100 * slope:+.1f}".replace("-", "−")


def _doublings(drawn: pd.DataFrame) -> list[float]:
    known = sorted({float(size) for size in drawn["tokens"]})
    return known if len(known) <= 8 else known[:: int(np.ceil(len(known) / 8))]


def _draw(evidence: Evidence) -> alt.LayerChart:
    if evidence.learning is None:
        raise NotEnoughData("there is no model with a known amount of training text.")
    return learning_figure(learning_frame(evidence.learning), note=evidence.note)


def _lacks_sizes(evidence: Evidence) -> str:
    if evidence.learning is None or not len(evidence.learning):
        return "No models trained on several amounts of text were compared."
    return ""


DRAWINGS = (
    Drawing(
        name="learning-curves",
        number=13,
        title="Learning curves",
        shows="Accuracy by the binary logarithm of training tokens, a line per phenomenon",
        needs="models trained on several amounts of text",
        about="models",
        lacking=_lacks_sizes,
        draw=_draw,
    ),
)
