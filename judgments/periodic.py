"""Periodic Celery tasks of data collection; loads none of the libraries that jobs need."""

from config.celery import app
from judgments.privacy.purge import purge_due
from judgments.sessions.leases import expire_sessions as expire
from judgments.sessions.removal import prune_previews as prune


@app.task(name="judgments.expire_sessions")
def expire_sessions() -> None:
    """Release the places of abandoned sessions."""
    expire()


@app.task(name="judgments.prune_previews")
def prune_previews() -> None:
    """Delete old previews."""
    prune()


@app.task(name="judgments.purge_platform_ids")
def purge_platform_ids() -> None:
    """Delete expired platform ids."""
    purge_due()
