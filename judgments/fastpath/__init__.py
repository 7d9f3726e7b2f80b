"""Shortcuts with the same effect as the regular path; each is measured and can be deleted."""
