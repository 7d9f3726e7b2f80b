"""Surprisals on the page of a scoring run: started, computed once, downloaded, refused."""

import contextlib
import io
import json
import threading
from io import StringIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.urls import reverse

from experiments.models import AuditEntry, Job, MaterialSet, Upload
from experiments.operation import job_runner
from releases.models import ScoringRun, SentenceScore
from releases.scoring.runs import request_scoring
from releases.scoring.surprisals import request_surprisals
from tests import cast
from tests.releases.models_dir import URI, write_bigram
from tests.releases.scoring_runs import a_run, execute_run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]
KIND = "releases.surprisals"
ROWS = """sentence_id,item,condition,expected,sentence,context,critical_region
1g,1,good,acceptable,The keys 1 are here .,A key is there .,are
1b,1,bad,unacceptable,The keys 1 is here .,A key is there .,is
2g,2,good,acceptable,The keys 1 are here .,,are
"""
REGIONS = "sentence_id,region,text\n1g,subject,The keys 1\n1b,subject,The keys 1\n"


@pytest.fixture
def study(tmp_path):
    """A study whose materials have contexts and critical regions."""
    (tmp_path / "contexts.csv").write_text(ROWS, encoding="utf-8")
    call_command("import_materials", str(tmp_path / "contexts.csv"), "--name", "contexts", stdout=StringIO())
    return cast.study("s", materials=MaterialSet.objects.get(name="contexts"))


@pytest.fixture
def run(study) -> ScoringRun:
    """A finished run."""
    return execute_run(a_run(study))


def page(study, run) -> str:
    return reverse("study-scoring-run", args=[study.slug, run.pk])


def press(client, study, run, regions: str | bytes = "", *, name: str = "regions.csv"):
    """Press the button, with a file of regions if there is one."""
    content = regions.encode() if isinstance(regions, str) else regions
    data = {"regions": SimpleUploadedFile(name, content)} if content else {}
    return client.post(reverse("study-surprisals", args=[study.slug, run.pk]), data)


def finished() -> Job:
    """The newest job of this kind, carried out."""
    job = Job.objects.filter(kind=KIND).latest("pk")
    job_runner.run(job.pk)
    job.refresh_from_db()
    return job


def file_of(client, study, run, job, name: str) -> bytes:
    answer = client.get(reverse("study-surprisals-file", args=[study.slug, run.pk, job.pk, name]))
    assert answer.status_code == 200 and f"-{name}" in answer["Content-Disposition"]
    return b"".join(answer.streaming_content)


def table_of(client, study, run, job) -> pd.DataFrame:
    content = io.BytesIO(file_of(client, study, run, job, "surprisals.csv"))
    return pd.read_csv(content, keep_default_na=False, na_values=[""])


def test_page_and_command_write_the_same_table(ada, study, run, tmp_path, models_dir):
    (tmp_path / "regions.csv").write_text(REGIONS)
    press(ada, study, run, REGIONS)
    job = finished()
    assert job.state == Job.State.DONE, job.error
    call_command(
        "score", f"arpa:{models_dir / 'bigram.arpa'}", "--materials", "contexts",
        "--to", str(tmp_path / "out.csv"), "--tokens", str(tmp_path / "tokens.csv"),
        "--regions", str(tmp_path / "regions.csv"), stdout=StringIO(), stderr=StringIO(),
    )  # fmt: skip
    assert file_of(ada, study, run, job, "surprisals.csv") == (tmp_path / "tokens.csv").read_bytes()
    table = table_of(ada, study, run, job)
    parquet = pd.read_parquet(io.BytesIO(file_of(ada, study, run, job, "surprisals.parquet")))
    pd.testing.assert_frame_equal(parquet, table.fillna({"region": "", "note": "", "text": ""}))
    assert set(table["region"].dropna()) == {"critical", "subject"}
    assert not Upload.objects.filter(pk=job.arguments["upload"]).exists()  # the tables have its regions


def test_tokens_add_up_to_the_scores_of_the_run_after_the_stored_contexts(ada, study, run):
    press(ada, study, run)
    job = finished()
    table = table_of(ada, study, run, job)
    sums = table[table["unit"] == "token"].groupby("sentence_id")["surprisal_nats"].sum()
    scores = dict(SentenceScore.objects.filter(run=run).values_list("sentence__key", "score"))
    assert sums.to_dict() == pytest.approx({key: -score for key, score in scores.items()})
    assert sums["1g"] != pytest.approx(sums["2g"])
    critical = table[table["unit"] == "region"]
    assert critical["text"].tolist() == ["are", "is", "are"]
    np.testing.assert_allclose(critical["surprisal_bits"], critical["surprisal_nats"] / np.log(2))


def test_finished_table_is_shown_with_counts_preview_downloads_and_programs(ada, study, run):
    before = ada.get(page(study, run)).content.decode()
    assert "Surprisal of tokens and words" in before and "Compute surprisals" in before
    answer = press(ada, study, run)
    assert answer.url == f"{page(study, run)}#surprisals"
    job = Job.objects.get(kind=KIND)
    waiting = ada.get(page(study, run)).content.decode()
    part = reverse("study-surprisals-part", args=[study.slug, run.pk, job.pk])
    assert f'data-url="{part}"' in waiting and 'data-state="queued"' in waiting
    finished()
    assert 'data-state="done"' in ada.get(part).content.decode()
    context = ada.get(page(study, run)).context
    assert context["newest"].counts == {"tokens": 21, "words": 18, "regions": 3, "without a value": 0}
    first = context["newest"].preview[0]
    assert (first["sentence_id"], first["context"]) == ("1g", "A key is there .")
    assert [row["text"] for row in first["rows"] if row["unit"] == "word"] == first["sentence"].split()
    shown = ada.get(page(study, run)).content.decode()
    assert "surprisals.csv" in shown and "surprisals.parquet" in shown and "aggregate(surprisal_bits" in shown
    record = json.loads(file_of(ada, study, run, job, "manifest.json"))
    assert (record["revision"], record["spec"]["uri"], record["run"]) == (run.revision, URI, run.pk)
    assert record["spec"]["options"]["context"] == "{context} {sentence}"
    assert [file["path"] for file in record["files"]] == ["surprisals.csv", "surprisals.parquet"]


def test_programs_beside_the_table_run_on_it(ada, study, run, tmp_path, monkeypatch):
    press(ada, study, run)
    job = finished()
    context = ada.get(page(study, run)).context
    (tmp_path / context["file"]).write_bytes(file_of(ada, study, run, job, "surprisals.csv"))
    code = {snippet.language: snippet.code for snippet in context["snippets"]}["pandas"]
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "snippet", "exec"), names)
    table = table_of(ada, study, run, job)
    mean = table.loc[table["unit"] == "region", "surprisal_bits"].mean()
    assert names["means"].to_dict() == {"critical": pytest.approx(mean)}


def test_pressing_twice_starts_one_job_and_one_audit_entry(ada, study, run):
    for _ in range(2):
        press(ada, study, run)
        press(ada, study, run, REGIONS)
    assert Job.objects.filter(kind=KIND).count() == 2 and Upload.objects.count() == 1
    assert AuditEntry.objects.filter(action="surprisals started").count() == 2
    finished()
    assert (
        "exists already"
        in ada.post(
            reverse("study-surprisals", args=[study.slug, run.pk]),
            {"regions": SimpleUploadedFile("other-name.csv", REGIONS.encode())},
            follow=True,
        ).content.decode()
    )
    assert Job.objects.filter(kind=KIND).count() == 2


@pytest.mark.django_db(transaction=True)
def test_presses_at_the_same_moment_start_one_job(run, study):
    start, numbers = threading.Barrier(3), []

    def request():
        start.wait()
        numbers.append(request_surprisals(run, study, user=cast.ada()).number)
        connection.close()

    cast.ada()
    threads = [threading.Thread(target=request) for _ in range(3)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    assert numbers == [Job.objects.get(kind=KIND).pk] * 3
    assert AuditEntry.objects.filter(action="surprisals started").count() == 1


def test_regions_that_are_not_in_the_sentence_are_refused_with_file_row_and_column(ada, study, run, settings):
    wrong = "sentence_id,region,text\n1g,subject,The keys 1\n1g,verb,were\n"
    shown = ada.post(
        reverse("study-surprisals", args=[study.slug, run.pk]),
        {"regions": SimpleUploadedFile("my regions.csv", wrong.encode())},
        follow=True,
    ).content.decode()
    assert "my regions.csv, row 3, column &#x27;text&#x27;" in shown and "has no such region" in shown
    assert not Job.objects.filter(kind=KIND).exists() and not Upload.objects.exists()
    assert [path for path in settings.MEDIA_ROOT.rglob("*") if path.is_file()] == []
    for content, name in ((REGIONS, "regions.docx"), ("sentence_id,region\n1g,a\n", "r.csv"), ("x", "r.csv")):
        assert press(ada, study, run, content, name=name).url == page(study, run)
    assert not Job.objects.filter(kind=KIND).exists()


def test_changed_model_fails_with_the_reason_and_can_be_tried_again(ada, study, run, models_dir):
    original = (models_dir / "bigram.arpa").read_bytes()
    write_bigram(models_dir, more="A zebra is here .")
    press(ada, study, run)
    assert "no longer those" in finished().error
    assert "no longer those" in ada.get(page(study, run)).content.decode()
    (models_dir / "bigram.arpa").write_bytes(original)
    press(ada, study, run)
    job = finished()
    assert job.state == Job.State.DONE
    context = ada.get(page(study, run)).context
    assert [table.number for table in context["tables"]] == [job.pk]


def test_model_that_the_server_reads_by_other_settings_is_refused(ada, study, run):
    row = run.scorer
    row.spec_id = "0" * 64
    row.save()
    press(ada, study, run)
    assert "by other conventions" in finished().error


@pytest.mark.parametrize("method", ["one_prefix", "classifier"])
def test_tables_of_scores_have_no_tokens_and_the_page_gives_the_reason(ada, study, method):
    scores = b"sentence_id,theirs\n1g,-1\n1b,-2\n2g,-3\n"
    run = execute_run(
        request_scoring(study, ContentFile(scores, "theirs.csv"), method=method, user=cast.ada())
    )
    shown = ada.get(page(study, run)).content.decode()
    assert "csv: has no tokens" in shown and "Compute surprisals" not in shown
    press(ada, study, run)
    assert not Job.objects.filter(kind=KIND).exists()


def test_uploaded_model_is_opened_again_from_its_file(ada, study, models_dir):
    content = (models_dir / "bigram.arpa").read_bytes()
    run = execute_run(request_scoring(study, ContentFile(content, "mine.arpa"), user=cast.ada()))
    press(ada, study, run)
    assert finished().state == Job.State.DONE


def test_run_that_is_not_finished_has_no_surprisals(ada, study):
    run = a_run(study)
    assert "Surprisal of tokens" not in ada.get(page(study, run)).content.decode()
    press(ada, study, run)
    assert not Job.objects.filter(kind=KIND).exists()


def test_viewers_download_editors_start_and_strangers_find_nothing(client, study, run):
    client.force_login(cast.ben())
    assert "Compute surprisals" not in client.get(page(study, run)).content.decode()
    assert press(client, study, run).status_code == 403 and not Job.objects.filter(kind=KIND).exists()
    client.force_login(cast.ada())
    press(client, study, run)
    job = Job.objects.get(kind=KIND)
    file = reverse("study-surprisals-file", args=[study.slug, run.pk, job.pk, "surprisals.csv"])
    part = reverse("study-surprisals-part", args=[study.slug, run.pk, job.pk])
    assert client.get(file).status_code == 404
    finished()
    client.force_login(cast.ben())
    assert b"".join(client.get(file).streaming_content).startswith(b"sentence_id,unit,")
    assert client.get(part).status_code == 200
    assert client.get(file.replace("surprisals.csv", "secrets.csv")).status_code == 404
    client.force_login(cast.cleo())
    assert {client.get(file).status_code, client.get(part).status_code} == {404}
    assert press(client, study, run).status_code == 404


def test_study_of_the_same_materials_shows_the_table_to_its_members(client, study, run):
    other = cast.draft("other", materials=study.materials)
    client.force_login(cast.ada())
    press(client, study, run)
    job = finished()
    client.force_login(cast.ben())
    assert client.get(page(other, run)).context["newest"].number == job.pk
    assert client.get(reverse("study-surprisals-part", args=["other", run.pk, job.pk])).status_code == 200
    assert file_of(client, other, run, job, "surprisals.csv")


def test_second_start_of_the_job_stores_the_same_files(ada, study, run):
    press(ada, study, run)
    first = finished().result
    Job.objects.filter(kind=KIND).update(state=Job.State.QUEUED)
    assert finished().result == first


def test_regions_that_would_fill_the_memory_are_refused_by_the_job(ada, study, run):
    """20 KB of Parquet in which 300 rows share a text of a megabyte."""
    shared = pa.DictionaryArray.from_arrays(pa.array([0] * 300, pa.int32()), ["x" * 1_000_000])
    file = io.BytesIO()
    pq.write_table(pa.table({"sentence_id": ["1g"] * 300, "region": ["a"] * 300, "text": shared}), file)
    assert len(file.getvalue()) < 50_000
    before = pa.total_allocated_bytes()
    press(ada, study, run, file.getvalue(), name="regions.parquet")
    job = finished()
    assert job.state == Job.State.FAILED and job.error.startswith("regions.parquet: unpacks to 300 MB")
    assert pa.total_allocated_bytes() - before < 10e6
