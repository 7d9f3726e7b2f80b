"""Humans and models side by side, by paradigm."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from ....columns import require_columns
from ....errors import NotEnoughData
from ....text import plural
from ...drawing import Drawing, headed_order, lacks_paradigms, row_axis
from ...evidence import Evidence
from ...theme import PEOPLE, caption, judge_colour, judge_shape, layer_charts

STEP = 26
MAJORITY = "people, majority"


def paradigm_frame(
    document: Mapping[str, Any], *, agreement: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Gather the models' criterion by paradigm from a comparison.

    Columns ``paradigm``, ``phenomenon``, ``judge``, ``share``, ``ci_low``, ``ci_high``, ``n``. With
    ``agreement``, human rows are their individual agreement (mean of item shares, with the participant
    bootstrap) and the share of items with the right majority; without it, the share of pairs whose mean
    difference is positive. Empty without paradigms.
    """
    rows = []
    for model in document["models"]:
        for row in model["by_paradigm"]:
            rows.append(
                {
                    "paradigm": row["paradigm"],
                    "phenomenon": row["phenomenon"] or "",
                    "judge": model["model"],
                    "share": row["blimp"],
                    "ci_low": row["ci_low"],
                    "ci_high": row["ci_high"],
                    "n": row["pairs"],
                }
            )
    phenomena = {row["paradigm"]: row["phenomenon"] for row in rows}
    if agreement is not None:
        rows += _people(agreement, phenomena)
    for row in document["models"][0]["by_paradigm"] if document["models"] and agreement is None else []:
        if row["people_prefer_good"] is not None:
            rows.append(
                {
                    "paradigm": row["paradigm"],
                    "phenomenon": row["phenomenon"] or "",
                    "judge": PEOPLE,
                    "share": row["people_prefer_good"],
                    "ci_low": None,
                    "ci_high": None,
                    "n": row["pairs"],
                }
            )
    columns = ["paradigm", "phenomenon", "judge", "share", "ci_low", "ci_high", "n"]
    return pd.DataFrame(rows, columns=columns).astype({"share": float, "ci_low": float, "ci_high": float})


def _people(agreement: Mapping[str, Any], phenomena: Mapping[str, str]) -> list[dict[str, Any]]:
    """Individual and majority agreement of the paradigms that models were compared on."""
    rows = []
    for row in agreement["paradigms"]:
        if row["paradigm"] in phenomena and row["individual_agreement"] is not None:
            shared = {
                "paradigm": row["paradigm"],
                "phenomenon": phenomena[row["paradigm"]],
                "n": row["items"],
            }
            ends = {"ci_low": row["ci_low"], "ci_high": row["ci_high"]}
            rows.append({**shared, "judge": PEOPLE, "share": row["individual_agreement"], **ends})
            right = row["items_right"] / row["items"] if row["items"] else None
            rows.append({**shared, "judge": MAJORITY, "share": right, "ci_low": None, "ci_high": None})
    return rows


def paradigm_figure(shares: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw a dot per judge and paradigm, with intervals and the line of chance."""
    require_columns(shares, "paradigm", "judge", "share", "n")
    if not len(shares):
        raise NotEnoughData("there is no paradigm to draw.")
    sort_by = [column for column in ("phenomenon", "paradigm") if column in shares.columns]
    ordered = shares.sort_values(sort_by, kind="stable")
    order, headings = headed_order(ordered, label="paradigm", group="phenomenon")
    y = row_axis("paradigm", order, headings)
    offset = alt.YOffset("judge:N")
    colour = judge_colour(shares["judge"])
    with_interval = {"ci_low", "ci_high"} <= set(shares.columns)
    base = alt.Chart(shares)
    dots = base.mark_point(filled=True, size=46, opacity=1).encode(
        x=alt.X(
            "share:Q", title="share of pairs right", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")
        ),
        y=y,
        yOffset=offset,
        color=colour,
        shape=judge_shape(shares["judge"]),
        tooltip=_tooltip(shares),
    )
    bars = base.mark_rule(opacity=0.7, strokeWidth=1.5).encode(
        x="ci_low:Q", x2="ci_high:Q", y=y, yOffset=offset, color=colour
    )
    chance = alt.Chart(pd.DataFrame({"chance": [0.5]})).mark_rule(strokeDash=[4, 4]).encode(x="chance:Q")
    pairs = int(shares.drop_duplicates("paradigm")["n"].sum())
    n_paradigms = shares["paradigm"].nunique()
    title = caption(
        "Right by paradigm",
        f"{plural(n_paradigms, 'paradigm')}, {plural(pairs, 'pair')}; dashed: chance."
        + (f" Lines: 95 %, {_interval_note(shares)}." if with_interval else ""),
        note,
    )
    height = alt.Step(max(STEP, 9 * shares["judge"].nunique()), **{"for": "position"})
    layers = [chance, *([bars] if with_interval else []), dots]
    return layer_charts(layers, shares, height=height, title=title)


def _interval_note(shares: pd.DataFrame) -> str:
    """Describe what the intervals of models and of humans generalize over."""
    has_people = bool(shares.loc[shares["judge"] == PEOPLE, "ci_low"].notna().any())
    return "models: Wilson, over pairs" + ("; people: over participants" if has_people else "")


def _tooltip(shares: pd.DataFrame) -> list[alt.Tooltip]:
    tooltips = [alt.Tooltip("paradigm:N"), alt.Tooltip("judge:N"), alt.Tooltip("share:Q", format=".1%")]
    for column in ("ci_low", "ci_high"):
        if column in shares.columns:
            tooltips.append(alt.Tooltip(f"{column}:Q", format=".1%"))
    return [*tooltips, alt.Tooltip("n:Q", title="pairs")]


def _draw(evidence: Evidence) -> alt.LayerChart:
    agreement = evidence.agreement if evidence.tasks else None
    frame = paradigm_frame(evidence.comparison or {"models": []}, agreement=agreement)
    return paradigm_figure(frame, note=evidence.note)


DRAWINGS = (
    Drawing(
        name="paradigms",
        number=2,
        title="Right by paradigm",
        shows="A dot per model and paradigm, the share of pairs right, with its interval, beside people",
        needs="scores of a model on minimal pairs with paradigms",
        about="models",
        lacking=lacks_paradigms,
        draw=_draw,
    ),
)
