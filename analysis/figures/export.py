"""Figures as files (SVG, PNG, PDF, their data as CSV), and the browser's Vega from the Python package."""

import json
import re
from typing import Any, Literal

import altair as alt
import pandas as pd
import vl_convert as vlc

from analysis.errors import BadInput, UnknownName
from analysis.figures.fitting import fitted
from analysis.figures.theme import VEGA_LITE, Mode, specification

Format = Literal["svg", "png", "pdf", "csv", "json"]
FORMATS = ("svg", "png", "pdf", "csv", "json")
MEDIA_TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "json": "application/json",
}
WIDTH = 640
PIXELS_PER_POINT = 2.0

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
    """Give a figure as the content of a file.

    Parameters
    ----------
    chart : Altair chart
        From a function of this package.
    form : {"svg", "png", "pdf", "csv", "json"}
        ``csv`` is the data drawn, ``json`` the Vega-Lite specification.
    mode : {"light", "dark"}
        Paper; PNG and PDF have no transparent ground in print, so light is white.
    width : int
        Of the whole figure in points, labels included.

    Returns
    -------
    bytes
        The file.

    Raises
    ------
    UnknownName
        If there is no such form.

    Examples
    --------
    >>> from analysis.figures import Evidence, draw
    >>> export_figure(draw("items", Evidence()), "csv").decode().splitlines()[0]
    'statement'
    """
    if form not in FORMATS:
        raise UnknownName("form of figure", form, FORMATS)
    if form == "csv":
        return figure_data(chart).to_csv(index=False, lineterminator="\n").encode()
    found = fitted(specification(chart, mode), width=width)
    if form == "json":
        return json.dumps(found, ensure_ascii=False).encode()
    if form == "svg":
        return str(vlc.vegalite_to_svg(found, vl_version=VEGA_LITE)).encode()
    found["config"]["background"] = "#ffffff" if mode == "light" else "#14161a"
    if form == "png":
        return bytes(vlc.vegalite_to_png(found, vl_version=VEGA_LITE, scale=PIXELS_PER_POINT))
    return bytes(vlc.vegalite_to_pdf(found, vl_version=VEGA_LITE))


def figure_data(chart: alt.LayerChart) -> pd.DataFrame:
    """Give the data that a figure draws.

    Parameters
    ----------
    chart : Altair chart
        From a function of this package.

    Returns
    -------
    DataFrame
        Its rows.

    Raises
    ------
    BadInput
        If the chart does not come from this package.
    """
    if not isinstance(chart.data, pd.DataFrame):
        raise BadInput("this figure holds no data of its own.")
    return chart.data


def vega_bundle() -> str:
    """Give Vega, Vega-Lite and vegaEmbed as one script for the pages, from the installed package.

    Returns
    -------
    str
        JavaScript that sets ``window.vegaEmbed``, ``window.vega`` and ``window.vegaLite``; it asks no
        other host.
    """
    return _SOURCE_MAP.sub("", str(vlc.javascript_bundle(_SNIPPET, vl_version=VEGA_LITE)))
