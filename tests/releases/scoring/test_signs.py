"""Uploaded scores named as surprisal, perplexity or loss are asked for their sign."""

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from rest_framework.test import APIClient

from experiments.operation import job_runner
from releases.models import ScoringRun, SentenceScore
from tests import cast
from tests.releases.study import judged_study

pytestmark = pytest.mark.django_db


def losses(study, *, name="gpt2_ppl"):
    rows = [f"{sentence.key},{3 + number}" for number, sentence in enumerate(study.materials.sentences.all())]
    return SimpleUploadedFile("losses.csv", "\n".join([f"sentence_id,{name}", *rows]).encode())


def scores_of(run):
    job_runner.run(run.job_id)
    return list(SentenceScore.objects.filter(run=run).order_by("pk").values_list("score", flat=True))


@pytest.mark.parametrize("name", ["study-score", "study-score-sets"])
def test_the_page_asks_and_then_negates(ada, name):
    study = judged_study()
    address = reverse(name, args=[study.slug])
    response = ada.post(address, {"file": losses(study), "method": "lp"})
    page = response.content.decode()
    assert response.status_code == 400 and "does a higher or a lower value mean a better sentence?" in page
    assert not ScoringRun.objects.exists()
    assert ada.post(address, {"file": losses(study), "method": "lp", "sign": "lower"}).status_code == 302
    assert scores_of(ScoringRun.objects.get())[:2] == [-3.0, -4.0]


def test_positive_values_are_asked_about_whatever_the_name(ada):
    study = judged_study()
    address = reverse("study-score", args=[study.slug])
    refused = ada.post(address, {"file": losses(study, name="gpt2"), "method": "lp"})
    assert refused.status_code == 400 and "all values are above 0" in refused.content.decode()
    ada.post(address, {"file": losses(study, name="gpt2"), "method": "lp", "sign": "higher"})
    assert scores_of(ScoringRun.objects.get())[:2] == [3.0, 4.0]


def test_only_columns_that_ask_are_negated_in_a_table_of_several(ada):
    study = judged_study()
    rows = [f"{sentence.key},-5,7" for sentence in study.materials.sentences.all()]
    file = ContentFile("\n".join(["sentence_id,lp_model,loss", *rows]).encode(), name="two.csv")
    ada.post(reverse("study-score-sets", args=[study.slug]), {"file": file, "sign": "lower"})
    assert {run.name: scores_of(run)[0] for run in ScoringRun.objects.all()} == {
        "lp_model": -5.0,
        "loss": -7.0,
    }


def test_the_api_asks_too():
    study = judged_study()
    client = APIClient()
    client.force_authenticate(cast.ada())
    for name in ("scoring-runs", "score-sets"):
        address = f"/api/v1/studies/{study.slug}/{name}/"
        refused = client.post(address, {"file": losses(study)}, format="multipart")
        assert refused.status_code == 422 and "higher or a lower" in refused.json()["message"]
        accepted = client.post(address, {"file": losses(study), "sign": "higher"}, format="multipart")
        assert accepted.status_code == 202
