"""A whole study by REST, with a token only: from a file of sentences to a release."""

import json
import sys
import zipfile
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from celery import current_app
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

import analysis as obelus
from experiments.models import Experiment, Job, MaterialSet, Upload
from experiments.operation import job_runner
from judgments.models import Judgment
from tests import cast
from tests.releases.study import judged_study, scores_file

pytestmark = pytest.mark.django_db
ROWS = ["sentence_id,sentence,item,condition,expected"] + [
    f"{item}{letter},The {noun} {verb} here.,{item},{condition},{condition}"
    for item, noun in enumerate(["keys", "cats", "dogs", "boys"], start=1)
    for letter, verb, condition in (("a", "are", "acceptable"), ("b", "is", "unacceptable"))
]


class Api:
    """A program with a token and nothing else."""

    def __init__(self, *scopes: str) -> None:
        token = cast.token(cast.ada(), scopes=scopes or ("read", "write", "people"))
        self.client = Client(headers={"Authorization": f"Token {token}"})

    def __call__(self, method: str, path: str, body=None, *, status: int = 200):
        """The JSON of a response with this status."""
        call = partial(getattr(self.client, method), f"/api/v1/{path}")
        answer = call() if body is None and method != "post" else call(body or {}, "application/json")
        assert answer.status_code == status, (method, path, answer.status_code, answer.content[:2000])
        return answer.json() if "json" in answer.get("Content-Type", "") else answer

    def upload(self, content: str, **fields: str):
        """The response to an upload of one file."""
        file = SimpleUploadedFile("sentences.csv", content.encode())
        return self.client.post("/api/v1/material-uploads/", {"files": [file], **fields})

    def finish(self, job: dict):
        """Run a job, as a worker would, and return it as the API shows it."""
        job_runner.run(job["id"])
        job = self("get", f"jobs/{job['id']}/")
        assert job["state"] == "done", job["error"]
        return job


@pytest.fixture
def api() -> Api:
    current_app.loader.import_default_modules()
    return Api()


@pytest.fixture
def materials(api) -> str:
    """The short name of a set that was imported over the API."""
    answer = api.upload("\n".join(ROWS), name="Agreement", language="en")
    assert answer.status_code == 201, answer.content
    upload = answer.json()
    assert (upload["state"], upload["error"]) == ("read", "")
    assert upload["preview"]["report"]["counts"]["sentences"] == 8
    job = api.finish(api("post", f"material-uploads/{upload['id']}/import/", status=202))
    return job["result"]["slug"]


def test_a_whole_study_from_a_file_to_a_release(api, materials):
    assert api("get", f"materials/{materials}/")["n_pairs"] == 4
    study = api("post", "studies/", {"title": "Keys", "task": "likert", "materials": materials}, status=201)
    path = f"studies/{study['slug']}/"
    texts = {
        "consent": "You may stop at any time. Answers are kept under a pseudonym. ada@example.org",
        "instructions": "Rate each sentence.",
        "debrief": "We study agreement.",
        "contact": "ada@example.org",
        "target_judgments": 1,
    }
    api("patch", path, texts)
    design = api("patch", f"{path}design/", {"n_lists": 2, "seed": 7})
    assert (design["rounds"][0]["n_lists"], design["balanced"]) == (2, True)

    preview = api("post", f"{path}preview/", status=201)
    assert Client().get(preview["address"]).status_code == 200
    assert api.finish(api("post", f"{path}dry-run/", status=202))["result"]["complete"] == 2
    checklist = api("get", f"{path}checklist/")
    assert checklist["may_open"]
    undone = [check for check in checklist["checks"] if not check["is_done"]]
    assert undone
    refused = api("post", f"{path}open/", status=409)
    assert refused["code"] == "checks_undone" and undone[0]["label"] in refused["message"]
    for check in undone:
        if check["has_own_reason"]:
            api("put", f"{path}checklist/{check['key']}/waiver/", {"reason": "A test."})
    assert api("post", f"{path}open/", {"reason": "A test."})["status"] == "open"

    for name in ("pia", "quentin"):  # participants come by their link, not by the token
        cast.sit(Experiment.objects.get(slug=study["slug"]), name)
    assert api("post", f"{path}pause/")["status"] == "paused"
    assert api("post", f"{path}close/")["status"] == "closed"
    assert (
        api("get", f"{path}judgments/")["count"]
        == Judgment.objects.filter(trial__session__is_test=False).count()
    )
    release = api("post", f"{path}releases/", {"title": "First", "exclude": "none"}, status=202)
    job_runner.run(release["job"])
    release = api("get", f"{path}releases/{release['number']}/")
    assert release["state"] == "ready"
    assert api("get", f"{path}releases/{release['number']}/download/")["Content-Type"] == "application/zip"


def test_columns_of_an_upload_are_chosen_before_the_import(api):
    content = "Satz;Nr;Art\nEr geht.;1;gut\nEr gehen.;1;schlecht\n"
    upload = api.upload(content, name="Verben", language="de").json()
    path = f"material-uploads/{upload['id']}/"
    assert api("post", f"{path}import/", status=422)["message"] == upload["error"] != ""
    wrong = api("patch", path, {"mapping": {"sentense": "Satz"}}, status=422)
    assert "'sentence'" in wrong["message"]
    mapping = {"sentence": "Satz", "item": "Nr", "condition": "Art"}
    chosen = api("patch", path, {"mapping": mapping})
    assert (chosen["error"], chosen["preview"]["report"]["counts"]["items"]) == ("", 1)
    assert not MaterialSet.objects.exists()
    job = api.finish(api("post", f"{path}import/", status=202))
    assert MaterialSet.objects.get().slug == job["result"]["slug"]
    api("get", path, status=404)


def test_an_import_too_early_is_409_with_retry_after(api, monkeypatch):
    monkeypatch.setattr("experiments.intake.previews.MAX_IMMEDIATE_BYTES", 10)
    upload = api.upload("\n".join(ROWS), name="Agreement", language="en")
    assert (upload.status_code, upload.json()["state"]) == (202, "reading")
    path = f"material-uploads/{upload.json()['id']}/"
    answer = api.client.post(f"/api/v1/{path}import/", {}, "application/json")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_early")
    assert int(answer["Retry-After"]) > 0
    job_runner.run(upload.json()["job"])
    assert api("get", path)["state"] == "read"
    api("delete", path, status=204)
    assert not Job.objects.filter(kind="materials.import").exists()


def test_uploads_are_their_owners_only(api):
    upload = api.upload("\n".join(ROWS), name="Agreement", language="en").json()
    client = Client(headers={"Authorization": f"Token {cast.token(cast.ben())}"})
    for method in ("get", "patch", "delete"):
        path = f"/api/v1/material-uploads/{upload['id']}/"
        assert getattr(client, method)(path).status_code == 404


def test_a_design_without_lists_is_refused_and_not_stored(api, materials):
    study = api("post", "studies/", {"title": "Keys", "task": "likert", "materials": materials}, status=201)
    path = f"studies/{study['slug']}/design/"
    before = api("get", path)
    assert api("patch", path, {"n_lists": 0}, status=400)["fields"].keys() == {"n_lists"}
    api("patch", path, {"kind": "sample", "items_per_paradigm": 900}, status=422)
    assert api("get", path) == before


def test_a_blocking_check_is_named_and_cannot_be_waived(api):
    study = api("post", "studies/", {"title": "Empty", "task": "likert"}, status=201)
    path = f"studies/{study['slug']}/"
    assert "consent" in api("post", f"{path}open/", {"reason": "Because."}, status=422)["message"]
    api("put", f"{path}checklist/materials/waiver/", {"reason": "Because."}, status=404)
    waived = api("put", f"{path}checklist/dry-run/waiver/", {"reason": "Because."})
    assert {check["waived"] for check in waived["checks"]} == {"", "Because."}
    again = api("delete", f"{path}checklist/dry-run/waiver/")
    assert {check["waived"] for check in again["checks"]} == {""}


def test_only_a_token_that_writes_opens():
    study = cast.draft("agreement")
    reader = Api("read")
    for name in ("open", "pilot", "pause", "close", "preview", "dry-run"):
        assert reader("post", f"studies/{study.slug}/{name}/", status=403)["code"] == "scope"
    assert json.loads(reader.client.get(f"/api/v1/studies/{study.slug}/checklist/").content)["checks"]


def test_what_is_still_computed_is_409_and_a_comparison_has_a_state(api):
    study = judged_study()
    path = f"studies/{study.slug}/"
    release = api("post", f"{path}releases/", {"exclude": "none"}, status=202)
    address = f"/api/v1/{path}releases/{release['number']}/download/"
    early = api.client.get(address)
    assert (early.status_code, early.json()["code"]) == (409, "too_early") and int(early["Retry-After"]) > 0
    sent = {"file": scores_file(study), "column": "bright"}
    run = api.client.post(f"/api/v1/{path}scoring-runs/", sent).json()
    body = {"release": release["number"], "runs": [run["id"]]}
    assert "being built" in api("post", f"{path}comparisons/", body, status=409)["message"]
    job_runner.run(release["job"])
    assert "waiting" in api("post", f"{path}comparisons/", body, status=409)["message"]
    job_runner.run(run["job"])
    comparison = api("post", f"{path}comparisons/", body, status=202)
    assert comparison["state"] == "queued"
    job_runner.run(comparison["job"])
    assert api("get", f"{path}comparisons/{comparison['id']}/")["state"] == "done"
    assert api.client.get(address).status_code == 200


def test_a_study_is_copied_and_only_unused_materials_are_deleted(api):
    study = cast.draft("agreement")
    copy = api("post", "studies/agreement/copy/", {"materials": False}, status=201)
    assert (copy["status"], copy["materials"]) == ("draft", None)
    assert api("post", "studies/agreement/copy/", status=201)["materials"] == study.materials.slug
    assert api("delete", f"materials/{study.materials.slug}/", status=409)["code"] == "in_use"
    unused = cast.material_set("unused")
    reader = Client(headers={"Authorization": f"Token {cast.token(cast.ben())}"})
    assert reader.delete(f"/api/v1/materials/{unused.slug}/").status_code == 404
    api("delete", f"materials/{unused.slug}/", status=204)
    assert not MaterialSet.objects.filter(pk=unused.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_the_notebook_of_the_manual_runs_against_a_live_server(live_server, tmp_path, monkeypatch):
    current_app.loader.import_default_modules()
    text = (Path(__file__).parent.parent / "docs/how-to/automate.md").read_text()
    blocks = text.partition("## A whole study from a notebook")[2].split("```python\n")[1:4]
    begin, end, compare = (block.partition("```")[0] for block in blocks)
    (tmp_path / "sentences.csv").write_text("\n".join(ROWS))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OBELUS", live_server.url)
    monkeypatch.setenv("TOKEN", cast.token(cast.ada(), scopes=("read", "write", "people")))
    monkeypatch.setitem(sys.modules, "obelus", obelus)
    monkeypatch.setattr("time.sleep", lambda seconds: run_queued_jobs())
    names: dict = {}
    exec(begin, names)
    study = Experiment.objects.get()
    assert (study.status, study.materials.sentences.count(), study.design.n_lists) == ("open", 8, 2)
    for name in ("pia", "quentin"):
        cast.sit(study, name)
    exec(end, names)
    assert zipfile.is_zipfile(tmp_path / "release.zip")
    assert set(names["judgments"]["participant"]) == set(names["release"].judgments()["participant"])
    exec(compare, names)
    assert "shorter is better" in names["release"].compare().frame("models").to_string()


def test_the_client_names_what_is_wrong_and_keeps_nothing_of_a_bad_table(live_server, transactional_db):
    token = cast.token(cast.ada(), scopes=("read", "write"))
    client = obelus.Client(live_server.url, token, progress=False)
    with pytest.raises(obelus.client.ApiError, match="exlude: .*'exclude'") as caught:
        client.study(cast.draft("agreement").slug).agreement(exlude="catch_failed")
    assert (caught.value.status, caught.value.code) == (400, "invalid")
    with pytest.raises(ValueError, match="sentence"):
        client.materials.upload(pd.DataFrame({"a": ["x"]}), name="Bad", language="en")
    assert not Upload.objects.exists()
    assert token not in repr(client)


def run_queued_jobs() -> None:
    """Run what a worker would run while a program waits."""
    for job in Job.objects.filter(state=Job.State.QUEUED):
        job_runner.run(job.pk)
