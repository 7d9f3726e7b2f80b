"""Releases, scores and comparisons happen once, whatever is started twice or fails."""

import tempfile

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from analysis.errors import BadInput
from experiments.models import Job
from experiments.operation import job_runner
from releases import jobs
from releases.comparison.compare import request_comparison
from releases.gold import storage
from releases.gold.freeze import request_release
from releases.gold.options import Options
from releases.gold.plans import write_plan
from releases.models import Exclusion, Release, SentenceScore
from releases.scoring.runs import request_scoring
from tests import cast
from tests.releases.study import add_sitting, judged_study, ready_release, scored

pytestmark = pytest.mark.django_db


def test_release_is_frozen_with_its_mask():
    study = judged_study(people=5)
    add_sitting(study, "careless", agrees=False, catch=False)
    plan = write_plan(study, "careful", steps=[{"name": "catch", "scope": "session", "rule": "catch_failed"}])
    release = ready_release(study, exclude="careful", rule="blimp")
    assert (release.state, release.plan, release.number) == (Release.State.READY, plan, 1)
    assert release.options["exclude"] == "careful@1"
    assert storage.checksum(storage.read(release.storage_key, "manifest.json")) == release.sha256
    mask = Exclusion.objects.get(plan=plan)
    assert (mask.session.participant.pseudonym, mask.step, mask.trial) == ("careless", "catch", None)


def test_double_click_is_one_release():
    study = judged_study()
    first, second = (request_release(study, Options()) for _ in range(2))
    assert first == second and Release.objects.count() == 1
    job_runner.run(first.job_id)
    assert request_release(study, Options()).number == 2


def test_same_data_again_gives_the_same_checksum():
    study = judged_study()
    assert ready_release(study).sha256 == ready_release(study).sha256


def test_overtaken_start_stores_nothing(monkeypatch):
    """The first start is overtaken; its late end changes nothing, the second start finishes once."""
    study = judged_study()
    release = request_release(study, Options())
    real = jobs.freeze

    def killed_in_the_middle(release, *, progress):
        frozen = real(release, progress=progress)
        Job.objects.filter(pk=release.job_id).update(state=Job.State.QUEUED, heartbeat_at=None)
        monkeypatch.setattr(jobs, "freeze", real)
        job_runner.run(release.job_id)  # another worker takes over and ends
        return frozen

    monkeypatch.setattr(jobs, "freeze", killed_in_the_middle)
    job_runner.run(release.job_id)
    release.refresh_from_db()
    release.job.refresh_from_db()
    assert (release.state, release.job.state, release.job.attempt) == ("ready", "done", 2)
    assert release.job.result["sha256"] == release.sha256


def test_full_disk_fails_the_release_and_reports_it(monkeypatch, settings):
    def full(path, content):
        raise OSError(28, "No space left on device")

    release = request_release(judged_study(), Options())
    monkeypatch.setattr(storage, "_fill", full)
    for _ in range(settings.JOB_MAX_ATTEMPTS):
        assert Release.objects.get(pk=release.pk).state == Release.State.BUILDING
        Job.objects.update(retry_at=None)
        job_runner.run(release.job_id)
    release.refresh_from_db()
    assert release.state == Release.State.FAILED
    assert "no space is left" in release.job.error
    assert str(settings.VAR) not in release.job.error
    assert not storages["releases"].exists(release.experiment.slug) or storages["releases"].listdir(
        release.experiment.slug
    ) == ([], [])


def test_release_of_a_disk_that_is_full_for_a_while_is_built(monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    release = request_release(judged_study(), Options())
    with monkeypatch.context() as disk:
        disk.setattr(storage, "_fill", full)
        job_runner.run(release.job_id)
    Job.objects.update(retry_at=None)
    job_runner.run(release.job_id)
    release.refresh_from_db()
    assert (release.state, release.job.state, release.job.attempt) == ("ready", "done", 2)


def test_scores_are_stored_once_however_often_the_work_runs():
    study = judged_study()
    run = scored(study, "bright")
    assert (run.state, run.n_sentences, run.n_missing, run.name) == ("done", 8, 0, "bright")
    assert run.revision.startswith("sha256:")
    Job.objects.filter(pk=run.job_id).update(state=Job.State.QUEUED)
    job_runner.run(run.job_id)
    assert SentenceScore.objects.filter(run=run).count() == 8


def test_missing_scores_are_named():
    run = scored(judged_study(), "dull", missing=1)
    assert (run.n_sentences, run.n_missing, run.spec["missing"]) == (7, 1, ["subject_verb-1-good"])


def test_unreadable_scores_of_a_large_table_fail_with_their_reason(monkeypatch):
    monkeypatch.setattr("releases.scoring.runs.is_large", lambda uploads: True)
    study = judged_study()
    file = ContentFile(b"sentence_id,score\nsubject_verb-1-good,high\n", name="scores.csv")
    run = request_scoring(study, file, user=cast.ada())
    job_runner.run(run.job_id)
    run.refresh_from_db()
    assert run.state == "failed" and "not a finite number" in run.error and run.job.error
    assert run.error.startswith("scores.csv, row 2") and "obelus-score" not in run.error


@pytest.mark.parametrize("address", ["score", "score-sets"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("scores.csv", b"sentence_id,score\ns,1,2\n"),
        ("scores.csv", b"sentence_id,score\ns\xff,1\n"),
        ("scores.parquet", b"PAR1"),
        ("scores.jsonl", b"[" * 200_000),
        ("scores.jsonl", b'{"score": ' + b"9" * 20_000 + b"}"),
    ],
)
def test_an_unreadable_table_is_refused_by_its_name_without_a_folder_of_the_server(
    ada, address, name, content
):
    study = judged_study()
    answer = ada.post(
        f"/studies/{study.slug}/models/{address}/", {"file": ContentFile(content, name=name), "method": "lp"}
    )
    page = answer.content.decode()
    assert answer.status_code == 400 and name in page
    assert "obelus-score" not in page and tempfile.gettempdir() not in page


def test_file_of_another_kind_is_refused_at_once():
    with pytest.raises(BadInput, match="not a file of scores"):
        request_scoring(judged_study(), ContentFile(b"x", name="scores.docx"), user=cast.ada())


@pytest.mark.parametrize("task", ["likert", "forced_choice"])
def test_models_are_compared_on_the_release(task):
    study = judged_study(task=task, people=8)
    release = ready_release(study)
    runs = [scored(study, "bright"), scored(study, "dull", missing=1)]
    comparison = request_comparison(release, runs, user=cast.ada())
    job_runner.run(comparison.job_id)
    comparison.refresh_from_db()
    bright, dull = comparison.report["models"]
    assert (bright["model"], bright["blimp"], dull["pairs"]) == ("bright", 1.0, 3)
    assert comparison.report["left_out"]["missing_score"]["dull"]["sentence_ids"] == ["subject_verb-1-good"]
    ceiling = comparison.report["baselines"]["human_ceiling"]
    assert ceiling["basis"] == ("ratings" if task == "likert" else task)
    assert {row["pair_id"] for row in comparison.report["parting"]["bright"]} == {
        f"subject_verb-{n}" for n in range(1, 5)
    }


def test_models_are_not_compared_on_an_unfinished_release():
    study = judged_study()
    run = scored(study, "bright")
    with pytest.raises(BadInput, match="being built"):
        request_comparison(request_release(study, Options()), [run])
