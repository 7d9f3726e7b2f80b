"""Linking functions: how well functions of log probability, length and unigrams predict human scores."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from ....comparison.in_depth.linking import NAMES
from ....comparison.in_depth.models import roster
from ....errors import NotEnoughData
from ....text import plural
from ...drawing import Drawing, lacks_labels, row_axis
from ...evidence import Evidence
from ...theme import PASSED, caption, layer_charts

STEP = 20
MOST_DRAWN = 8  # models
SHORT = NAMES | {
    "lp": "log p",
    "meanlp": "log p / tokens",
    "morcela_length": "MORCELA, β = 1",
    "morcela_unigram": "MORCELA, γ = 0",
}
NO_LOG_PROBABILITIES = "No scores are log probabilities with what the figure needs."


def linking_figure(rows: Sequence[dict[str, Any]], *, note: str = "") -> alt.LayerChart:
    """Draw r of human scores with each function of each model, from the other items, and its interval."""
    columns = ["model", "function", "r_cross_validated", "ci_low", "ci_high", "n", "items"]
    frame = pd.DataFrame([row for row in rows if row["r_cross_validated"] is not None], columns=columns)
    if not len(frame):
        raise NotEnoughData("no function of a model could be compared with human scores.")
    models = list(dict.fromkeys(frame["model"]))
    frame = frame[frame["model"].isin(models[:MOST_DRAWN])]
    frame = frame.astype({"r_cross_validated": float, "ci_low": float, "ci_high": float})
    frame["place"] = frame["function"].map(SHORT) + ("" if len(models) == 1 else ", " + frame["model"])
    y = row_axis("place", list(frame["place"]), [])
    x = alt.X("r_cross_validated:Q", title="r of human scores, other items", scale=alt.Scale(zero=False))
    bounded = frame[frame["ci_low"].notna()]
    ends = alt.Chart(bounded).mark_rule(strokeWidth=1.5, color=PASSED).encode(
        x=alt.X("ci_low:Q"), x2="ci_high:Q", y=y
    )  # fmt: skip
    tooltip = [alt.Tooltip("place:N"), alt.Tooltip("r_cross_validated:Q", format=".3f")]
    dots = alt.Chart(frame).mark_point(filled=True, size=70, opacity=1, color=PASSED).encode(
        x=x, y=y, tooltip=tooltip
    )  # fmt: skip
    title = caption(
        "Linking functions",
        f"{plural(int(frame['n'].max()), 'sentence')} of {plural(int(frame['items'].max()), 'item')}. Each "
        "item is predicted from the others.",
        "Lines: 95 % intervals over clusters of pairs." if len(bounded) else "",
        f"Without an interval: {plural(len(frame) - len(bounded), 'function')}."
        if len(bounded) < len(frame)
        else "",
        f"The first {MOST_DRAWN} of {len(models)} models are drawn." if len(models) > MOST_DRAWN else "",
        note,
    )
    return layer_charts([ends, dots], frame, height=alt.Step(STEP), title=title)


def _draw(evidence: Evidence) -> alt.LayerChart:
    return linking_figure(evidence.linking, note=evidence.note)


def _lacking(evidence: Evidence) -> str:
    """Return why no function can be drawn; empty where one can."""
    if evidence.report is not None:
        has_r = any(row["r_cross_validated"] is not None for row in evidence.linking)
        return "" if has_r else NO_LOG_PROBABILITIES
    return lacks_labels(evidence) or lacks_measures(evidence, "lp")


def lacks_measures(evidence: Evidence, *methods: str) -> str:
    """Return why no model has these measures of log probabilities; empty where one has all of them."""
    scores = evidence.scores
    if scores is None:
        return NO_LOG_PROBABILITIES
    models = roster([str(name) for name in scores.columns.drop("sentence_id")])
    for _, columns in models.groupby("name"):
        names = dict(zip(columns["method"], columns["model"], strict=True))
        if set(methods) <= set(names) and not (scores[names["lp"]] > 0).any():
            return ""
    return NO_LOG_PROBABILITIES


DRAWINGS = (
    Drawing(
        name="linking-functions",
        number=14,
        title="Linking functions",
        shows="How human scores follow log probability, its normalizations and MORCELA of each model, with "
        "intervals",
        needs="human scores of the members of pairs, and log probabilities of a model",
        about="models",
        lacking=_lacking,
        draw=_draw,
    ),
)
