"""Deviations from the preregistered version: page, files, API, report and methods list the same rows."""

import csv
import io
import json
from html import unescape

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from experiments.models import Design, Experiment, Membership
from experiments.studies.lifecycle import close, open_study, pause, start_pilot
from judgments.models import PlatformIdentity
from releases.gold.build import build_release
from releases.gold.options import Options, ReportOptions
from releases.gold.plans import set_current_plan, write_plan
from releases.models import DeviationReason
from releases.study_report.build import build_report
from releases.study_report.request import request_report
from tests import cast

pytestmark = pytest.mark.django_db
STEP = {"name": "not native", "scope": "participant", "rule": "not_native"}
CATCH = {"options": [{"text": "The cat sleeps."}, {"text": "Cat the sleeps."}], "correct": 0}
LONG = "You may stop at any time without giving a reason and without losing the reward for this study"
PAGE, CSV, JSON = (reverse(name, args=["agreement"]) for name in
                   ("study-deviations", "study-deviations-csv", "study-deviations-json"))  # fmt: skip
API = reverse("api-deviations", args=["agreement"])


def opened(slug="agreement", **fields) -> Experiment:
    """An open study with two lists, whose target takes six participants."""
    study = cast.draft(slug, **{"consent": f"{LONG}.", "target_judgments": 6, **fields})
    Design.objects.create(experiment=study, n_lists=2, seed=5)
    return open_study(study, cast.ada())


def changed(study: Experiment, **fields) -> Experiment:
    """The study opened again with other settings."""
    Experiment.objects.filter(pk=study.pk).update(**fields)
    return open_study(Experiment.objects.get(pk=study.pk), cast.ada())


def listed(client, name: str = "ada") -> dict[str, dict]:
    """The rows of the JSON file by key."""
    client.force_login(cast.user(name))
    return {row["key"]: row for row in client.get(JSON).json()["rows"]}


def released(study: Experiment, **options) -> dict[str, dict[str, str]]:
    content = build_release(study, Options(**options)).files["deviations.csv"].decode()
    return {row["key"]: row for row in csv.DictReader(io.StringIO(content))}


def test_a_later_version_is_a_deviation_with_its_sessions(client):
    study = opened()
    cast.sit(study, "before")
    study = changed(study, consent=f"{LONG} or your payment.", catch_trials=[CATCH])
    for name in ("one", "two"):
        cast.sit(study, name)
    rows = listed(client)
    consent = rows["consent"]
    assert consent["verdict"] == "deviation" and consent["sessions_affected"] == 2
    assert consent["planned"] == "“… without losing the reward for this study.”"
    assert consent["done"] == "from version 2: “… without losing the reward for this study or your payment.”"
    assert consent["since"] == f"{study.current_version().created_at:%Y-%m-%d}"
    assert rows["catch_trials"]["planned"] == "none" and "1 entry, among them" in rows["catch_trials"]["done"]
    assert "texts" not in rows and rows["materials"]["verdict"] == "as planned"
    assert study.materials.checksum in rows["materials"]["planned"]
    versions = client.get(JSON).json()["compared_with"]["versions"]
    assert [(row["version"], row["sessions"]) for row in versions] == [(1, 1), (2, 2)]
    page = client.get(PAGE).content.decode()
    assert "2 deviations from version 1" in page and page.count("no reason given") == 2
    assert "2 without a reason" in page


def test_a_setting_that_is_changed_back_stays_a_deviation(client):
    study = opened()
    plan = study.instructions
    study = changed(study, instructions="Read each sentence and answer slowly.")
    cast.sit(study, "between")
    cast.sit(changed(study, instructions=plan), "after")
    row = listed(client)["instructions"]
    assert row["done"].endswith("; from version 3: as planned again") and row["sessions_affected"] == 1


def test_what_no_version_states_is_never_equal_in_silence(client):
    opened()
    rows = listed(client)
    for key in ("analysis.rule", "analysis.transform", "analysis.tests", "exclusion_plan"):
        assert rows[key]["planned"] == "not stated in the frozen plan", key
        assert rows[key]["verdict"] == "not stated" and rows[key]["done"], key
    for key in ("target_judgments", "max_participants", "quotas"):
        assert rows[key]["planned"].startswith("not stated in the frozen plan; "), key
        assert rows[key]["verdict"] == "not stated" and rows[key]["done"].endswith(", unchanged")
    assert "6 judgments of each pair when version 1 was frozen" in rows["target_judgments"]["planned"]
    assert rows["participants"]["verdict"] == "in progress"


def test_an_old_version_without_its_design_does_not_state_it(client):
    study = opened()
    version = study.current_version()
    del version.snapshot["design"]
    version.save()
    row = listed(client)["design"]
    assert (row["planned"], row["verdict"]) == ("not stated in the frozen plan", "not stated")
    assert "scheme: latin_square" in row["done"]


def test_target_and_quotas_of_the_history_are_compared(ada):
    study = opened(questionnaire=[{"name": "sex", "label": "Sex?", "type": "text"}])
    cast.sit(study, "before")
    ada.post("/studies/agreement/design/target/", {"target_judgments": 2, "max_participants": 5})
    version = ada.get(reverse("study-channels", args=["agreement"])).context["quota_version"]
    form = {"quota-TOTAL_FORMS": 1, "quota-INITIAL_FORMS": 0, "quota-0-question": "sex",
            "quota-0-answer": "female", "quota-0-limit": 3, "version": version}  # fmt: skip
    ada.post(reverse("study-quotas", args=["agreement"]), form)
    study.refresh_from_db()
    assert study.quotas and study.target_judgments == 2
    rows = listed(ada)
    target, quotas = rows["target_judgments"], rows["quotas"]
    assert target["verdict"] == quotas["verdict"] == "deviation"
    assert target["planned"].startswith("6 judgments of each pair when version 1 was frozen")
    assert target["done"].startswith("2 judgments of each pair from ") and target["sessions_affected"] == 0
    assert quotas["done"].startswith("sex = female: at most 3 from ") and "no quotas" in quotas["planned"]
    assert rows["max_participants"]["done"].startswith("at most 5 participants from")


@pytest.mark.parametrize(
    ("people", "target", "verdict", "done"),
    [
        (2, 6, "deviation", "closed with 2 complete sessions, 4 fewer"),
        (2, 2, "not stated", "2 complete sessions"),
        (4, 3, "deviation", "4 complete sessions, 1 more"),
    ],
)
def test_a_closed_study_is_compared_with_the_participants_of_its_target(
    client, people, target, verdict, done
):
    study = opened(target_judgments=people)
    for number in range(people):
        cast.sit(study, f"p{number}")
    Experiment.objects.filter(pk=study.pk).update(target_judgments=target)
    assert listed(client)["participants"]["verdict"] != "deviation" or people > target
    close(study, cast.ada())
    row = listed(client)["participants"]
    assert (row["verdict"], row["done"]) == (verdict, done)
    assert row["sessions_affected"] == (1 if people > target else None)
    assert bool(row["since"]) == (verdict == "deviation")


def test_the_exclusion_plan_of_before_the_first_answer_is_what_counts(client):
    study = cast.draft(target_judgments=6)
    Design.objects.create(experiment=study, n_lists=2, seed=5)
    write_plan(study, "attention", steps=[STEP], user=cast.ada())
    set_current_plan(study, "attention", user=cast.ada())
    open_study(study, cast.ada())
    for name in ("pia", "quentin", "third"):
        cast.sit(study, name)
    study.participants.filter(pseudonym=study.participants.first().pseudonym).update(is_native=False)
    assert listed(client)["exclusion_plan"]["verdict"] == "as planned"
    write_plan(study, "later", steps=[{"name": "flagged", "scope": "participant", "rule": "flagged"}])
    set_current_plan(study, "later", user=cast.ada())
    row = listed(client)["exclusion_plan"]
    assert row["verdict"] == "deviation" and row["sessions_affected"] == 1 and row["since"]
    assert row["planned"].startswith("plan attention v1: not native")
    assert row["done"].startswith("plan later v1: flagged")
    assert released(study, exclude="attention")["exclusion_plan"]["verdict"] == "as planned"
    assert released(study)["exclusion_plan"]["done"] == "nothing is excluded"
    assert released(study)["exclusion_plan"]["sessions_affected"] == "1"
    set_current_plan(study, "attention@1", user=cast.ada())
    assert listed(client)["exclusion_plan"]["verdict"] == "as planned"


def test_editors_write_reasons_and_every_version_is_kept(client):
    study = changed(opened(), debrief="Thank you.")
    ben, cleo = cast.ben(), cast.cleo()
    Membership.objects.create(experiment=study, user=cast.user("eve"), role=Membership.Role.EDITOR)
    address, form = reverse("study-deviation-reason", args=[study.slug]), {"key": "debrief"}
    client.force_login(ben)
    assert client.post(address, {**form, "text": "No."}).status_code == 403
    assert client.get(PAGE).status_code == 200 and b"<textarea" not in client.get(PAGE).content
    client.force_login(cleo)
    assert client.post(address, form).status_code == client.get(PAGE).status_code == 404
    for name, text in (("ada", "A typo."), ("eve", "A typo, found by a participant."), ("eve", "")):
        client.force_login(cast.user(name))
        for _ in range(2):  # a double click is one version
            assert client.post(address, {**form, "text": text}).status_code == 302
        assert listed(client)["debrief"]["reason"] == text
    assert [(row.text, row.author.username) for row in DeviationReason.objects.order_by("pk")] == [
        ("A typo.", "ada"), ("A typo, found by a participant.", "eve"), ("", "eve"),
    ]  # fmt: skip
    page = client.get(PAGE).content.decode()
    assert "3 versions" in page and "(withdrawn)" in page and "A typo." in page
    client.post(address, {"key": "no-such-row", "text": "Why?"})
    client.post(address, {**form, "text": "x" * 2001})
    assert DeviationReason.objects.count() == 3


def test_the_api_gives_the_list_and_takes_reasons(ada):
    changed(opened(), debrief="Thank you.")
    api = APIClient()
    api.force_authenticate(cast.ben())
    assert api.get(API).json() == ada.get(JSON).json()
    assert api.post(API, {"key": "debrief", "text": "A typo."}, format="json").status_code == 403
    api.force_authenticate(cast.ada())
    answer = api.post(API, {"key": "debrief", "text": "A typo."}, format="json")
    rows = {row["key"]: row for row in answer.json()["rows"]}
    assert answer.status_code == 200 and rows["debrief"]["reason"] == "A typo."
    assert api.post(API, {"key": "nothing", "text": "?"}, format="json").status_code == 422
    assert api.post(API, {"key": "debrief", "text": "x" * 2001}, format="json").status_code == 400
    api.force_authenticate(cast.cleo())
    assert api.get(API).status_code == 404


def test_release_and_page_have_the_same_rows_and_the_same_bytes_twice(ada):
    study = changed(opened(), debrief="Thank you.")
    cast.sit(study)
    form = {"key": "debrief", "text": "=SUM(1)\r\nsee the registry"}
    ada.post(reverse("study-deviation-reason", args=[study.slug]), form)
    first, second = (build_release(study, Options()).files for _ in range(2))
    assert first == second
    manifest, package = json.loads(first["manifest.json"]), json.loads(first["datapackage.json"])
    assert "deviations.csv" in {file["path"] for file in manifest["files"]}
    assert manifest["frozen_plan"]["version"] == 1 and len(manifest["frozen_plan"]["versions"]) == 2
    fields = next(one for one in package["resources"] if one["path"] == "deviations.csv")["schema"]["fields"]
    rows = released(study)
    assert [field["name"] for field in fields] == list(rows["debrief"])
    assert not any("as given" in field["description"] for field in fields)
    assert rows["debrief"]["reason"] == '"=SUM(1)\\nsee the registry"'
    table = {row["key"]: row for row in csv.DictReader(io.StringIO(ada.get(CSV).content.decode()))}
    assert {key: table[key] for key in rows} == rows
    assert set(table) - set(rows) == {
        f"analysis.{name}" for name in ("tests", "correction", "sesoi", "outliers", "multiverse")
    }
    assert "`deviations.csv`" in first["README.md"].decode()


def test_methods_and_report_name_deviations_with_reasons_and_what_is_not_stated(ada):
    study = changed(opened(), debrief="Thank you.", consent="You may stop.")
    for number in range(3):
        cast.sit(study, f"p{number}")
    form = {"key": "debrief", "text": "A participant found a typo."}
    ada.post(reverse("study-deviation-reason", args=[study.slug]), form)
    methods = build_release(study, Options()).files["methods.md"].decode()
    date = f"{study.versions.first().created_at:%Y-%m-%d}"
    sentence = f"The study deviated from the frozen plan (version 1 of {date}) in 2 respects: "
    assert sentence in methods
    assert f"debrief (since {date}, 3 sessions): A participant found a typo" in methods
    assert f"consent (since {date}, 3 sessions): no reason given" in methods
    assert "That plan does not state: target" in methods and "choices of the analysis." in methods
    html = unescape(build_report(study, ReportOptions(), has_pdf=False).files["report.html"].decode())
    assert sentence in html and "Deviations from the frozen plan" in html
    assert "3 sessions judged under version 2" in html and "Correction for several tests" in html
    assert "A participant found a typo. (written " in html and "no reason given" in html


def test_a_report_is_made_again_when_a_reason_is_written(ada):
    study = changed(opened(), debrief="Thank you.")
    cast.sit(study)
    first = request_report(study, ReportOptions(), user=cast.ada())
    assert request_report(study, ReportOptions(), user=cast.ada()).number == first.number
    ada.post(reverse("study-deviation-reason", args=[study.slug]), {"key": "debrief", "text": "A typo."})
    assert request_report(study, ReportOptions(), user=cast.ada()).number != first.number


def test_codes_are_in_no_list(client):
    study = opened(completion_code="SECRET-1")
    study = changed(study, completion_code="SECRET-2", completion_url="https://panel.example/?cc=SECRET-3")
    cast.sit(study)
    PlatformIdentity.objects.create(
        participant=study.participants.first(), experiment=study, recruiter="prolific", external_id="VAULT"
    )
    row = listed(client)["completion_code"]
    assert (row["planned"], row["done"]) == ("a code (left out)", "from version 2: another code (left out)")
    texts = [client.get(address).content for address in (PAGE, CSV, JSON)]
    texts += build_release(study, Options()).files.values()
    assert not any(secret in text for text in texts for secret in (b"SECRET-", b"VAULT"))


def test_the_version_at_opening_is_the_plan_unless_another_was_registered(ada):
    study = cast.draft(target_judgments=6)
    Design.objects.create(experiment=study, n_lists=2, seed=5)
    start_pilot(study, cast.ada())
    pause(study, cast.ada())
    study = changed(study, debrief="Thank you.")
    assert ada.get(JSON).json()["compared_with"]["version"] == 2 and "debrief" not in listed(ada)
    address = reverse("study-preregistered-version", args=[study.slug])
    ada.post(address, {"version": "7"})
    assert ada.get(JSON).json()["compared_with"]["version"] == 2
    ada.post(address, {"version": "1"})
    assert ada.get(JSON).json()["compared_with"]["version"] == 1
    assert listed(ada)["debrief"]["verdict"] == "deviation"
    assert study.audit.filter(action="preregistered version chosen").count() == 1
    ada.force_login(cast.ben())
    assert ada.post(address, {"version": "2"}).status_code == 403


def test_settings_that_nobody_has_seen_are_no_deviation(client):
    study = opened()
    Experiment.objects.filter(pk=study.pk).update(debrief="Thank you.")
    assert "debrief" not in listed(client) and listed(client)["texts"]["verdict"] == "as planned"
    assert "not yet shown to participants: Debrief" in client.get(PAGE).content.decode()


def test_drafts_and_imported_judgments_have_no_frozen_plan(ada):
    cast.draft()
    assert "No version is frozen yet" in ada.get(PAGE).content.decode()
    study = cast.study("imported", origin=Experiment.Origin.IMPORTED)
    page = ada.get(reverse("study-deviations", args=["imported"])).content.decode()
    assert "The judgments were imported" in page
    rows = released(study)
    assert rows["analysis.rule"]["planned"] == "there is no frozen plan" and "task" not in rows
    assert "frozen plan" not in build_release(study, Options()).files["methods.md"].decode()


def test_the_list_is_a_few_clicks_from_the_start_page(ada):
    opened()
    link = f'href="{PAGE}"'
    for name in ("study", "study-launch", "study-reports", "study-releases"):
        assert link in ada.get(reverse(name, args=["agreement"])).content.decode(), name
