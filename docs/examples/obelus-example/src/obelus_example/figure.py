"""A figure: what it needs, and how it is drawn from the judgments."""

import altair as alt

from analysis.figures.drawing import Drawing, lacks_task
from analysis.figures.evidence import Evidence
from analysis.figures.theme import caption, layer_charts


def draw(evidence: Evidence) -> alt.LayerChart:
    """One bar for each participant."""
    answers = evidence.everyone.groupby("participant")["value"].count().rename("answers").reset_index()
    bars = alt.Chart(answers).mark_bar().encode(x="answers:Q", y=alt.Y("participant:N", title=None))
    return layer_charts([bars], answers, height=alt.Step(18), title=caption(FIGURE.title, evidence.note))


FIGURE = Drawing(
    name="example",
    number=900,
    title="Answers of each participant",
    shows="Bars with the number of answers of each participant",
    needs="judgments",
    about="study",
    lacking=lacks_task(),  # of any task
    draw=draw,
)
