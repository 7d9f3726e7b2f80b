"""A figure that says in words why there is nothing to draw."""

import textwrap

import altair as alt
import pandas as pd

from analysis.figures.theme import caption, layered

LINE = 18
MOST = 44


def statement_figure(title: str, sentence: str, *, note: str = "") -> alt.LayerChart:
    """Draw a sentence in place of a figure, so that a page or a paper never shows a broken one.

    Parameters
    ----------
    title : str
        Of the figure that could not be drawn.
    sentence : str
        Why.
    note : str
        Conventions to add to the caption, such as the plan.

    Returns
    -------
    altair.LayerChart
        The sentence as text; its data is the sentence.

    Examples
    --------
    >>> statement_figure("Agreement by item", "There are no judgments yet.").data["statement"].tolist()
    ['There are no judgments yet.']
    """
    lines = textwrap.wrap(sentence, MOST) or [""]
    data = pd.DataFrame({"statement": [sentence]})
    shown = pd.DataFrame({"line": lines, "place": range(len(lines))})
    text = (
        alt.Chart(shown)
        .mark_text(align="left", fontSize=13)
        .encode(x=alt.value(2), y=alt.Y("place:O", axis=None), text="line:N")
    )
    return layered([text], data, height=alt.Step(LINE), title=caption(title, note))
