"""Computed reports of the results pages: forms, computation, cache and interim looks."""
