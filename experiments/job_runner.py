"""Run long work so that it happens once, whatever is killed on the way.

1. :func:`enqueue` stores the row and, after commit, sends its id.
2. :func:`run` claims the row by a conditional update that raises ``attempt``.
3. The work computes, reports progress, and ends in :meth:`Run.finishing`: one transaction that
   stores its effect together with the state "done", and only if the row still carries its attempt.
4. A killed worker leaves a running row without heartbeat; :func:`requeue_stale` starts it again. A
   start that was overtaken cannot finish, because the row carries a later attempt.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from analysis.errors import BadInput
from config.celery import app
from experiments.models import Job

log = structlog.get_logger(__name__)
HEARTBEAT_SECONDS = 5


class Overtaken(Exception):
    """Another start of the same job has taken over, or the job has ended."""


class Run:
    """One start of a job, in the hands of its work."""

    def __init__(self, job: Job) -> None:
        self.job, self.attempt, self.arguments = job, job.attempt, job.arguments

    def _mine(self):
        return Job.objects.filter(pk=self.job.pk, attempt=self.attempt, state=Job.State.RUNNING)

    def progress(self, done: int, total: int = 0, message: str = "") -> None:
        """Say how far the work is; call it outside of transactions."""
        changed = self._mine().update(
            progress=done, total=total, message=message[:300], heartbeat_at=timezone.now()
        )
        if not changed:
            raise Overtaken

    @contextmanager
    def finishing(self) -> Iterator[dict[str, Any]]:
        """Store the effect and the result together, or neither."""
        with transaction.atomic():
            if not self._mine().select_for_update().exists():
                raise Overtaken
            result: dict[str, Any] = {}
            yield result
            self._mine().update(
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
    """Declare the work of a kind of job: ``@job("releases.build")`` over ``def build(run: Run)``."""

    def declare(work: Work) -> Work:
        KINDS[kind] = work
        return work

    return declare


def enqueue(
    kind: str, arguments: dict[str, Any], *, user=None, experiment=None, key: str | None = None
) -> Job:
    """Store a job and send its id after commit; the same key gives the same job."""
    fields = {"kind": kind, "arguments": arguments, "created_by": user, "experiment": experiment}
    try:
        with transaction.atomic():
            row = Job.objects.create(key=key, **fields)
    except IntegrityError:
        return Job.objects.get(key=key)
    transaction.on_commit(lambda: send(row.pk))
    return row


def send(job_id: int) -> None:
    """Hand the id to Celery, in the queue its arguments name; else it waits for :func:`requeue_stale`."""
    arguments = Job.objects.filter(pk=job_id).values_list("arguments", flat=True).first() or {}
    try:
        app.send_task("experiments.run_job", args=[job_id], queue=arguments.get("queue"))
    except Exception as error:  # any broker failure: the row is kept and sent again later
        log.warning("broker away, job waits", job=job_id, error=str(error))


def run(job_id: int) -> None:
    """Claim one job and carry it to its end; does nothing when someone else has it."""
    claimed = Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(
        state=Job.State.RUNNING,
        attempt=F("attempt") + 1,
        started_at=timezone.now(),
        heartbeat_at=timezone.now(),
        error="",
    )
    if not claimed:
        return
    this = Run(Job.objects.get(pk=job_id))
    with _heart(this):
        _work(this)


def _work(this: Run) -> None:
    try:
        KINDS[this.job.kind](this)
    except Overtaken:
        log.info("job overtaken", job=this.job.pk, attempt=this.attempt)
    except BadInput as error:
        _fail(this, str(error))
    except Exception as error:
        log.exception("job failed", job=this.job.pk, kind=this.job.kind)
        _fail(this, f"{type(error).__name__}: {error}")


def _fail(this: Run, reason: str) -> None:
    this._mine().update(state=Job.State.FAILED, error=reason, finished_at=timezone.now())


@contextmanager
def _heart(this: Run) -> Iterator[None]:
    """Beat from a thread of its own, so that long computations are not taken for dead ones."""
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(this, stop), daemon=True)
    if not connection.in_atomic_block:  # inside a test's transaction there is nobody to look
        thread.start()
    try:
        yield
    finally:
        stop.set()
        if thread.ident:
            thread.join()


def _beat(this: Run, stop: threading.Event) -> None:
    while not stop.wait(HEARTBEAT_SECONDS):
        try:
            this._mine().update(heartbeat_at=timezone.now())
        except DatabaseError:  # a busy database: the next beat will do
            log.info("heartbeat missed", job=this.job.pk)
    connection.close()


def requeue_stale() -> int:
    """Send again: running jobs whose heart stopped, and waiting ones whose message was lost."""
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
    ids = list(waiting.values_list("pk", flat=True)[:1000])
    Job.objects.filter(pk__in=ids, state=Job.State.QUEUED).update(heartbeat_at=now)
    for job_id in ids:
        send(job_id)
    return len(ids)
