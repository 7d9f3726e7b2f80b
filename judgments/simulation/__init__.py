"""Simulated participants, with and without HTTP."""
