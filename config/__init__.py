"""Wiring of the three sides into one site: settings, addresses, Celery."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
