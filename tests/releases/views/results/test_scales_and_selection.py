"""Pages that tell results apart: two scales, and figures that were selected by their own judgments."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from experiments.models import Experiment
from judgments.models import Judgment
from tests import cast
from tests.releases.study import judged_study

pytestmark = pytest.mark.django_db


def test_the_page_names_both_scales_and_averages_on_each(client, tmp_path):
    rows = [
        f"p{person},{item},{item} sentence,{1 + (person + 3 * item) % 5}"
        for person in range(4)
        for item in range(1, 11)
    ]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(["participant,item,sentence,value", *rows]) + "\n")
    call_command(
        "import_judgments", path, experiment="scales", format="table", task="likert",
        owner=cast.ada().username, stdout=StringIO(),
    )  # fmt: skip
    study = Experiment.objects.get()
    people = list(study.participants.values_list("pk", flat=True)[:2])
    Judgment.objects.filter(trial__session__participant__in=people).update(scale_low=1, scale_high=5)
    Judgment.objects.exclude(trial__session__participant__in=people).update(scale_low=1, scale_high=7)
    client.force_login(study.owner)
    page = client.get(reverse("study-ratings", args=[study.slug])).content.decode()
    assert "on 2 scales (likert 1–5 and likert 1–7): standardized and averaged on each separately" in page
    lines = client.get(reverse("study-ratings-csv", args=[study.slug])).content.decode().splitlines()
    assert lines[0].endswith("scale") and len(lines) == 21


def test_the_agreement_page_corrects_for_the_selection_where_asked(ada):
    study = judged_study()
    address = reverse("study-agreement", args=[study.slug])
    assert "selected by the same judgments" in ada.get(address, {"rule": "blimp"}).content.decode()
    page = ada.get(address, {"rule": "blimp", "cross_fit": "on"}).content.decode()
    assert "who had no part in the selection" in page or "nothing can be corrected" in page
