"""Releases that earlier versions wrote stay readable, with the numbers of then.

``tests/releases/golden/`` has a folder for each shape that a release ever had, written by the version of the
day from the files in ``source``. A change of the format adds a folder and leaves these as they are.
"""

import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import call_command
from django.urls import reverse

from judgments.models import Judgment
from releases.gold import storage
from releases.gold.build import build_release
from releases.gold.options import Options
from releases.models import Release
from tests import cast

pytestmark = pytest.mark.django_db
GOLDEN = Path(__file__).resolve().parents[1] / "golden"
DAYS = sorted(folder.name for folder in GOLDEN.iterdir() if folder.name != "source")
RULES = {"choices": "2/3", "ratings": ""}
releases = pytest.mark.parametrize("study", sorted(RULES))
days = pytest.mark.parametrize("day", DAYS)


def files_of(day: str, study: str) -> dict[str, bytes]:
    """The files of a golden release."""
    folder = GOLDEN / day / study
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def imported(study: str, file: Path, name: str = ""):
    """A study from a file of judgments."""
    from experiments.models import Experiment

    task = "forced_choice" if study == "choices" else "likert"
    options = {"experiment": name or study, "format": "table", "task": task, "owner": cast.ada().username}
    call_command("import_judgments", str(file), **options, stdout=io.StringIO())
    return Experiment.objects.get(slug=name or study)


@days
@releases
def test_every_file_has_the_checksum_of_its_manifest(day, study):
    files = files_of(day, study)
    manifest = json.loads(files["manifest.json"])
    assert manifest["format"] == "obelus-release/1"
    assert {entry["path"]: entry["sha256"] for entry in manifest["files"]} == {
        name: storage.checksum(content) for name, content in files.items() if name != "manifest.json"
    }


@days
@releases
def test_judgments_of_a_release_can_be_imported_again(day, study):
    rows = pd.read_csv(io.BytesIO(files_of(day, study)["judgments.csv"]), dtype={"participant": str})
    imported(study, GOLDEN / day / study / "judgments.csv", name="again")
    stored = Judgment.objects.values_list("trial__session__participant__pseudonym", "value", "rt_ms")
    assert sorted(stored) == sorted(zip(rows["participant"], rows["value"], rows["rt_ms"], strict=True))


@days
def test_scores_are_compared_with_a_release_by_its_files(day, tmp_path, capsys):
    folder = GOLDEN / day / "choices"
    pairs = pd.read_csv(folder / "pairs.csv", dtype=str)
    scores = {**dict.fromkeys(pairs["good_id"], 1.0), **dict.fromkeys(pairs["bad_id"], 0.0)}
    table = pd.DataFrame({"sentence_id": list(scores), "model": list(scores.values())})
    table.to_csv(tmp_path / "scores.csv", index=False)
    words = ["--human", str(folder / "human.csv"), "--pairs", str(folder / "pairs.csv")]
    call_command("compare", *words, "--scores", str(tmp_path / "scores.csv"), "--json")
    document = json.loads(capsys.readouterr().out)
    [model] = document["models"]
    assert (model["blimp"], model["pairs"]) == (1.0, 4)


@days
@releases
def test_a_stored_release_is_shown_and_downloaded_as_it_was_written(ada, day, study):
    experiment = imported(study, GOLDEN / "source" / f"{study}.csv")
    files = files_of(day, study)
    row = Release.objects.create(
        experiment=experiment,
        number=1,
        state=Release.State.READY,
        manifest=json.loads(files["manifest.json"]),
        sha256=storage.checksum(files["manifest.json"]),
        storage_key=f"{experiment.slug}/1",
        created_by=cast.ada(),
    )
    storage.store(row.storage_key, files)
    assert ada.get(reverse("study-release", args=[experiment.slug, 1])).status_code == 200
    response = ada.get(reverse("study-release-zip", args=[experiment.slug, 1]))
    archive = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
    assert {name.partition("/")[2]: archive.read(name) for name in archive.namelist()} == files


@releases
def test_a_release_of_today_has_the_newest_shape_and_the_numbers_of_every_golden_one(study):
    experiment = imported(study, GOLDEN / "source" / f"{study}.csv")
    built = build_release(experiment, Options(rule=RULES[study])).files
    newest = files_of(DAYS[-1], study)
    assert set(built) == set(newest)
    assert set(json.loads(built["manifest.json"])) == set(json.loads(newest["manifest.json"]))
    for name in (name for name in built if name.endswith(".csv")):
        assert built[name].splitlines()[0] == newest[name].splitlines()[0], name
    for day in DAYS:
        for name in ("human.csv", "pairs.csv", "judgments.csv"):
            assert built[name] == files_of(day, study)[name], (day, name)
