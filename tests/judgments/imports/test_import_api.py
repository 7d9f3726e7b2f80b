"""Judgments imported by a token: sent, previewed, chosen, imported by a job."""

import pytest
from celery import current_app
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from experiments.models import Experiment, Job, Upload
from experiments.operation import job_runner
from judgments.models import Judgment
from tests import api, cast

pytestmark = pytest.mark.django_db
ROWS = "participant,item,condition,sentence,rating\n" + "".join(
    f"p{person},{item},{condition},The {noun} {verb} here.,{rating}\n"
    for person in (1, 2, 3)
    for item, noun in (("1", "keys"), ("2", "cats"))
    for condition, verb, rating in (("good", "are", 6), ("bad", "is", 2))
)


def upload(content: str, **fields):
    """The response to an upload."""
    token = cast.token(cast.ada(), scopes=("read", "write", "people"))
    file = SimpleUploadedFile("ratings.csv", content.encode())
    client = Client(headers={"Authorization": f"Token {token}"})
    return client.post("/api/v1/judgment-uploads/", {"file": file, **fields})


def test_a_file_is_previewed_and_imported():
    current_app.loader.import_default_modules()
    answer = upload(ROWS, experiment="Ratings", format="table")
    assert answer.status_code == 201, answer.content
    sent = answer.json()
    path = f"judgment-uploads/{sent['id']}/"
    assert (sent["state"], sent["error"]) == ("read", "")
    assert sent["preview"]["report"]["judgments"] == 12, sent["preview"]["report"]
    api.call("patch", path, {"mapping": {"vallue": "rating"}}, status=400)
    chosen = api.call("patch", path, {"scale_low": 1, "scale_high": 7, "task": "likert"})
    assert chosen["options"]["task"] == "likert" and not Judgment.objects.exists()
    api.call("get", path, who=cast.ben, status=404)
    job = api.call("post", f"{path}import/", status=202)
    job_runner.run(job["id"])
    assert Job.objects.get(pk=job["id"]).result["slug"] == Experiment.objects.get().slug
    assert Judgment.objects.count() == 12 and not Upload.objects.exists()


def test_what_is_wrong_with_a_file_is_an_error_of_its_import():
    sent = upload("participant,answer\np1,6\n", experiment="Ratings", format="table").json()
    path = f"judgment-uploads/{sent['id']}/"
    assert sent["error"]
    assert api.call("post", f"{path}import/", status=422)["message"] == sent["error"]
    api.call("delete", path, status=204)
    assert not Upload.objects.exists()


def test_one_spelling_is_chosen_over_the_api():
    sent = upload(ROWS.replace("keys are", "keyz are", 1), experiment="Ratings", format="table").json()
    assert "--spelling" in sent["error"]
    read = api.call("patch", f"judgment-uploads/{sent['id']}/", {"spelling": "frequent"})
    assert read["error"] == "" and "'The keyz are here.' (1 row)" in str(
        read["preview"]["report"]["warnings"]
    )
