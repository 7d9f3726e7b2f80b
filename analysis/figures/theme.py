"""Theme of all figures: colours and sizes on light and dark paper, captions that fit a phone."""

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import altair as alt
import pandas as pd

Mode = Literal["light", "dark"]

PEOPLE, CONSTANT, CHANCE = "people", "constant", "chance"
# Lengths of dashes and gaps in points: baselines are recognizable without colour.
DASHES = {PEOPLE: [6, 4], CONSTANT: [2, 3], CHANCE: [8, 3, 2, 3]}
# Fonts of one width (Liberation Sans is Arial's), so that a page's text is as wide as the server measured.
SANS = 'Arial, "Liberation Sans", Arimo, Helvetica, sans-serif'
PADDING = {"left": 14, "top": 5, "right": 8, "bottom": 5}  # where no such font is there, text runs wider
LEGENDS = ("color", "shape", "strokeDash")
"""Encodings that have a legend."""
CAPTION_WIDTH = 54  # characters: one line on a phone
VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])

# Okabe & Ito (2008), distinguishable with every common kind of colour vision; lighter steps on dark paper.
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
    """Return the Vega-Lite configuration of a theme."""
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
        "axisQuantitative": {"labelSeparation": 6},  # numbers that touch read as one
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
    """Return a figure's Vega-Lite specification with the theme of a paper."""
    with alt.data_transformers.enable("default", max_rows=None):
        vega_lite: dict[str, Any] = chart.to_dict()
    _omit_legends_of_one_entry(vega_lite, getattr(chart, "data", None))
    if mode == "dark" and not keeps_colours(chart):
        vega_lite = _on_dark(vega_lite)
    return {**vega_lite, "config": vega_config(mode)}


def _omit_legends_of_one_entry(vega_lite: dict[str, Any], data: Any) -> None:
    """Omit legends that distinguish nothing."""
    for layer in vega_lite.get("layer", ()):
        encoding = layer.get("encoding", {})
        for channel in LEGENDS:
            code = encoding.get(channel, {})
            entries = (code.get("legend") or {}).get("values") or (code.get("scale") or {}).get("domain")
            if entries is None and isinstance(data, pd.DataFrame) and code.get("field") in data.columns:
                entries = data[code["field"]].dropna().unique()
            if code.get("type") == "nominal" and entries is not None and len(entries) == 1:
                code["legend"] = None


def keeps_colours(chart: alt.TopLevelMixin) -> bool:
    """Return whether a figure keeps its colours on dark paper, because text is drawn on its marks."""
    meta = getattr(chart, "usermeta", None)
    return isinstance(meta, dict) and meta == KEEPS_COLOURS


def _on_dark(part: Any) -> Any:
    """Replace the palette's colours by lighter steps, except in data."""
    if isinstance(part, dict):
        return {
            key: value if key in ("datasets", "values") else _on_dark(value) for key, value in part.items()
        }
    if isinstance(part, list):
        return [_on_dark(value) for value in part]
    return LIGHTER.get(part, part) if isinstance(part, str) else part


def caption(title: str, *sentences: str) -> alt.TitleParams:
    """Return a title with a subtitle of n and conventions in lines that fit a phone."""
    text = " ".join(sentence for sentence in sentences if sentence).replace(" %", "\u00a0%")
    lines = textwrap.wrap(text, CAPTION_WIDTH, break_on_hyphens=False)
    return alt.TitleParams(text=textwrap.wrap(title, 40), subtitle=lines)


def judge_colour(
    judges: Iterable[str],
    *,
    title: str | None = None,
    labels: Mapping[str, str] | None = None,
    lines: bool = False,
) -> alt.Color:
    """Colour humans as ink and models by the palette, in the order of their names."""
    names = list(judges)
    legend = _legend(names, labels, lines=lines)
    return alt.Color("judge:N", title=title, scale=alt.Scale(domain=judge_order(names)), legend=legend)


def judge_shape(judges: Iterable[str]) -> alt.Shape:
    """Encode judges by shape too; the legend is shared with the colour."""
    names = list(judges)
    return alt.Shape("judge:N", title=None, scale=alt.Scale(domain=judge_order(names)), legend=_legend(names))


def judge_dash(judges: Iterable[str], *, labels: Mapping[str, str] | None = None) -> alt.StrokeDash:
    """Dash human line and dot the constant's; the legend is shared with the colour."""
    names = list(judges)
    order = judge_order(names)
    dashes = [DASHES.get(name, [1, 0]) for name in order]
    scale = alt.Scale(domain=order, range=dashes)
    return alt.StrokeDash("judge:N", title=None, scale=scale, legend=_legend(names, labels, lines=True))


def _legend(
    judges: Sequence[str], labels: Mapping[str, str] | None = None, *, lines: bool = False
) -> alt.Legend:
    """Return a legend of the judges that occur; the first colour is reserved for humans."""
    values = [name for name in judge_order(judges) if name in set(judges)]
    options: dict[str, Any] = {"values": values}
    if lines:
        options |= {"symbolType": "stroke", "symbolSize": 500, "symbolStrokeWidth": 2.5}
    if labels:
        options["labelExpr"] = rename_expression({name: labels.get(name, name) for name in values})
    return alt.Legend(**options)


def rename_expression(labels: Mapping[str, str]) -> str:
    """Return the Vega expression that replaces names in a legend.

    Examples
    --------
    >>> rename_expression({"trigram": "trigram (.44)"})
    '({"trigram": "trigram (.44)"})[datum.label]'
    """
    return f"({json.dumps(dict(labels), ensure_ascii=False)})[datum.label]"


def judge_order(judges: Iterable[str]) -> list[str]:
    """Order judges: humans, then models as they come, then constant and chance."""
    names: Sequence[str] = list(dict.fromkeys(judges))
    models = [name for name in names if name not in (PEOPLE, CONSTANT, CHANCE)]
    return [PEOPLE, *models, *(name for name in (CONSTANT, CHANCE) if name in names)]


def layer_charts(
    layers: Sequence[alt.Chart], data: pd.DataFrame, *, height: int | alt.Step, title: alt.TitleParams
) -> alt.LayerChart:
    """Layer charts in a frame as wide as the page."""
    return alt.LayerChart(data=data, layer=list(layers), width="container", height=height, title=title)
