"""The Celery task of one shard; the process that runs it imports the scorers then."""

from config.celery import app
from releases.models import ScoringRun


@app.task(name="releases.score_shard")
def run_shard(run_id: int) -> None:
    """Score one shard of a run and queue the next, so that no message takes longer than a shard."""
    from releases.scoring import execution  # noqa: PLC0415 (numerical libraries)

    if execution.score_next_shard(run_id):
        execution.request_helpers(ScoringRun.objects.get(pk=run_id), 1)
