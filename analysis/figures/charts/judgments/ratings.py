"""Sentence means by condition: a tick per sentence, a dot for the condition."""

import altair as alt
import pandas as pd

from ....aggregation.ratings import ratings_report
from ....columns import require_columns
from ....errors import NotEnoughData
from ....rows import RATING_TASKS
from ....text import plural
from ...drawing import Drawing, lacks_task
from ...evidence import Evidence
from ...theme import FAILED, PASSED, caption, layer_charts

STEP = 26
CONDITIONS = 40  # rows of a figure that fits a page
MOST_TICKS = 4_000  # of an SVG that a browser draws without delay


def rating_figure(items: pd.DataFrame, *, scale: str = "z", note: str = "") -> alt.LayerChart:
    """Draw the mean of every sentence by condition.

    Conditions are sorted from the most to the least acceptable; at most forty, those with most sentences.
    """
    require_columns(items, "condition", "mean")
    rated = items[items["mean"].notna()].assign(
        condition=lambda frame: frame["condition"].fillna("").replace("", "all")
    )
    if not len(rated):
        raise NotEnoughData("no sentence has a mean.")
    largest = rated["condition"].value_counts(sort=True).index[:CONDITIONS]
    in_largest = rated[rated["condition"].isin(largest)]
    means = in_largest.groupby("condition")["mean"].mean().sort_values(ascending=False)
    sampled = (
        in_largest
        if len(in_largest) <= MOST_TICKS
        else in_largest.sample(MOST_TICKS, random_state=0).sort_index()
    )
    y = alt.Y("condition:N", sort=list(means.index), title=None)
    ticks = alt.Chart(sampled).mark_tick(thickness=1.5, color=PASSED, opacity=_opacity(sampled)).encode(
        x=alt.X("mean:Q", title=f"mean rating ({scale})"), y=y
    )  # fmt: skip
    centres = alt.Chart(means.rename("centre").reset_index()).mark_point(
        filled=True, size=80, color=FAILED, opacity=1
    )
    left_out = rated["condition"].nunique() - len(means)
    title = caption(
        "Ratings by condition",
        f"{plural(len(in_largest), 'sentence')} in {plural(len(means), 'condition')}; "
        "ticks: sentences; dots: means of sentences.",
        f"A random {MOST_TICKS:,} of the sentences are drawn." if len(sampled) < len(in_largest) else "",
        f"{left_out} smaller conditions are not drawn." if left_out else "",
        note,
    )
    dots = centres.encode(x="centre:Q", y=y)
    return layer_charts([ticks, dots], sampled[["condition", "mean"]], height=alt.Step(STEP), title=title)


def _opacity(ticks: pd.DataFrame) -> float:
    """Return the opacity of ticks: lower where many share a row."""
    most = int(ticks["condition"].value_counts().max())
    return min(0.55, max(0.05, 60 / most))


def _draw(evidence: Evidence) -> alt.LayerChart:
    report = ratings_report(evidence.kept)
    frame = pd.DataFrame(report["items"], columns=["condition", "mean"]).astype({"mean": float})
    return rating_figure(frame, note=evidence.note)


DRAWINGS = (
    Drawing(
        name="ratings",
        number=12,
        title="Ratings by condition",
        shows="A tick per sentence, its mean rating, and a dot per condition",
        needs="ratings",
        about="study",
        lacking=lacks_task(*RATING_TASKS),
        draw=_draw,
    ),
)
