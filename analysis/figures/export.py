"""Figures as files (SVG, PNG, PDF, their data as CSV), and the browser's Vega from the Python package."""

import json
import re
from typing import Any, Literal

import altair as alt
import pandas as pd
import vl_convert as vlc

from ..errors import BadInput, UnknownName
from ..text import no_formula
from .fitting import fit_width
from .points import answering_svg
from .theme import VEGA_LITE, Mode, specification

Format = Literal["svg", "png", "pdf", "csv", "json"]
FORMATS = ("svg", "png", "pdf", "csv", "json")
MEDIA_TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "json": "application/json",
}
WIDTH = 640  # points
PIXELS_PER_POINT = 2.0  # sharp on high-density screens; PNG only

# What vegaEmbed needs under a policy that forbids evaluated code and inline styles.
EMBED_OPTIONS: dict[str, Any] = {
    "mode": "vega-lite",
    "actions": False,
    "ast": True,
    "defaultStyle": False,
    "renderer": "svg",
    "tooltip": {"disableDefaultStyle": True},
}

_SNIPPET = "window.vegaEmbed = vegaEmbed; window.vega = vega; window.vegaLite = vegaLite;"
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)


def export_figure(chart: alt.LayerChart, form: Format, *, mode: Mode = "light", width: int = WIDTH) -> bytes:
    """Render a figure as the content of a file.

    Parameters
    ----------
    chart : altair.LayerChart
        From :func:`obelus.figures.registry.draw`.
    form : {"svg", "png", "pdf", "csv", "json"}
        File format; ``csv`` is the data drawn, ``json`` the Vega-Lite specification.
    mode : {"light", "dark"}
        Colour theme; PNG and PDF get an opaque background, white or dark.
    width : int
        Width of the whole figure in points, labels included.

    Returns
    -------
    bytes
        Content of the file.

    Raises
    ------
    UnknownName
        If the format is unknown.

    Examples
    --------
    >>> from obelus.figures import Evidence, draw
    >>> export_figure(draw("items", Evidence()), "csv").decode().splitlines()[0]
    'statement'
    """
    if form not in FORMATS:
        raise UnknownName("form of figure", form, FORMATS)
    if form == "csv":
        return figure_data(chart).map(no_formula).to_csv(index=False, lineterminator="\n").encode()
    vega_lite = fit_width(specification(chart, mode), width=width)
    if form == "json":
        return json.dumps(vega_lite, ensure_ascii=False).encode()
    if form == "svg":
        return answering_svg(str(vlc.vegalite_to_svg(vega_lite, vl_version=VEGA_LITE))).encode()
    # A transparent PNG or PDF is unreadable in a viewer with the other background.
    vega_lite["config"]["background"] = "#ffffff" if mode == "light" else "#14161a"
    if form == "png":
        return bytes(vlc.vegalite_to_png(vega_lite, vl_version=VEGA_LITE, scale=PIXELS_PER_POINT))
    return bytes(vlc.vegalite_to_pdf(vega_lite, vl_version=VEGA_LITE))


def figure_data(chart: alt.LayerChart) -> pd.DataFrame:
    """Return the data that a figure draws."""
    if not isinstance(chart.data, pd.DataFrame):
        raise BadInput("this figure holds no data of its own.")
    return chart.data


def vega_bundle() -> str:
    """Return Vega, Vega-Lite and vegaEmbed as one script for the pages, from the installed package.

    The script sets ``window.vegaEmbed``, ``window.vega`` and ``window.vegaLite`` and requests no other host.
    """
    return _SOURCE_MAP.sub("", str(vlc.javascript_bundle(_SNIPPET, vl_version=VEGA_LITE)))
