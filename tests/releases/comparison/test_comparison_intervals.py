"""Intervals on the page of a comparison: what was drawn, and what stands where nothing can be drawn."""

import pytest
from django.urls import reverse

from experiments.models import Paradigm, Phenomenon
from experiments.operation import job_runner
from releases.comparison.compare import request_comparison
from releases.models import Comparison
from tests import cast
from tests.releases.study import judged_study, ready_release, scored

pytestmark = pytest.mark.django_db


def comparison_page(client, people):
    materials = cast.material_set("Two phenomena", paradigms=("number", "island"))
    other = Phenomenon.objects.create(material_set=materials, name="islands")
    Paradigm.objects.filter(material_set=materials, name="island").update(phenomenon=other)
    study = judged_study(task="likert", people=people, materials=materials)
    comparison = request_comparison(ready_release(study), [scored(study, "bright")])
    job_runner.run(comparison.job_id)
    comparison.refresh_from_db()
    client.force_login(cast.ada())
    answer = client.get(reverse("study-depth", args=[study.slug, comparison.pk, "intervals"]))
    return answer, comparison.report["models"][0]["intervals"]


def test_both_kinds_of_intervals_are_shown_with_what_was_drawn(client):
    answer, ends = comparison_page(client, people=8)
    pairs, joint_row = answer.context["interval_rows"]
    # two phenomena are too few for an interval over them
    assert ends["status"] == pairs["status"] == "too_few" and ends["adc"]["0.5"] is None
    assert pairs["cells"][1] == {"low": None, "high": None}
    joint = [*(ends["joint"]["adc"][key] for key in answer.context["keys"]), ends["joint"]["pearson_r"]]
    assert [cell["low"] for cell in joint_row["cells"]] == [
        None,
        *(interval and interval[0] for interval in joint),
    ]
    assert joint_row["continues"] == pairs["model"]  # no row without a heading
    assert ends["joint"]["status"] == "too_few"
    page = answer.content.decode()
    assert "60 half-samples of participants within list" in page and "8 participants" in page
    assert "Seed 0" in page


def test_the_line_to_people_and_the_recalibrated_adc_are_shown_beside(client):
    answer, _ = comparison_page(client, people=8)
    (line,) = answer.context["lines"]
    model = answer.context["report"]["models"][0]
    assert (line["slope"], line["intercept"]) == (model["slope"], model["intercept"])
    assert line["recalibrated"] == [model["adc_recalibrated"][key] for key in answer.context["keys"]]
    recalibrated = answer.context["report"]["baselines"]["constant_recalibrated"]["adc"]
    assert (
        answer.context["constant_recalibrated"] == list(recalibrated.values())
        and None not in recalibrated.values()
    )
    assert "On people’s scale" in answer.content.decode() and "(10 folds)" in answer.content.decode()


def test_too_few_people_are_named_instead_of_an_interval(client):
    answer, ends = comparison_page(client, people=3)
    assert ends["joint"]["status"] == "too_few"
    assert [row["drawn"] for row in answer.context["interval_rows"]] == [
        "pairs", "pairs, participants",
    ]  # fmt: skip
    assert "too few" in answer.content.decode()


def test_r_is_shown_beside_its_share_of_the_ceiling(client):
    comparison_page(client, people=8)
    comparison = Comparison.objects.get()
    comparison.report["models"][0]["pearson_r_disattenuated"] = 0.617
    comparison.report["baselines"]["human_ceiling"]["correlation"] |= {"model": 0.9, "sample": 0.81}
    comparison.save()
    page = client.get(reverse("study-comparison", args=[comparison.release.experiment.slug, comparison.pk]))
    assert "0.62 of the ceiling" in page.content.decode()
    assert '0.81<br><small class="quiet">0.90 a perfect model</small>' in page.content.decode()
