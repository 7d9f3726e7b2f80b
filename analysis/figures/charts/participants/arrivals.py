"""Arrivals and completions over time, and how long participants took."""

import altair as alt
import numpy as np
import pandas as pd

from ....columns import require_columns
from ....errors import NotEnoughData
from ....text import plural
from ...drawing import Drawing
from ...evidence import Evidence
from ...theme import BAND, FAILED, PASSED, caption, layer_charts

HEIGHT = 240
LINES = {"arrived": "started_at", "complete": "completed_at"}
BINS = 24
# The default labels have twelve hours without am or pm. A tick at midnight is a date.
CLOCK = (
    "utchours(datum.value) + utcminutes(datum.value) + utcseconds(datum.value) == 0 "
    "? utcFormat(datum.value, '%-d %b') "
    ": utcFormat(datum.value, utcseconds(datum.value) ? '%H:%M:%S' : '%H:%M')"
)
LONGEST_SHARE = 0.98  # longer sessions, left open overnight, would leave no room for the others


def arrival_frame(sessions: pd.DataFrame) -> pd.DataFrame:
    """Count the sessions that had arrived, and were complete, at each moment.

    Notes
    -----
    ``line`` (``arrived``, ``complete``), ``at`` (UTC) and ``n``, in order of time.
    """
    require_columns(sessions, *LINES.values())
    parts = []
    for line, column in LINES.items():
        times = pd.to_datetime(sessions[column], utc=True).dropna().sort_values(ignore_index=True)
        parts.append(pd.DataFrame({"line": line, "at": times, "n": np.arange(1, len(times) + 1)}))
    return pd.concat(parts, ignore_index=True)


def arrival_figure(arrivals: pd.DataFrame, *, note: str = "", time_zone: str = "UTC") -> alt.LayerChart:
    """Draw how many participants had arrived and were complete by each moment, in a time zone."""
    require_columns(arrivals, "line", "at", "n")
    if not len(arrivals):
        raise NotEnoughData("nobody has arrived yet.")
    counts = arrivals.groupby("line")["n"].max()
    names = [name for name in LINES if name in counts.index]
    colours = [{"arrived": PASSED, "complete": BAND}[name] for name in names]
    legend = alt.Legend(symbolType="stroke", symbolSize=300, symbolStrokeWidth=2.5)
    dashes = [{"arrived": [6, 4], "complete": [1, 0]}[name] for name in names]
    # Local times are passed without a zone on a UTC scale: every browser draws them alike.
    local = arrivals.assign(
        local=pd.to_datetime(arrivals["at"], utc=True).dt.tz_convert(time_zone).dt.tz_localize(None)
    )
    lines = alt.Chart(local).mark_line(
        strokeWidth=2.5, interpolate="step-after", point=len(arrivals) < 60
    ).encode(
        x=alt.X(
            "local:T",
            title=time_zone,
            scale=alt.Scale(type="utc"),
            axis=alt.Axis(tickCount=6, labelOverlap=True, labelExpr=CLOCK),
        ),
        y=alt.Y("n:Q", title="participants", axis=alt.Axis(tickMinStep=1)),
        color=alt.Color("line:N", title=None, scale=alt.Scale(domain=names, range=colours), legend=legend),
        strokeDash=alt.StrokeDash(
            "line:N", title=None, scale=alt.Scale(domain=names, range=dashes), legend=legend
        ),
    )  # fmt: skip
    reached = ", ".join(f"{counts[name]:,} {name}" for name in names)
    title = caption("Arrivals", f"{reached}. Previews and pilots are not counted.", note)
    return layer_charts([lines], arrivals, height=HEIGHT, title=title)


def duration_frame(sessions: pd.DataFrame) -> pd.DataFrame:
    """Return the minutes of complete sessions, from the shortest."""
    require_columns(sessions, *LINES.values())
    start, end = (pd.to_datetime(sessions[column], utc=True) for column in LINES.values())
    minutes = ((end - start).dt.total_seconds() / 60).dropna()
    return pd.DataFrame({"minutes": minutes[minutes >= 0].sort_values(ignore_index=True)})


def duration_figure(durations: pd.DataFrame, *, note: str = "") -> alt.LayerChart:
    """Draw the distribution of the minutes between arrival and completion, with their median."""
    require_columns(durations, "minutes")
    minutes = durations["minutes"]
    if not len(minutes):
        raise NotEnoughData("no session is complete yet.")
    longest = max(float(minutes.quantile(LONGEST_SHARE)), float(minutes.median()), 0.1)
    counts, edges = np.histogram(minutes, bins=BINS, range=(0, longest * 1.02))
    bars = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "n": counts})
    histogram = alt.Chart(bars).mark_rect(color=PASSED, opacity=0.8).encode(
        x=alt.X("from:Q", title="minutes from arrival to completion"),
        x2="to:Q",
        y=alt.Y("n:Q", title="participants", axis=alt.Axis(tickMinStep=1)),
        y2=alt.datum(0),
    )  # fmt: skip
    median = float(minutes.median())
    line = alt.Chart(pd.DataFrame({"median": [median]})).mark_rule(
        strokeDash=[4, 4], strokeWidth=2, color=FAILED
    )
    n_beyond = int((minutes > edges[-1]).sum())
    title = caption(
        "Completion times",
        f"{plural(len(minutes), 'complete session')}; dashed: the median, {median:.1f} minutes.",
        f"{n_beyond} took longer than {edges[-1]:.0f} minutes and are not drawn." if n_beyond else "",
        note,
    )
    return layer_charts([histogram, line.encode(x="median:Q")], durations, height=HEIGHT, title=title)


def _sessions(evidence: Evidence) -> pd.DataFrame:
    if evidence.sessions is None:
        raise NotEnoughData("the times of sessions are not known.")
    return evidence.sessions


def _draw_arrivals(evidence: Evidence) -> alt.LayerChart:
    arrivals = arrival_frame(_sessions(evidence))
    return arrival_figure(arrivals, note=evidence.note_before, time_zone=evidence.time_zone)


def _draw_durations(evidence: Evidence) -> alt.LayerChart:
    return duration_figure(duration_frame(_sessions(evidence)), note=evidence.note_before)


def _lacks_arrivals(evidence: Evidence) -> str:
    if evidence.sessions is None:
        return "The times of sessions are not known."
    return "" if evidence.sessions["started_at"].notna().any() else "Nobody has arrived yet."


def _lacks_durations(evidence: Evidence) -> str:
    missing = _lacks_arrivals(evidence)
    if missing or evidence.sessions is None:
        return missing
    return "" if evidence.sessions["completed_at"].notna().any() else "No session is complete yet."


DRAWINGS = (
    Drawing(
        name="arrivals",
        number=5,
        title="Arrivals",
        shows="Two rising lines, the participants who had arrived and who were complete at each moment",
        needs="sessions",
        about="study",
        lacking=_lacks_arrivals,
        draw=_draw_arrivals,
    ),
    Drawing(
        name="completion-times",
        number=5,
        title="Completion times",
        shows="A histogram of the minutes from arrival to completion, with the median",
        needs="complete sessions",
        about="study",
        lacking=_lacks_durations,
        draw=_draw_durations,
    ),
)
