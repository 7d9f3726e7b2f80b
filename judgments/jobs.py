"""Celery doors of the observing side."""

from celery import shared_task

from judgments.sessions.expire import expire_sessions as expire


@shared_task(name="judgments.expire_sessions")
def expire_sessions() -> None:
    """Give the lists of abandoned sessions back."""
    expire()
