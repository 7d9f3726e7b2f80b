"""SQLite as Django knows it, which leaves rows of migrations when it empties tables."""
