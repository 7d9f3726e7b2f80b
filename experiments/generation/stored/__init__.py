"""Paradigms of the platform and of researchers, sets of pairs drawn from them, and validation studies."""
