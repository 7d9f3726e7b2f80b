"""Plugins: components of the platform that installed packages offer as entry points."""
