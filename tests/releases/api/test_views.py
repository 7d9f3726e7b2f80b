"""The concluding side over REST: what commands print, for members; strangers find nothing."""

import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse
from rest_framework.test import APIClient

from experiments.operation import job_runner
from releases.models import Release, ScoringRun
from tests import cast
from tests.api import call_study, send
from tests.releases.study import judged_study, ready_release, scored, scores_file

pytestmark = pytest.mark.django_db
LISTS = ("exclusion-plans", "releases", "scoring-runs", "comparisons")
READ = (*LISTS, "agreement", "ratings")
STEP = {"name": "catch", "rule": "catch_failed", "scope": "session"}


def api(user) -> APIClient:
    """A client in which the user is logged in."""
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.mark.parametrize("name", READ)
def test_members_read_and_strangers_find_nothing(name):
    study = judged_study(task="likert")
    address = f"/api/v1/studies/{study.slug}/{name}/"
    assert api(cast.ben()).get(address).status_code == 200
    assert api(cast.cleo()).get(address).status_code == 404
    assert APIClient().get(address).status_code == 401


@pytest.mark.parametrize("name", LISTS)
def test_viewers_change_nothing(name):
    study = judged_study()
    answer = api(cast.ben()).post(f"/api/v1/studies/{study.slug}/{name}/", {})
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


def test_agreement_takes_the_choices_of_the_command():
    study = judged_study()
    address = f"/api/v1/studies/{study.slug}/agreement/"
    report = api(cast.ada()).get(address, {"rule": "3/4", "ties": "half", "exclude": "too_few"}).json()
    assert (report["rule"], report["ties"], report["excluded"][1]["step"]) == ("3/4", "half", "too_few")
    refused = api(cast.ada()).get(address, {"rule": "blimpp"})
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_name")
    assert api(cast.ada()).get(address, {"ties": "maybe"}).json()["code"] == "invalid"


def test_page_command_and_api_offer_methods_of_intervals(ada):
    study = judged_study()
    address, page = f"/api/v1/studies/{study.slug}/agreement/", reverse("study-agreement", args=[study.slug])
    for method, name in (("auto", "wilson_effective"), ("percentile", "bootstrap"), ("bca", "bca")):
        report = api(cast.ada()).get(address, {"interval": method}).json()
        assert report["overall"]["ci_method"] == f"participant_{name}"
        assert report["conventions"]["interval_method"].startswith(f"{method}: ")
        out = StringIO()
        call_command("agreement", study.slug, interval=method, json=True, stdout=out)
        assert json.loads(out.getvalue()) == report
        text = ada.get(page, {"interval": method}).content.decode()
        assert report["conventions"]["interval_method"] in text
        assert ("Its intervals are those of auto." in text) == (method != "auto")
    assert api(cast.ada()).get(address, {"interval": "bcaa"}).json()["code"] == "invalid"
    assert ada.get(page, {"interval": "bcaa"}).status_code == 400


def test_ratings_of_forced_choices_are_refused_with_a_reason():
    answer = api(cast.ada()).get(f"/api/v1/studies/{judged_study().slug}/ratings/")
    assert answer.status_code == 422 and "forced choice" in answer.json()["message"]


def test_plans_are_written_as_versions():
    study = cast.study()
    address = f"/api/v1/studies/{study.slug}/exclusion-plans/"
    first = api(cast.ada()).post(address, {"name": "careful", "steps": [STEP]}, format="json")
    assert (first.status_code, first.json()["version"], first.json()["author"]) == (201, 1, "ada")
    same = api(cast.ada()).post(address, {"name": "careful", "steps": [STEP]}, format="json")
    assert same.json()["version"] == 1
    wrong = api(cast.ada()).post(
        address, {"name": "careful", "steps": [{**STEP, "rule": "luck"}]}, format="json"
    )
    assert wrong.status_code == 422
    assert api(cast.ada()).get(address).json()["count"] == 1


def test_release_is_built_read_and_downloaded():
    study = judged_study()
    address = f"/api/v1/studies/{study.slug}/releases/"
    response = api(cast.ada()).post(address, {"rule": "blimp"}, format="json")
    assert (response.status_code, response.json()["state"]) == (202, "building")
    job_runner.run(response.json()["job"])
    release = api(cast.ben()).get(f"{address}1/").json()
    assert release["state"] == "ready" and release["manifest"]["options"]["rule"] == "blimp"
    file = api(cast.ben()).get(f"{address}1/files/pairs.csv")
    assert b"".join(file.streaming_content).startswith(b"pair_id,good_id,bad_id")
    packed = api(cast.ben()).get(f"{address}1/download/")
    assert b"".join(packed.streaming_content)[:2] == b"PK"
    assert api(cast.ben()).get(f"{address}1/files/nothing.csv").json()["code"] == "not_found"
    assert api(cast.cleo()).get(f"{address}1/download/").status_code == 404


def test_model_is_scored_and_compared():
    study = judged_study(task="likert", people=8)
    ready_release(study)
    base = f"/api/v1/studies/{study.slug}"
    upload = SimpleUploadedFile("scores.csv", scores_file(study).read())
    response = api(cast.ada()).post(
        f"{base}/scoring-runs/", {"file": upload, "column": "bright"}, format="multipart"
    )
    assert response.status_code == 202
    job_runner.run(response.json()["job"])
    run = api(cast.ben()).get(f"{base}/scoring-runs/{response.json()['id']}/").json()
    assert (run["state"], run["n_sentences"]) == ("done", 8)
    comparison = api(cast.ada()).post(
        f"{base}/comparisons/", {"release": 1, "runs": [run["id"]]}, format="json"
    )
    assert comparison.status_code == 202
    job_runner.run(comparison.json()["job"])
    report = api(cast.ben()).get(f"{base}/comparisons/{comparison.json()['id']}/").json()["report"]
    assert report["models"][0]["blimp"] == 1.0


def test_runs_of_other_studies_cannot_be_compared():
    other = judged_study("other")
    study = judged_study()
    ready_release(study)
    body = {"release": 1, "runs": [scored(other, "bright").pk]}
    answer = api(cast.ada()).post(f"/api/v1/studies/{study.slug}/comparisons/", body, format="json")
    assert answer.status_code == 404


def test_file_without_scores_is_refused():
    study = judged_study()
    upload = SimpleUploadedFile("thesis.docx", b"x")
    address = f"/api/v1/studies/{study.slug}/scoring-runs/"
    answer = api(cast.ada()).post(address, {"file": upload}, format="multipart")
    assert answer.status_code == 422 and "Use .csv" in answer.json()["message"]
    assert not Release.objects.exists()


def test_what_is_still_computed_is_409_with_retry_after():
    study = judged_study("agreement", people=2)
    report = call_study(study.slug, "post", "reports/", {}, status=202)
    run = ScoringRun.objects.create(
        material_set=study.materials, name="m", model="table:m", created_by=cast.ada()
    )
    early = [
        send("get", f"studies/agreement/reports/{report['number']}/files/report.html"),
        send("post", f"studies/agreement/scoring-runs/{run.pk}/surprisals/"),
    ]
    for answer in early:
        assert (answer.status_code, answer.json()["code"]) == (409, "too_early"), answer.content
        assert int(answer["Retry-After"]) >= 1
