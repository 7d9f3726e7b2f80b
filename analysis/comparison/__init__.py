"""Comparison of language models with humans: BLiMP criterion, ADC, and their baselines and ceilings."""

from .adc_curve import adc_area, adc_curve
from .criteria import acceptability_delta_criterion, blimp_criterion, standardize
from .report import compare_report

__all__ = [
    "acceptability_delta_criterion",
    "adc_area",
    "adc_curve",
    "blimp_criterion",
    "compare_report",
    "standardize",
]
