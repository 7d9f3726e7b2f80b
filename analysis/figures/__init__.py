"""Figures drawn by Altair: one function each, the same for page, file and notebook."""

from analysis.figures.adc_curve import adc_curve_figure, curve_frame
from analysis.figures.deltas import delta_figure, delta_frame
from analysis.figures.export import EMBED_OPTIONS, MEDIA_TYPES, export_figure, figure_data, vega_bundle
from analysis.figures.items import item_strip
from analysis.figures.paradigms import paradigm_figure, paradigm_frame
from analysis.figures.theme import specification, vega_config

__all__ = [
    "EMBED_OPTIONS",
    "MEDIA_TYPES",
    "adc_curve_figure",
    "curve_frame",
    "delta_figure",
    "delta_frame",
    "export_figure",
    "figure_data",
    "item_strip",
    "paradigm_figure",
    "paradigm_frame",
    "specification",
    "vega_bundle",
    "vega_config",
]
