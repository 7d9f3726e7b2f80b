"""Figures drawn by Altair: one function each, the same for page, file and notebook."""

from .charts.effects.power import planned_power_figure
from .charts.judgments.agreement import agreement_figure, agreement_frame, progress_chart
from .charts.judgments.items import contested_items, item_strip
from .charts.judgments.ratings import rating_figure
from .charts.models.adc_curve import adc_curve_figure, curve_frame
from .charts.models.deltas import delta_figure, delta_frame
from .charts.models.leaderboard import leaderboard_figure, leaderboard_frame
from .charts.models.paradigms import paradigm_figure, paradigm_frame
from .charts.participants.agreement_and_time import (
    agreement_and_time_figure,
    agreement_and_time_frame,
)
from .drawing import Drawing, row_parts, statement_figure
from .evidence import Evidence
from .export import EMBED_OPTIONS, MEDIA_TYPES, export_figure, figure_data, vega_bundle
from .points import Addresses
from .registry import FIGURES, GROUPS, applicable, draw, figure_group, find_figure
from .theme import specification, vega_config

__all__ = [
    "EMBED_OPTIONS",
    "FIGURES",
    "GROUPS",
    "MEDIA_TYPES",
    "Addresses",
    "Drawing",
    "Evidence",
    "adc_curve_figure",
    "agreement_and_time_figure",
    "agreement_and_time_frame",
    "agreement_figure",
    "agreement_frame",
    "applicable",
    "contested_items",
    "curve_frame",
    "delta_figure",
    "delta_frame",
    "draw",
    "export_figure",
    "figure_data",
    "find_figure",
    "figure_group",
    "item_strip",
    "leaderboard_figure",
    "leaderboard_frame",
    "paradigm_figure",
    "paradigm_frame",
    "planned_power_figure",
    "progress_chart",
    "rating_figure",
    "row_parts",
    "specification",
    "statement_figure",
    "vega_bundle",
    "vega_config",
]
