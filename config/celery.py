"""The Celery app: messages carry ids of ``Job`` rows, and the database holds their state."""

import gc
import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_before_create_process, worker_init

from config.checks import refuse_unsafe_start

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# All of Django's checks import every page. Those that protect the data run in refuse_unsafe_start.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("obelus")
app.config_from_object("config.job_queue.celery_settings")
# Kinds of jobs, in jobs.py, load numerical libraries: a worker process imports them at its first job.
app.autodiscover_tasks(related_name="periodic")
app.autodiscover_tasks(["judgments.recruitment"], related_name="periodic")
app.autodiscover_tasks(["releases.scoring"], related_name="shard_messages")
worker_init.connect(refuse_unsafe_start)


@worker_before_create_process.connect  # type: ignore[untyped-decorator]  # Celery has no stubs
def freeze_memory(**arguments: Any) -> None:
    """Let child processes share the memory of the main one: their garbage collector leaves it alone."""
    gc.collect()
    gc.freeze()


beat_init.connect(refuse_unsafe_start)
