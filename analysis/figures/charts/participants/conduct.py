"""Measures of the quality signals by participant: spread, runs, catch trials, unlikeness."""

import altair as alt
import numpy as np
import pandas as pd

from ....columns import require_columns
from ....errors import NotEnoughData
from ....quality.attention_checks import catch_trials
from ....quality.base import answered_rows, column_numbers, session_codes
from ....quality.leave_one_out import leave_one_out
from ....quality.response_patterns import (
    MAX_MODAL_SHARE,
    MAX_RUN,
    MIN_ANSWERS,
    side_bias,
    straight_lining,
)
from ....rows import RATING_TASKS, Floats, column_or_blank
from ....text import plural
from ...drawing import Drawing, lacks_task
from ...evidence import Evidence
from ...theme import FAILED, caption, layer_charts
from .participants import MOST_DRAWN, STEP, flag_counts, flagged_axis

MEASURES = {
    "SD": "SD of the raw answers",
    "run": "longest run of equal answers",
    "mode": "share of the commonest answer",
    "side": "share of the commoner side",
    "catch": "share of catch trials wrong",
    "r": "correlation with the means of all others",
}


def conduct_frame(judgments: pd.DataFrame) -> pd.DataFrame:
    """Measure each participant's answers as the quality signals do.

    Notes
    -----
    ``participant``, ``measure`` (a key of :data:`MEASURES`), ``value``, ``flagged`` and ``flags`` (all of
    the participant's quality signals, also those without a measure here, such as answers equal to
    another's); measures without evidence are omitted; participants with most flags first. Of the
    straight lines that one signal flags, ``mode`` carries those of the commonest answer, ``run`` those of
    a run. Of several sessions of one participant the flagged one counts, else the first.
    """
    require_columns(judgments, "participant", "value")
    session, labels = session_codes(judgments)
    people = column_or_blank(judgments, "participant").astype(str).to_numpy()
    owner = {labels[code]: people[row] for row, code in reversed(list(enumerate(session)))}
    parts = [_spread_and_runs(judgments)]
    for name, signal in (
        ("mode", straight_lining),
        ("side", side_bias),
        ("catch", catch_trials),
        ("r", leave_one_out),
    ):
        values = signal(judgments).reset_index()
        if name == "mode":
            values["flagged"] &= values["value"] >= MAX_MODAL_SHARE
        parts.append(values.assign(measure=name)[["session", "measure", "value", "flagged"]])
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(participant=table["session"].map(owner), flagged=table["flagged"].astype(bool))
    table = table[table["value"].notna()].sort_values("flagged", ascending=False, kind="stable")
    once = table.drop_duplicates(["participant", "measure"])
    counts = flag_counts(judgments)
    rank = {name: place for place, name in enumerate(counts.index)}
    order = once["participant"].map(rank).to_numpy() * len(MEASURES)
    order = order + once["measure"].map({name: place for place, name in enumerate(MEASURES)}).to_numpy()
    once = once.assign(flags=once["participant"].map(counts)).iloc[np.argsort(order, kind="stable")]
    return once.reset_index(drop=True)[["participant", "measure", "value", "flagged", "flags"]]


def _spread_and_runs(judgments: pd.DataFrame) -> pd.DataFrame:
    session, labels = session_codes(judgments)
    rows, values = answered_rows(judgments, of=(*RATING_TASKS, "yes_no"))
    position = np.nan_to_num(column_numbers(judgments, "position"))
    order = np.lexsort((position, session))
    order = order[rows[order]]
    ends = np.searchsorted(session[order], np.arange(len(labels) + 1))
    measures = []
    for number, label in enumerate(labels):
        answers = values[order[ends[number] : ends[number + 1]]]
        if len(answers) >= 2:
            measures.append((label, "SD", float(answers.std(ddof=1)), False))
            run = longest_run(answers)
            measures.append((label, "run", float(run), len(answers) >= MIN_ANSWERS and run >= MAX_RUN))
    return pd.DataFrame(measures, columns=["session", "measure", "value", "flagged"])


def longest_run(values: Floats) -> int:
    """Return the length of the longest run of equal values.

    Examples
    --------
    >>> longest_run(np.array([3.0, 3.0, 4.0, 4.0, 4.0, 3.0]))
    3
    """
    if not len(values):
        return 0
    changes = np.flatnonzero(np.diff(values)) + 1
    return int(np.diff(np.concatenate([[0], changes, [len(values)]])).max())


def conduct_figure(conduct: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw the measures as a table, flagged cells coloured."""
    require_columns(conduct, "participant", "measure", "value", "flagged", "flags")
    if not len(conduct):
        raise NotEnoughData("nobody has answered enough for any measure.")
    people = list(dict.fromkeys(conduct["participant"]))
    visible = conduct[conduct["participant"].isin(people[:MOST_DRAWN])]
    measures = [name for name in MEASURES if name in set(conduct["measure"])]
    cells = zip(visible["measure"], visible["value"], strict=True)
    labelled = visible.assign(text=[_text(str(measure), float(value)) for measure, value in cells])
    x = alt.X(
        "measure:N",
        sort=measures,
        scale=alt.Scale(domain=measures),
        title=None,
        axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False),
    )
    suspects = list(conduct.loc[conduct["flags"] > 0, "participant"].unique())
    axis = flagged_axis([name for name in suspects if name in people[:MOST_DRAWN]])
    y = alt.Y("participant:N", sort=people[:MOST_DRAWN], title=None, axis=axis)
    marked = alt.Chart(labelled[labelled["flagged"]]).mark_rect(color=FAILED, opacity=0.45).encode(x=x, y=y)
    words = alt.Chart(labelled).mark_text(fontSize=12).encode(x=x, y=y, text="text:N")
    legend = "; ".join(f"{name}: {MEASURES[name]}" for name in measures)
    title = caption(
        "Participants one by one",
        f"{plural(len(people), 'participant')}, {len(suspects)} with quality signals (bold, first); "
        f"coloured: the number that raised one. {legend}.",
        f"{MOST_DRAWN} are drawn." if len(people) > MOST_DRAWN else "",
        note,
    )
    return layer_charts([marked, words], visible, height=alt.Step(STEP), title=title)


def _text(measure: str, value: float) -> str:
    if measure == "run":
        return f"{value:.0f}"
    return f"{value:.0%}" if measure in ("mode", "side", "catch") else f"{value:.2f}".replace("-", "−")


def _draw(evidence: Evidence) -> alt.LayerChart:
    return conduct_figure(conduct_frame(evidence.everyone), note=evidence.note_before)


DRAWINGS = (
    Drawing(
        name="participants-conduct",
        number=6,
        title="Participants one by one",
        shows="A row per participant with spread, longest run, catch trials and likeness to all others",
        needs="judgments",
        about="study",
        lacking=lacks_task(),
        draw=_draw,
    ),
)
