"""Individual agreement by paradigm, with the interval over participants; so far, with one for all looks."""

from typing import Any

import altair as alt
import pandas as pd

from ....agreement.inclusion import parse_rule
from ....agreement.progress import progress_report
from ....columns import require_columns
from ....errors import NotEnoughData
from ....text import plural
from ...drawing import Drawing, headed_order, lacks_decisions, row_axis
from ...evidence import Evidence
from ...theme import FAILED, PASSED, TOO_FAR, caption, layer_charts

STEP = 24
INK_ON_BAR = "#c79a00"
STATUSES = ("included", "ok", "rejected", "insufficient_items")
COLOURS = (PASSED, PASSED, FAILED, "#8a8f98")
OPEN, SETTLED = "could still change", "settled for now"


def agreement_frame(document: dict[str, Any]) -> pd.DataFrame:
    """Gather the paradigms of an agreement report."""
    names = ["paradigm", "phenomenon", "ci_low", "ci_high", "items", "items_right", "status"]
    rows = [
        {**{name: row[name] for name in names}, "share": row["individual_agreement"]}
        for row in document["paradigms"]
    ]
    frame = pd.DataFrame(rows, columns=[*names, "share"])
    return frame.astype({"share": float, "ci_low": float, "ci_high": float}).dropna(subset=["share"])


def agreement_figure(paradigms: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw a bar and an interval per paradigm, from the surest to the most contested."""
    require_columns(paradigms, "paradigm", "share", "ci_low", "ci_high", "items", "status")
    if not len(paradigms):
        raise NotEnoughData("there is no paradigm to draw.")
    ordered = paradigms.sort_values(["share", "paradigm"], ascending=[False, True], kind="stable")
    if "phenomenon" in ordered.columns:
        means = ordered.groupby(ordered["phenomenon"].fillna(""))["share"].transform("mean")
        ordered = (
            ordered.assign(mean=means)
            .sort_values("mean", ascending=False, kind="stable")
            .drop(columns="mean")
        )
    order, headings = headed_order(ordered, label="paradigm", group="phenomenon")
    y = row_axis("paradigm", order, headings)
    styles = [look for look in zip(STATUSES, COLOURS, strict=True) if look[0] in set(ordered["status"])]
    statuses, colours = (list(column) for column in zip(*styles, strict=True))
    base = alt.Chart(ordered)
    bars = base.mark_bar(opacity=0.75, size=STEP - 8).encode(
        x=alt.X(
            "share:Q", title="individual agreement", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")
        ),
        y=y,
        color=alt.Color("status:N", title=None, scale=alt.Scale(domain=statuses, range=colours)),
    )
    lines = base.mark_rule(strokeWidth=1.5).encode(x="ci_low:Q", x2="ci_high:Q", y=y)
    layers = [bars, lines]
    if "items_right" in ordered.columns:
        majority = base.transform_calculate(majority="datum.items ? datum.items_right / datum.items : null")
        mark = majority.mark_point(shape="diamond", filled=True, size=50, opacity=1, color=INK_ON_BAR)
        layers.append(mark.encode(x="majority:Q", y=y))
    half = alt.Chart(pd.DataFrame({"half": [0.5]})).mark_rule(strokeDash=[4, 4]).encode(x="half:Q")
    title = caption(
        "Agreement by paradigm",
        f"{plural(len(ordered), 'paradigm')}, {plural(int(ordered['items'].sum()), 'item')}; "
        "bars: mean of item shares; lines: 95 % intervals over participants; dashed: one half."
        + (" Diamonds: items with the right majority." if "items_right" in ordered.columns else ""),
        note,
    )
    return layer_charts([*layers, half], ordered, height=alt.Step(STEP), title=title)


def progress_frame(document: dict[str, Any]) -> pd.DataFrame:
    """Gather the paradigms of a progress report.

    The result has ``paradigm``, ``phenomenon``, ``participants``, ``mean``, ``low``, ``high``, ``status``
    and ``decision`` (``could still change`` or ``settled for now``), without paradigms that no finished
    participant has judged.
    """
    names = ["paradigm", "phenomenon", "participants", "mean", "low", "high", "status"]
    rows = [
        {
            **{name: row[name] for name in names},
            "paradigm": str(row["paradigm"] or "not named").replace("_", " "),
            "decision": OPEN if row["open"] else SETTLED,
        }
        for row in document["paradigms"]
    ]
    frame = pd.DataFrame(rows, columns=[*names, "decision"])
    return frame.astype({"mean": float, "low": float, "high": float}).dropna(subset=["mean"])


def progress_figure(paradigms: pd.DataFrame, *, share: float | None = None, note: str = "") -> alt.LayerChart:
    """Draw a dot per paradigm with its anytime interval, undecided paradigms first."""
    require_columns(paradigms, "paradigm", "mean", "low", "high", "decision")
    if not len(paradigms):
        raise NotEnoughData("no participant has finished yet.")
    ordered = paradigms.sort_values(["decision", "mean", "paradigm"], ascending=[True, False, True])
    y = alt.Y("paradigm:N", sort=list(dict.fromkeys(ordered["paradigm"])), title=None)
    decisions = [
        (name, colour, shape)
        for name, colour, shape in ((OPEN, TOO_FAR, "diamond"), (SETTLED, PASSED, "circle"))
        if name in set(ordered["decision"])
    ]
    names, colours, shapes = (list(column) for column in zip(*decisions, strict=True))
    colour = alt.Color("decision:N", title=None, scale=alt.Scale(domain=names, range=colours))
    base = alt.Chart(ordered)
    lines = base.mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q", y=y, color=colour)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X(
            "mean:Q",
            title="mean of participants' shares",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%"),
        ),
        y=y,
        color=colour,
        shape=alt.Shape("decision:N", title=None, scale=alt.Scale(domain=names, range=shapes)),
    )
    limit = alt.Chart(pd.DataFrame({"limit": [0.5 if share is None else share]}))
    rule = limit.mark_rule(strokeDash=[4, 4]).encode(x="limit:Q")
    title = caption(
        "Agreement so far",
        f"{plural(len(ordered), 'paradigm')}; lines: 95 % intervals that hold at all looks together, over "
        f"finished participants; dashed: {'one half' if share is None else 'the rule'}.",
        note,
    )
    return layer_charts([rule, lines, dots], ordered, height=alt.Step(STEP), title=title)


def progress_chart(document: dict[str, Any], *, note: str = "") -> alt.LayerChart:
    """Draw a progress report with the line of its rule."""
    share = getattr(parse_rule(document["rule"]), "share", None)
    return progress_figure(progress_frame(document), share=None if share is None else float(share), note=note)


def _draw(evidence: Evidence) -> alt.LayerChart:
    return agreement_figure(agreement_frame(evidence.agreement), note=evidence.note)


def _draw_progress(evidence: Evidence) -> alt.LayerChart:
    return progress_chart(progress_report(evidence.kept, seed=evidence.seed), note=evidence.note)


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
    Drawing(
        name="progress",
        number=2,
        title="Agreement so far",
        shows="A dot per paradigm, the mean of participants' shares, with an interval for all looks together",
        needs="judgments with an expected label",
        about="study",
        lacking=lacks_decisions,
        draw=_draw_progress,
    ),
)
