"""Figures of effects and of power."""
