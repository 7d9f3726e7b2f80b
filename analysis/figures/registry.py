"""The registry of figures for pages, exports, reports and notebooks."""

from dataclasses import replace

import altair as alt

from ..errors import BadInput
from ..plugins.registry import Plugin, Registry
from .charts.effects import five_analyses, groups, interaction, power, sequential, specification_curve
from .charts.judgments import agreement, items, magnitudes, ratings, reliability, scale_points
from .charts.models import (
    adc_curve,
    correlations,
    deltas,
    leaderboard,
    learning_curves,
    linking,
    paradigms,
    surprisal,
    wright_map,
)
from .charts.participants import (
    agreement_and_time,
    arrivals,
    conduct,
    flow,
    participants,
    response_times,
    sensitivity,
)
from .drawing import Drawing, statement_figure
from .evidence import Evidence

MODULES = (
    interaction,
    items,
    agreement,
    paradigms,
    leaderboard,
    deltas,
    adc_curve,
    correlations,
    arrivals,
    agreement_and_time,
    participants,
    conduct,
    response_times,
    flow,
    power,
    reliability,
    five_analyses,
    groups,
    sequential,
    scale_points,
    magnitudes,
    ratings,
    learning_curves,
    linking,
    surprisal,
    wright_map,
    sensitivity,
    specification_curve,
)


def _adopt(plugin: Plugin) -> Drawing:
    """The drawing of a plugin; whatever it raises is shown in its place, with the name of the package."""
    drawing = plugin.component
    if not isinstance(drawing, Drawing):
        raise TypeError(f"a figure is a Drawing, not {type(drawing).__name__}")
    if drawing.name != plugin.name:
        raise ValueError(f"the entry point is called {plugin.name} and the drawing {drawing.name}")
    if drawing.about not in ("study", "models"):
        raise ValueError(f"it is about {drawing.about!r}, not study or models")
    lacking = plugin.guard(drawing.lacking, returns=str)

    def lacking_or_failure(evidence: Evidence) -> str:
        try:
            return str(lacking(evidence))
        except BadInput as error:
            return error.message

    draw = plugin.guard(drawing.draw, returns=alt.TopLevelMixin)
    return replace(drawing, lacking=lacking_or_failure, draw=draw)


BUILT_IN: dict[str, Drawing] = {drawing.name: drawing for module in MODULES for drawing in module.DRAWINGS}
FIGURES: Registry[Drawing] = Registry("figures", BUILT_IN, adopt=_adopt)
GROUPS: dict[str, str] = {
    drawing.name: group
    for group, modules in {
        "judgments": (items, agreement, ratings, scale_points, magnitudes, reliability),
        "effects": (interaction, five_analyses, groups, sequential, power, specification_curve),
        "sample": (arrivals, flow, sensitivity),
        "participants": (agreement_and_time, participants, conduct),
        "times": (response_times,),
        "models": (
            paradigms,
            leaderboard,
            deltas,
            adc_curve,
            correlations,
            learning_curves,
            linking,
            surprisal,
            wright_map,
        ),
    }.items()
    for module in modules
    for drawing in module.DRAWINGS
}
"""The question that each built-in figure answers, as a group of pages."""


def figure_group(drawing: Drawing) -> str:
    """Return the group of pages of a figure; a plugin's figures are with the judgments or the models.

    Examples
    --------
    >>> figure_group(FIGURES["items"])
    'judgments'
    """
    return GROUPS.get(drawing.name, "models" if drawing.about == "models" else "judgments")


def find_figure(name: str) -> Drawing:
    """Look up a figure by name.

    Examples
    --------
    >>> find_figure("items").title
    'Agreement by item'
    """
    return FIGURES.find(name, noun="figure")


def draw(name: str, evidence: Evidence) -> alt.LayerChart:
    """Draw a figure, or a statement of why it cannot be drawn.

    Parameters
    ----------
    name : str
        A key of :data:`FIGURES`, such as ``items``.
    evidence : Evidence
        Data to draw from.

    Returns
    -------
    altair.LayerChart
        For :func:`obelus.figures.export.export_figure`, a page or a notebook.

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
    """Divide the figures into those that can be drawn and those that cannot, with the reason.

    Parameters
    ----------
    evidence : Evidence
        Data of the study or comparison.
    about : {"", "study", "models"}
        Restrict to figures of one subject; empty for all.

    Returns
    -------
    drawable : list of Drawing
        Figures that the evidence suffices for.
    others : list of (Drawing, str)
        The other figures, each with the reason in one sentence.

    Examples
    --------
    >>> [drawing.name for drawing in applicable(Evidence())[0]]
    []
    """
    drawings = [drawing for drawing in FIGURES.values() if about in ("", drawing.about)]
    reasons = [(drawing, drawing.lacking(evidence)) for drawing in drawings]
    return (
        [drawing for drawing, reason in reasons if not reason],
        [(drawing, reason) for drawing, reason in reasons if reason],
    )
