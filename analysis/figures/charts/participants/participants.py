"""Scale use by participant, raw and standardized; flagged participants first."""

import json
import re

import altair as alt
import numpy as np
import pandas as pd

from ....aggregation.ratings import transform_ratings
from ....columns import require_columns
from ....errors import NotEnoughData
from ....quality.report import signal_table
from ....rows import RATING_TASKS, Floats, column_or_blank, flags, is_kind, numbers, tasks
from ....text import plural
from ...drawing import Drawing, lacks_task
from ...evidence import Evidence
from ...theme import FAILED, caption, layer_charts

STEP = 18
MOST_DRAWN = 40
BINS = 10
FILL = "#3d95d6"  # seen on light and on dark paper
Z_EDGES = np.arange(-3.0, 3.25, 0.5)


def flag_counts(judgments: pd.DataFrame) -> pd.Series:
    """Count the quality signals that each participant raises."""
    raised = signal_table(judgments).drop_duplicates(["participant", "signal"])
    people = sorted({str(name) for name in judgments["participant"].dropna().unique()}, key=_natural)
    counts = raised.groupby("participant")["signal"].size().reindex(people, fill_value=0)
    return counts.sort_values(ascending=False, kind="stable").astype(int).rename("flags")


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a natural sort key: p2 before p10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def scale_use_frame(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count how often each participant gave each answer."""
    require_columns(judgments, "participant", "value")
    rows = judgments[is_kind(judgments, ("target", "filler"))]
    answers, names = _answers(rows)
    return _shares(rows, answers, names, flag_counts(judgments))


def z_use_frame(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count each participant's standardized ratings in steps of one half."""
    require_columns(judgments, "participant", "value")
    z = transform_ratings(judgments, transform="z").to_numpy(dtype=np.float64)
    # The outermost bins include all values beyond them; nextafter keeps the upper limit within its bin.
    clipped = np.clip(z, Z_EDGES[0], np.nextafter(Z_EDGES[-1], 0))
    places = np.where(np.isnan(z), -1, np.searchsorted(Z_EDGES, clipped, side="right") - 1)
    names = [f"{low:g}".replace("-", "−") for low in Z_EDGES[:-1]]
    return _shares(judgments, places.astype(int), names, flag_counts(judgments))


def _shares(rows: pd.DataFrame, answers: np.ndarray, names: list[str], flagged: pd.Series) -> pd.DataFrame:
    person = rows["participant"].astype(str).to_numpy()
    is_answered = answers >= 0
    counts = pd.crosstab(person[is_answered], answers[is_answered])
    counts = counts.reindex(columns=range(len(names)), fill_value=0)
    counts = counts.reindex([name for name in flagged.index if name in counts.index])
    labelled = counts.rename_axis(index="participant", columns="place")
    long = labelled.reset_index().melt(id_vars="participant", value_name="n", var_name="place")
    rank = {name: number for number, name in enumerate(counts.index)}
    long = long.assign(rank=long["participant"].map(rank), place=long["place"].astype(int))
    long = long.sort_values(["rank", "place"], kind="stable", ignore_index=True)
    totals = long.groupby("participant")["n"].transform("sum")
    return long.assign(
        flags=long["participant"].map(flagged).astype(int),
        answer=[names[place] for place in long["place"]],
        share=long["n"] / totals,
    )[["participant", "flags", "answer", "place", "n", "share"]]


def _answers(rows: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """Return the code of each row's answer, -1 where there is none."""
    value = numbers(rows)
    kinds = {str(name) for name in tasks(rows).dropna().unique()}
    if kinds == {"forced_choice"}:
        first = flags(column_or_blank(rows, "expected_first"))
        if not np.isnan(first).all():
            return _places(np.where(value == first, 0.0, 1.0) + 0 * value + 0 * first), ["first", "second"]
        return _places(1 - value), ["expected", "other"]
    if kinds == {"yes_no"}:
        return _places(value), ["no", "yes"]
    answered = value[~np.isnan(value)]
    if (
        kinds == {"likert"}
        and (answered == np.round(answered)).all()
        and len(answered)
        and np.ptp(answered) < 2 * BINS
    ):
        low, high = _ends(rows, answered)
        return _places(value - low), [f"{point:g}" for point in np.arange(low, high + 1)]
    if kinds == {"magnitude_estimation"}:
        value = np.log10(np.where(value > 0, value, np.nan))
        low, high = float(np.nanmin(value)), float(np.nanmax(value))
    else:
        low, high = _ends(rows, answered)
    steps = np.floor((value - low) / max(high - low, 1e-12) * BINS)
    edges = low + (high - low) * np.arange(BINS) / BINS
    edges = 10**edges if kinds == {"magnitude_estimation"} else edges
    return _places(np.clip(steps, 0, BINS - 1)), [f"{edge:.2g}" for edge in edges]


def _places(places: Floats) -> np.ndarray:
    return np.where(np.isnan(places), -1, places).astype(int)


def _ends(rows: pd.DataFrame, values: Floats) -> tuple[float, float]:
    ends = []
    for name, pick in (("scale_low", np.min), ("scale_high", np.max)):
        numbers = pd.to_numeric(column_or_blank(rows, name), errors="coerce").dropna().to_numpy(dtype=float)
        ends.append(float(pick(np.concatenate([numbers, values]))) if len(numbers) + len(values) else 0.0)
    return ends[0], ends[1]


def scale_use_figure(
    use: pd.DataFrame, *, quantity: str = "answer", axis: str = "", note: str = ""
) -> alt.LayerChart:
    """Draw one row per participant; darker cells hold more of the answers."""
    require_columns(use, "participant", "flags", "answer", "place", "n", "share")
    if not len(use):
        raise NotEnoughData("nobody has answered yet.")
    people = list(dict.fromkeys(use["participant"]))
    visible = use[use["participant"].isin(people[:MOST_DRAWN])]
    order = people[:MOST_DRAWN]
    marked = [name for name in order if int(visible.loc[visible["participant"] == name, "flags"].iloc[0])]
    answers = list(use.drop_duplicates("place").sort_values("place")["answer"])
    x = alt.X(
        "answer:N",
        sort=answers,
        scale=alt.Scale(domain=answers),
        title=axis or quantity,
        axis=alt.Axis(labelAngle=0, labelOverlap=True),
    )
    y = alt.Y("participant:N", sort=order, title=None, axis=flagged_axis(marked))
    tiles = alt.Chart(visible[visible["n"] > 0]).mark_rect(color=FILL).encode(
        x=x,
        y=y,
        opacity=alt.Opacity(
            "share:Q",
            title="share of answers",
            scale=alt.Scale(domain=[0, max(0.5, float(visible["share"].max()))], range=[0.05, 1]),
            legend=alt.Legend(format=".0%", symbolType="square", symbolFillColor=FILL, tickCount=4),
        ),
        tooltip=[
            alt.Tooltip("participant:N"),
            alt.Tooltip("answer:N"),
            alt.Tooltip("n:Q", title="answers"),
            alt.Tooltip("share:Q", format=".0%"),
            alt.Tooltip("flags:Q", title="quality signals"),
        ],
    )  # fmt: skip
    n_flagged = int((use.drop_duplicates("participant")["flags"] > 0).sum())
    title = caption(
        f"Use of the scale: {quantity}",
        f"{plural(len(people), 'participant')}, {plural(int(use['n'].sum()), 'answer')}; "
        f"{n_flagged} with quality signals (bold, first).",
        f"{MOST_DRAWN} are drawn." if len(people) > MOST_DRAWN else "",
        note,
    )
    return layer_charts([tiles], visible, height=alt.Step(STEP), title=title)


def flagged_axis(marked: list[str]) -> alt.Axis:
    """Return an axis of participants with marked ones bold and coloured."""
    from_list = f"indexof({json.dumps(marked)}, datum.value) >= 0"
    colour = {"condition": {"test": from_list, "value": FAILED}, "value": "#80858e"}
    weight = {"condition": {"test": from_list, "value": "bold"}, "value": "normal"}
    return alt.Axis(labelColor=colour, labelFontWeight=weight)


def _draw_use(evidence: Evidence) -> alt.LayerChart:
    return scale_use_figure(scale_use_frame(evidence.everyone), note=evidence.note_before)


def _draw_z(evidence: Evidence) -> alt.LayerChart:
    return scale_use_figure(
        z_use_frame(evidence.everyone), quantity="z", axis="z, each column from", note=evidence.note_before
    )


DRAWINGS = (
    Drawing(
        name="participants",
        number=6,
        title="Use of the scale",
        shows="A row per participant with the share of each answer; participants with quality signals first",
        needs="judgments",
        about="study",
        lacking=lacks_task(),
        draw=_draw_use,
    ),
    Drawing(
        name="participants-z",
        number=6,
        title="Use of the scale, standardized",
        shows="A row per participant with the share of z-scores in steps of one half",
        needs="ratings",
        about="study",
        lacking=lacks_task(*RATING_TASKS),
        draw=_draw_z,
    ),
)
