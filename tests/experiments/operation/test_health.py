"""An administrator and a probe see what is wrong before participants do."""

import os
import re
import resource
import subprocess
import sys
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.core.files.storage import FileSystemStorage
from django.db import connection
from django.utils import timezone

from experiments.models import Heartbeat, Job
from experiments.operation import health, heartbeats
from experiments.operation.backup import KIND
from tests import cast
from tests.experiments.operation.installation import installed

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def working(settings, tmp_path, monkeypatch):
    """A site on which nothing is wrong."""
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.setattr(health, "_space", lambda folder: (10**12, 10**13))
    heartbeats.beat("worker")
    heartbeats.beat("scheduler")


def test_working_site_is_ready(client):
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "problems": []})
    assert client.get("/health/live").json() == {"status": "live"}


@contextmanager
def full_disk():
    """Let the operating system, or PostgreSQL, refuse to write more than is on the disk so far."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET temp_file_limit = '64kB'")
        yield
        with connection.cursor() as cursor:
            cursor.execute("RESET temp_file_limit")
        return
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)  # bytes of a file
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.django_db(transaction=True)
def test_a_full_disk_is_down_until_it_has_room(client):
    heartbeats.beat("worker")
    heartbeats.beat("scheduler")
    assert client.get("/health/ready").status_code == 200
    with full_disk():
        answer = client.get("/health/ready")
        page = client.get("/health/live")
    problem = "database cannot write: its disk may be full or read-only"
    assert (answer.status_code, answer.json()) == (503, {"status": "down", "problems": [problem]})
    assert page.status_code == 200
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "problems": []})


def test_a_missing_first_backup_degrades_where_backups_are_due(client, settings):
    installed(days_ago=3)
    assert client.get("/health/ready").json()["status"] == "ready"  # none is expected by default
    settings.BACKUP_DUE_HOURS = 24
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert answer.json()["problems"] == ["no backup has been made so far"]
    installed(days_ago=1)
    assert client.get("/health/ready").json()["status"] == "ready"
    Job.objects.create(kind=KIND, state="failed", finished_at=timezone.now())
    assert client.get("/health/ready").json()["problems"] == ["the first backup failed"]
    Job.objects.create(kind=KIND, state="done", finished_at=timezone.now())
    assert client.get("/health/ready").json()["status"] == "ready"


@pytest.mark.parametrize(
    ("values", "due"),
    [
        ({}, 0),
        ({"BACKUP_HOURS": "6"}, 6),
        ({"BACKUP_DUE_HOURS": "24"}, 24),
        ({"BACKUP_HOURS": "6", "BACKUP_DUE_HOURS": "0"}, 0),
    ],
)
def test_backups_are_due_as_often_as_they_are_scheduled_unless_said(values, due):
    left_out = {"BACKUP_HOURS", "BACKUP_DUE_HOURS"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out} | values
    code = "from config.settings import BACKUP_DUE_HOURS; print(BACKUP_DUE_HOURS)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == due


def test_each_problem_beside_the_answers_is_named(client, settings, monkeypatch):
    long_ago = timezone.now() - timedelta(days=3)
    Heartbeat.objects.update(at=long_ago)
    job = Job.objects.create(kind="releases.build")
    Job.objects.filter(pk=job.pk).update(created_at=long_ago)
    Job.objects.create(kind=KIND, state="done", finished_at=long_ago)
    settings.BACKUP_DUE_HOURS = 24
    settings.MEDIA_ROOT = "/dev/null/media"
    monkeypatch.setattr(health, "_space", lambda folder: (1000, 10**13))
    answer = client.get("/health/ready")
    assert answer.status_code == 200 and answer.json()["status"] == "degraded"
    text = " ".join(answer.json()["problems"])
    for problem in (
        "nearly full",
        "uploads cannot",
        "no worker",
        "no scheduler",
        "jobs wait",
        "backup is too",
    ):
        assert problem in text, problem


def test_page_of_operation_is_for_administrators(client):
    assert client.get("/operation/").status_code == 302
    client.force_login(cast.ben())
    assert client.get("/operation/").status_code == 403
    client.force_login(cast.user("root", is_staff=True))
    page = client.get("/operation/").content.decode()
    assert "Ready" in page and "None was made so far" in page and "Missing backups are not reported" in page
    result = {"file": "/b/obelus.backup", "rows": 4321, "files": 2, "size": 5000, "is_encrypted": True}
    Job.objects.create(kind=KIND, state="done", finished_at=timezone.now(), result=result)
    page = client.get("/operation/").content.decode()
    assert "4,321 rows" in page and "obelus.backup" in page


def section(page, name):
    """The text of one panel, with single spaces."""
    [panel] = re.findall(rf'<section[^>]*aria-labelledby="{name}">(.*?)</section>', page, re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", panel).split())


def test_page_of_operation_shows_processes_queue_disks_and_problems(client, settings, monkeypatch):
    client.force_login(cast.user("root", is_staff=True))
    client.get("/operation/")  # the first one imports views, which takes long on a busy machine
    now = timezone.now()
    Heartbeat.objects.all().delete()
    Heartbeat.objects.create(process="worker@a", at=now)
    Heartbeat.objects.create(process="scheduler@b", at=now - timedelta(hours=2))
    page = client.get("/operation/").content.decode()
    assert re.search(r"scheduler@b 2.hours ago", section(page, "processes"))
    assert re.search(r"worker@a (now|(a|\d+).(second|minute)s? ago)", section(page, "processes"))
    assert "health" not in section(page, "processes")
    assert section(page, "state") == "Degraded No scheduler runs."
    assert section(page, "queue").startswith("Jobs 0 waiting, 0 running, 0 failed within a day. All jobs")
    for state in ("queued", "queued", "running", "failed"):
        Job.objects.create(kind="test.work", state=state, finished_at=now if state == "failed" else None)
    first = Job.objects.filter(state="queued").first()
    Job.objects.filter(pk=first.pk).update(created_at=now - timedelta(seconds=1234))
    sizes = {settings.VAR: (300_000_000, 10**9), settings.MEDIA_ROOT: (2 * 1024**3, 8 * 1024**3)}
    monkeypatch.setattr(health, "_space", lambda folder: sizes.get(folder, (10**12, 10**13)))
    page = client.get("/operation/").content.decode()
    queue = section(page, "queue")
    assert "2 waiting, 1 running, 1 failed within a day" in queue
    assert 1234 <= int(re.search(r"The oldest waits for (\d+) s", queue)[1]) < 1800
    disks = section(page, "disks").replace("\xa0", " ")
    assert "Data 286.1 MB low 953.7 MB" in disks and "Uploads 2.0 GB 8.0 GB" in disks
    problems = section(page, "state")
    assert "Disk of data is nearly full." in problems and "Jobs wait for more than 10 minutes." in problems


def test_hosts_out_of_service_are_forgotten():
    Heartbeat.objects.create(process="worker@old", at=timezone.now() - timedelta(days=8))
    heartbeats.forget_absent_hosts()
    assert not Heartbeat.objects.filter(process="worker@old").exists() and not heartbeats.is_silent("worker")


def test_storages_without_folders_have_no_disk(settings, monkeypatch):
    assert {disk.name for disk in health.disks()} == {"data", "uploads", "releases", "backups"}
    monkeypatch.setattr(health, "FileSystemStorage", type("Other", (FileSystemStorage,), {}))
    assert {disk.name for disk in health.disks()} == {"data"}
