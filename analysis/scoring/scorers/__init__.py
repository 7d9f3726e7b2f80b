"""Scorers, one module for each kind of model."""
