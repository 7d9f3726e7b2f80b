"""``reliability --rule``: every coefficient over all paradigms and over the included ones, by coding."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from releases.gold.options import Options
from releases.reports.compute import compute_reliability
from releases.study_report.build import build_report
from tests import cast
from tests.releases.study import judged_study

pytestmark = pytest.mark.django_db


def printed(*words, **options):
    out = StringIO()
    call_command("reliability", *words, stdout=out, **options)
    return out.getvalue()


def test_blimps_coefficients_are_of_all_and_of_the_included_paradigms(shared_data):
    """Labels blind .6307 and .6496; by the expected label α .1346 and AC1 .7799 over the 67 paradigms."""
    path = shared_data("blimp/human_responses.csv")
    owner = {"owner": cast.ada().username, "stdout": StringIO()}
    call_command("import_judgments", path, experiment="blimp", format="mturk-batch", **owner)
    options = {"exclude": "rejected", "rule": "blimp"}
    report = json.loads(printed("blimp", json=True, **options))
    values = {
        (row["measure"], row["of"]): (row["value"], row["value_included"]) for row in report["coefficients"]
    }
    assert values["alpha_nominal", "label_blind"] == pytest.approx((0.630764, 0.649575), abs=1e-6)
    assert values["alpha_nominal", "expected"] == pytest.approx((0.160283, 0.134565), abs=1e-6)
    assert values["gwet_ac1", "expected"] == pytest.approx((0.762961, 0.779948), abs=1e-6)
    assert report["included"] == {"paradigms": 67, "judgments": 6676}
    text = printed("blimp", **options)
    assert "67 paradigms included by rule blimp" in text and "0.135" in text and "0.780" in text


def test_command_page_and_report_agree_on_the_included_paradigms(client):
    study = judged_study("judged")
    document = json.loads(printed("judged", json=True, rule="4/5"))
    assert document["included"] is not None
    numbers = build_report(study, Options(rule="4/5"), has_pdf=False).numbers["reliability"]
    assert [row["value_included"] for row in numbers["coefficients"]] == [
        row["value_included"] for row in document["coefficients"]
    ]
    page_report = compute_reliability(study, rule="4/5")
    assert page_report["coefficients"] == document["coefficients"]
    client.force_login(cast.ada())
    page = client.get(reverse("study-reliability", args=["judged"]), {"rule": "4/5"}).content.decode()
    assert "that the rule 4/5 includes" in page and 'data-label="Included"' in page
    without = client.get(reverse("study-reliability", args=["judged"])).content.decode()
    assert 'data-label="Included"' not in without and 'data-label="Value"' in without


def test_an_unknown_rule_is_refused_and_nothing_is_printed():
    judged_study("judged")
    with pytest.raises(CommandError) as error:
        printed("judged", rule="most")
    assert error.value.returncode == 2
