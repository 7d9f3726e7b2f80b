"""Periodic Celery tasks of data collection."""

from config.celery import app
from judgments import deletion
from judgments.imports import jobs
from judgments.privacy.purge import purge_due
from judgments.sessions.leases import expire_sessions as expire
from judgments.sessions.removal import prune_previews as prune
from judgments.simulation import dry_run

#: Modules with kinds of jobs, imported here so that the worker registers them.
JOB_MODULES = (dry_run, deletion, jobs)


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
