"""Response times of trials and participants, and accuracy of catch trials by response time."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ....aggregation.proportions import wilson_interval
from ....columns import require_columns
from ....effects.response_times import condition_times, parse_outlier_rule, timed_rows
from ....errors import NotEnoughData
from ....exclusions.plan import Plan
from ....quality.base import column_numbers
from ....quality.response_patterns import MIN_MS_PER_CHARACTER
from ....rows import Flags, Floats, flags, is_kind
from ....text import plural
from ...drawing import Drawing, lacks_kind
from ...evidence import Evidence
from ...points import NOWHERE, Addresses, answering, answers
from ...theme import BAND, FAILED, PASSED, caption, layer_charts

SECONDS = "datum.value < 1000 ? datum.value + ' ms' : datum.value / 1000 + ' s'"


def has_time(judgments: pd.DataFrame, kinds: tuple[str, ...]) -> Flags:
    """Tell which rows of some kinds of trial have a response time.

    Examples
    --------
    >>> has_time(pd.DataFrame({"rt_ms": [900, None], "kind": ["target", "catch"]}), ("target",))
    array([ True, False])
    """
    times = column_numbers(judgments, "rt_ms")
    return is_kind(judgments, kinds) & (np.nan_to_num(times) > 0)


def time_axis(field: str, ends: list[float]) -> alt.X:
    """Return the logarithmic axis of response times."""
    return alt.X(
        f"{field}:Q",
        title="response time",
        scale=alt.Scale(type="log", domain=ends, nice=False),
        axis=alt.Axis(labelExpr=SECONDS, values=_round_times(ends), labelOverlap=True),
    )


def _round_times(ends: list[float]) -> list[float]:
    steps = [factor * 10.0**power for power in range(1, 7) for factor in (1, 2, 5)]
    ticks = [float(step) for step in steps if ends[0] <= step <= ends[1]]
    if len(ticks) < 3:  # a narrow range
        steps = [
            factor * 10.0**power for power in range(1, 7) for factor in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8)
        ]
        ticks = [step for step in steps if ends[0] <= step <= ends[1]]
    return ticks if len(ticks) <= 6 else [step for step in ticks if str(int(step))[0] == "1"]


HEIGHT = 240
STEP = 30
BINS = 36


def trial_times_frame(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count the response times of targets in steps that are equal on a logarithmic scale."""
    times = _times(judgments, ("target",))
    if not len(times):
        return pd.DataFrame({"from_ms": [], "to_ms": [], "n": []})
    # Edges at tenths of a decade; 1e-9 puts a maximum that lies on an edge into the last bin.
    low, high = np.floor(np.log10(times.min()) * 10) / 10, np.ceil(np.log10(times.max()) * 10 + 1e-9) / 10
    edges = np.logspace(low, max(high, low + 0.1), BINS + 1)
    counts = np.histogram(times, bins=edges)[0]
    return pd.DataFrame({"from_ms": edges[:-1], "to_ms": edges[1:], "n": counts})


def participant_times_frame(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return each participant's median response time, from the fastest to the slowest."""
    require_columns(judgments, "participant", "rt_ms")
    is_timed = has_time(judgments, ("target",))
    times = column_numbers(judgments, "rt_ms")[is_timed]
    names = judgments["participant"].astype(str).to_numpy()[is_timed]
    times_by_participant = pd.DataFrame({"participant": names, "rt": times}).groupby("participant")["rt"]
    table = times_by_participant.agg(median_ms="median", n="size").reset_index()
    table = table.sort_values(["median_ms", "participant"], kind="stable", ignore_index=True)
    return table.assign(rank=np.arange(1, len(table) + 1))


def plan_cuts(plan: Plan, judgments: pd.DataFrame) -> dict[str, float]:
    """Return the response times at which a plan cuts."""
    lengths = column_numbers(judgments, "n_characters")
    if np.isnan(lengths).all():
        return {}
    cut = MIN_MS_PER_CHARACTER * float(np.nanmedian(lengths))
    return {step.name: cut for step in plan.steps if step.rule == "signal:speed"}


def _times(judgments: pd.DataFrame, kinds: tuple[str, ...]) -> Floats:
    require_columns(judgments, "rt_ms")
    times: Floats = column_numbers(judgments, "rt_ms")[has_time(judgments, kinds)]
    return times


def trial_times_figure(
    times: pd.DataFrame, *, cuts: Mapping[str, float] | None = None, note: str = ""
) -> alt.LayerChart:
    """Draw the distribution of response times on a logarithmic scale."""
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
    return layer_charts([bars, *_cut_lines(cuts)], times, height=HEIGHT, title=title)


def participant_times_figure(
    times: pd.DataFrame,
    *,
    cuts: Mapping[str, float] | None = None,
    note: str = "",
    addresses: Addresses = NOWHERE,
) -> alt.LayerChart:
    """Draw each participant's median, from the fastest to the slowest."""
    require_columns(times, "participant", "median_ms", "n", "rank")
    if not len(times):
        raise NotEnoughData("no answer has a response time.")
    ends = _ends(times["median_ms"].min() / 1.2, times["median_ms"].max() * 1.2, cuts)
    says = [
        f"{name}: median {_exclusion_text(median)} over {n} trials"
        for name, median, n in zip(times["participant"], times["median_ms"], times["n"], strict=True)
    ]
    points = answering(times, names=times["participant"], says=says, start=addresses.participant)
    dots = points.mark_point(filled=True, size=26, color=PASSED, opacity=0.8).encode(
        **answers(addresses.participant),
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
        f"half are below {_exclusion_text(usual)}.",
        _cut_words(cuts),
        note,
    )
    return layer_charts([*_cut_lines(cuts), dots], times, height=HEIGHT, title=title)


def _ends(low: float, high: float, cuts: Mapping[str, float] | None) -> list[float]:
    """Return the bounds of the axis, which include all times and cuts."""
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
    return "Dashed: " + "; ".join(f"{name}, {_exclusion_text(cut)}" for name, cut in cuts.items()) + "."


def _exclusion_text(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def _draw_trials(evidence: Evidence) -> alt.LayerChart:
    rows = evidence.everyone
    cuts = plan_cuts(evidence.plan, rows)
    return trial_times_figure(trial_times_frame(rows), cuts=cuts, note=evidence.note_before)


def _draw_participants(evidence: Evidence) -> alt.LayerChart:
    rows = evidence.everyone
    cuts = plan_cuts(evidence.plan, rows)
    return participant_times_figure(
        participant_times_frame(rows), cuts=cuts, note=evidence.note_before, addresses=evidence.addresses
    )


CATCH_BINS = 5


def catch_times_frame(judgments: pd.DataFrame, *, bins: int = CATCH_BINS) -> pd.DataFrame:
    """Return the share of catch trials right by response time."""
    require_columns(judgments, "rt_ms", "correct")
    right = flags(judgments["correct"])
    is_timed = has_time(judgments, ("catch",)) & ~np.isnan(right)
    rows = pd.DataFrame({"rt": column_numbers(judgments, "rt_ms")[is_timed], "right": right[is_timed]})
    if not len(rows):
        return pd.DataFrame(columns=["from_ms", "to_ms", "median_ms", "right", "n", "share"])
    group = pd.qcut(rows["rt"], min(bins, rows["rt"].nunique()), labels=False, duplicates="drop")
    parts = rows.groupby(group.fillna(0).astype(int))
    table = pd.DataFrame(parts["rt"].agg(from_ms="min", to_ms="max", median_ms="median"))
    table = table.assign(right=parts["right"].sum().astype(int), n=parts.size())
    low, high = wilson_interval(table["right"], table["n"])
    return table.assign(share=table["right"] / table["n"], ci_low=low, ci_high=high).reset_index(drop=True)


def catch_times_figure(times: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw the share of catch trials right, from fast to slow answers."""
    require_columns(times, "from_ms", "to_ms", "median_ms", "n", "share")
    if not len(times):
        raise NotEnoughData("no catch trial has a response time.")
    base = alt.Chart(times)
    x = time_axis("median_ms", [float(times["from_ms"].min()) / 1.1, float(times["to_ms"].max()) * 1.1])
    y = alt.Y(
        "share:Q", title="catch trials right", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")
    )
    spans = base.mark_rule(strokeWidth=1, opacity=0.5).encode(
        x=alt.X("from_ms:Q"), x2="to_ms:Q", y=y
    )  # fmt: skip
    ends = base.mark_rule(strokeWidth=1.5, color=BAND).encode(x=x, y=alt.Y("ci_low:Q"), y2="ci_high:Q")
    dots = base.mark_point(filled=True, size=60, color=BAND, opacity=1).encode(
        x=x, y=y, tooltip=[alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("n:Q", title="catch trials")]
    )
    title = caption(
        "Catch trials by response time",
        f"{int(times['n'].sum())} catch trials in {len(times)} groups from fast to slow; vertical lines: "
        "95 % Wilson intervals; horizontal lines: the times of the group.",
        note,
    )
    return layer_charts([spans, ends, dots], times, height=HEIGHT, title=title)


def _draw(evidence: Evidence) -> alt.LayerChart:
    return catch_times_figure(catch_times_frame(evidence.everyone), note=evidence.note_before)


def condition_times_figure(conditions: list[dict[str, Any]], *, rule: str, note: str = "") -> alt.LayerChart:
    """Draw the geometric mean of each condition with its interval, and the mean of its shifted lognormal."""
    if not conditions:
        raise NotEnoughData("no answer has a response time.")
    table = pd.DataFrame(conditions)
    table = table.assign(condition=table["condition"].replace("", "not named"))
    numeric = ["ci_low", "ci_high", "geometric_mean", "lognormal_mean"]
    table[numeric] = table[numeric].astype(float)
    ends = [float(table[numeric].min().min()) / 1.05, float(table[numeric].max().max()) * 1.05]
    y = alt.Y("condition:N", sort=list(table["condition"]), title=None)
    base = alt.Chart(table)
    tooltip = [
        alt.Tooltip("condition:N"),
        alt.Tooltip("geometric_mean:Q", title="geometric mean, ms", format=".0f"),
        alt.Tooltip("lognormal_mean:Q", title="shifted lognormal mean, ms", format=".0f"),
        alt.Tooltip("n:Q", title="trials"),
    ]
    lines = base.mark_rule(strokeWidth=2, color=PASSED).encode(x=alt.X("ci_low:Q"), x2="ci_high:Q", y=y)
    dots = base.mark_point(filled=True, size=70, color=PASSED, opacity=1).encode(
        x=time_axis("geometric_mean", ends), y=y, tooltip=tooltip
    )
    ticks = base.mark_tick(thickness=2, size=14, color=BAND).encode(
        x=time_axis("lognormal_mean", ends), y=y, tooltip=tooltip
    )
    title = caption(
        "Response times by condition",
        "Dots: geometric means of participants, with 95 % intervals; ticks: means of the shifted lognormal; "
        "logarithmic scale.",
        f"Outliers left out: {rule}.",
        note,
    )
    return layer_charts([lines, ticks, dots], table, height=alt.Step(STEP), title=title)


def _draw_conditions(evidence: Evidence) -> alt.LayerChart:
    rule = parse_outlier_rule(evidence.outliers)
    rows = timed_rows(evidence.kept, rule, by=evidence.contrasts)
    return condition_times_figure(condition_times(rows), rule=rule.text, note=evidence.note)


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
        name="condition-times",
        number=7,
        title="Response times by condition",
        shows="A dot per condition, the geometric mean of response times, with its interval",
        needs="response times",
        about="study",
        lacking=lacks_kind("target", "rt_ms"),
        draw=_draw_conditions,
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
    Drawing(
        name="catch-times",
        number=7,
        title="Catch trials by response time",
        shows="The share of catch trials right, from fast to slow answers",
        needs="catch trials with response times",
        about="study",
        lacking=lacks_kind("catch", "correct", "rt_ms"),
        draw=_draw,
    ),
)
