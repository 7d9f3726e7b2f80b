"""One look for every figure: colours, sizes, light and dark; captions that fit a phone."""

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import altair as alt
import pandas as pd

Mode = Literal["light", "dark"]

PEOPLE, CONSTANT, CHANCE = "people", "constant", "chance"
DASHES = {PEOPLE: [6, 4], CONSTANT: [2, 3], CHANCE: [8, 3, 2, 3]}
# Fonts of one width (Liberation Sans is Arial's), so that a page's text is as wide as the server measured.
SANS = 'Arial, "Liberation Sans", Arimo, Helvetica, sans-serif'
PADDING = {"left": 14, "top": 5, "right": 8, "bottom": 5}  # where no such font is there, text runs wider
CAPTION_WIDTH = 54
VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])

# Okabe & Ito (2008), told apart with every common kind of colour vision; lighter steps on dark paper.
INK = {"light": "#1b1d21", "dark": "#eceae4"}
QUIET = {"light": "#5b6069", "dark": "#a4a8b0"}
LINE = {"light": "#dcd9d1", "dark": "#343842"}
MODELS = {
    "light": ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7a00"),
    "dark": ("#56b4e9", "#ff9248", "#2fc79a", "#e0a0c5", "#f0c060", "#8fd0f5", "#f0e442"),
}
LIGHTER = dict(zip(MODELS["light"], MODELS["dark"], strict=True))
# Colours of marks that the theme's range does not reach; on dark paper their lighter steps.
KEEPS_COLOURS = {"keeps_colours": True}
"""``usermeta`` of a figure that looks the same on both papers."""
PASSED, TOO_FAR, FAILED, BAND = "#0072b2", "#e69f00", "#d55e00", "#009e73"


def vega_config(mode: Mode = "light") -> dict[str, Any]:
    """Give the Vega-Lite configuration of a theme.

    Parameters
    ----------
    mode : {"light", "dark"}
        Paper.

    Returns
    -------
    dict
        The ``config`` of a specification; the background is transparent.
    """
    ink, quiet, line = INK[mode], QUIET[mode], LINE[mode]
    return {
        "background": "transparent",
        "font": SANS,
        "padding": PADDING,
        "view": {"stroke": None},
        "range": {"category": [ink, *MODELS[mode]]},
        "axis": {
            "labelColor": quiet,
            "titleColor": quiet,
            "domainColor": line,
            "tickColor": line,
            "gridColor": line,
            "gridDash": [2, 4],
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelLimit": 0,
        },
        "legend": {
            "labelColor": ink,
            "titleColor": quiet,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "orient": "bottom",
            "labelLimit": 0,
            "symbolSize": 90,
            "layout": {"bottom": {"anchor": "start", "bounds": "full"}},
        },
        "title": {
            "color": ink,
            "subtitleColor": quiet,
            "anchor": "start",
            "fontSize": 15,
            "subtitleFontSize": 12,
            "subtitleLineHeight": 16,
            "subtitlePadding": 6,
            "offset": 12,
        },
        "rule": {"color": quiet},
        "text": {"color": ink},
        "errorbar": {"rule": {"color": quiet}},
    }


def specification(chart: alt.TopLevelMixin, mode: Mode = "light") -> dict[str, Any]:
    """Give a figure's Vega-Lite specification with the theme of a paper.

    Parameters
    ----------
    chart : Altair chart
        From a function of this package.
    mode : {"light", "dark"}
        Paper.

    Returns
    -------
    dict
        Ready for JSON; all data inside.
    """
    with alt.data_transformers.enable("default", max_rows=None):
        found: dict[str, Any] = chart.to_dict()
    if mode == "dark" and not keeps_colours(chart):
        found = _on_dark(found)
    return {**found, "config": vega_config(mode)}


def keeps_colours(chart: alt.TopLevelMixin) -> bool:
    """Say whether a figure's marks have the same colours on dark paper, because signs stand on them.

    Parameters
    ----------
    chart : Altair chart
        From a function of this package.

    Returns
    -------
    bool
    """
    meta = getattr(chart, "usermeta", None)
    return isinstance(meta, dict) and meta == KEEPS_COLOURS


def _on_dark(part: Any) -> Any:
    """Put the lighter steps in place of the palette's colours; data stay as they are."""
    if isinstance(part, dict):
        return {key: one if key in ("datasets", "values") else _on_dark(one) for key, one in part.items()}
    if isinstance(part, list):
        return [_on_dark(one) for one in part]
    return LIGHTER.get(part, part) if isinstance(part, str) else part


def caption(title: str, *sentences: str) -> alt.TitleParams:
    """Head a figure with its title and, below, n and conventions in lines that fit a phone.

    Parameters
    ----------
    title : str
        What the figure shows.
    *sentences : str
        What is to be known of the numbers.

    Returns
    -------
    altair.TitleParams
        Title and subtitle.
    """
    said = " ".join(sentence for sentence in sentences if sentence).replace(" %", "\u00a0%")
    lines = textwrap.wrap(said, CAPTION_WIDTH, break_on_hyphens=False)
    return alt.TitleParams(text=textwrap.wrap(title, 40), subtitle=lines)


def judge_colour(
    judges: Iterable[str],
    *,
    title: str | None = None,
    labels: Mapping[str, str] | None = None,
    lines: bool = False,
) -> alt.Color:
    """Colour people as ink and models by the palette, in the order of their names.

    Parameters
    ----------
    judges : iterable of str
        Names; people first, whatever the order.
    title : str, optional
        Of the legend.
    labels : mapping of str to str, optional
        What the legend says in place of a name.
    lines : bool
        Whether lines are drawn: the legend shows a piece of each, long enough for its dashes.

    Returns
    -------
    altair.Color
        Encoding of the field ``judge``.
    """
    names = list(judges)
    legend = _legend(names, labels, lines=lines)
    return alt.Color("judge:N", title=title, scale=alt.Scale(domain=judge_order(names)), legend=legend)


def judge_shape(judges: Iterable[str]) -> alt.Shape:
    """Tell judges apart by shape too; the legend is shared with the colour.

    Parameters
    ----------
    judges : iterable of str
        Names.

    Returns
    -------
    altair.Shape
        Encoding of the field ``judge``.
    """
    names = list(judges)
    return alt.Shape("judge:N", title=None, scale=alt.Scale(domain=judge_order(names)), legend=_legend(names))


def judge_dash(judges: Iterable[str], *, labels: Mapping[str, str] | None = None) -> alt.StrokeDash:
    """Dash people's line and dot the constant's; the legend is shared with the colour.

    Parameters
    ----------
    judges : iterable of str
        Names.
    labels : mapping of str to str, optional
        As in :func:`judge_colour`.

    Returns
    -------
    altair.StrokeDash
        Encoding of the field ``judge``.
    """
    names = list(judges)
    order = judge_order(names)
    dashes = [DASHES.get(name, [1, 0]) for name in order]
    scale = alt.Scale(domain=order, range=dashes)
    return alt.StrokeDash("judge:N", title=None, scale=scale, legend=_legend(names, labels, lines=True))


def _legend(
    judges: Sequence[str], labels: Mapping[str, str] | None = None, *, lines: bool = False
) -> alt.Legend:
    """Only the judges that occur; the first colour stays people's."""
    values = [name for name in judge_order(judges) if name in set(judges)]
    looks: dict[str, Any] = {"values": values}
    if lines:
        looks |= {"symbolType": "stroke", "symbolSize": 500, "symbolStrokeWidth": 2.5}
    if labels:
        looks["labelExpr"] = renamed({name: labels.get(name, name) for name in values})
    return alt.Legend(**looks)


def renamed(labels: Mapping[str, str]) -> str:
    """Give the expression by which a legend says something else than the name.

    Parameters
    ----------
    labels : mapping of str to str

    Returns
    -------
    str
        For ``labelExpr``.

    Examples
    --------
    >>> renamed({"trigram": "trigram (.44)"})
    '({"trigram": "trigram (.44)"})[datum.label]'
    """
    return f"({json.dumps(dict(labels), ensure_ascii=False)})[datum.label]"


def judge_order(judges: Iterable[str]) -> list[str]:
    """Order judges: people, then models as they come, then constant and chance.

    Parameters
    ----------
    judges : iterable of str
        Names, perhaps repeated.

    Returns
    -------
    list of str
        Each name once; people keep the first place, hence the colour of ink, even where they are absent.
    """
    names: Sequence[str] = list(dict.fromkeys(judges))
    models = [name for name in names if name not in (PEOPLE, CONSTANT, CHANCE)]
    return [PEOPLE, *models, *(name for name in (CONSTANT, CHANCE) if name in names)]


def layered(
    layers: Sequence[alt.Chart], data: pd.DataFrame, *, height: int | alt.Step, title: alt.TitleParams
) -> alt.LayerChart:
    """Lay charts over each other in a frame as wide as the page allows.

    Parameters
    ----------
    layers : sequence of Altair charts
        From back to front.
    data : DataFrame
        The rows the figure is about, for its download.
    height : int or altair.Step
        In points, or by row.
    title : altair.TitleParams
        From :func:`caption`.

    Returns
    -------
    altair.LayerChart
        The figure.
    """
    return alt.LayerChart(data=data, layer=list(layers), width="container", height=height, title=title)
