"""Concluded and stored: exclusion plans, gold releases, scoring runs and comparisons."""
