"""Ratings modelled by surprisal: the estimate of each predictor for each model, with its interval."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from ....comparison.ceilings.responses import UNIT
from ....comparison.in_depth.surprisal import TERMS
from ....errors import NotEnoughData
from ...drawing import NO_JUDGMENTS, Drawing, lacks_models, row_axis
from ...evidence import Evidence
from ...theme import PASSED, caption, layer_charts
from .linking import NO_LOG_PROBABILITIES, lacks_measures

STEP = 20
MOST_DRAWN = 10  # models
NO_RATINGS = "There are no ratings of sentences whose log probabilities and lengths are known."


def surprisal_figure(rows: Sequence[dict[str, Any]], *, note: str = "") -> alt.LayerChart:
    """Draw the change of ratings by one SD of each predictor, by model, with a line at no change."""
    fitted = [row for row in rows if row["terms"]]
    terms = [
        {"model": row["model"], **term}
        for name in TERMS
        for row in fitted[:MOST_DRAWN]
        for term in row["terms"]
        if term["term"] == name
    ]
    columns = ["model", "term", "estimate", "ci_low", "ci_high"]
    frame = pd.DataFrame(terms, columns=columns).astype(dict.fromkeys(columns[2:], float))
    if not len(frame):
        raise NotEnoughData("no ratings could be modelled by surprisal.")
    frame["place"] = frame["term"] + ("" if len(fitted) == 1 else ", " + frame["model"])
    y = row_axis("place", list(frame["place"]), [])
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(strokeDash=[4, 4]).encode(x="zero:Q")
    ends = alt.Chart(frame[frame["ci_low"].notna()]).mark_rule(strokeWidth=1.5, color=PASSED).encode(
        x=alt.X("ci_low:Q"), x2="ci_high:Q", y=y
    )  # fmt: skip
    tooltip = [alt.Tooltip("place:N"), alt.Tooltip("estimate:Q", format=".3f")]
    dots = alt.Chart(frame).mark_point(filled=True, size=70, opacity=1, color=PASSED).encode(
        x=alt.X("estimate:Q", title="change in z by one SD"), y=y, tooltip=tooltip
    )  # fmt: skip
    n = sorted({f"{row['n']:,} ratings by {row['participants']} participants" for row in fitted})
    title = caption(
        "Ratings by surprisal",
        f"{' or '.join(n)}. Linear mixed models over participants and items, the other predictors held "
        "constant. Lines: 95 % intervals.",
        f"The first {MOST_DRAWN} of {len(fitted)} models are drawn." if len(fitted) > MOST_DRAWN else "",
        note,
    )
    return layer_charts([zero, ends, dots], frame, height=alt.Step(STEP), title=title)


def _draw(evidence: Evidence) -> alt.LayerChart:
    return surprisal_figure(evidence.surprisal, note=evidence.note)


def _lacking(evidence: Evidence) -> str:
    """Return why no ratings can be modelled; empty where they can."""
    if evidence.report is not None:
        return "" if any(row["terms"] for row in evidence.surprisal) else NO_LOG_PROBABILITIES
    if missing := lacks_models(evidence) or ("" if evidence.judgments is not None else NO_JUDGMENTS):
        return missing
    has_ratings = bool(set(evidence.tasks) - set(UNIT))
    return "" if has_ratings and not lacks_measures(evidence, "lp", "meanlp") else NO_RATINGS


DRAWINGS = (
    Drawing(
        name="ratings-by-surprisal",
        number=14,
        title="Ratings by surprisal",
        shows="Changes of ratings with surprisal, length, frequency and trial order, with intervals",
        needs="ratings, and log probabilities of a model with their numbers of tokens",
        about="models",
        lacking=_lacking,
        draw=_draw,
    ),
)
