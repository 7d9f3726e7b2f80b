"""A release in the formats of other tools: page, command and API, and the rules of Psych-DS.

The validator of Psych-DS is in no package index that this project uses (2026-11-24), so its rules are written
down here, each with the code of the validator's error, from "Rules and Conventions" and the "Error Reference"
of https://psychds-docs.readthedocs.io and the schema model 1.5.1.
"""

import csv
import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.gold.formats.psych_ds import IGNORED
from releases.gold.build import build_release
from releases.gold.freeze import request_release
from releases.gold.options import Options
from releases.models import Release
from tests.releases.study import judged_study, ready_release

pytestmark = pytest.mark.django_db
DATA_FILE = re.compile(r"data/(.+/)*([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv")
OFFICIAL_KEYWORDS = {
    *("study", "site", "subject", "session", "task", "condition", "trial", "stimulus", "description")
}


def faults(files: dict[str, bytes]) -> set[str]:
    """Codes of the validator's errors, and of its warnings about keywords and files outside of Psych-DS."""
    if "dataset_description.json" not in files:
        return {"MISSING_DATASET_DESCRIPTION"}
    codes = set()
    described = json.loads(files["dataset_description.json"])
    if not all(described.get(name) for name in ("name", "description", "variableMeasured")):
        codes.add("JSON_KEY_REQUIRED")
    if described.get("@context") not in ("https://schema.org", "https://schema.org/"):
        codes.add("JSON_KEY_REQUIRED")
    if described.get("@type") not in ("Dataset", "https://schema.org/Dataset"):
        codes.add("INCORRECT_DATASET_TYPE")
    if any(value.get("@type") != "PropertyValue" for value in described["variableMeasured"]):
        codes.add("INVALID_OBJECT_TYPE")
    names = {value["name"] for value in described["variableMeasured"]}
    in_folder = {name for name in files if name.startswith("data/")}
    if not in_folder:
        codes.add("MISSING_DATA_DIRECTORY")
    data = {name for name in in_folder if DATA_FILE.fullmatch(name)}
    if not data:
        codes.add("MISSING_DATAFILE")
    if in_folder - data:
        codes.add("FILENAME_KEYWORD_FORMATTING_ERROR")
    for name in data:
        keywords = {
            part.partition("-")[0] for part in name.removesuffix("_data.csv").split("/")[-1].split("_")
        }
        if keywords - OFFICIAL_KEYWORDS:
            codes.add("FILENAME_UNOFFICIAL_KEYWORD_WARNING")
        rows = list(csv.reader(io.StringIO(files[name].decode("utf-8"), newline=""), strict=True))
        if not rows or not all(rows[0]):
            codes.add("CSV_HEADER_MISSING")
        if {len(row) for row in rows} != {len(rows[0])}:
            codes.add("CSV_HEADER_LENGTH_MISMATCH")
        if set(rows[0]) - names:
            codes.add("CSV_COLUMN_MISSING_FROM_METADATA")
        if "row_id" in rows[0]:
            keys = [row[rows[0].index("row_id")] for row in rows[1:]]
            codes |= {"ROWID_VALUES_NOT_UNIQUE"} if len(set(keys)) < len(keys) else set()
    ignored = set(files[IGNORED].decode().splitlines())
    specified = {"dataset_description.json", "README.md", IGNORED, *data}
    others = {name.split("/")[0] + "/" if "/" in name else name for name in set(files) - specified}
    if others - ignored:
        codes.add("NOT_INCLUDED")
    return codes


@pytest.mark.parametrize("task", ["forced_choice", "likert", "yes_no"])
def test_a_release_keeps_every_rule_of_psych_ds(task):
    study = judged_study(task=task, **({} if task == "forced_choice" else {"parameters": {}}))
    files = build_release(study, Options(formats="psych-ds")).files
    assert faults(files) == set()
    assert files["data/study-agreement_description-judgments_data.csv"] == files["judgments.csv"]
    described = json.loads(files["dataset_description.json"])
    by_name = {value["name"]: value for value in described["variableMeasured"]}
    assert by_name["rt_ms"]["unitText"] == "ms" and by_name["rt_ms"]["minValue"] == 0
    assert all(value["description"] for value in by_name.values())


def test_fields_of_the_source_go_into_the_table_of_pairs_and_a_repeated_row_id_gets_another_name():
    study = judged_study()
    for pair in study.materials.pairs.all():
        pair.fields = {"row_id": 1, "tags": ["a", "b"]}
        pair.save()
    files = build_release(study, Options(formats="psych-ds")).files
    assert faults(files) == set()
    rows = list(
        csv.DictReader(io.StringIO(files["data/study-agreement_description-pairs_data.csv"].decode()))
    )
    assert {row["source_row_id"] for row in rows} == {"1"} and {row["tags"] for row in rows} == {'["a", "b"]'}
    assert {"human_n", "sentence_good", "pair_id"} <= set(rows[0])


def test_the_rules_find_what_is_wrong():
    files = build_release(judged_study(), Options(formats="psych-ds")).files
    name = "data/study-agreement_description-human_data.csv"
    assert faults({**files, name: files[name].replace(b"score", b"points", 1)}) == {
        "CSV_COLUMN_MISSING_FROM_METADATA"
    }
    assert faults({**files, "data/human.csv": b""}) == {"FILENAME_KEYWORD_FORMATTING_ERROR", "NOT_INCLUDED"}
    assert faults(build_release(judged_study("other"), Options()).files) == {"MISSING_DATASET_DESCRIPTION"}


def test_formats_add_files_and_change_none():
    study = judged_study()
    plain = build_release(study, Options()).files
    more = build_release(study, Options(formats="psych-ds,ewok,minicons")).files
    changed = {name for name in plain if plain[name] != more[name]}
    assert changed == {"README.md", "manifest.json"}
    added = {name.split("/")[0] for name in set(more) - set(plain)}
    assert added == {"data", "dataset_description.json", IGNORED, "ewok", "minicons"}
    assert "`ewok/`" in more["README.md"].decode() and "`ewok/`" not in plain["README.md"].decode()
    assert json.loads(more["manifest.json"])["options"]["formats"] == "psych-ds,ewok,minicons"
    assert "formats" not in json.loads(plain["manifest.json"])["options"]


def test_the_form_builds_a_release_with_the_chosen_formats(ada):
    study = judged_study()
    address = reverse("study-releases", args=[study.slug])
    assert "Psych-DS" in ada.get(address).content.decode()
    form = {"ties": "strict", "seed": "0", "formats": ["psych-ds", "minicons"]}
    ada.post(address, form)
    assert Release.objects.get(experiment=study).options["formats"] == "psych-ds,minicons"
    assert "with psych-ds,minicons" in ada.get(address).content.decode()
    refused = ada.post(address, {**form, "formats": ["bids"]})
    assert refused.status_code == 400 and Release.objects.filter(experiment=study).count() == 1


def test_the_page_of_a_release_lists_the_folders_of_its_formats(ada):
    study = judged_study()
    release = ready_release(study, formats="psych-ds,ewok,minicons")
    page = ada.get(reverse("study-release", args=[study.slug, release.number]))
    folders = {folder["name"]: folder for folder in page.context["folders"]}
    assert set(folders) == {"data/", "ewok/", "lm_eval/", "minicons/"}
    assert all(folder["holds"] for folder in folders.values())
    name = "data/study-agreement_description-human_data.csv"
    file = ada.get(reverse("study-release-file", args=[study.slug, release.number, name]))
    assert b"".join(file.streaming_content).startswith(b"sentence_id,score")


def test_the_same_request_with_other_formats_is_another_release(ada):
    study = judged_study()
    first = request_release(study, Options(formats="ewok,psych-ds"))
    assert request_release(study, Options(formats="psych-ds, ewok")) == first
    assert request_release(study, Options()) != first


def test_the_api_takes_a_list_of_formats(ada):
    study = judged_study()
    address = reverse("api-releases", args=[study.slug])
    answer = ada.post(address, {"formats": ["minicons"]}, content_type="application/json")
    assert answer.status_code == 202 and answer.json()["options"]["formats"] == "minicons"
    refused = ada.post(address, {"formats": ["bids"]}, content_type="application/json")
    assert refused.status_code == 400


def test_the_command_writes_the_chosen_formats(tmp_path):
    judged_study()
    place = tmp_path / "gold"
    call_command("export_gold", "agreement", to=place, formats=["minicons", "psych-ds"])
    assert (place / "minicons/sentences.txt").read_text().strip()
    assert (place / "dataset_description.json").exists() and not (place / "ewok").exists()
    with pytest.raises((CommandError, SystemExit)):
        call_command("export_gold", "agreement", "--to", str(tmp_path / "no"), "--formats", "bids")
    assert not (tmp_path / "no").exists()


def test_the_page_of_a_release_lists_its_files_in_the_order_of_the_card(ada):
    study = judged_study()
    release = ready_release(study)
    page = ada.get(reverse("study-release", args=[study.slug, release.number]))
    names = [file["path"] for file in page.context["files"]]
    assert names[0] == "README.md" and len(names) > 15
    assert names.index("croissant.json") == names.index("datapackage.json") + 1  # "the same for …"
