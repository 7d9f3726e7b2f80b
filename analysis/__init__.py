"""Conclude: statistics of acceptability judgments, and models compared with people.

A library first: tidy pandas frames in, frames out, no Django outside :mod:`analysis.releases`.
"""
