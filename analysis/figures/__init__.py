"""Figures drawn by Altair: one function each, the same for page, file and notebook."""

from analysis.figures.adc_curve import adc_curve_figure, curve_frame
from analysis.figures.deltas import delta_figure, delta_frame
from analysis.figures.drawing import Drawing
from analysis.figures.evidence import Evidence
from analysis.figures.export import EMBED_OPTIONS, MEDIA_TYPES, export_figure, figure_data, vega_bundle
from analysis.figures.items import item_strip
from analysis.figures.paradigms import paradigm_figure, paradigm_frame
from analysis.figures.registry import FIGURES, applicable, draw, find_figure
from analysis.figures.statement import statement_figure
from analysis.figures.theme import specification, vega_config

__all__ = [
    "EMBED_OPTIONS",
    "FIGURES",
    "MEDIA_TYPES",
    "Drawing",
    "Evidence",
    "adc_curve_figure",
    "applicable",
    "curve_frame",
    "delta_figure",
    "delta_frame",
    "draw",
    "export_figure",
    "figure_data",
    "find_figure",
    "item_strip",
    "paradigm_figure",
    "paradigm_frame",
    "specification",
    "statement_figure",
    "vega_bundle",
    "vega_config",
]
