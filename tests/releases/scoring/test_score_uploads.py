"""Uploaded tables of scores are bounded in size, number and memory; refused ones leave no file."""

import errno
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from analysis.errors import BadInput
from analysis.files import read_table
from experiments.intake import previews
from experiments.intake.uploads import upload_quota
from experiments.models import Upload
from experiments.operation import job_runner
from releases.models import ScoringRun
from releases.scoring import runs
from releases.scoring.runs import request_score_sets, request_scoring
from tests import cast
from tests.releases.study import judged_study, scores_file

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(settings):
    return settings.MEDIA_ROOT


def files_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def one_model(study):
    """A table with one column of scores."""
    lines = scores_file(study).read().splitlines()
    return ContentFile(b"\n".join(line.rpartition(b",")[0] for line in lines), name="scores.csv")


def send(client, study, kind, content, name="scores.csv", **fields):
    """Post a table of scores to the page or to the API; the status and the text of the response."""
    page = {"scores": "study-score", "sets": "study-score-sets"}
    api = {"api scores": "api-runs", "api sets": "api-score-sets"}
    client.force_login(cast.ada())
    address = reverse({**page, **api}[kind], args=[study.slug])
    form = {"file": SimpleUploadedFile(name, content), **fields}
    if kind != "api sets":
        form |= {"name": "Mine", "method": "lp"}
    response = client.post(address, form)
    return response.status_code, response.content.decode().replace("&#x27;", "'")


KINDS = ["scores", "sets", "api scores", "api sets"]


def test_a_table_that_gives_no_score_is_refused_before_its_job(client, folder):
    study = judged_study()
    tables = {
        "has no rows": b"sentence_id,m\n",
        "no sentence of": b"sentence_id,m\nelsewhere,-1\n",
        "sentence_id": b"name,m\nx,-1\n",
        "high": b"sentence_id,m\nx,high\n",
    }
    for words, content in tables.items():
        for kind in KINDS:
            status, text = send(client, study, kind, content)
            assert status in (400, 422) and words in text, (kind, words, text[-2000:])
    assert not ScoringRun.objects.exists() and not Upload.objects.exists() and files_in(folder) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_beyond_the_size_of_uploads_or_the_quota_is_refused(client, settings, folder, kind):
    study = judged_study()
    content = one_model(study).read()
    settings.MAX_UPLOAD_BYTES = 10
    status, text = send(client, study, kind, content)
    assert status in (400, 422) and "MB at once" in text
    settings.MAX_UPLOAD_BYTES, settings.SCORE_QUOTA_BYTES = 10**6, len(content) + 10
    assert send(client, study, kind, content)[0] in (202, 302)
    status, text = send(client, study, kind, content)
    assert status in (400, 422) and "SCORE_QUOTA_BYTES" in text
    assert Upload.objects.count() == 1 == len(files_in(folder))


@pytest.mark.parametrize("request_runs", [request_scoring, request_score_sets])
def test_a_refused_table_and_a_full_disk_leave_neither_file_nor_row(monkeypatch, folder, request_runs):
    study = judged_study()
    unclear = ContentFile(b"sentence_id,surprisal\nsubject_verb-1-good,1\n", name="s.csv")
    with pytest.raises(BadInput, match="higher or a lower"):
        request_runs(study, unclear, user=cast.ada())
    with monkeypatch.context() as broken:
        broken.setattr(runs, "start", lambda *args, **fields: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            request_runs(study, one_model(study), user=cast.ada())

    def full(self, name, content):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"a part")
        raise OSError(errno.EFBIG, "File too large")

    monkeypatch.setattr(FileSystemStorage, "_save", full)
    with pytest.raises(BadInput, match="disk is full"):
        request_runs(study, one_model(study), user=cast.ada())
    assert files_in(folder) == [] and not Upload.objects.exists() and not ScoringRun.objects.exists()


def parquet_of(columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, compression="zstd")
    return file.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_that_unpacks_to_much_is_read_by_its_worker_alone(client, monkeypatch, kind):
    n = 200
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), ["x" * 1_000_000])
    content = parquet_of({"sentence_id": [str(i) for i in range(n)], "sentence": shared, "mine": [1.0] * n})
    assert len(content) < 20_000
    monkeypatch.setattr(runs, "read_table", None)  # the request calls no reader of the whole table
    monkeypatch.setattr(runs, "score_columns", None)
    before = pa.total_allocated_bytes()
    fields = {} if "api" in kind else {"column": "mine"}
    status, _ = send(client, judged_study(), kind, content, "s.parquet", **fields)
    assert status in (202, 302)
    assert pa.total_allocated_bytes() - before < 10e6
    run = ScoringRun.objects.get()
    run.spec["column"] = "mine"
    run.save()
    job_runner.run(run.job_id)
    run.refresh_from_db()
    assert run.state == "failed" and "unpacks to" in run.error and "more than is read" in run.error


def test_the_columns_of_a_large_table_are_found_by_its_beginning(monkeypatch):
    study = judged_study()
    small = [run.spec["column"] for run in request_score_sets(study, scores_file(study), user=cast.ada())]
    monkeypatch.setattr(previews, "MAX_IMMEDIATE_BYTES", 10)
    large = [run.spec["column"] for run in request_score_sets(study, scores_file(study), user=cast.ada())]
    assert small == large == ["bright", "dull"]
    job_runner.run(ScoringRun.objects.latest("pk").job_id)
    assert ScoringRun.objects.latest("pk").state == "done"


def test_short_objects_under_many_names_are_refused(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({f"m{n}": 1 for n in range(2_000)}) + "\n" + "{}\n" * 20_000)
    with pytest.raises(BadInput, match="2,000 columns in 501 rows or more are too many"):
        read_table(path)


def test_the_file_of_finished_runs_is_deleted_after_a_question_and_their_scores_stay(client, folder):
    study = judged_study()
    scored = request_score_sets(study, scores_file(study), user=cast.ada())
    address = reverse("study-scoring-run", args=[study.slug, scored[0].pk])
    delete = reverse("study-scoring-file-delete", args=[study.slug, scored[0].pk])
    client.force_login(cast.ada())
    assert "Delete the file" not in client.get(address).content.decode()  # before the scores are stored
    page = client.post(delete, {"sure": "yes"}, follow=True).content.decode()
    assert "a run with this file is not finished" in page and len(files_in(folder)) == 1
    for run in scored:
        job_runner.run(run.job_id)
    n_scores = scored[0].scores.count()
    assert "Delete the file" in client.get(address).content.decode()
    page = client.post(delete).content.decode()
    assert "The scores of bright, dull stay" in page and len(files_in(folder)) == 1
    for _ in range(2):
        page = client.post(delete, {"sure": "yes"}, follow=True).content.decode()
        assert "The file is deleted" in page and "deleted; the scores are stored" in page
    assert files_in(folder) == [] and not Upload.objects.exists()
    assert scored[0].scores.count() == n_scores > 0
    entry = study.audit.get(action="scoring file deleted")
    assert (entry.user, entry.details["runs"]) == (cast.ada(), ["bright", "dull"])
    assert upload_quota(cast.ada(), study.lab, purpose="scores").used == 0


def test_who_may_not_repeat_a_run_does_not_delete_its_file(client, folder):
    study = judged_study()
    [run, *_] = request_score_sets(study, scores_file(study), user=cast.ada())
    job_runner.run(run.job_id)
    client.force_login(cast.ben())  # a viewer
    address = reverse("study-scoring-file-delete", args=[study.slug, run.pk])
    assert client.post(address).status_code == client.post(address, {"sure": "yes"}).status_code == 403
    assert len(files_in(folder)) == 1


def test_a_table_of_too_many_models_is_refused(monkeypatch, folder):
    monkeypatch.setattr(runs, "MAX_MODELS", 1)
    study = judged_study()
    with pytest.raises(BadInput, match="the table has 2 columns of scores, above 1"):
        request_score_sets(study, scores_file(study), user=cast.ada())
    assert files_in(folder) == []


@pytest.mark.parametrize(
    "content", [b"PAR1" + bytes(100), parquet_of({"model": ["a"] * 9})[:-20]], ids=["not", "cut"]
)
def test_a_table_of_models_that_is_no_parquet_file_is_refused_by_its_name(client, folder, content):
    study = judged_study()
    models = SimpleUploadedFile("models.parquet", content)
    status, text = send(client, study, "sets", scores_file(study).read(), models=models)
    assert status in (400, 422) and "models.parquet: not a Parquet file" in text
    assert files_in(folder) == []
