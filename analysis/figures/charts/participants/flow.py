"""Participant flow through the steps of a plan, and the overlap of exclusion steps."""

import textwrap
from typing import Any

import altair as alt
import pandas as pd

from ....columns import require_columns
from ....errors import NotEnoughData
from ....exclusions.apply import Excluded
from ...drawing import Drawing, lacks_task
from ...evidence import Evidence
from ...fitting import KEEP_HEIGHT
from ...matrix import matrix_figure
from ...theme import PASSED, caption, layer_charts

# The vertical axis is in lines of text, so that boxes grow with their content.
LINE = 17  # points
LETTERS = 40  # of a line
GAP = 1.2  # lines between boxes
PADDING = 0.7  # lines within a box
FIRST = "all who judged"


def flow_frame(excluded: Excluded, stages: pd.DataFrame | None = None) -> pd.DataFrame:
    """Gather the boxes of the flow, from arrival to analysis.

    Notes
    -----
    ``stage``, ``participants_left``, ``sessions_left``, ``judgments_left`` and the three ``…_removed``;
    the last row is what is analysed. Sessions and judgments of stages before the plan are missing.
    """
    before = pd.DataFrame({"stage": [], "participants_left": []})
    if stages is not None and len(stages):
        require_columns(stages, "stage", "participants")
        before = stages.rename(columns={"participants": "participants_left"})[["stage", "participants_left"]]
    flow = excluded.flow.rename(columns={"step": "stage"})
    flow["stage"] = [FIRST, *(f"after {name}" for name in flow["stage"].iloc[1:])]
    columns = [f"{unit}_{change}" for change in ("left", "removed") for unit in _UNITS]
    return pd.concat([before, flow], ignore_index=True).reindex(columns=["stage", *columns])


_UNITS = ("participants", "sessions", "judgments")


def flow_figure(flow: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw a box per stage, with the exclusions between two boxes."""
    require_columns(flow, "stage", "participants_left", "judgments_left")
    if not len(flow) or not flow["participants_left"].fillna(0).iloc[0]:
        raise NotEnoughData("nobody has judged yet.")
    boxes, words, arrows, height = _place_boxes(flow)
    lines_down = alt.Scale(domain=[0, height], reverse=True, nice=False)
    y = alt.Y("top:Q", scale=lines_down, axis=None)
    x = alt.X("left:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=None)
    framed = alt.Chart(boxes).mark_rect(
        color=PASSED, fillOpacity=0.12, stroke=PASSED, strokeWidth=1.5, cornerRadius=3
    ).encode(x=x, x2="right:Q", y=y, y2="bottom:Q")  # fmt: skip
    text = alt.Chart(words).mark_text(align="left", baseline="middle", fontSize=12, dx=8).encode(
        x=x, y=y, text="line:N"
    )  # fmt: skip
    heads = text.transform_filter("datum.is_head").mark_text(
        align="left", baseline="middle", fontSize=12, dx=8, fontWeight="bold"
    )
    bodies = text.transform_filter("!datum.is_head")
    arrow_layer = alt.Chart(arrows)
    lines = arrow_layer.mark_rule(strokeWidth=1.5).encode(x=x, y=y, y2="bottom:Q")
    tips = arrow_layer.mark_point(
        shape="triangle-down", filled=True, size=60, opacity=1, color="#80858e"
    ).encode(x=x, y=alt.Y("bottom:Q", scale=lines_down, axis=None))
    end = {str(key): value for key, value in flow.iloc[-1].items()}
    title = caption(
        "From arrival to analysis",
        f"{_count(end, 'participants', 'left')} and {_count(end, 'judgments', 'left')} are "
        "analysed. Judgments: answered targets.",
        note,
    )
    figure = layer_charts(
        [framed, lines, tips, heads, bodies], flow, height=round(height * LINE), title=title
    )
    figure.usermeta = {KEEP_HEIGHT: True}
    return figure


def _place_boxes(flow: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, float]:
    """Return boxes, text lines and arrows in units of a line of text."""
    boxes, words, arrows, top = [], [], [], 0.2
    for number, record in enumerate(flow.to_dict("records")):
        row = {str(key): value for key, value in record.items()}
        lines = [(str(row["stage"]), True)]
        lines += [
            (line, False)
            for line in _exclusion_text(
                row, is_first=pd.isna(row["participants_removed"]) or row["stage"] == FIRST
            )
        ]
        bottom = top + len(lines) + PADDING
        boxes.append({"left": 0.0, "right": 1.0, "top": top, "bottom": bottom})
        for place, (line, is_head) in enumerate(lines):
            middle = top + PADDING / 2 + place + 0.5
            words.append({"left": 0.0, "top": middle, "line": line, "is_head": is_head})
        if number + 1 < len(flow):
            arrows.append({"left": 0.08, "top": bottom, "bottom": bottom + GAP - 0.25})
        top = bottom + GAP
    return pd.DataFrame(boxes), pd.DataFrame(words), pd.DataFrame(arrows), top - GAP + 0.2


def _exclusion_text(row: dict[str, Any], *, is_first: bool) -> list[str]:
    left = ", ".join(_count(row, unit, "left") for unit in _UNITS if pd.notna(row[f"{unit}_left"]))
    if is_first:
        return textwrap.wrap(left, LETTERS)
    units = [unit for unit in _UNITS if row[f"{unit}_removed"]]
    removed = ", ".join(_count(row, unit, "removed") for unit in units) or "nothing"
    sentences = [f"{removed} left out", f"{left} stay"]
    return [line for sentence in sentences for line in textwrap.wrap(sentence, LETTERS)]


def _count(row: dict[str, Any], unit: str, change: str) -> str:
    n = int(row[f"{unit}_{change}"])
    return f"{n:,}\u00a0{unit if n != 1 else unit[:-1]}"


def overlap_figure(overlap: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw the number of judgments that every two steps would both exclude."""
    if not len(overlap):
        raise NotEnoughData("the plan has no step.")
    names = [str(name) for name in overlap.index]
    rows = [(a, b, int(overlap.loc[a, b])) for a in overlap.index for b in overlap.columns]
    cells = pd.DataFrame(rows, columns=["a", "b", "judgments"])
    most = max(1, int(cells["judgments"].max()))
    cells = cells.assign(value=cells["judgments"], text=cells["judgments"].astype(str))
    title = caption(
        "Overlap of the criteria",
        f"Judgments that both criteria would leave out; diagonal: one alone. {len(names)} criteria. Columns: "
        "the numbers of the rows.",
        note,
    )
    return matrix_figure(cells, names, domain=(0, most), title=title, data=cells[["a", "b", "judgments"]])


def _draw_flow(evidence: Evidence) -> alt.LayerChart:
    return flow_figure(flow_frame(evidence.excluded, evidence.stages), note=evidence.note)


def _draw_overlap(evidence: Evidence) -> alt.LayerChart:
    return overlap_figure(evidence.excluded.overlap, note=evidence.note)


def _lacks_steps(evidence: Evidence) -> str:
    missing = lacks_task()(evidence)
    if missing:
        return missing
    return "" if len(evidence.plan.steps) > 1 else "The plan has fewer than two criteria."


DRAWINGS = (
    Drawing(
        name="flow",
        number=8,
        title="From arrival to analysis",
        shows="A box per step of the exclusion plan with the participants and judgments that stay",
        needs="judgments",
        about="study",
        lacking=lacks_task(),
        draw=_draw_flow,
    ),
    Drawing(
        name="overlap",
        number=8,
        title="Overlap of the criteria",
        shows="A square of cells with the judgments that every two criteria would both leave out",
        needs="a plan with two criteria",
        about="study",
        lacking=_lacks_steps,
        draw=_draw_overlap,
    ),
)
