"""Reliability of means by number of participants, and the ceiling it sets for models."""

import altair as alt
import pandas as pd

from ....columns import require_columns
from ....errors import NotEnoughData
from ....reliability.coding import code_answers
from ....reliability.split_half import split_half_by_size
from ...drawing import Drawing, lacks_task
from ...evidence import Evidence
from ...theme import BAND, PASSED, caption, layer_charts

HEIGHT = 300
LINES = {"reliability": "spearman_brown", "ceiling of a model": "ceiling"}


def reliability_frame(judgments: pd.DataFrame, *, seed: int = 0) -> tuple[pd.DataFrame, str]:
    """Return split-half reliability by number of participants, on the answers of the reliability table."""
    answers = code_answers(judgments)
    rows = answers.table.assign(value=answers.table["score"])
    listed = rows if (rows["list"] != "").all() else rows.drop(columns="list")
    words = {"pair": "pairs' shares of expected choices", "item": "item means"}
    unit = words.get(answers.unit, "sentence means")
    of_z = " of z" if answers.is_rating else ""
    return split_half_by_size(listed, unit="unit", seed=seed), f"{unit}{of_z}"


def reliability_figure(reliability: pd.DataFrame, *, unit: str = "means", note: str = "") -> alt.LayerChart:
    """Draw split-half reliability and its square root by number of participants."""
    require_columns(reliability, "n", "spearman_brown", "low", "high", "ceiling", "units")
    defined = reliability[reliability["spearman_brown"].notna()]
    if not len(defined):
        raise NotEnoughData("no sample of participants has units that both halves judged.")
    long = defined.melt(id_vars=["n"], value_vars=list(LINES.values()), var_name="field", value_name="height")
    long["line"] = long["field"].map({field: name for name, field in LINES.items()})
    x = alt.X("n:Q", title="participants", scale=alt.Scale(zero=True, nice=True))
    low = min(0.0, float(defined["low"].min()))
    y = alt.Y("height:Q", title="correlation", scale=alt.Scale(domain=[low, 1], nice=False))
    scale = alt.Scale(domain=list(LINES), range=[PASSED, BAND])
    dashes = alt.Scale(domain=list(LINES), range=[[1, 0], [6, 4]])
    legend = alt.Legend(symbolType="stroke", symbolSize=300, symbolStrokeWidth=2.5)
    band = alt.Chart(defined).mark_area(color=PASSED, opacity=0.16).encode(
        x=x, y=alt.Y("low:Q"), y2="high:Q"
    )  # fmt: skip
    lines = alt.Chart(long[long["height"].notna()]).mark_line(
        strokeWidth=2.5, point=alt.OverlayMarkDef(size=36)
    ).encode(
        x=x,
        y=y,
        color=alt.Color("line:N", title=None, scale=scale, legend=legend),
        strokeDash=alt.StrokeDash("line:N", title=None, scale=dashes, legend=legend),
        tooltip=[alt.Tooltip("line:N"), alt.Tooltip("n:Q"), alt.Tooltip("height:Q", format=".3f")],
    )  # fmt: skip
    last = defined.iloc[-1]
    ceiling = f", ceiling {last['ceiling']:.2f}" if pd.notna(last["ceiling"]) else ""
    title = caption(
        "Reliability by number of participants",
        f"{unit[:1].upper()}{unit[1:]}, {last['units']:,.0f} of them; split halves within list, "
        f"Spearman–Brown. With all {int(last['n'])} participants {last['spearman_brown']:.2f}{ceiling} (√). "
        "Band: 95 % of random samples.",
        note,
    )
    return layer_charts([band, lines], reliability, height=HEIGHT, title=title)


def _draw(evidence: Evidence) -> alt.LayerChart:
    table, unit = reliability_frame(evidence.kept, seed=evidence.seed)
    return reliability_figure(table, unit=unit, note=evidence.note)


DRAWINGS = (
    Drawing(
        name="reliability",
        number=10,
        title="Reliability by number of participants",
        shows="A curve of split-half reliability by number of participants, and its square root",
        needs="judgments of at least four participants",
        about="study",
        lacking=lacks_task(),
        draw=_draw,
    ),
)
