"""Figures by subject; each module lists its own in ``DRAWINGS``."""
