"""Celery doors of the observing side."""

from celery import shared_task

from judgments import dry_run, ending, import_jobs
from judgments.sessions.expire import expire_sessions as expire
from judgments.sessions.prune import prune_previews as prune

WORKS = (dry_run, ending, import_jobs)  # imported here, so that the worker knows their kinds of job


@shared_task(name="judgments.expire_sessions")
def expire_sessions() -> None:
    """Give the lists of abandoned sessions back."""
    expire()


@shared_task(name="judgments.prune_previews")
def prune_previews() -> None:
    """Forget previews that nobody has used for long."""
    prune()
