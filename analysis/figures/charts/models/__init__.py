"""Figures of models beside people: ADC curves, correlations, deltas, paradigms and learning curves."""
