"""Run long work with one effect, even when processes are killed on the way.

1. :func:`enqueue` stores the row and, after commit, sends its id.
2. :func:`run` claims the row by a conditional update that raises ``attempt``.
3. The work computes, reports progress and ends in :meth:`Run.finishing`: one transaction that
   stores its effect together with the state "done", and only if the row still has its attempt.
4. A killed worker leaves a running row without heartbeat, which :func:`requeue_stale` starts again. The
   earlier start cannot finish any more, because the row has a later attempt.
5. Where storage, database or broker do not respond, the row waits until ``retry_at`` and starts again, with
   longer and longer delays; after ``JOB_MAX_ATTEMPTS`` of these the job has failed.
"""

import errno
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import structlog
from amqp.exceptions import AMQPError
from django.conf import settings
from django.db import (
    DatabaseError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    close_old_connections,
    connection,
    transaction,
)
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules
from kombu.exceptions import KombuError

from analysis.errors import BadInput
from config.celery import app
from config.http.unavailable import is_of_a_store
from experiments.models import Experiment, Job

log = structlog.get_logger(__name__)
HEARTBEAT_SECONDS = 5
BROKER_ERRORS = (KombuError, AMQPError, OSError)  # what sending raises where the broker does not respond
MAX_REQUEUED = 1000  # jobs sent again in one sweep; the next sweep follows 15 s later
DELAY_FACTOR = 4  # of each retry to the one before: 15 s, 1, 4 and 16 minutes
FULL_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Overtaken(Exception):
    """Another start of the same job has taken over, or the job has finished."""


class IOFailure(BadInput):
    """Storage did not respond: a job tries again, a command reports it."""


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
                io_failures=0,
                progress=F("total"),
                message="",
                finished_at=timezone.now(),
            )


Work = Callable[[Run], None]
AfterFailure = Callable[[Job, str], None]
KINDS: dict[str, Work] = {}
AFTER_FAILURE: dict[str, AfterFailure] = {}


def job(kind: str, *, after_failure: AfterFailure | None = None) -> Callable[[Work], Work]:
    """Register the work of a kind of job: ``@job("releases.build")`` over ``def build(run: Run)``.

    ``after_failure`` stores elsewhere that the job failed, with its reason, in the transaction that says so.
    """

    def register(work: Work) -> Work:
        KINDS[kind] = work
        if after_failure is not None:
            AFTER_FAILURE[kind] = after_failure
        return work

    return register


def load_kinds() -> None:
    """Import ``jobs.py`` of every app, which registers its kinds of jobs."""
    autodiscover_modules("jobs")


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
        state=Job.State.QUEUED,
        error="",
        message="",
        finished_at=None,
        heartbeat_at=None,
        io_failures=0,
        retry_at=None,
    ):
        transaction.on_commit(lambda: send(failed.pk))


@app.task(name="experiments.run_job")
def run_job(job_id: int) -> None:
    """Run one job."""
    run(job_id)


def run(job_id: int) -> None:
    """Claim one job and run it; does nothing where another process has claimed it."""
    # Race: of several deliveries of the same id, only one update finds the row queued.
    waiting = Job.objects.filter(pk=job_id, state=Job.State.QUEUED).exclude(retry_at__gt=timezone.now())
    claimed = waiting.update(
        state=Job.State.RUNNING,
        attempt=F("attempt") + 1,
        started_at=timezone.now(),
        heartbeat_at=timezone.now(),
        retry_at=None,
        error="",
        message="",
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
        load_kinds()
        KINDS[current.job.kind](current)
    except Overtaken:
        log.info("job overtaken", job=current.job.pk, attempt=current.attempt)
    except Exception as error:  # work may raise any type; each is stored with the job
        if not connection.in_atomic_block:  # a test's transaction ends with its connection
            close_old_connections()  # one that broke; what follows opens another
        try:
            _store_error(current, error)
        except (DatabaseError, InterfaceError):
            # The row stays running without heartbeat, from where requeue_stale starts it again.
            log.exception("job's error not stored", job=current.job.pk)


def _store_error(current: Run, error: Exception) -> None:
    if failure := io_failure(error):
        log.warning("job interrupted", job=current.job.pk, kind=current.job.kind, exc_info=error)
        _retry_or_fail(current, failure)
    elif isinstance(error, BadInput):
        _fail(current._own_row(), current.job, str(error))
    else:
        log.error("job failed", job=current.job.pk, kind=current.job.kind, exc_info=error)
        _fail(current._own_row(), current.job, f"{type(error).__name__}: {error}")


def io_failure(error: Exception) -> str:
    """Return what did not respond, in a sentence without paths of the server; empty for other errors."""
    if isinstance(error, IOFailure):
        sentence = f"{error.message} {error.remedy}".strip()
        return sentence[:1].upper() + sentence[1:]
    if isinstance(error, OperationalError | InterfaceError):
        return "The database did not respond, or could not write."
    if isinstance(error, KombuError | AMQPError):
        return "The message broker did not respond."
    if isinstance(error, OSError):
        return _os_failure(error)
    return "The shared storage did not respond." if is_of_a_store(error) else ""


def _os_failure(error: OSError) -> str:
    if error.errno in FULL_DISK:
        return "The disk of the server is full."
    # The storages of S3 raise it without a number; libraries derive errors of their own from it.
    if type(error) is FileNotFoundError:
        return "A stored file is missing. Web and worker processes on several hosts need the same storage."
    if isinstance(error, ConnectionError | TimeoutError):
        return "A connection was lost."
    # Libraries of models raise OSError, without a number, for a model that does not exist.
    return f"A file could not be read or written: {error.strerror}." if error.errno else ""


def _retry_or_fail(current: Run, failure: str) -> None:
    n_failures = current.job.io_failures + 1
    if n_failures >= settings.JOB_MAX_ATTEMPTS:
        reason = (
            f"{failure} {n_failures} attempts have failed; an administrator can find the cause in the log."
        )
        _fail(current._own_row(), current.job, reason)
        return
    retry_at = timezone.now() + _delay(n_failures)
    attempt = f"Attempt {n_failures + 1} of {settings.JOB_MAX_ATTEMPTS} follows at {retry_at:%H:%M:%S} UTC."
    current._own_row().update(
        state=Job.State.QUEUED,
        io_failures=n_failures,
        retry_at=retry_at,
        heartbeat_at=None,
        message=f"{failure[:200]} {attempt}",
    )


def _delay(n_failures: int) -> timedelta:
    """Return the time until the next start after so many failures in a row."""
    return timedelta(seconds=settings.JOB_RETRY_SECONDS * DELAY_FACTOR ** (n_failures - 1))


def _fail(rows: QuerySet[Job], job_row: Job, reason: str) -> None:
    """Store the reason, here and where the kind of job says, if the row is still among these."""
    with transaction.atomic():
        changed = rows.update(state=Job.State.FAILED, error=reason, message="", finished_at=timezone.now())
        if changed and job_row.kind in AFTER_FAILURE:
            AFTER_FAILURE[job_row.kind](job_row, reason)


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
        except (DatabaseError, InterfaceError):  # busy or restarted: the next beat will do
            log.info("heartbeat missed", job=current.job.pk)
            connection.close()  # one that broke is not opened again by itself
    connection.close()


def requeue_stale() -> int:
    """Send again running jobs without heartbeat, waiting ones whose message was lost, and due retries."""
    now = timezone.now()
    patience = timedelta(seconds=settings.JOB_STALE_SECONDS)
    stale = now - patience
    # A time in the future is of a worker that died before the clock was set back.
    is_silent = Q(heartbeat_at__lt=stale) | Q(heartbeat_at__gt=now + patience)
    silent = Job.objects.filter(is_silent, state=Job.State.RUNNING)
    for row in silent.filter(attempt__gte=F("io_failures") + settings.JOB_MAX_ATTEMPTS):
        # Race: the heartbeat is part of the condition, so a worker that responds again goes on.
        _fail(silent.filter(pk=row.pk), row, "The worker died at every start; see its log.")
    silent.update(state=Job.State.QUEUED, heartbeat_at=None)
    is_unsent = Q(created_at__lt=stale) | Q(created_at__gt=now + patience)
    is_lost = Q(is_unsent, heartbeat_at__isnull=True) | is_silent
    waiting = Job.objects.filter(state=Job.State.QUEUED).filter(
        # As above: no delay is longer than the last one, unless the clock was set back since.
        Q(retry_at__lte=now)
        | Q(retry_at__gt=now + _delay(settings.JOB_MAX_ATTEMPTS))
        | (Q(retry_at__isnull=True) & is_lost)
    )
    ids = list(waiting.values_list("pk", flat=True)[:MAX_REQUEUED])
    Job.objects.filter(pk__in=ids, state=Job.State.QUEUED).update(heartbeat_at=now, retry_at=None)
    for job_id in ids:
        send(job_id)
    return len(ids)
