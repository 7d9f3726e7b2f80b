"""Backup, restore and supervision of an installation."""
