"""Celery's settings, its scheduler and the embedded folder broker."""
