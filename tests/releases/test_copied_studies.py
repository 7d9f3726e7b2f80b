"""A viewer's copy of a study: no right over the original's runs and materials, no effect on its results."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from experiments.models import AuditEntry, Experiment, Job, Membership
from experiments.operation import job_runner
from releases.comparison.compare import request_comparison
from releases.jobs import study_signals
from releases.material_frames import score_frame
from releases.models import ScoringRun
from releases.scoring import stored_scores
from tests import cast
from tests.releases.models_dir import URI
from tests.releases.scoring_runs import a_run, execute_run
from tests.releases.study import judged_study, ready_release, scored, scores_file

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Experiment:
    return judged_study(task="likert")


@pytest.fixture
def copy(client, study) -> Experiment:
    """The copy that Ben, a viewer, makes for himself."""
    client.force_login(cast.ben())
    client.post(reverse("study-copy", args=[study.slug]))
    return Experiment.objects.exclude(pk=study.pk).get()


def upload(client, study, column: str = "dull") -> ScoringRun:
    """Scores uploaded on the page of a study, and stored."""
    file = SimpleUploadedFile("scores.csv", scores_file(study).read())
    address = reverse("api-runs", args=[study.slug])
    run = ScoringRun.objects.get(pk=client.post(address, {"file": file, "column": column}).json()["id"])
    return execute_run(run)


def runs_listed(client, study) -> set[int]:
    response = client.get(reverse("api-runs", args=[study.slug]))
    return {row["id"] for row in response.json()["results"]}


def test_scores_uploaded_in_a_copy_are_in_no_result_of_the_original(client, study, copy):
    own = scored(study, "bright")
    foreign = upload(client, copy)
    assert foreign.state == "done" and runs_listed(client, copy) == {own.pk, foreign.pk}
    client.force_login(cast.ada())
    assert runs_listed(client, study) == {own.pk}
    assert list(score_frame(study).columns) == ["sentence_id", "bright"]
    assert stored_scores.names(study) == ["bright"]
    assert b"dull" not in client.get(reverse("study-scored-models", args=[study.slug])).content
    release = ready_release(study)
    assert b"dull" not in client.get(reverse("study-compare", args=[study.slug])).content
    board = client.get(reverse("api-leaderboard", args=[study.slug, release.number])).json()
    assert [row["run"] for row in board["not_compared"]] == [own.pk]
    body = {"release": release.number, "runs": [foreign.pk]}
    refused = client.post(
        reverse("api-comparisons", args=[study.slug]), body, content_type="application/json"
    )
    assert refused.status_code == 404
    assert client.get(reverse("study-scoring-run", args=[study.slug, foreign.pk])).status_code == 404


def test_signals_of_quality_of_the_original_ignore_models_of_a_copy(client, study, copy):
    before = study_signals(study)
    upload(client, copy)
    assert study_signals(study).equals(before)


def test_runs_of_editors_and_of_the_materials_owner_are_shared_by_the_studies_of_a_team(client, study, copy):
    Membership.objects.filter(experiment=study, user=cast.ben()).update(role=Membership.Role.EDITOR)
    of_editor, of_owner = upload(client, copy), scored(study, "bright")
    client.force_login(cast.ada())
    assert runs_listed(client, study) == {of_editor.pk, of_owner.pk}
    client.force_login(cast.ben())
    assert runs_listed(client, copy) == {of_editor.pk, of_owner.pk}


def test_a_study_keeps_runs_that_it_compared_or_whose_account_is_gone(client, study, copy):
    foreign, own = upload(client, copy), scored(study, "bright")
    release = ready_release(study)
    request_comparison(release, [foreign], user=cast.ada())
    assert foreign in ScoringRun.objects.of_study(study)
    ScoringRun.objects.update(created_by=None)
    release.comparisons.all().delete()
    assert set(ScoringRun.objects.of_study(study)) == {own}
    assert set(ScoringRun.objects.of_study(copy)) == {foreign}
    earlier = ScoringRun.objects.create(material_set=study.materials, name="earlier", model="csv:x.csv")
    assert earlier in ScoringRun.objects.of_study(study) and earlier in ScoringRun.objects.of_study(copy)


@pytest.mark.usefixtures("models_dir")
def test_a_copy_neither_starts_nor_restarts_surprisals_of_the_originals_run(client, study, copy):
    run = execute_run(a_run(study, model=URI))
    address = reverse("study-surprisals", args=[study.slug, run.pk])
    client.force_login(cast.ada())
    client.post(address)
    failed = Job.objects.filter(kind="releases.surprisals").get()
    Job.objects.filter(pk=failed.pk).update(state=Job.State.FAILED)
    client.force_login(cast.ben())
    page = client.get(reverse("study-scoring-run", args=[copy.slug, run.pk]))
    assert page.status_code == 200 and b"Compute surprisals" not in page.content
    assert client.post(reverse("study-surprisals", args=[copy.slug, run.pk])).status_code == 403
    assert client.post(address).status_code == 403
    assert Job.objects.filter(kind="releases.surprisals").values_list("key", flat=True).get() == failed.key
    client.force_login(cast.ada())
    assert client.post(address).status_code == 302
    again = Job.objects.filter(kind="releases.surprisals").latest("pk")
    assert again.pk != failed.pk and again.key == failed.key
    job_runner.run(again.pk)
    again.refresh_from_db()
    assert (
        again.state == Job.State.DONE and AuditEntry.objects.filter(action="surprisals started").count() == 2
    )


def test_materials_are_not_deleted_through_a_copy_nor_while_one_uses_them(client, study, copy):
    address = reverse("material-delete", args=[study.materials.slug])
    page = reverse("material-set", args=[study.materials.slug])
    for account in (cast.ben(), cast.ada()):
        client.force_login(account)
        assert f'action="{address}"'.encode() not in client.get(page).content
        client.post(address, {"sure": "yes"}, follow=True)
        study.materials.refresh_from_db()
    Experiment.objects.filter(pk=study.pk).update(materials=None)
    client.force_login(cast.ben())  # whose study alone uses them now
    client.post(address, {"sure": "yes"})
    study.materials.refresh_from_db()
