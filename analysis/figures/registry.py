"""The one list of figures, for pages, exports, reports and notebooks."""

import altair as alt

from analysis.errors import BadInput, UnknownName
from analysis.figures import (
    adc_curve,
    agreement,
    catch_times,
    conduct,
    correlations,
    deltas,
    five_analyses,
    flow,
    items,
    learning_curves,
    magnitudes,
    paradigms,
    participants,
    power,
    ratings,
    reliability,
    response_times,
    scale_points,
    sensitivity,
)
from analysis.figures.drawing import Drawing
from analysis.figures.evidence import Evidence
from analysis.figures.statement import statement_figure

FIGURES: dict[str, Drawing] = {
    drawing.name: drawing
    for module in (
        items,
        agreement,
        paradigms,
        deltas,
        adc_curve,
        correlations,
        participants,
        conduct,
        response_times,
        catch_times,
        flow,
        power,
        reliability,
        five_analyses,
        scale_points,
        magnitudes,
        ratings,
        learning_curves,
        sensitivity,
    )
    for drawing in module.DRAWINGS
}


def find_figure(name: str) -> Drawing:
    """Give the figure of a name.

    Parameters
    ----------
    name : str
        A key of :data:`FIGURES`.

    Returns
    -------
    Drawing

    Raises
    ------
    UnknownName
        If there is none; near names are suggested.

    Examples
    --------
    >>> find_figure("items").title
    'Agreement by item'
    """
    if name not in FIGURES:
        raise UnknownName("figure", name, sorted(FIGURES))
    return FIGURES[name]


def draw(name: str, evidence: Evidence) -> alt.LayerChart:
    """Draw a figure, or say in its place why there is nothing to draw.

    Parameters
    ----------
    name : str
        A key of :data:`FIGURES`.
    evidence : Evidence
        What to draw from.

    Returns
    -------
    altair.LayerChart
        For :func:`analysis.figures.export.export_figure`, a page or a notebook.

    Raises
    ------
    UnknownName
        If there is no such figure.

    Examples
    --------
    >>> draw("items", Evidence()).data["statement"].tolist()
    ['There are no judgments yet.']
    """
    drawing = find_figure(name)
    reason = drawing.lacking(evidence)
    if reason:
        return statement_figure(drawing.title, reason, note=evidence.note)
    try:
        return drawing.draw(evidence)
    except BadInput as error:
        sentence = f"Nothing to draw: {error.message}"
        return statement_figure(drawing.title, sentence, note=evidence.note)


def applicable(evidence: Evidence, *, about: str = "") -> tuple[list[Drawing], list[tuple[Drawing, str]]]:
    """Sort the figures into those that apply and those that do not, with the reason.

    Parameters
    ----------
    evidence : Evidence
        What there is.
    about : {"", "study", "models"}
        Only figures of that kind.

    Returns
    -------
    drawable : list of Drawing
    others : list of (Drawing, str)
        With the reason, one sentence.

    Examples
    --------
    >>> [drawing.name for drawing in applicable(Evidence())[0]]
    []
    """
    wanted = [drawing for drawing in FIGURES.values() if about in ("", drawing.about)]
    reasons = [(drawing, drawing.lacking(evidence)) for drawing in wanted]
    return (
        [drawing for drawing, reason in reasons if not reason],
        [(drawing, reason) for drawing, reason in reasons if reason],
    )
