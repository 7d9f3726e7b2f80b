"""People and models side by side, paradigm by paradigm."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.columns import require_columns
from analysis.errors import NotEnoughData
from analysis.figures.drawing import Drawing, lacks_models
from analysis.figures.evidence import Evidence
from analysis.figures.theme import PEOPLE, caption, judge_colour, judge_shape, layered

STEP = 26


def paradigm_frame(document: dict[str, Any]) -> pd.DataFrame:
    """Gather the models' criterion by paradigm from a comparison.

    Parameters
    ----------
    document : dict
        From :func:`analysis.comparison.report.compare_report`.

    Returns
    -------
    DataFrame
        ``paradigm``, ``phenomenon``, ``judge``, ``share``, ``ci_low``, ``ci_high``, ``n``; people's row is
        the share of pairs whose mean difference is positive. Empty without paradigms.
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
    for row in document["models"][0]["by_paradigm"] if document["models"] else []:
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


def paradigm_figure(shares: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw a dot per judge and paradigm, with intervals and the line of chance.

    Parameters
    ----------
    shares : DataFrame
        ``paradigm``, ``judge``, ``share``, ``n``, perhaps ``phenomenon``, ``ci_low``, ``ci_high``.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart
        Paradigms from top to bottom, grouped by phenomenon.

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or there is no row.
    """
    require_columns(shares, "paradigm", "judge", "share", "n")
    if not len(shares):
        raise NotEnoughData("there is no paradigm to draw.")
    sort_by = [column for column in ("phenomenon", "paradigm") if column in shares.columns]
    order = list(dict.fromkeys(shares.sort_values(sort_by)["paradigm"]))
    y = alt.Y("paradigm:N", sort=order, title=None)
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
    title = caption(
        "Right by paradigm",
        f"{len(order)} paradigms, {pairs} pairs; dashed: chance."
        + (" Lines: 95 % Wilson intervals." if with_interval else ""),
        note,
    )
    height = alt.Step(max(STEP, 9 * shares["judge"].nunique()), **{"for": "position"})
    layers = [chance, *([bars] if with_interval else []), dots]
    return layered(layers, shares, height=height, title=title)


def _tooltip(shares: pd.DataFrame) -> list[alt.Tooltip]:
    shown = [alt.Tooltip("paradigm:N"), alt.Tooltip("judge:N"), alt.Tooltip("share:Q", format=".1%")]
    for column in ("ci_low", "ci_high"):
        if column in shares.columns:
            shown.append(alt.Tooltip(f"{column}:Q", format=".1%"))
    return [*shown, alt.Tooltip("n:Q", title="pairs")]


def _draw(evidence: Evidence) -> alt.LayerChart:
    return paradigm_figure(paradigm_frame(dict(evidence.comparison or {"models": []})), note=evidence.note)


DRAWINGS = (
    Drawing(
        name="paradigms",
        number=2,
        title="Right by paradigm",
        shows="A dot per model and paradigm, the share of pairs right, with its interval, beside people",
        needs="scores of a model on minimal pairs with paradigms",
        about="models",
        lacking=lacks_models,
        draw=_draw,
    ),
)
