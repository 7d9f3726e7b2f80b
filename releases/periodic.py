"""Periodic Celery tasks of the concluding side; loads none of the libraries that jobs need."""

from config.celery import app
from judgments.quality_check import check_stale_studies


@app.task(name="releases.check_quality")
def check_studies() -> None:
    """Check the quality of studies with newly finished sessions."""
    check_stale_studies()
