"""Stored judgments as data frames."""
