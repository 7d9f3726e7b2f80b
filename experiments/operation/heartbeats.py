"""Signs of life: workers and schedulers write when they last did their work.

A scheduler counts as alive while it sends messages; a worker while its main process runs.
"""

import socket
import threading
from datetime import timedelta
from typing import Any

import structlog
from celery.signals import after_task_publish, beat_embedded_init, beat_init, worker_ready, worker_shutdown
from django.db import DatabaseError, connection
from django.utils import timezone

from experiments.models import Heartbeat

log = structlog.get_logger(__name__)
BEAT_S = 15
SILENT_S = 90  # without a beat for so long a process counts as dead
FORGOTTEN_DAYS = 7  # hosts that were taken out of service
stop = threading.Event()


def process_name(kind: str) -> str:
    """Return the name under which a process of this host stores its heartbeats."""
    return f"{kind}@{socket.gethostname()}"[:100]


def beat(kind: str) -> None:
    """Store that a process of this host works."""
    process = process_name(kind)
    try:
        Heartbeat.objects.update_or_create(process=process, defaults={"at": timezone.now()})
    except DatabaseError:  # a busy or absent database: the next beat follows
        log.info("heartbeat missed", process=process)


def is_silent(kind: str) -> bool:
    """Whether no process of a kind has worked lately."""
    lately = timezone.now() - timedelta(seconds=SILENT_S)
    return not Heartbeat.objects.filter(process__startswith=f"{kind}@", at__gte=lately).exists()


def forget_absent_hosts() -> None:
    """Delete the heartbeats of hosts that are gone."""
    Heartbeat.objects.filter(at__lt=timezone.now() - timedelta(days=FORGOTTEN_DAYS)).delete()


@worker_ready.connect
def _watch_worker(**arguments: Any) -> None:
    stop.clear()
    threading.Thread(target=_beat_until_stopped, daemon=True).start()


@worker_shutdown.connect
def _end_of_worker(**arguments: Any) -> None:
    stop.set()


def _beat_until_stopped() -> None:
    while True:
        beat("worker")
        connection.close()  # it would stay idle between two beats
        if stop.wait(BEAT_S):
            return


@beat_init.connect
@beat_embedded_init.connect  # of a worker with --beat
def _watch_scheduler(**arguments: Any) -> None:
    beat("scheduler")
    after_task_publish.connect(_scheduler_has_sent)


def _scheduler_has_sent(**arguments: Any) -> None:
    beat("scheduler")
