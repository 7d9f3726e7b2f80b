"""Recruitment: channels over which participants arrive, and quotas of their answers."""
