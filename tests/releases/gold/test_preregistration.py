"""A frozen version as a ZIP for a registry."""

import csv
import hashlib
import io
import json
import zipfile

import pytest

from config.version import code_version
from experiments.models import Design
from experiments.studies.lifecycle import open_study
from releases.gold.plans import write_plan
from tests import cast

pytestmark = pytest.mark.django_db
FOLDER = "agreement-version-1-preregistration"
CATCH = {"options": [{"text": "The cat sleeps."}, {"text": "Cat the sleeps."}], "correct": 0}
STEPS = [{"name": "not native", "scope": "participant", "rule": "not_native"}]


def opened(**fields):
    study = cast.draft("agreement", catch_trials=[CATCH], **fields)
    Design.objects.create(experiment=study, n_lists=2, seed=5)
    write_plan(study, "attention", steps=STEPS, user=cast.ada())
    return open_study(study, cast.ada())


def fetched(client, number=1) -> bytes:
    client.force_login(cast.ben())
    answer = client.get(f"/studies/agreement/versions/{number}/preregistration.zip")
    assert answer.status_code == 200 and FOLDER in answer["Content-Disposition"]
    return answer.content


def read(content: bytes) -> dict[str, bytes]:
    archive = zipfile.ZipFile(io.BytesIO(content))
    return {name.removeprefix(f"{FOLDER}/"): archive.read(name) for name in archive.namelist()}


def test_zip_holds_texts_lists_seeds_plans_engine_and_checksums(client):
    study = opened()
    files = read(fetched(client))
    assert files["texts/consent.txt"].decode() == study.consent
    assert json.loads(files["seeds.json"])["design"] == 5
    plans = json.loads(files["exclusion-plans.json"])
    assert [(plan["name"], plan["locked_before_first_response"]) for plan in plans] == [("attention", True)]
    assert json.loads(files["engine.json"])["code_version"] == code_version()
    assert "Version 1 of the study `agreement`" in files["README.md"].decode()
    sums = dict(reversed(line.split("  ")) for line in files.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def test_default_screen_texts_are_in_the_zip_too(client):
    opened(parameters={"question": "Which one would you say?"})
    screen = json.loads(read(fetched(client))["texts/screen.json"])
    assert screen["question"] == "Which one would you say?"
    assert screen["both_label"] == "Both sound good" and screen["confirm"] is False


def test_lists_are_written_in_order_word_for_word(client):
    study = opened()
    files = read(fetched(client))
    assert sorted(name for name in files if name.startswith("lists/")) == [
        "lists/list-001.csv",
        "lists/list-002.csv",
    ]
    rows = list(csv.DictReader(io.StringIO(files["lists/list-001.csv"].decode())))
    assert [int(row["position"]) for row in rows] == list(range(1, 6))
    session = cast.begin(study)
    stored = {row["list"]: name for name in files if name.startswith("lists/") for row in _rows(files[name])}
    screens = [[option["text"] for option in trial.shown["options"]] for trial in session.trials.all()]
    rows = _rows(files[stored[session.list.label]])
    assert sorted([row["first"], row["second"]] for row in rows) == sorted(screens)


def _rows(content: bytes):
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_rounds_task_parameters_and_engine_are_in_the_zip(client):
    parameters = {"offer_both": True, "undecided": "half"}
    study = cast.draft("agreement", catch_trials=[CATCH], parameters=parameters)
    second = {"kind": "sample", "items_per_paradigm": 2, "n_lists": 2, "items": "new", "seed": 9}
    Design.objects.create(
        experiment=study, kind="sample", items_per_paradigm=2, n_lists=2, seed=5, rounds=[second]
    )
    open_study(study, cast.ada())
    files = read(fetched(client))
    lists = [_rows(files[name]) for name in sorted(files) if name.startswith("lists/")]
    assert [{row["round"] for row in rows} for rows in lists] == [{"1"}, {"1"}, {"2"}, {"2"}]
    items = [
        {row["item"] for rows in lists for row in rows if row["round"] == n and row["item"]} for n in "12"
    ]
    assert not items[0] & items[1]
    assert json.loads(files["seeds.json"])["rounds"] == [9]
    snapshot = json.loads(files["study.json"])
    assert {name: snapshot["parameters"][name] for name in parameters} == parameters
    assert snapshot["design"]["rounds"][0]["items"] == "new"
    assert json.loads(files["engine.json"])["trial_engine"] and "Rounds: 2." in files["README.md"].decode()


def test_same_version_gives_the_same_bytes(client):
    opened()
    assert fetched(client) == fetched(client)


def test_snapshot_fits_the_checksum_of_the_version(client):
    study = opened()
    document = json.loads(read(fetched(client))["study.json"])
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == study.current_version().sha256


def test_completion_codes_stay_secret(client):
    opened(completion_code="C0DE-OF-ALL", completion_url="https://panel.example/done?cc=C0DE-OF-LINK")
    files = read(fetched(client))
    assert b"C0DE-OF" not in b"".join(files.values())
    assert "left out" in files["README.md"].decode()


def test_ratings_show_one_sentence_and_strangers_nothing(client):
    study = cast.draft(
        "agreement", task="likert", catch_trials=[{"text": "The cat sleeps.", "correct": [5, 7]}]
    )
    Design.objects.create(experiment=study, n_lists=2, seed=5)
    open_study(study, cast.ada())
    rows = _rows(read(fetched(client))["lists/list-001.csv"])
    assert {row["second"] for row in rows} == {""}
    assert [row["correct"] for row in rows if row["kind"] == "catch"] == ["5–7"]
    assert client.get("/studies/agreement/versions/2/preregistration.zip").status_code == 404
    client.force_login(cast.cleo())
    assert client.get("/studies/agreement/versions/1/preregistration.zip").status_code == 404


def test_sets_are_written_with_all_their_members(client):
    study = cast.draft("agreement", task="best_worst", parameters={"size": 4, "showings": 4})
    Design.objects.create(experiment=study, n_lists=2, seed=5)
    open_study(study, cast.ada())
    rows = _rows(read(fetched(client))["lists/list-001.csv"])
    texts = [{row[place] for place in ("first", "second", "third", "fourth")} for row in rows]
    assert all(len(text) == 4 and "" not in text for text in texts)
    assert "fifth" not in rows[0] and rows[0]["sentence_id"].count("|") == 3


def test_zip_declares_how_both_and_neither_count(client):
    opened(parameters={"offer_both": True, "undecided": "leave_out"})
    files = read(fetched(client))
    declaring = [name for name, content in files.items() if b"leave_out" in content]
    assert declaring, "the treatment is not preregistered"


def test_right_answers_are_written_out_however_large(client):
    study = cast.draft(
        "agreement",
        task="magnitude_estimation",
        catch_trials=[{"text": "The cat sleeps.", "correct": [62.5, 1234567]}],
    )
    Design.objects.create(experiment=study, n_lists=2, seed=5)
    open_study(study, cast.ada())
    rows = csv.DictReader(io.StringIO(read(fetched(client))["lists/list-001.csv"].decode()))
    assert [row["correct"] for row in rows if row["kind"] == "catch"] == ["62.5–1234567"]
