"""A comparison in depth: matrices, predictors, thresholds, prefixes and learning curves."""
