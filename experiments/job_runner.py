"""Run long work with one effect, even when processes are killed on the way.

1. :func:`enqueue` stores the row and, after commit, sends its id.
2. :func:`run` claims the row by a conditional update that raises ``attempt``.
3. The work computes, reports progress and ends in :meth:`Run.finishing`: one transaction that
   stores its effect together with the state "done", and only if the row still has its attempt.
4. A killed worker leaves a running row without heartbeat, which :func:`requeue_stale` starts again. The
   earlier start cannot finish any more, because the row has a later attempt.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import structlog
from amqp.exceptions import AMQPError
from celery import shared_task
from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from kombu.exceptions import KombuError

from analysis.errors import BadInput
from experiments.models import Experiment, Job

log = structlog.get_logger(__name__)
HEARTBEAT_SECONDS = 5
BROKER_ERRORS = (KombuError, AMQPError, OSError)  # what sending raises where the broker does not respond
MAX_REQUEUED = 1000  # jobs sent again in one sweep; the next sweep follows 15 s later


class Overtaken(Exception):
    """Another start of the same job has taken over, or the job has finished."""


class Run:
    """One start of a job, as its work sees it."""

    def __init__(self, job: Job) -> None:
        self.job, self.attempt, self.arguments = job, job.attempt, job.arguments

    def _own_row(self) -> QuerySet[Job]:
        # Race: the attempt is part of the condition, so a start that was replaced updates no row.
        return Job.objects.filter(pk=self.job.pk, attempt=self.attempt, state=Job.State.RUNNING)

    def progress(self, done: int, total: int = 0, message: str = "") -> None:
        """Report progress; call it outside of transactions, so that others see it."""
        changed = self._own_row().update(
            progress=done, total=total, message=message[:300], heartbeat_at=timezone.now()
        )
        if not changed:
            raise Overtaken

    @contextmanager
    def finishing(self) -> Iterator[dict[str, Any]]:
        """Store the effect and the result together, or neither."""
        with transaction.atomic():
            if not self._own_row().select_for_update().exists():
                raise Overtaken
            result: dict[str, Any] = {}
            yield result
            self._own_row().update(
                state=Job.State.DONE,
                result=result,
                error="",
                progress=F("total"),
                message="",
                finished_at=timezone.now(),
            )


Work = Callable[[Run], None]
KINDS: dict[str, Work] = {}


def job(kind: str) -> Callable[[Work], Work]:
    """Register the work of a kind of job: ``@job("releases.build")`` over ``def build(run: Run)``."""

    def register(work: Work) -> Work:
        KINDS[kind] = work
        return work

    return register


def enqueue(
    kind: str,
    arguments: dict[str, Any],
    *,
    user: Any = None,
    experiment: Experiment | None = None,
    key: str | None = None,
) -> Job:
    """Store a job and send its id after commit; the same key returns the same job."""
    fields = {"kind": kind, "arguments": arguments, "created_by": user, "experiment": experiment}
    try:
        with transaction.atomic():
            row = Job.objects.create(key=key, **fields)
    except IntegrityError:
        return Job.objects.get(key=key)
    # Not apply_async_on_commit: it would fail the request where the broker is away, but the row is stored.
    transaction.on_commit(lambda: send(row.pk))
    return row


def send(job_id: int) -> None:
    """Send the id to the queue in its arguments; without a broker it waits for :func:`requeue_stale`."""
    arguments = Job.objects.filter(pk=job_id).values_list("arguments", flat=True).first() or {}
    try:
        run_job.apply_async(args=[job_id], queue=arguments.get("queue"))
    except BROKER_ERRORS as error:
        log.warning("broker unavailable, job waits", job=job_id, error=str(error))


def retry(failed: Job) -> None:
    """Queue a failed job again with the same arguments; does nothing where it runs again already."""
    # Race: of two presses of the button, one update finds the row failed.
    if Job.objects.filter(pk=failed.pk, state=Job.State.FAILED).update(
        state=Job.State.QUEUED, error="", finished_at=None, heartbeat_at=None
    ):
        transaction.on_commit(lambda: send(failed.pk))


@shared_task(name="experiments.run_job")
def run_job(job_id: int) -> None:
    """Run one job."""
    run(job_id)


def run(job_id: int) -> None:
    """Claim one job and run it; does nothing where another process has claimed it."""
    # Race: of several deliveries of the same id, only one update finds the row queued.
    claimed = Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(
        state=Job.State.RUNNING,
        attempt=F("attempt") + 1,
        started_at=timezone.now(),
        heartbeat_at=timezone.now(),
        error="",
    )
    if not claimed:
        return
    current = Run(Job.objects.get(pk=job_id))
    with (
        structlog.contextvars.bound_contextvars(job_id=job_id, job_attempt=current.attempt),
        _heartbeat(current),
    ):
        _carry_out(current)


def _carry_out(current: Run) -> None:
    try:
        KINDS[current.job.kind](current)
    except Overtaken:
        log.info("job overtaken", job=current.job.pk, attempt=current.attempt)
    except BadInput as error:
        _fail(current, str(error))
    except Exception as error:
        log.exception("job failed", job=current.job.pk, kind=current.job.kind)
        _fail(current, f"{type(error).__name__}: {error}")


def _fail(current: Run, reason: str) -> None:
    current._own_row().update(state=Job.State.FAILED, error=reason, finished_at=timezone.now())


@contextmanager
def _heartbeat(current: Run) -> Iterator[None]:
    """Send heartbeats from a thread, so that long computations are not taken for dead ones."""
    stop = threading.Event()
    thread = threading.Thread(target=_send_heartbeats, args=(current, stop), daemon=True)
    if not connection.in_atomic_block:  # a test's transaction is invisible to the thread's connection
        thread.start()
    try:
        yield
    finally:
        stop.set()
        if thread.ident:
            thread.join()


def _send_heartbeats(current: Run, stop: threading.Event) -> None:
    while not stop.wait(HEARTBEAT_SECONDS):
        try:
            current._own_row().update(heartbeat_at=timezone.now())
        except DatabaseError:  # a busy database: the next beat will do
            log.info("heartbeat missed", job=current.job.pk)
    connection.close()


def requeue_stale() -> int:
    """Send again running jobs without heartbeat, and waiting ones whose message was lost."""
    now = timezone.now()
    stale = now - timedelta(seconds=settings.JOB_STALE_SECONDS)
    Job.objects.filter(
        state=Job.State.RUNNING, heartbeat_at__lt=stale, attempt__gte=settings.JOB_MAX_ATTEMPTS
    ).update(state=Job.State.FAILED, error="The worker died at every start; see its log.", finished_at=now)
    Job.objects.filter(state=Job.State.RUNNING, heartbeat_at__lt=stale).update(
        state=Job.State.QUEUED, heartbeat_at=None
    )
    waiting = Job.objects.filter(state=Job.State.QUEUED).filter(
        Q(heartbeat_at__isnull=True, created_at__lt=stale) | Q(heartbeat_at__lt=stale)
    )
    ids = list(waiting.values_list("pk", flat=True)[:MAX_REQUEUED])
    Job.objects.filter(pk__in=ids, state=Job.State.QUEUED).update(heartbeat_at=now)
    for job_id in ids:
        send(job_id)
    return len(ids)
