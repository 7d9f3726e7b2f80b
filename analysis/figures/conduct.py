"""What quality signals measure, participant by participant: spread, runs, catch trials, unlikeness."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.columns import require_columns
from analysis.errors import NotEnoughData
from analysis.figures.drawing import Drawing, lacks_task
from analysis.figures.evidence import Evidence
from analysis.figures.participants import MOST_DRAWN, STEP, flag_counts, flagged_axis
from analysis.figures.theme import FAILED, caption, layered
from analysis.plurals import plural
from analysis.quality.base import answered, column_numbers, session_codes
from analysis.quality.catch_trials import catch_trials
from analysis.quality.leave_one_out import leave_one_out
from analysis.quality.side_bias import side_bias
from analysis.quality.straight_lining import LEAST_ANSWERS, LONGEST_RUN, MOST_MODAL, straight_lining
from analysis.rows import RATING_TASKS, Floats, column_or_blank

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

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant`` and ``value``; each measure reads the columns it knows.

    Returns
    -------
    DataFrame
        ``participant``, ``measure`` (a key of :data:`MEASURES`), ``value``, ``flagged`` and ``flags`` (all of
        the participant's quality signals, also those without a measure here, such as answers equal to
        another's); measures without evidence are left out; participants with most flags first. Of the
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
        found = signal(judgments).reset_index()
        if name == "mode":
            found["flagged"] &= found["value"] >= MOST_MODAL
        parts.append(found.assign(measure=name)[["session", "measure", "value", "flagged"]])
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
    rows, values = answered(judgments, of=(*RATING_TASKS, "yes_no"))
    position = np.nan_to_num(column_numbers(judgments, "position"))
    order = np.lexsort((position, session))
    order = order[rows[order]]
    ends = np.searchsorted(session[order], np.arange(len(labels) + 1))
    found = []
    for number, label in enumerate(labels):
        own = values[order[ends[number] : ends[number + 1]]]
        if len(own) >= 2:
            found.append((label, "SD", float(own.std(ddof=1)), False))
            run = longest_run(own)
            found.append((label, "run", float(run), len(own) >= LEAST_ANSWERS and run >= LONGEST_RUN))
    return pd.DataFrame(found, columns=["session", "measure", "value", "flagged"])


def longest_run(values: Floats) -> int:
    """Give the length of the longest run of equal values.

    Parameters
    ----------
    values : array of float
        In order of presentation.

    Returns
    -------
    int

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
    """Draw the measures as a table, flagged cells coloured.

    Parameters
    ----------
    conduct : DataFrame
        From :func:`conduct_frame`.
    note : str
        Conventions to add to the caption.

    Returns
    -------
    altair.LayerChart
        At most forty participants, those with most flags first.

    Raises
    ------
    MissingColumns, NotEnoughData
        If a column is absent or there is no measure.
    """
    require_columns(conduct, "participant", "measure", "value", "flagged", "flags")
    if not len(conduct):
        raise NotEnoughData("nobody has answered enough for any measure.")
    people = list(dict.fromkeys(conduct["participant"]))
    drawn = conduct[conduct["participant"].isin(people[:MOST_DRAWN])]
    measures = [name for name in MEASURES if name in set(conduct["measure"])]
    told = zip(drawn["measure"], drawn["value"], strict=True)
    shown = drawn.assign(text=[_text(str(measure), float(value)) for measure, value in told])
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
    marked = alt.Chart(shown[shown["flagged"]]).mark_rect(color=FAILED, opacity=0.45).encode(x=x, y=y)
    words = alt.Chart(shown).mark_text(fontSize=12).encode(x=x, y=y, text="text:N")
    said = "; ".join(f"{name}: {MEASURES[name]}" for name in measures)
    title = caption(
        "Participants one by one",
        f"{plural(len(people), 'participant')}, {len(suspects)} with quality signals (bold, first); "
        f"coloured: the number that raised one. {said}.",
        f"{MOST_DRAWN} are drawn." if len(people) > MOST_DRAWN else "",
        note,
    )
    return layered([marked, words], drawn, height=alt.Step(STEP), title=title)


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
