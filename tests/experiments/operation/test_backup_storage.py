"""Backups on S3, against a local server: stored, listed, restored, pruned; and a store that fails."""

import json
import random
import re
from io import StringIO

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage, storages
from django.core.management import CommandError, call_command

from experiments.models import Job
from experiments.operation.backup import enqueue_when_due, last_backup
from experiments.operation.job_runner import run
from judgments.models import Judgment
from tests import cast
from tests.experiments.operation.test_backup import empty_installation, rows_of
from tools.doubles import s3

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = f"s3://{s3.BUCKET}/backups"
LARGE = random.Random(1).randbytes(9_000_000)  # boto3 sends files from 8 MiB in parts


@pytest.fixture
def bucket(monkeypatch, settings, tmp_path):
    """Everything on S3: uploads, releases and backups, each with its prefix."""
    with s3.running(monkeypatch) as double:
        places = {"default": "uploads", "releases": "releases", "backups": "backups"}
        entries = {
            alias: double.storage(prefix, max_memory_size=16 << 20) for alias, prefix in places.items()
        }
        settings.STORAGES = {**settings.STORAGES, **entries}
        settings.BACKUP_STORAGE, settings.BACKUP_KEY, settings.BACKUP_KEEP = ADDRESS, "a key", 14
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        monkeypatch.setattr("experiments.operation.job_runner.send", lambda job_id: None)
        yield double


@pytest.fixture
def installation(bucket):
    """A study with answers, an upload that goes in parts, and a file of a release."""
    cast.sit(cast.study(), n=2)
    default_storage.save("uploads/sentences.csv", ContentFile(LARGE))
    storages["releases"].save("agreement/manifest.json", ContentFile(b"{}"))


def command(name, *arguments, **options):
    out = StringIO()
    call_command(name, *arguments, json=True, stdout=out, **options)
    return json.loads(out.getvalue())


def backups_in(bucket):
    return [name for name in bucket.names() if name.startswith("backups/")]


def test_a_backup_on_s3_is_listed_verified_and_restored(bucket, installation, tmp_path):
    former = rows_of(Judgment)
    document = command("backup")
    (name,) = backups_in(bucket)
    assert document["file"] == f"s3://{s3.BUCKET}/{name}" and document["is_encrypted"]
    assert (document["files"], last_backup().result["file"]) == (2, document["file"])
    listed = command("backup", lists=True)
    file_name = name.removeprefix("backups/")
    assert listed["storage"] == ADDRESS
    assert [(row["name"], row["size"]) for row in listed["backups"]] == [(file_name, document["size"])]
    assert command("backup", verify=file_name)["table_checksums"] == document["table_checksums"]

    empty_installation()
    restored = command("restore", "newest")

    assert restored["backup"]["table_checksums"] == document["table_checksums"]
    assert rows_of(Judgment) == former != {}
    assert default_storage.open("uploads/sentences.csv").read() == LARGE
    assert storages["releases"].open("agreement/manifest.json").read() == b"{}"
    assert list(tmp_path.iterdir()) == []  # no copy is left on this machine


def test_scheduled_backups_go_to_s3_and_the_newest_are_kept(bucket, settings):
    settings.BACKUP_HOURS, settings.BACKUP_KEEP = 24, 2
    for day in (1, 2, 3):
        storages["backups"].save(f"obelus-2026010{day}T030000Z-0000000{day}.backup", ContentFile(b"old"))
    storages["backups"].save("notes.txt", ContentFile(b"mine"))
    job = enqueue_when_due()
    run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error
    names = backups_in(bucket)
    assert names[:2] == ["backups/notes.txt", "backups/obelus-20260103T030000Z-00000003.backup"]
    assert len(names) == 3 and job.result["file"] == f"s3://{s3.BUCKET}/{names[2]}"
    assert enqueue_when_due() is None
    created = [row["created_at"] for row in command("backup", lists=True)["backups"]]
    assert created[1] == "2026-01-03T03:00:00+00:00" and created == sorted(created, reverse=True)


def test_a_store_that_refuses_a_part_keeps_nothing_and_the_earlier_backups_stay(
    bucket, installation, settings, tmp_path
):
    settings.BACKUP_HOURS, settings.BACKUP_KEEP = 24, 1
    storages["backups"].save("obelus-20260101T030000Z-00000001.backup", ContentFile(b"old"))
    bucket.refuses = lambda method, query: method == "PUT" and "partNumber=2" in query
    with pytest.raises(CommandError, match=r"s3://lab/backups did not take the backup: .* QuotaExceeded"):
        call_command("backup")
    job = enqueue_when_due()
    run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.QUEUED and re.search("QuotaExceeded.*Attempt 2 of 5", job.message)
    assert last_backup() is None
    assert backups_in(bucket) == ["backups/obelus-20260101T030000Z-00000001.backup"]
    assert bucket.unfinished_uploads() == [] and list(tmp_path.iterdir()) == []
    bucket.refuses = lambda method, query: False
    Job.objects.update(retry_at=None)
    run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE and len(backups_in(bucket)) == 1
    assert command("backup", verify="newest")["rows"] == job.result["rows"]


def test_a_store_that_returns_another_file_keeps_no_copy_and_the_earlier_backups_stay(
    bucket, installation, settings, tmp_path
):
    settings.BACKUP_KEEP = 1
    storages["backups"].save("obelus-20260101T030000Z-00000001.backup", ContentFile(b"old"))
    earlier, changed = backups_in(bucket), []

    def change_before_it_is_read(method, query):
        name = bucket.requests[-1].partition(f" /{s3.BUCKET}/")[2].removesuffix("?")
        if method == "HEAD" and name.startswith("backups/") and not changed:
            changed.append(name)
            content = bytearray(bucket.client.get_object(Bucket=s3.BUCKET, Key=name)["Body"].read())
            content[len(content) // 2] ^= 1
            bucket.client.put_object(Bucket=s3.BUCKET, Key=name, Body=bytes(content))
        return False

    bucket.refuses = change_before_it_is_read
    with pytest.raises(CommandError, match=r"^s3://lab/backups returned another file than the backup\.$"):
        call_command("backup")
    assert changed and last_backup() is None and backups_in(bucket) == earlier
    assert list(tmp_path.iterdir()) == []


def test_old_backups_that_cannot_be_deleted_fail_no_backup(bucket, settings):
    settings.BACKUP_KEEP = 1
    storages["backups"].save("obelus-20260101T030000Z-00000001.backup", ContentFile(b"old"))
    bucket.refuses = lambda method, query: method == "DELETE"
    command("backup")
    assert len(backups_in(bucket)) == 2 and last_backup() is not None


def test_a_missing_bucket_and_an_absent_server_are_named(bucket, settings):
    options = {**bucket.storage("backups")["OPTIONS"], "bucket_name": "absent"}
    settings.STORAGES = {**settings.STORAGES, "backups": {**bucket.storage(""), "OPTIONS": options}}
    for arguments in ({}, {"lists": True}, {"verify": "newest"}):
        with pytest.raises(CommandError, match=r"was answered with NoSuchBucket\. Check the bucket"):
            call_command("backup", **arguments)
    options["endpoint_url"] = "http://127.0.0.1:9"
    settings.STORAGES = {**settings.STORAGES, "backups": {**bucket.storage(""), "OPTIONS": options}}
    with pytest.raises(CommandError, match=r"cannot be listed: Could not connect .* S3_ENDPOINT_URL"):
        call_command("backup", lists=True)


def test_names_that_are_in_no_place_are_refused(bucket):
    with pytest.raises(CommandError, match=r"has no backup"):
        call_command("restore", "newest")
    with pytest.raises(CommandError, match=r"no such file here, nor in s3://lab/backups"):
        call_command("restore", "obelus-20260101T030000Z-00000001.backup")
    with pytest.raises(CommandError, match=r"--to takes a folder, not s3://lab/x\. Set BACKUP_STORAGE"):
        call_command("backup", to="s3://lab/x")


def test_backups_of_a_folder_are_listed_and_found_by_name(settings, tmp_path, capsys):
    entry = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": tmp_path / "kept"},
    }
    settings.STORAGES = {**settings.STORAGES, "backups": entry}
    settings.BACKUP_STORAGE, settings.BACKUP_KEY = str(tmp_path / "kept"), ""
    assert command("backup", lists=True)["backups"] == []
    document = command("backup")
    (row,) = command("backup", lists=True)["backups"]
    assert document["file"] == str(tmp_path / "kept" / row["name"]) and row["size"] == document["size"]
    assert command("backup", verify=row["name"])["file"] == document["file"]
    call_command("backup", lists=True)
    assert row["name"] in capsys.readouterr().out
