"""Large uploads are read by a job whose progress the page shows, with the preview that small ones have."""

import re

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from experiments.intake import previews
from experiments.models import Experiment, Job, MaterialSet, Upload
from experiments.operation import job_runner
from tests import cast

pytestmark = pytest.mark.django_db
ABOUT = {"name": "Corpus", "language": "en", "source": "", "licence": ""}
PAIRS = "item,condition,sentence,expected\n" + "".join(
    f"{n},{c},Sentence {n} {c}.,{status}\n"
    for n in range(1, 8)
    for c, status in (("good", "acceptable"), ("bad", "unacceptable"))
)
JUDGMENTS = "wer,item,sentence,Urteil\np1,i1,One.,2\np1,i2,Two.,7\np2,i1,One.,3\n"


@pytest.fixture(autouse=True)
def large(settings, tmp_path, monkeypatch):
    """Every file is large, and its folder is the test's."""
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(previews, "MAX_IMMEDIATE_BYTES", 10)


def send_materials(client, text=PAIRS):
    data = text if isinstance(text, bytes) else text.encode()
    return client.post("/materials/upload/", {"files": SimpleUploadedFile("corpus.csv", data), **ABOUT}).url


def send_judgments(client):
    chosen = {"experiment": "Ratings", "format": "table"}
    return client.post(
        "/judgments/import/", {"file": SimpleUploadedFile("r.csv", JUDGMENTS.encode()), **chosen}
    ).url


def finish(kind):
    job = Job.objects.filter(kind=kind).latest("pk")
    job_runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    return job


def words(page):
    return " ".join(page.content.decode().split())


def test_the_preview_of_materials_shows_the_progress_of_its_job_then_the_files(ada, monkeypatch):
    address = send_materials(ada)
    waiting = words(ada.get(address))
    assert "Reading the files" in waiting and "js/job" in waiting and "Store these materials" not in waiting
    assert words(ada.get(address)).count("data-job") == 1 and Job.objects.count() == 1
    reports = []
    monkeypatch.setattr(job_runner.Run, "progress", lambda run, *report: reports.append(report))
    finish("materials.preview")
    assert [report[:2] for report in reports] == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert reports[2][2] == "checking corpus.csv"
    preview = words(ada.get(address))
    assert "Reading the files" not in preview and "Store these materials" in preview
    assert "Sentence 1 good." in preview and Job.objects.count() == 1


def test_a_small_file_of_many_short_rows_is_read_by_a_job(ada, monkeypatch):
    monkeypatch.setattr(previews, "MAX_IMMEDIATE_BYTES", 10**6)
    monkeypatch.setattr(previews, "MAX_IMMEDIATE_ROWS", 10)
    assert "Reading the files" in words(ada.get(send_materials(ada)))
    assert "Reading the files" in words(ada.get(send_materials(ada, PAIRS.replace("\n", "\r"))))
    few_rows = "".join(PAIRS.splitlines(keepends=True)[:9])
    assert "Reading the files" not in words(ada.get(send_materials(ada, few_rows)))


def test_large_and_small_previews_are_the_same(ada, monkeypatch):
    address = send_materials(ada)
    ada.get(address)
    finish("materials.preview")
    large = words(ada.get(address))
    monkeypatch.setattr(previews, "MAX_IMMEDIATE_BYTES", 10**6)
    small = words(ada.get(address))
    tokens = re.compile(r'value="[A-Za-z0-9]{64}"|nonce="[^"]*"')
    assert tokens.sub("", large) == tokens.sub("", small)


def test_other_options_are_read_by_another_job_and_the_import_by_a_third(ada):
    address = send_materials(ada)
    ada.get(address)
    finish("materials.preview")
    form = {**ABOUT, "format": "table", "column-0": "item", "column-1": "condition", "column-2": "sentence",
            "column-3": "ignore"}  # fmt: skip
    ada.post(address, {**form, "action": "again"})
    assert "Reading the files" in words(ada.get(address))
    finish("materials.preview")
    assert "Store these materials" in words(ada.get(address))
    folder = previews.preview_folder(Upload.objects.get())
    assert len(default_storage.listdir(folder)[1]) == 2
    answer = ada.post(address, {**form, "name": "Renamed", "action": "import"})
    job = finish("materials.import")
    assert answer.url == f"/jobs/{job.pk}/"
    materials = MaterialSet.objects.get()
    assert (materials.name, materials.sentences.count()) == ("Renamed", 14)
    assert not Upload.objects.exists() and default_storage.listdir(folder)[1] == []


def test_an_inferred_encoding_of_a_large_file_is_asked_about(ada):
    address = send_materials(ada, PAIRS.replace("Sentence 1 good.", "He said “hello”.").encode("cp1252"))
    ada.get(address)
    finish("materials.preview")
    assert "Are these characters right?" in words(ada.get(address))
    ada.post(address, {**ABOUT, "format": "auto", "action": "import"})
    assert not Job.objects.filter(kind="materials.import").exists()
    ada.get(address)
    finish("materials.preview")
    chosen = {"encoding-of-0": "Windows-1252", "inferred-for-0": "Windows-1252"}
    ada.post(address, {**ABOUT, "format": "auto", "action": "import", **chosen})
    finish("materials.import")
    assert MaterialSet.objects.get().sentences.filter(text="He said “hello”.").exists()


def test_an_unreadable_file_shows_the_reason_after_its_job(ada):
    address = send_materials(ada, "item,condition\n1,good\n2,bad\n")
    ada.get(address)
    finish("materials.preview")
    page = words(ada.get(address))
    assert 'role="alert"' in page and "Read again" in page and "Store these materials" not in page


def test_judgments_are_previewed_by_a_job_and_mapped(ada):
    address = send_judgments(ada)
    assert "Reading the files" in words(ada.get(address))
    finish("judgments.preview")
    page = ada.get(address)
    assert "missing columns participant, value" in page.content.decode()
    form = {"experiment": "Ratings", "format": "table", "map-participant": "wer", "map-value": "Urteil",
            "map-item": "item", "map-sentence": "sentence"}  # fmt: skip
    ada.post(address, {**form, "action": "again"})
    ada.get(address)
    finish("judgments.preview")
    assert ada.get(address).context["report"]["sessions_new"] == 2
    ada.post(address, {**form, "action": "import"})
    finish("judgments.import")
    assert Experiment.objects.get().sessions.count() == 2 and not Upload.objects.exists()


def test_the_preview_of_another_user_is_not_found(ada, client):
    address = send_materials(ada)
    client.force_login(cast.cleo())
    assert client.get(address).status_code == 404
    assert not Job.objects.exists()


@pytest.mark.parametrize("send", [send_materials, send_judgments])
def test_a_preview_whose_job_failed_is_tried_again_on_the_page(ada, monkeypatch, send):
    address = send(ada)
    ada.get(address)
    job = Job.objects.get()
    full = OSError("no space left on device")
    with monkeypatch.context() as broken:
        broken.setattr(default_storage, "save", lambda *args, **kwargs: (_ for _ in ()).throw(full))
        job_runner.run(job.pk)
    page = words(ada.get(address))
    assert "Try again" in page and Job.objects.get().state == "failed"
    ada.post(address, {"action": "retry"})
    assert "Try again" not in words(ada.get(address))
    finish(job.kind)
    assert "Reading the files" not in words(ada.get(address)) and Job.objects.count() == 1
