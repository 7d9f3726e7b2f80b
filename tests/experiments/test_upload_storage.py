"""Uploads on S3 as in a folder: saved, previewed, imported, counted, swept; failures leave nothing."""

import os
import socketserver
import uuid
from datetime import timedelta

import pytest
from botocore.exceptions import BotoCoreError
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from experiments.intake import previews
from experiments.intake.uploads import delete_stray_files, save_uploads, upload_quota
from experiments.models import Job, MaterialSet, Upload
from experiments.operation.job_runner import run
from experiments.periodic import discard_unfinished_uploads
from tests import cast
from tools.doubles import s3, serving

pytestmark = pytest.mark.django_db(transaction=True)
ABOUT = {"name": "Corpus", "language": "en", "source": "", "licence": ""}
PAIRS = b"item,condition,sentence,expected\n1,a,One.,acceptable\n1,b,Two.,unacceptable\n"


@pytest.fixture(params=["s3", "folder"])
def names(request, settings, tmp_path, monkeypatch):
    """The names in the storage of uploads, as the setting UPLOAD_STORAGE chooses it."""
    monkeypatch.setattr("experiments.operation.job_runner.send", lambda job_id: None)
    if request.param == "folder":
        settings.MEDIA_ROOT = tmp_path
        yield lambda: sorted(
            str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()
        )
        return
    with s3.running(monkeypatch) as double:
        s3.store_uploads(double, settings, monkeypatch)
        yield lambda: sorted(name.removeprefix("files/") for name in double.names())


@pytest.fixture
def bucket(settings, monkeypatch):
    monkeypatch.setattr("experiments.operation.job_runner.send", lambda job_id: None)
    with s3.running(monkeypatch) as double:
        s3.store_uploads(double, settings, monkeypatch)
        yield double


def test_the_setting_names_bucket_and_folder(bucket, settings):
    options = settings.STORAGES["default"]["OPTIONS"]
    assert (options["bucket_name"], options["location"]) == (s3.BUCKET, "files")


def test_an_upload_is_previewed_and_imported_by_workers_and_leaves_no_file(ada, names, monkeypatch):
    monkeypatch.setattr(previews, "MAX_IMMEDIATE_BYTES", 10)
    address = ada.post("/materials/upload/", {"files": SimpleUploadedFile("c.csv", PAIRS), **ABOUT}).url
    assert b"Reading the files" in ada.get(address).content
    run(Job.objects.get().pk)
    assert b"Store these materials" in ada.get(address).content
    upload = Upload.objects.get()
    assert upload_quota(cast.ada()).used == len(PAIRS) and upload.file.open().read() == PAIRS
    assert [name.rpartition("/")[0] for name in names()] == [
        f"uploads/{upload.owner_id}/{upload.batch}",
        f"uploads/{upload.owner_id}/{upload.batch}/previews",
    ]
    ada.post(address, {**ABOUT, "format": "auto", "action": "import"})
    job = Job.objects.get(kind="materials.import")
    run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    assert MaterialSet.objects.get().sentences.count() == 2
    assert names() == [] and not Upload.objects.exists()


def test_files_that_no_row_names_are_swept_once_they_are_old(names):
    used = save_uploads(cast.ada(), [ContentFile(PAIRS, "c.csv")], purpose="scores", options={})[0]
    batch = f"uploads/{used.owner_id}/{uuid.uuid4()}"
    stray = [f"{batch}/0", f"{batch}/1", f"{batch}/previews/ab.json"]
    others = [
        f"{batch}/notes.txt",
        "uploads/readme",
        "reports/0",
        f"uploads/x/{uuid.uuid4()}/0",
        "uploads/7/8/0",
    ]
    for name in [*stray, *others]:
        default_storage.save(name, ContentFile(b"x"))
    kept = sorted([used.file.name, *others])
    assert delete_stray_files() == 0 and names() == sorted([*kept, *stray])
    later = timezone.now() + timedelta(minutes=1)
    assert delete_stray_files(older_than=later) == 3 and names() == kept
    assert delete_stray_files(older_than=later) == 0


def test_the_scheduled_job_sweeps_old_stray_files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    name = default_storage.save(f"uploads/1/{uuid.uuid4()}/0", ContentFile(b"x"))
    discard_unfinished_uploads()
    assert default_storage.exists(name)
    long_ago = (timezone.now() - timedelta(days=settings.UPLOAD_DAYS, minutes=1)).timestamp()
    os.utime(tmp_path / name, (long_ago, long_ago))
    discard_unfinished_uploads()
    assert not default_storage.exists(name)


def test_a_bucket_that_refuses_the_second_file_keeps_neither_and_says_so(ada, bucket):
    puts = []

    def refuses(method, query):
        puts.append(method) if method == "PUT" else None
        return method == "PUT" and len(puts) > 1

    bucket.refuses = refuses
    files = [SimpleUploadedFile(f"{name}.csv", PAIRS) for name in "ab"]
    page = ada.post("/materials/upload/", {"files": files, **ABOUT})
    assert page.status_code == 200 and "the storage of files did not take it" in page.content.decode()
    assert len(puts) > 1 and bucket.names() == [] and not Upload.objects.exists()


def test_quotas_and_pages_of_uploads_ask_the_storage_nothing(ada, bucket):
    save_uploads(cast.ada(), [ContentFile(PAIRS, "c.csv")], purpose="materials", options={})
    bucket.refuses = lambda method, query: True
    bucket.requests.clear()
    assert upload_quota(cast.ada()).used == len(PAIRS)
    page = ada.get("/materials/upload/")
    assert page.status_code == 200 and f"{len(PAIRS)} bytes" in page.content.decode().replace("\xa0", " ")
    assert bucket.requests == []


def test_a_file_from_before_sizes_were_stored_is_measured_once_when_its_storage_responds(bucket):
    (upload,) = save_uploads(cast.ada(), [ContentFile(PAIRS, "c.csv")], purpose="scores", options={})
    Upload.objects.update(size=None)
    bucket.refuses = lambda method, query: True
    assert upload_quota(cast.ada(), purpose="scores").used == 0 and Upload.objects.get().size is None
    bucket.refuses = lambda method, query: False
    assert upload_quota(cast.ada(), purpose="scores").used == len(PAIRS) == Upload.objects.get().size
    bucket.requests.clear()
    assert upload_quota(cast.ada(), purpose="scores").used == len(PAIRS) and bucket.requests == []


def test_a_page_that_needs_a_file_of_a_bucket_that_is_away_says_so_and_works_later(ada, bucket):
    address = ada.post("/materials/upload/", {"files": SimpleUploadedFile("c.csv", PAIRS), **ABOUT}).url
    ada.raise_request_exception = False  # the response, as the server gives it
    bucket.refuses = lambda method, query: True
    page = ada.get(address)
    assert (page.status_code, page["Retry-After"]) == (503, "5")
    assert "The shared storage does not answer just now" in page.content.decode()
    bucket.refuses = lambda method, query: False
    assert b"Store these materials" in ada.get(address).content


def test_a_server_that_ends_every_connection_is_asked_three_times(settings, monkeypatch):
    connections = []

    class Ends(socketserver.BaseRequestHandler):
        def handle(self):
            connections.append(self.request.recv(10))

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with socketserver.TCPServer(("127.0.0.1", 0), Ends) as server, serving(server):
        double = s3.S3Double(f"http://127.0.0.1:{server.server_address[1]}")
        s3.store_uploads(double, settings, monkeypatch)
        with pytest.raises(BotoCoreError):
            default_storage.exists("reports/1")
    assert len(connections) == 3
