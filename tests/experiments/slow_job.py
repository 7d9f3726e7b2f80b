"""A kind of job that takes a while and leaves one mark: loaded by the worker of test_worker_killed."""

import time

from experiments.models import Phenomenon
from experiments.operation.job_runner import Run, job


@job("tests.slow")
def slow(run: Run) -> None:
    """Count to this attempt's `steps`, a tenth of a second each; then add one row."""
    steps = run.arguments["steps"][run.attempt - 1]
    for step in range(steps):
        run.progress(step, steps, "counting")
        time.sleep(0.1)
    with run.finishing() as result:
        Phenomenon.objects.create(material_set_id=run.arguments["set"], name=f"made by attempt {run.attempt}")
        result["attempt"] = run.attempt
