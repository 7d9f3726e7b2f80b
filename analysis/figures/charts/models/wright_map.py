"""Wright map: abilities of participants and models beside the difficulties of pairs, on one scale."""

import altair as alt
import pandas as pd

from ....comparison.in_depth.abilities import REASONS
from ....errors import NotEnoughData
from ...drawing import Drawing
from ...evidence import Evidence
from ...theme import caption, layer_charts

HEIGHT = 420
MOST_DRAWN = 12  # columns of models that fit a page
PEOPLE, PAIRS, MODELS = "participants", "pairs", "models"


def wright_frame(scale: dict[str, object]) -> pd.DataFrame:
    """Return one row per participant, model and pair: ``kind``, ``name``, ``place``, ``low``, ``high``."""
    parts = (
        (PEOPLE, "people", "participant", "ability"),
        (MODELS, "models", "model", "ability"),
        (PAIRS, "items", "pair_id", "difficulty"),
    )
    rows = [
        {"kind": kind, "name": row[name], "place": row[value], "low": row["ci_low"], "high": row["ci_high"]}
        for kind, key, name, value in parts
        for row in scale[key]  # type: ignore[attr-defined]
        if row[value] is not None
    ]
    return pd.DataFrame(rows, columns=["kind", "name", "place", "low", "high"])


def wright_figure(frame: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw the map: ticks for participants and pairs, and between them a dot with its interval per model."""
    if not len(frame):
        raise NotEnoughData("no ability and no difficulty could be estimated.")
    models = frame[frame["kind"] == MODELS].sort_values("place", ascending=False, kind="stable")
    names = list(models["name"][:MOST_DRAWN])
    is_drawn = (frame["kind"] != MODELS) | frame["name"].isin(names)
    rows = frame[is_drawn].assign(column=frame["name"].where(frame["kind"] == MODELS, frame["kind"]))
    columns = [PEOPLE, *names, PAIRS]
    x = alt.X("column:N", title=None, sort=columns, axis=alt.Axis(labelAngle=-40, labelLimit=110))
    y = alt.Y("place:Q", title="ability and difficulty (SD of participants)", scale=alt.Scale(zero=False))
    colour = alt.Color("kind:N", legend=None, scale=alt.Scale(domain=[PEOPLE, MODELS, PAIRS]))
    tooltip = [alt.Tooltip("name:N"), alt.Tooltip("place:Q", format=".2f")]
    base = alt.Chart(rows)
    ticks = base.transform_filter(f"datum.kind !== '{MODELS}'").mark_tick(
        orient="horizontal", thickness=2, opacity=0.5
    ).encode(x=x, y=y, color=colour, tooltip=tooltip)  # fmt: skip
    takers = base.transform_filter(f"datum.kind === '{MODELS}'")
    lines = takers.mark_rule(strokeWidth=1.5).encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour)
    dots = takers.mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour, tooltip=tooltip)
    counts = frame["kind"].value_counts()
    title = caption(
        "Wright map",
        f"{counts.get(PEOPLE, 0)} participants, {counts.get(MODELS, 0)} models, "
        f"{counts.get(PAIRS, 0)} pairs. A taker at the height of a pair gets it right with probability "
        "one half. Intervals: 95 %.",
        f"The {MOST_DRAWN} most able models are drawn." if len(models) > MOST_DRAWN else "",
        note,
    )
    return layer_charts([ticks, lines, dots], rows, height=HEIGHT, title=title)


def _lacking(evidence: Evidence) -> str:
    """Return why there is no scale; empty where there is one."""
    if evidence.pairs is None or evidence.scores is None:
        return "There are no scores of a model on minimal pairs."
    if evidence.judgments is None and evidence.abilities is None:
        return "There are no judgments yet."
    return ""


def _draw(evidence: Evidence) -> alt.LayerChart:
    scale = evidence.abilities or {"status": "no_judgments"}
    if not scale.get("people"):
        raise NotEnoughData(REASONS.get(scale["status"], "no ability could be estimated."))
    return wright_figure(wright_frame(dict(scale)), note=evidence.note)


DRAWINGS = (
    Drawing(
        name="wright-map",
        number=14,
        title="Wright map",
        shows="Abilities of participants and models beside difficulties of pairs, on one scale (Rasch)",
        needs="choices between the members of minimal pairs or ratings of both, and scores of a model",
        about="models",
        lacking=_lacking,
        draw=_draw,
    ),
)
