"""Figures of models beside humans: ADC curves, correlations, deltas, paradigms and learning curves."""
