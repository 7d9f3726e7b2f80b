"""Formats of other tools in which a release is written, too."""
