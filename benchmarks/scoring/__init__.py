"""Scorers, n-gram models, architectures and rankings of models."""
