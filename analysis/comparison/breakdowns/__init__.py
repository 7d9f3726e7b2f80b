"""Comparisons broken down by pair, by restart of a classifier, and by feature."""
