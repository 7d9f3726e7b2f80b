"""Results of a pilot and of a dry run: beside those that count, never among them."""

import json
from html import unescape

import pytest
from django.urls import reverse

from experiments.models import Experiment
from judgments.models import Judgment, Session
from releases.models import Look
from tests.releases.study import add_sitting, judged_study

pytestmark = pytest.mark.django_db
PAGES = (
    "agreement",
    "reliability",
    "items",
    "effects",
    "times",
    "figures",
    "exclusions",
    "judgments",
    "downloads",
)


@pytest.fixture
def study() -> Experiment:
    """Six sessions that count, in all of which but one the expected member was chosen, and a pilot of two."""
    experiment = judged_study("piloted")
    for name in ("first", "second"):
        sitting = add_sitting(experiment, name, agrees=False)
        Session.objects.filter(pk=sitting.pk).update(is_test=True)
    return experiment


def read(client, name, query="", **kwargs):
    answer = client.get(reverse(f"study-{name}", args=["piloted"]) + query, **kwargs)
    assert answer.status_code == 200
    return answer


def test_every_result_page_has_a_switch_and_a_banner_over_the_pilot(ada, study, subtests):
    for name in PAGES:
        with subtests.test(name):
            text = unescape(read(ada, name).content.decode())
            assert 'href="?data=pilot"' in text and "stripes" not in text
            text = unescape(read(ada, name, "?data=pilot").content.decode())
            assert "Pilot: these answers never count." in text and "Back to the checklist" in text
    assert Look.objects.count() == 1  # that of the data that count


def test_result_pages_open_without_a_pilot_or_a_dry_run(ada, subtests):
    judged_study("piloted")
    for name in (*PAGES, "ratings", "progress", "power"):
        for data in ("pilot", "dry_run"):
            with subtests.test(name, data=data):
                read(ada, name, f"?data={data}")


def test_numbers_of_a_pilot_and_of_the_study_are_never_mixed(ada, study):
    counted = json.loads(read(ada, "agreement-json").content)
    pilot = json.loads(read(ada, "agreement-json", "?data=pilot").content)
    assert counted["overall"]["individual_agreement"] == pytest.approx(5 / 6) and "data" not in counted
    assert pilot["overall"]["individual_agreement"] == 0 and pilot["data"] == "pilot"
    slow = {
        data: json.loads(read(ada, "reliability-json", f"?data={data}").content) for data in ("", "pilot")
    }
    assert (slow[""]["participants"], slow["pilot"]["participants"]) == (6, 2)
    assert json.loads(read(ada, "reliability-json").content) == slow[""]


def test_files_of_a_pilot_are_named_and_hold_its_rows_only(ada, study):
    rows = Judgment.objects.filter(trial__session__is_test=True).count()
    for address in (
        reverse("api-judgments-csv", args=["piloted"]),
        reverse("study-agreement-csv", args=["piloted"]),
    ):
        answer = ada.get(f"{address}?data=pilot")
        assert "piloted-pilot-" in answer["Content-Disposition"]
    answer = ada.get(reverse("api-judgments-csv", args=["piloted"]) + "?data=pilot&columns=contract")
    assert len(b"".join(answer).decode().splitlines()) == 1 + rows
    listed = read(ada, "judgments", "?data=pilot").content.decode()
    assert ">first<" in listed and ">p0<" not in listed


def test_power_from_the_pilot_is_one_click_away(ada, study):
    assert b'href="?data=pilot#pilot"' in read(ada, "power").content
    page = unescape(read(ada, "power", "?data=pilot").content.decode())
    assert "Power from the pilot" in page and "pilot of 2 participants" in page


def test_unknown_data_are_refused(ada, study):
    assert ada.get(reverse("study-effects", args=["piloted"]) + "?data=all").status_code == 404
    assert ada.get(reverse("api-judgments-csv", args=["piloted"]) + "?data=all").status_code == 400


def test_a_pilot_of_another_task_is_not_shown_as_answers_to_this_one(ada, study):
    version = study.current_version()
    version.pk, version.number, version.snapshot = None, 9, {**version.snapshot, "task": "likert"}
    version.save()
    Session.objects.filter(is_test=True).update(version=version)
    assert b"?data=pilot" not in read(ada, "agreement").content
