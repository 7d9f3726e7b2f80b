"""Bayesian analyses of a whole study."""
