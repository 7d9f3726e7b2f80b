"""Edits of one study by several people: versions of forms, conflicts, and the history of values."""
