"""Celery tasks of the planning side."""

from celery import shared_task

from experiments import job_runner
from experiments.intake import upload_job
from experiments.pages.materials import previews

JOB_MODULES = (upload_job, previews)  # imported so that the worker registers their kinds of job


@shared_task(name="experiments.requeue_stale_jobs")
def requeue_stale_jobs() -> None:
    """Send jobs of killed workers, and jobs whose message was lost, again."""
    job_runner.requeue_stale()
