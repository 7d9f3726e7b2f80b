"""Configuration of the site: settings, URLs, Celery and the web server."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
