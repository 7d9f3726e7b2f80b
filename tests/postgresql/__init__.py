"""PostgreSQL as Django knows it, which empties tables faster; see ``config.test_settings``."""
