"""Backups, rows a gigabyte, workers and migrations."""
