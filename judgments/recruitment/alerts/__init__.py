"""Alerts about recruitment: conditions that need a person, raised once, ended by themselves, mailed."""
