"""Individual agreement by paradigm, with the interval over participants."""

from typing import Any

import altair as alt
import pandas as pd

from analysis.columns import require_columns
from analysis.errors import NotEnoughData
from analysis.figures.drawing import Drawing, lacks_decisions
from analysis.figures.evidence import Evidence
from analysis.figures.grouped_rows import headed_order, row_axis
from analysis.figures.theme import FAILED, PASSED, caption, layered
from analysis.plurals import plural

STEP = 24
INK_ON_BAR = "#c79a00"
STATUSES = ("included", "ok", "rejected", "insufficient_items")
COLOURS = (PASSED, PASSED, FAILED, "#8a8f98")


def agreement_frame(document: dict[str, Any]) -> pd.DataFrame:
    """Gather the paradigms of an agreement report.

    Parameters
    ----------
    document : dict
        From :func:`analysis.agreement.report.agreement_report`.

    Returns
    -------
    DataFrame
        ``paradigm``, ``phenomenon``, ``share``, ``ci_low``, ``ci_high``, ``items``, ``items_right`` and
        ``status``.
    """
    names = ["paradigm", "phenomenon", "ci_low", "ci_high", "items", "items_right", "status"]
    rows = [
        {**{name: row[name] for name in names}, "share": row["individual_agreement"]}
        for row in document["paradigms"]
    ]
    frame = pd.DataFrame(rows, columns=[*names, "share"])
    return frame.astype({"share": float, "ci_low": float, "ci_high": float}).dropna(subset=["share"])


def agreement_figure(paradigms: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw a bar and an interval per paradigm, from the surest to the most contested.

    Parameters
    ----------
    paradigms : DataFrame
        From :func:`agreement_frame`.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart
        Bars, intervals, the line of one half.

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or there is no row.
    """
    require_columns(paradigms, "paradigm", "share", "ci_low", "ci_high", "items", "status")
    if not len(paradigms):
        raise NotEnoughData("there is no paradigm to draw.")
    shown = paradigms.sort_values(["share", "paradigm"], ascending=[False, True], kind="stable")
    if "phenomenon" in shown.columns:
        means = shown.groupby(shown["phenomenon"].fillna(""))["share"].transform("mean")
        shown = (
            shown.assign(mean=means).sort_values("mean", ascending=False, kind="stable").drop(columns="mean")
        )
    order, headings = headed_order(shown, label="paradigm", group="phenomenon")
    y = row_axis("paradigm", order, headings)
    looks = [look for look in zip(STATUSES, COLOURS, strict=True) if look[0] in set(shown["status"])]
    statuses, colours = (list(column) for column in zip(*looks, strict=True))
    base = alt.Chart(shown)
    bars = base.mark_bar(opacity=0.75, size=STEP - 8).encode(
        x=alt.X(
            "share:Q", title="individual agreement", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")
        ),
        y=y,
        color=alt.Color("status:N", title=None, scale=alt.Scale(domain=statuses, range=colours)),
    )
    lines = base.mark_rule(strokeWidth=1.5).encode(x="ci_low:Q", x2="ci_high:Q", y=y)
    layers = [bars, lines]
    if "items_right" in shown.columns:
        majority = base.transform_calculate(majority="datum.items ? datum.items_right / datum.items : null")
        mark = majority.mark_point(shape="diamond", filled=True, size=50, opacity=1, color=INK_ON_BAR)
        layers.append(mark.encode(x="majority:Q", y=y))
    half = alt.Chart(pd.DataFrame({"half": [0.5]})).mark_rule(strokeDash=[4, 4]).encode(x="half:Q")
    title = caption(
        "Agreement by paradigm",
        f"{plural(len(shown), 'paradigm')}, {plural(int(shown['items'].sum()), 'item')}; "
        "bars: mean of item shares; lines: 95 % intervals over participants; dashed: one half."
        + (" Diamonds: items with the right majority." if "items_right" in shown.columns else ""),
        note,
    )
    return layered([*layers, half], shown, height=alt.Step(STEP), title=title)


def _draw(evidence: Evidence) -> alt.LayerChart:
    return agreement_figure(agreement_frame(evidence.agreement), note=evidence.note)


DRAWINGS = (
    Drawing(
        name="agreement",
        number=2,
        title="Agreement by paradigm",
        shows="A bar per paradigm, the mean share of judgments as the author expects, with its interval",
        needs="judgments with an expected label",
        about="study",
        lacking=lacks_decisions,
        draw=_draw,
    ),
)
