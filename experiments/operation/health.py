"""Whether this installation can store answers (else it is down), and what else is wrong (degraded)."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage, storages
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Count, Min
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from experiments.models import Heartbeat, Job
from experiments.operation.backup import KIND, last_backup
from experiments.operation.heartbeats import is_silent

LOW_BYTES = 500_000_000
QUEUE_LATE_S = 600
#: Sorts some 350 kB, more than fits into 64 kB of memory.
SORT = (
    'SELECT max(place) FROM (SELECT row_number() OVER (ORDER BY line COLLATE "C") AS place'
    " FROM (SELECT repeat(md5(i::text), 10) AS line FROM generate_series(1, 1000) AS i) AS lines) AS places"
)
BACKUP_GRACE = 2  # intervals without a backup until a warning


@dataclass(frozen=True)
class Disk:
    """Free space of a folder's disk."""

    name: str
    free: int
    total: int

    @property
    def is_low(self) -> bool:
        """Whether less than half a gigabyte, or a hundredth, is free."""
        return self.free < max(LOW_BYTES, self.total // 100)


def live(request: HttpRequest) -> JsonResponse:
    """Respond while the process is alive."""
    return JsonResponse({"status": "live"})


def ready(request: HttpRequest) -> JsonResponse:
    """Respond 503 where answers cannot be stored, else 200 with what is degraded."""
    if failure := database_failure():
        return JsonResponse({"status": "down", "problems": [failure]}, status=503)
    problems = list(degradations())
    return JsonResponse({"status": "degraded" if problems else "ready", "problems": problems})


def database_failure() -> str:
    """Return why the database cannot store answers; empty where it can."""
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if pending:
            return f"{len(pending)} migrations wait: run manage.py migrate"
    except DatabaseError:
        return "database does not answer"
    try:
        # A row of its own: a full disk or a read-only database refuses it as it would refuse an answer.
        Heartbeat.objects.update_or_create(process="health", defaults={"at": timezone.now()})
        _write_temporary_file()
    except DatabaseError:
        return "database cannot write: its disk may be full or read-only"
    return ""


def _write_temporary_file() -> None:
    """Let PostgreSQL allocate space on its disk.

    Even on a full disk, where it cannot store the next answers, it can update a row: in free space of its
    page, and in a segment of its log that exists.
    """
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL work_mem = '64kB'")
            cursor.execute(SORT)


def degradations() -> Iterator[str]:
    """Yield problems that need attention, while answers are stored."""
    for check in CHECKS:
        try:
            yield from check()
        except (DatabaseError, OSError):
            yield f"{check.__name__.strip('_').replace('_', ' ')} cannot be checked"


def disks() -> list[Disk]:
    """Return the free space of the folders that this host writes."""
    folders = {"data": Path(settings.VAR)}
    for name, alias in {"uploads": "default", "releases": "releases", "backups": "backups"}.items():
        if isinstance(storages[alias], FileSystemStorage):
            folders[name] = Path(storages[alias].path(""))
    return [Disk(name, *_space(folder)) for name, folder in folders.items()]


def _space(folder: Path) -> tuple[int, int]:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    return usage.free, usage.total


def _disks() -> Iterator[str]:
    for disk in disks():
        if disk.is_low:
            yield f"disk of {disk.name} is nearly full"


def _uploads() -> Iterator[str]:
    if not isinstance(storages["default"], FileSystemStorage):
        return
    folder = Path(storages["default"].path(""))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0" * 4096)
    except OSError:
        yield "uploads cannot be written: the disk may be full or read-only"


def _processes() -> Iterator[str]:
    for kind in ("worker", "scheduler"):
        if is_silent(kind):
            yield f"no {kind} runs"


def queue() -> dict[str, float]:
    """Return waiting, running and failed jobs, and the seconds that the oldest waits."""
    now = timezone.now()
    day = Job.objects.filter(state=Job.State.FAILED, finished_at__gte=now - timedelta(days=1))
    waiting = Job.objects.filter(state=Job.State.QUEUED).aggregate(n=Count("pk"), oldest=Min("created_at"))
    return {
        "waiting": waiting["n"],
        "running": Job.objects.filter(state=Job.State.RUNNING).count(),
        "failed_today": day.count(),
        "oldest_s": (now - waiting["oldest"]).total_seconds() if waiting["oldest"] else 0.0,
    }


def _job_queue() -> Iterator[str]:
    if queue()["oldest_s"] > QUEUE_LATE_S:
        yield f"jobs wait for more than {QUEUE_LATE_S // 60} minutes"


def backup_age_s() -> float:
    """Return the seconds since the last backup; before the first one, since the installation."""
    last = last_backup()
    since = last.finished_at if last else _installed_at()
    return (timezone.now() - since).total_seconds() if since else 0.0


def _installed_at() -> datetime | None:
    recorder = MigrationRecorder(connection)
    if not recorder.has_table():  # a database that was made without migrations, as in tests
        return None
    first: datetime | None = recorder.migration_qs.aggregate(at=Min("applied"))["at"]
    return first


def _backups() -> Iterator[str]:
    if not settings.BACKUP_DUE_HOURS:
        return
    last = last_backup()
    if last is None and Job.objects.filter(kind=KIND, state=Job.State.FAILED).exists():
        yield "the first backup failed"
    elif backup_age_s() > BACKUP_GRACE * settings.BACKUP_DUE_HOURS * 3600:
        yield "the last backup is too old" if last else "no backup has been made so far"


CHECKS: tuple[Callable[[], Iterator[str]], ...] = (_disks, _uploads, _processes, _job_queue, _backups)
