"""An administrator and a probe see what is wrong before participants do."""

from datetime import timedelta

import pytest
from django.core.files.storage import FileSystemStorage
from django.db import DatabaseError
from django.utils import timezone

from experiments.models import Heartbeat, Job
from experiments.operation import health, heartbeats
from experiments.operation.backup import KIND
from tests import cast

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


def test_database_that_cannot_write_is_down(client, monkeypatch):
    def refuse(*args, **kwargs):
        raise DatabaseError("database or disk is full")

    monkeypatch.setattr(Heartbeat.objects, "update_or_create", refuse)
    answer = client.get("/health/ready")
    assert answer.status_code == 503 and "cannot write" in answer.json()["problems"][0]


def test_each_problem_beside_the_answers_is_named(client, settings, monkeypatch):
    long_ago = timezone.now() - timedelta(days=3)
    Heartbeat.objects.update(at=long_ago)
    job = Job.objects.create(kind="releases.build")
    Job.objects.filter(pk=job.pk).update(created_at=long_ago)
    Job.objects.create(kind=KIND, state="done", finished_at=long_ago)
    settings.BACKUP_HOURS = 24
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
    assert "Ready" in page and "worker@" in page and "None was made so far" in page
    result = {"file": "/b/obelus.backup", "rows": 4321, "files": 2, "size": 5000, "is_encrypted": True}
    Job.objects.create(kind=KIND, state="done", finished_at=timezone.now(), result=result)
    page = client.get("/operation/").content.decode()
    assert "4,321 rows" in page and "obelus.backup" in page


def test_hosts_out_of_service_are_forgotten():
    Heartbeat.objects.create(process="worker@old", at=timezone.now() - timedelta(days=8))
    heartbeats.forget_absent_hosts()
    assert not Heartbeat.objects.filter(process="worker@old").exists() and not heartbeats.is_silent("worker")


def test_storages_without_folders_have_no_disk(settings, monkeypatch):
    assert {disk.name for disk in health.disks()} == {"data", "uploads", "releases", "backups"}
    monkeypatch.setattr(health, "FileSystemStorage", type("Other", (FileSystemStorage,), {}))
    assert {disk.name for disk in health.disks()} == {"data"}
