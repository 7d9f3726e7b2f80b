"""Accuracy by amount of training text, on a binary logarithm."""

import altair as alt
import numpy as np
import pandas as pd

from ....columns import require_columns
from ....comparison.in_depth.learning_curves import learning_curve
from ....errors import NotEnoughData
from ...drawing import Drawing
from ...evidence import Evidence
from ...theme import caption, layer_charts, rename_expression

HEIGHT = 320
MOST_DRAWN = 7  # colours of the palette
TOKENS = "datum.value >= 1e9 ? datum.value / 1e9 + ' G' : datum.value >= 1e6 ? datum.value / 1e6 + ' M' : "
TOKENS += "datum.value >= 1e3 ? datum.value / 1e3 + ' k' : datum.value"


def learning_frame(learning: pd.DataFrame, *, by: str = "phenomenon") -> pd.DataFrame:
    """Fit a line on log2 tokens to each group of models."""
    require_columns(learning, "tokens", "accuracy")
    group = learning[by].astype(str) if by in learning.columns else pd.Series("all", index=learning.index)
    frame = learning.assign(group=group.replace("", "all"), slope=np.nan, intercept=np.nan)
    for _, part in frame.groupby("group"):
        if part["tokens"].nunique() > 1:
            line = learning_curve(part["tokens"], part["accuracy"])
            frame.loc[part.index, ["slope", "intercept"]] = [line.slope_per_doubling, line.intercept]
    frame["fitted"] = frame["intercept"] + frame["slope"] * np.log2(frame["tokens"].astype(float))
    return frame.sort_values(["group", "tokens"], kind="stable", ignore_index=True)


def learning_figure(curves: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw accuracy by tokens: points for models, a line per group."""
    require_columns(curves, "group", "tokens", "accuracy", "slope", "fitted")
    if not len(curves):
        raise NotEnoughData("there is no model with a known amount of training text.")
    slopes = curves.groupby("group")["slope"].first().sort_values(ascending=False, kind="stable")
    names = list(slopes.index[:MOST_DRAWN])
    visible = curves[curves["group"].isin(names)]
    x = alt.X(
        "tokens:Q",
        title="training tokens (each step doubles)",
        scale=alt.Scale(type="log", base=2, nice=False, padding=12),
        axis=alt.Axis(labelExpr=TOKENS, values=_doublings(visible), labelOverlap=True),
    )
    low = min(0.5, float(visible["accuracy"].min()))
    y = alt.Y(
        "accuracy:Q",
        title="accuracy",
        scale=alt.Scale(domain=[np.floor(low * 10) / 10, 1]),
        axis=alt.Axis(format="%"),
    )
    labels = {name: f"{name} ({_gain(slopes[name])})" for name in names}
    colour = alt.Color(
        "group:N",
        title=None,
        scale=alt.Scale(domain=["", *names]),
        legend=alt.Legend(values=names, labelExpr=rename_expression(labels)),
    )
    base = alt.Chart(visible)
    dots = base.mark_point(filled=True, size=50, opacity=0.9).encode(
        x=x,
        y=y,
        color=colour,
        tooltip=[
            alt.Tooltip("group:N"),
            *([alt.Tooltip("model:N")] if "model" in visible.columns else []),
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
    return layer_charts([lines, dots], visible, height=HEIGHT, title=title)


def _gain(slope: float) -> str:
    return "no line" if np.isnan(slope) else f"{100 * slope:+.1f}".replace("-", "−")


def _doublings(points: pd.DataFrame) -> list[float]:
    sizes = sorted({float(size) for size in points["tokens"]})
    return sizes if len(sizes) <= 8 else sizes[:: int(np.ceil(len(sizes) / 8))]


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
