"""Presentation lists of a study: building, rounds, extra trials and the report of their balance."""
