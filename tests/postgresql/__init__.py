"""PostgreSQL as Django knows it, which empties tables faster and leaves rows of migrations."""
