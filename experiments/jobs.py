"""Celery doors of the planning side."""

from celery import shared_task

from experiments import job_runner, material_jobs

WORKS = (material_jobs,)  # imported here, so that the worker knows their kinds of job


@shared_task(name="experiments.run_job")
def run_job(job_id: int) -> None:
    """Carry one job to its end."""
    job_runner.run(job_id)


@shared_task(name="experiments.requeue_stale_jobs")
def requeue_stale_jobs() -> None:
    """Give jobs of killed workers, and forgotten ones, another start."""
    job_runner.requeue_stale()
