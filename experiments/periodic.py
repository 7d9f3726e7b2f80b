"""Periodic Celery tasks of the planning side; loads none of the libraries that jobs need."""

from config.celery import app
from experiments.accounts.login_sessions import SessionStore
from experiments.intake.uploads import delete_stray_files, discard_unfinished
from experiments.models import RequestKey
from experiments.operation import backup, database_cache, heartbeats, job_runner
from experiments.webhooks import delivery


@app.task(name="experiments.requeue_stale_jobs")
def requeue_stale_jobs() -> None:
    """Send jobs of killed workers, and jobs whose message was lost, again."""
    job_runner.requeue_stale()


@app.task(name="experiments.back_up")
def back_up() -> None:
    """Queue a backup where one is due."""
    backup.enqueue_when_due()


@app.task(name="experiments.discard_unfinished_uploads")
def discard_unfinished_uploads() -> None:
    """Delete uploads that were neither imported nor discarded, and files without a row."""
    discard_unfinished()
    delete_stray_files()
    heartbeats.forget_absent_hosts()


@app.task(name="experiments.delete_expired_rows")
def delete_expired_rows() -> None:
    """Delete logins, counts of limits and idempotency keys that have expired."""
    SessionStore.clear_expired()
    database_cache.delete_expired()
    delivery.delete_old_deliveries()
    RequestKey.objects.filter_expired().delete()
