"""Filters of the observing pages."""
