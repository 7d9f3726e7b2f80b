"""How long answers took: of trials, and of participants."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from analysis.columns import require_columns
from analysis.errors import NotEnoughData
from analysis.exclusions.plan import Plan
from analysis.figures.drawing import Drawing, lacks_kind
from analysis.figures.evidence import Evidence
from analysis.figures.theme import FAILED, PASSED, caption, layered
from analysis.figures.times import time_axis, timed
from analysis.plurals import plural
from analysis.quality.base import column_numbers
from analysis.quality.speed import LEAST_MS_PER_CHARACTER
from analysis.rows import Floats

HEIGHT = 240
BINS = 36


def trial_times_frame(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count the response times of targets in steps that are equal on a logarithmic scale.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``rt_ms``.

    Returns
    -------
    DataFrame
        ``from_ms``, ``to_ms``, ``n``; empty without times.
    """
    times = _times(judgments, ("target",))
    if not len(times):
        return pd.DataFrame({"from_ms": [], "to_ms": [], "n": []})
    low, high = np.floor(np.log10(times.min()) * 10) / 10, np.ceil(np.log10(times.max()) * 10 + 1e-9) / 10
    edges = np.logspace(low, max(high, low + 0.1), BINS + 1)
    counts = np.histogram(times, bins=edges)[0]
    return pd.DataFrame({"from_ms": edges[:-1], "to_ms": edges[1:], "n": counts})


def participant_times_frame(judgments: pd.DataFrame) -> pd.DataFrame:
    """Give each participant's median response time, from the fastest to the slowest.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant`` and ``rt_ms``.

    Returns
    -------
    DataFrame
        ``participant``, ``median_ms``, ``n``, ``rank``.
    """
    require_columns(judgments, "participant", "rt_ms")
    used = timed(judgments, ("target",))
    times = column_numbers(judgments, "rt_ms")[used]
    names = judgments["participant"].astype(str).to_numpy()[used]
    found = pd.DataFrame({"participant": names, "rt": times}).groupby("participant")["rt"]
    table = found.agg(median_ms="median", n="size").reset_index()
    table = table.sort_values(["median_ms", "participant"], kind="stable", ignore_index=True)
    return table.assign(rank=np.arange(1, len(table) + 1))


def plan_cuts(plan: Plan, judgments: pd.DataFrame) -> dict[str, float]:
    """Give the response times at which a plan cuts.

    Parameters
    ----------
    plan : Plan
        Only the signal ``speed`` cuts by time, in ms per character.
    judgments : DataFrame, one row per judgment
        ``n_characters`` turns it into ms, at the median length.

    Returns
    -------
    dict of str to float
        Step to milliseconds; empty where the plan has no cut or lengths are unknown.
    """
    lengths = column_numbers(judgments, "n_characters")
    if np.isnan(lengths).all():
        return {}
    cut = LEAST_MS_PER_CHARACTER * float(np.nanmedian(lengths))
    return {step.name: cut for step in plan.steps if step.rule == "signal:speed"}


def _times(judgments: pd.DataFrame, kinds: tuple[str, ...]) -> Floats:
    require_columns(judgments, "rt_ms")
    times: Floats = column_numbers(judgments, "rt_ms")[timed(judgments, kinds)]
    return times


def trial_times_figure(
    times: pd.DataFrame, *, cuts: Mapping[str, float] | None = None, note: str = ""
) -> alt.LayerChart:
    """Draw the distribution of response times on a logarithmic scale.

    Parameters
    ----------
    times : DataFrame
        From :func:`trial_times_frame`.
    cuts : mapping of str to float, optional
        Names and milliseconds of cuts, as from :func:`plan_cuts`.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or there are no times.
    """
    require_columns(times, "from_ms", "to_ms", "n")
    if not len(times):
        raise NotEnoughData("no answer has a response time.")
    bars = alt.Chart(times).mark_rect(color=PASSED, opacity=0.8).encode(
        x=time_axis("from_ms", _ends(times["from_ms"].min(), times["to_ms"].max(), cuts)),
        x2="to_ms:Q",
        y=alt.Y("n:Q", title="answers"),
        y2=alt.datum(0),
        tooltip=[alt.Tooltip("from_ms:Q", format=".0f"), alt.Tooltip("to_ms:Q", format=".0f"), "n:Q"],
    )  # fmt: skip
    title = caption(
        "Response times of trials",
        f"{int(times['n'].sum())} answers to targets; logarithmic scale.",
        _cut_words(cuts),
        note,
    )
    return layered([bars, *_cut_lines(cuts)], times, height=HEIGHT, title=title)


def participant_times_figure(
    times: pd.DataFrame, *, cuts: Mapping[str, float] | None = None, note: str = ""
) -> alt.LayerChart:
    """Draw each participant's median, from the fastest to the slowest.

    Parameters
    ----------
    times : DataFrame
        From :func:`participant_times_frame`.
    cuts : mapping of str to float, optional
        As in :func:`trial_times_figure`.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or there are no times.
    """
    require_columns(times, "participant", "median_ms", "n", "rank")
    if not len(times):
        raise NotEnoughData("no answer has a response time.")
    ends = _ends(times["median_ms"].min() / 1.2, times["median_ms"].max() * 1.2, cuts)
    dots = alt.Chart(times).mark_point(filled=True, size=26, color=PASSED, opacity=0.8).encode(
        x=time_axis("median_ms", ends),
        y=alt.Y(
            "rank:Q",
            title="participants, fastest first",
            scale=alt.Scale(domain=[0, len(times) + 1], reverse=True, nice=False),
            axis=alt.Axis(labels=False, ticks=False, grid=False),
        ),
        tooltip=[
            alt.Tooltip("participant:N"),
            alt.Tooltip("median_ms:Q", title="median, ms", format=".0f"),
            alt.Tooltip("n:Q", title="trials"),
        ],
    )  # fmt: skip
    usual = float(times["median_ms"].median())
    title = caption(
        "Response times of participants",
        f"{plural(len(times), 'participant')}; each dot is a median over targets; "
        f"half are below {_said(usual)}.",
        _cut_words(cuts),
        note,
    )
    return layered([*_cut_lines(cuts), dots], times, height=HEIGHT, title=title)


def _ends(low: float, high: float, cuts: Mapping[str, float] | None) -> list[float]:
    """The ends of the axis: all times and all cuts lie within."""
    marks = [cut for cut in (cuts or {}).values() if cut > 0]
    return [
        min([float(low), *(cut / 1.1 for cut in marks)]),
        max([float(high), *(cut * 1.1 for cut in marks)]),
    ]


def _cut_lines(cuts: Mapping[str, float] | None) -> list[alt.Chart]:
    if not cuts:
        return []
    lines = pd.DataFrame({"step": list(cuts), "cut_ms": list(cuts.values())})
    return [alt.Chart(lines).mark_rule(strokeDash=[4, 4], strokeWidth=2, color=FAILED).encode(x="cut_ms:Q")]


def _cut_words(cuts: Mapping[str, float] | None) -> str:
    if not cuts:
        return ""
    return "Dashed: " + "; ".join(f"{name}, {_said(cut)}" for name, cut in cuts.items()) + "."


def _said(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def _draw_trials(evidence: Evidence) -> alt.LayerChart:
    rows = evidence.everyone
    cuts = plan_cuts(evidence.plan, rows)
    return trial_times_figure(trial_times_frame(rows), cuts=cuts, note=evidence.note_before)


def _draw_participants(evidence: Evidence) -> alt.LayerChart:
    rows = evidence.everyone
    cuts = plan_cuts(evidence.plan, rows)
    return participant_times_figure(participant_times_frame(rows), cuts=cuts, note=evidence.note_before)


DRAWINGS = (
    Drawing(
        name="response-times",
        number=7,
        title="Response times of trials",
        shows="A histogram of the response times on a logarithmic scale, with the plan's cuts",
        needs="response times",
        about="study",
        lacking=lacks_kind("target", "rt_ms"),
        draw=_draw_trials,
    ),
    Drawing(
        name="participant-times",
        number=7,
        title="Response times of participants",
        shows="A dot per participant, the median response time, from the fastest to the slowest",
        needs="response times",
        about="study",
        lacking=lacks_kind("target", "rt_ms"),
        draw=_draw_participants,
    ),
)
