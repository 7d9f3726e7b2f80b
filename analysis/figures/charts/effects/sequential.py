"""Sequential Bayes factors: evidence by number of participants, with the thresholds of the stopping rule."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ....errors import NotEnoughData
from ...drawing import NO_JUDGMENTS, Drawing
from ...evidence import Evidence
from ...theme import caption, layer_charts

MAX_LINES, MAX_LOG10 = 7, 6.0


def sequential_frame(report: Mapping[str, Any]) -> pd.DataFrame:
    """Return ``contrast``, ``n``, ``factor`` and ``log10``, capped at a million."""
    rows = [
        {
            "contrast": str(row[report["by"]]).replace("_", " ") or "not named",
            "n": look["n"],
            "factor": look["factor"],
            "log10": float(np.clip(look["log10"], -MAX_LOG10, MAX_LOG10)),
        }
        for row in report["contrasts"]
        for look in row["looks"]
        if look["log10"] is not None
    ]
    return pd.DataFrame(rows, columns=["contrast", "n", "factor", "log10"])


def sequential_figure(report: Mapping[str, Any], *, note: str = "") -> alt.LayerChart:
    """Draw a line for each contrast, those closest to no decision first where there are many."""
    rows = sequential_frame(report)
    if rows.empty:
        raise NotEnoughData("no contrast has a Bayes factor.")
    last = rows.groupby("contrast", sort=False)["log10"].last().abs().sort_values(kind="stable")
    shown = list(last.index[:MAX_LINES])
    part = f" The {MAX_LINES} of {len(last)} contrasts closest to 1." if len(last) > MAX_LINES else ""
    rows = rows[rows["contrast"].isin(shown)]
    rule = report["rule"]
    threshold = float(np.log10(rule["threshold"]))
    axis = alt.Axis(
        values=[-6, -3, -2, -1, 0, 1, 2, 3, 6],
        labelExpr="datum.value < 0 ? '1/' + format(pow(10, -datum.value), ',') "
        ": format(pow(10, datum.value), ',')",
    )
    y = alt.Y("log10:Q", title="Bayes factor", axis=axis)
    limits = pd.DataFrame({"log10": [threshold, -threshold]})
    rules = alt.Chart(limits).mark_rule(strokeDash=[6, 4]).encode(y=y)
    even = alt.Chart(pd.DataFrame({"log10": [0.0]})).mark_rule(strokeDash=[2, 3]).encode(y=y)
    lines = (
        alt.Chart(rows)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("n:Q", title="participants, in order of arrival"),
            y=y,
            color=alt.Color("contrast:N", title=None, scale=alt.Scale(domain=shown)),
            tooltip=["contrast:N", "n:Q", alt.Tooltip("factor:Q", format=".3g")],
        )
    )
    title = caption(
        "Sequential Bayes factors",
        f"JZS, Cauchy prior of width {report['scale']:.3g}; dashed: {rule['threshold']:g} and its "
        f"reciprocal, which stop from {rule['least']} participants on.{part}",
        note,
    )
    return layer_charts([even, rules, lines], rows, height=260, title=title)


def _lacks_sequence(evidence: Evidence) -> str:
    if not evidence.tasks:
        return NO_JUDGMENTS
    return (
        "" if evidence.sequential is not None else "It is drawn on the page Bayes factors, which computes it."
    )


def _draw(evidence: Evidence) -> alt.LayerChart:
    if evidence.sequential is None:
        raise NotEnoughData("the Bayes factors have not been computed.")
    return sequential_figure(evidence.sequential, note=evidence.note)


DRAWINGS = (
    Drawing(
        name="sequential-bayes-factors",
        number=11,
        title="Sequential Bayes factors",
        shows="A line per contrast, its Bayes factor after each participant, with the thresholds of a rule",
        needs="sequential Bayes factors",
        about="study",
        lacking=_lacks_sequence,
        draw=_draw,
    ),
)
