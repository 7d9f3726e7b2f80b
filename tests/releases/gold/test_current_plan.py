"""The current exclusion plan: one for the study, used and named everywhere unless another is chosen."""

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.urls import reverse
from rest_framework.test import APIClient

from analysis.errors import BadInput
from experiments.models import AuditEntry
from judgments.flags import raise_flag
from releases.gold.plans import set_current_plan, write_plan
from releases.models import ExclusionPlan, Release
from tests import cast
from tests.releases.study import judged_study

pytestmark = pytest.mark.django_db
STEP = {"name": "flagged", "scope": "participant", "rule": "flagged"}
RESULTS = ("agreement", "exclusions", "figures", "items", "ratings", "reliability", "effects", "ordinal")
OTHERS = ("progress", "power", "releases", "reports", "models", "judgments")


def flagged_study(slug="agreement", *, current=True, **fields):
    """Six people, of whom the one who disagrees is flagged and left out by the current plan *careful*."""
    study = judged_study(slug, **fields)
    raise_flag(study.participants.order_by("-pk").first(), "asleep", by=cast.ada())
    write_plan(study, "careful", steps=[STEP], user=cast.ada())
    if current:
        set_current_plan(study, "careful", user=cast.ada())
    return study


def api(user):
    client = APIClient()
    client.force_authenticate(user)
    return client


def judged(document):
    return document["overall"]["judgments"]


def test_every_page_of_results_names_the_plan_that_it_uses(ada, subtests):
    study = flagged_study(task="likert")
    for name in (*RESULTS, *OTHERS):
        with subtests.test(name):
            page = ada.get(reverse(f"study-{name}", args=[study.slug]))
            chip = re.search(r'<p class="plan-chip">.*?</p>', page.content.decode(), re.DOTALL)
            assert chip and "Exclusions: careful v1" in chip[0] and "current plan" in chip[0]


def test_settings_and_design_show_no_plan(ada):
    study = flagged_study()
    for name in ("study-settings", "study-design", "study"):
        assert b"plan-chip" not in ada.get(reverse(name, args=[study.slug])).content


def test_pages_and_downloads_use_the_plan_unless_another_is_chosen(ada):
    study = flagged_study()
    address = reverse("study-agreement-json", args=[study.slug])
    report = ada.get(address).json()
    assert judged(report) == 20 and report["plan"]["name"] == "careful"
    assert judged(ada.get(address, {"plan": "none"}).json()) == 24
    assert judged(ada.get(address, {"steps": "incomplete"}).json()) == 24
    page = ada.get(reverse("study-agreement", args=[study.slug]), {"plan": "none"}).content.decode()
    assert "Nothing excluded" in page and "on this page only" in page
    table = ada.get(reverse("study-agreement-csv", args=[study.slug])).content.decode().splitlines()
    assert dict(zip(table[0].split(","), table[1].split(","), strict=True))["judgments"] == "20"


def test_figures_and_downloads_of_a_page_name_the_version(ada):
    study = flagged_study()
    page = ada.get(reverse("study-agreement", args=[study.slug])).content.decode()
    assert page.count("agreement.svg?plan=careful%401") >= 4
    assert "agreement.csv?plan=careful%401" in page and "agreement.json?plan=careful%401" in page
    figure = ada.get(reverse("study-figure", args=[study.slug, "agreement", "svg"]))
    assert b"careful" in figure.content


def test_a_page_of_an_older_version_keeps_it(ada):
    study = flagged_study()
    write_plan(
        study, "careful", steps=[STEP, {"name": "incomplete", "scope": "session", "rule": "incomplete"}]
    )
    address = reverse("study-agreement", args=[study.slug])
    for query in ({}, {"plan": "careful@1"}):
        page = ada.get(address, query)
        assert page.status_code == 200 and page.context["plan"].version == 1
    assert ada.get(address, {"plan": "careful"}).context["plan"].version == 2
    assert ada.get(address, {"plan": "careful@7"}).status_code == 400


def test_the_api_uses_the_plan_and_names_it():
    study = flagged_study(task="yes_no")
    client = api(cast.ada())
    for name in ("agreement", "ratings", "exclusions", "items", "progress", "reliability", "effects"):
        report = client.get(reverse(f"api-{name}", args=[study.slug])).json()
        assert report["plan"]["name"] == "careful" and report["plan"]["version"] == 1, name
        nothing = client.get(reverse(f"api-{name}", args=[study.slug]), {"exclude": "none"}).json()
        assert nothing["plan"]["name"] == "none", name
    plans = client.get(reverse("api-plans", args=[study.slug])).json()["results"]
    assert [plan["is_current"] for plan in plans] == [True]


def test_the_api_makes_a_plan_current_only_when_asked():
    study = flagged_study(current=False)
    client = api(cast.ada())
    address = reverse("api-plans", args=[study.slug])
    body = {"name": "strict", "steps": [STEP]}
    assert client.post(address, body, format="json").json()["is_current"] is False
    response = client.post(address, {**body, "name": "other", "is_current": True}, format="json")
    assert response.json()["is_current"] is True
    assert study.exclusion_plans.get(is_current=True).name == "other"


def test_releases_and_reports_take_the_plan_unless_another_is_chosen(ada):
    study = flagged_study()
    for name in ("study-releases", "study-reports"):
        ada.post(reverse(name, args=[study.slug]), {"ties": "strict"})
        ada.post(reverse(name, args=[study.slug]), {"ties": "strict", "plan": "none"})
    by_pages = [release.options["exclude"] for release in Release.objects.order_by("number")]
    client = api(cast.ada())
    by_api = [
        client.post(reverse(name, args=[study.slug]), body, format="json").json()["options"]["exclude"]
        for name in ("api-releases", "api-study-reports")
        for body in ({"rule": "blimp"}, {"rule": "blimp", "exclude": "none"})
    ]
    assert by_pages == ["careful@1", ""] and by_api == ["careful@1", "", "careful@1", ""]
    jobs = study.jobs.filter(kind="releases.study_report").order_by("pk")
    options = [job.arguments["options"]["exclude"] for job in jobs]
    assert options == ["careful@1", "", "careful@1", ""]


def test_a_release_keeps_its_plan_when_the_current_one_changes(ada):
    study = flagged_study()
    ada.post(reverse("study-releases", args=[study.slug]), {"ties": "strict"})
    set_current_plan(study, "none", user=cast.ada())
    page = ada.get(reverse("study-release", args=[study.slug, 1])).content.decode()
    assert "Exclusions: careful v1" in page and "fixed in release 1; the study’s current plan: none" in page


@pytest.mark.parametrize("command", ["agreement", "reliability", "progress", "items"])
def test_commands_exclude_nothing_by_default_and_report_it(command):
    study = flagged_study()
    out, err = StringIO(), StringIO()
    call_command(command, study.slug, json=True, stdout=out, stderr=err)
    assert json.loads(out.getvalue())["plan"]["name"] == "none"
    assert "nothing is excluded" in err.getvalue() and "--exclude current" in err.getvalue()
    out, err = StringIO(), StringIO()
    call_command(command, study.slug, exclude="current", json=True, stdout=out, stderr=err)
    assert json.loads(out.getvalue())["plan"] | {"sha256": ""} == {
        "name": "careful",
        "version": 1,
        "sha256": "",
    }
    assert err.getvalue() == ""


def test_files_of_commands_name_the_version_of_the_current_plan(tmp_path):
    study = flagged_study()
    call_command("export_gold", study.slug, to=tmp_path / "gold", exclude="current", stdout=StringIO())
    manifest = json.loads((tmp_path / "gold" / "manifest.json").read_text())
    assert manifest["options"]["exclude"] == "careful@1" and manifest["plan"]["name"] == "careful"


def test_current_is_refused_where_there_is_none():
    study = flagged_study(current=False)
    with pytest.raises(CommandError, match="no current exclusion plan"):
        call_command("agreement", study.slug, exclude="current")
    err = StringIO()
    call_command("agreement", study.slug, stdout=StringIO(), stderr=err)
    assert err.getvalue() == ""


def test_nothing_may_be_chosen_by_name_where_no_plan_is_current(ada):
    study = flagged_study(current=False)
    page = ada.get(reverse("study-agreement", args=[study.slug]), {"plan": "none"})
    assert page.status_code == 200 and "the study has no exclusion plan" in page.content.decode()


def test_a_plan_saved_on_the_page_becomes_current_unless_unticked(ada):
    study = flagged_study(current=False)
    address = reverse("study-exclusions", args=[study.slug])
    form = {"name": "strict", "steps": ["flagged"], "max_errors": 0, "minimum": 1, "min_share": "0.9"}
    ada.post(address, form)
    assert not study.exclusion_plans.filter(is_current=True).exists()
    ada.post(address, {**form, "name": "stricter", "current": "on"})
    assert str(study.exclusion_plans.get(is_current=True)) == "stricter v1"


def test_one_plan_is_current_and_every_change_is_recorded(ada):
    study = flagged_study()
    write_plan(study, "other", steps=[{**STEP, "name": "by hand"}], user=cast.ada())
    address = reverse("study-current-plan", args=[study.slug])
    ada.post(address, {"plan": "other@1"})
    assert str(study.exclusion_plans.get(is_current=True)) == "other v1"
    ada.post(address, {"plan": "none"})
    assert not study.exclusion_plans.filter(is_current=True).exists()
    entries = AuditEntry.objects.filter(action="current exclusion plan changed").order_by("pk")
    assert [(entry.details["before"], entry.details["after"]) for entry in entries] == [
        ("none", "careful v1"),
        ("careful v1", "other v1"),
        ("other v1", "none"),
    ]
    with pytest.raises(IntegrityError), transaction.atomic():
        ExclusionPlan.objects.filter(experiment=study).update(is_current=True)


def test_viewers_choose_no_plan_and_steps_are_none(client):
    study = flagged_study()
    address = reverse("study-current-plan", args=[study.slug])
    client.force_login(cast.ben())
    assert client.post(address, {"plan": "none"}).status_code == 403
    assert study.exclusion_plans.filter(is_current=True).exists()
    with pytest.raises(BadInput, match="not a stored plan"):
        set_current_plan(study, "flagged")
    with pytest.raises(BadInput, match="unknown exclusion plan"):
        set_current_plan(study, "carefull")


@pytest.mark.parametrize("name", ["current", "none"])
def test_a_plan_is_not_called_like_a_choice(name):
    with pytest.raises(BadInput, match="cannot name a plan"):
        write_plan(judged_study(), name, steps=[STEP])
