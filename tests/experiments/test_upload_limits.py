"""What an upload may cost the server: memory when it is unpacked, space, and time that it waits."""

import errno
import gzip
import io
import resource
import tracemalloc
import uuid
import zipfile
from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.utils import timezone

from analysis.errors import BadInput
from config.job_queue import celery_settings
from experiments.intake.previews import import_later as import_materials_later
from experiments.intake.previews import is_large
from experiments.intake.uploads import discard_unfinished, find_batch, save_uploads
from experiments.materials import encoding
from experiments.materials.readers import spreadsheets
from experiments.models import Job, Upload
from experiments.operation.job_runner import run
from experiments.periodic import discard_unfinished_uploads
from judgments.imports.jobs import import_later as import_judgments_later
from tests import cast

ABOUT = {"name": "Corpus", "language": "en", "source": "", "licence": ""}


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def files_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def send(client, name, content):
    return client.post("/materials/upload/", {"files": SimpleUploadedFile(name, content), **ABOUT})


def bomb(megabytes):
    return gzip.compress(bytes(megabytes << 20), compresslevel=9)


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(bomb(300))
    assert path.stat().st_size < 400_000
    tracemalloc.start()
    with pytest.raises(BadInput, match="unpacks to"):
        encoding.read_text(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6


def test_a_gzip_file_within_the_limits_is_read(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"item,sentence\n1,A cat.\n"))
    assert encoding.read_text(path).text == "item,sentence\n1,A cat.\n"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BadInput, match="cannot be read"):
        encoding.read_text(path)


def test_a_spreadsheet_that_understates_its_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "MAX_UNPACKED_BYTES", 1_000_000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(3_000_000))
    honest = packed.getvalue()
    lying = honest.replace((3_000_000).to_bytes(4, "little"), (3).to_bytes(4, "little"))
    assert lying != honest
    for content in (honest, lying):
        path = tmp_path / "bomb.xlsx"
        path.write_bytes(content)
        with pytest.raises(BadInput, match="unpacks to"):
            spreadsheets.read_spreadsheet(path)


@pytest.mark.django_db
def test_a_packed_file_is_previewed_by_a_worker_when_it_is_large_unpacked(ada):
    address = send(ada, "corpus.csv.gz", bomb(20)).url
    assert b"Reading the files" in ada.get(address).content
    assert Job.objects.get().kind == "materials.preview"
    small = send(ada, "corpus.csv.gz", gzip.compress(b"item,sentence\n1,A cat.\n")).url
    batch = small.rstrip("/").rpartition("/")[2].partition("?")[0]
    assert not is_large(find_batch(cast.ada(), uuid.UUID(batch), purpose="materials"))


@pytest.mark.django_db
def test_what_waits_between_upload_and_import_is_limited_for_each_researcher(ada, settings, folder):
    settings.UPLOAD_QUOTA_BYTES = 100
    assert send(ada, "a.csv", b"x" * 80).status_code == 302
    refused = send(ada, "b.csv", b"x" * 80).content.decode()
    assert "unfinished uploads would exceed" in refused
    assert Upload.objects.count() == 1 and len(files_in(folder)) == 1
    ben = save_uploads(cast.ben(), [SimpleUploadedFile("c.csv", b"x" * 80)], purpose="materials", options={})
    assert len(ben) == 1


@pytest.mark.django_db
def test_a_full_disk_leaves_neither_file_nor_row_and_says_so(ada, monkeypatch, folder):
    stored = FileSystemStorage._save
    written = []

    def save(self, name, content):
        if written:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(b"a part")
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(name)
        return stored(self, name, content)

    monkeypatch.setattr(FileSystemStorage, "_save", save)
    two = [SimpleUploadedFile(name, b"item,sentence\n1,A.\n") for name in ("a.csv", "b.csv")]
    page = ada.post("/materials/upload/", {"files": two, **ABOUT})
    assert page.status_code == 200 and "disk is full" in page.content.decode()
    assert written and not Upload.objects.exists() and files_in(folder) == []


@pytest.mark.django_db
def test_a_disk_that_is_full_while_an_upload_is_received_says_so(ada, monkeypatch, folder):
    def full(self, *args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(TemporaryFileUploadHandler, "receive_data_chunk", full)
    ada.raise_request_exception = False
    large = b"item,sentence\n1,A.\n" + b"2,B.\n" * 600_000  # kept in a temporary file, not in memory
    page = send(ada, "large.csv", large)
    assert page.status_code == 507 and "disk of this server is full" in page.content.decode()
    assert not Upload.objects.exists() and files_in(folder) == []


@pytest.mark.django_db
def test_a_preview_that_needs_too_much_memory_is_refused_with_one_sentence(ada, settings, monkeypatch):
    settings.PREVIEW_MEMORY_BYTES = 100_000_000
    assert b"Reading the files" in ada.get(send(ada, "bomb.csv.gz", bomb(20)).url).content
    limits, size = resource.getrlimit(resource.RLIMIT_DATA), 400 << 20
    monkeypatch.setattr("experiments.pages.materials.reading.describe_reading", lambda *args: bytearray(size))
    row = Job.objects.get()
    run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.error) == (
        "failed",
        "bomb.csv.gz: reading needs more than 100 MB of memory. Split the file, or use the command line.",
    )
    assert resource.getrlimit(resource.RLIMIT_DATA) == limits and len(bytearray(size)) == size


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("purpose", "import_upload", "reader"),
    [
        ("materials", import_materials_later, "experiments.intake.previews.read_materials"),
        (
            "judgments",
            lambda uploads: import_judgments_later(uploads[0]),
            "judgments.imports.jobs.read_judgments",
        ),
    ],
)
def test_an_import_that_needs_too_much_memory_is_refused_with_one_sentence(
    settings, monkeypatch, purpose, import_upload, reader
):
    settings.PREVIEW_MEMORY_BYTES = 100_000_000
    sent = [SimpleUploadedFile("corpus.csv", b"item,sentence\n1,A.\n")]
    options = {"format": "table", "experiment": "s"}
    uploads = save_uploads(cast.ada(), sent, purpose=purpose, options=options)
    monkeypatch.setattr(reader, lambda *args, **options: bytearray(400 << 20))
    limits, row = resource.getrlimit(resource.RLIMIT_DATA), import_upload(uploads)
    run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.error) == (
        "failed",
        "corpus.csv: reading needs more than 100 MB of memory. Split the file, or use the command line.",
    )
    assert resource.getrlimit(resource.RLIMIT_DATA) == limits and Upload.objects.exists()


@pytest.mark.django_db
def test_a_table_of_many_empty_cells_is_refused_by_the_worker_alone(ada, settings):
    """6 MB of text, 60 KB packed, pass every limit of size and need 30 times as much memory as a table."""
    settings.PREVIEW_MEMORY_BYTES = 60_000_000
    names = ",".join(f"x{n}" for n in range(200))
    rows = "".join(f"{n},a,S{n}.,acceptable,{',' * 199}\n" for n in range(28_000))
    cells = gzip.compress(f"item,condition,sentence,expected,{names}\n{rows}".encode(), mtime=0)
    address = send(ada, "cells.csv.gz", cells).url
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert b"Reading the files" in ada.get(address).content
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kibibytes
    row = Job.objects.get()
    run(row.pk)
    row.refresh_from_db()
    assert row.state == "failed" and row.error.startswith("cells.csv.gz: reading needs more than 60 MB")
    page = ada.get(address).content.decode()
    assert "reading needs more than 60 MB of memory" in page and "Split the file" in page


@pytest.mark.django_db
def test_a_parquet_file_is_previewed_by_a_worker_when_its_values_are_large(ada):
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 300, pa.int32()), ["a " * 30_000])
    file = io.BytesIO()
    pq.write_table(pa.table({"item": range(300), "sentence": shared}), file)
    assert len(file.getvalue()) < 100_000
    assert b"Reading the files" in ada.get(send(ada, "corpus.parquet", file.getvalue()).url).content
    assert Job.objects.get().kind == "materials.preview"


@pytest.mark.django_db
def test_unfinished_uploads_are_removed_by_a_scheduled_job(ada, settings, folder):
    assert "experiments.discard_unfinished_uploads" in {
        row["task"] for row in celery_settings.beat_schedule.values()
    }
    for n in range(3):
        send(ada, f"{n}.csv", b"item,sentence\n1,A.\n")
    old, used, _ = Upload.objects.order_by("pk")
    long_ago = timezone.now() - timedelta(days=settings.UPLOAD_DAYS, minutes=1)
    Upload.objects.filter(pk__in=[old.pk, used.pk]).update(created_at=long_ago)
    Job.objects.create(kind="materials.import", key="k", arguments={"batch": str(used.batch)})
    discard_unfinished_uploads()
    assert not Upload.objects.filter(pk=old.pk).exists() and not default_storage.exists(old.file.name)
    assert Upload.objects.count() == 2 and len(files_in(folder)) == 2
    Job.objects.update(state="done")
    scores = Upload.objects.create(
        owner=cast.ada(), batch=uuid.uuid4(), name="a.csv", file=old.file.name, purpose="scores"
    )
    Upload.objects.filter(pk=scores.pk).update(created_at=long_ago)
    assert discard_unfinished() == 1 and Upload.objects.filter(pk=scores.pk).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("purpose", ["materials", "judgments"])
def test_a_preview_beside_a_deletion_is_not_found(ada, monkeypatch, purpose):
    if purpose == "materials":
        address = send(ada, "a.csv", b"item,sentence\n1,A.\n").url
    else:
        file = SimpleUploadedFile("a.csv", b"participant,item,sentence,response\np,1,A.,2\n")
        address = ada.post(
            "/judgments/import/", {"file": file, "experiment": "Ratings", "format": "table"}
        ).url
    upload = Upload.objects.get()
    default_storage.delete(upload.file.name)
    monkeypatch.setattr("experiments.pages.upload_wizard.find_batch", lambda *args, **options: [upload])
    Upload.objects.all().delete()
    assert ada.get(address).status_code == 404
    assert ada.post(address, {"action": "again", "format": "auto"}).status_code == 404


@pytest.mark.django_db
def test_nul_in_the_address_of_the_manual_is_not_found(client):
    assert client.get("/manual/%00.md").status_code == 404
    assert client.get("/manual/how-to/a%00b.md").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["corpus.arrow", "arrow.zip", "parquet.zip"])
def test_an_arrow_file_or_an_archive_of_columns_is_previewed_by_a_worker_when_its_values_are_large(ada, name):
    table = pa.table({"item": range(100), "sentence": ["a " * 500_000] * 100})
    file = io.BytesIO()
    if name.startswith("parquet"):
        pq.write_table(table, file, compression="zstd")
    else:
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_stream(file, table.schema, options=options) as writer:
            writer.write_table(table)
    content = file.getvalue()
    if name.endswith(".zip"):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"data/train.{name.removesuffix('.zip')}", content)
        content = packed.getvalue()
    assert len(content) < 200_000
    before = pa.total_allocated_bytes()
    assert b"Reading the files" in ada.get(send(ada, name, content).url).content
    assert Job.objects.get().kind == "materials.preview" and pa.total_allocated_bytes() - before < 5e6
