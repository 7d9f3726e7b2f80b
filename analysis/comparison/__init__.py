"""Language models beside people: the BLiMP criterion, the ADC, and what they are to be read against."""

from analysis.comparison.criteria import acceptability_delta_criterion, blimp_criterion, standardize
from analysis.comparison.curve import adc_area, adc_curve
from analysis.comparison.report import compare_report

__all__ = [
    "acceptability_delta_criterion",
    "adc_area",
    "adc_curve",
    "blimp_criterion",
    "compare_report",
    "standardize",
]
