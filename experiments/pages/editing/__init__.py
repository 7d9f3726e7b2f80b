"""Edits of one study by several users: versions of forms, conflicts, and the history of values."""
