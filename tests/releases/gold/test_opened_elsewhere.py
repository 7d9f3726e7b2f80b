"""A release opens in the tools of others, each of which validates its part; absent tools skip their test."""

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.errors import BadInput
from analysis.gold.parquet import parquet_bytes
from analysis.gold.writers import csv_bytes, quoted_yaml
from experiments.models import Design, Experiment
from experiments.studies.lifecycle import open_study
from judgments.simulation.participant import Persona, sit
from releases.exports.snippets import release_snippets
from releases.gold.build import build_release
from releases.gold.options import Options
from releases.gold.storage import write_folder
from tests import cast
from tests.experiments import factorial
from tests.releases.study import judged_study, ready_release

pytestmark = pytest.mark.django_db
TASKS = ("forced_choice", "likert", "yes_no")
ABSENT = "the validator is not installed: make install-validators"
tasks = pytest.mark.parametrize("task", TASKS)


def judged(task: str):
    """A study with answers, a licence and a description."""
    fields = {} if task == "forced_choice" else {"parameters": {}}
    study = judged_study(task=task, description='Agreement, "quoted": ünïcode', **fields)
    study.materials.licence = "CC BY 4.0"
    study.materials.save()
    return study


def folder_of(study, place: Path) -> Path:
    """The release as a folder."""
    write_folder(place / "gold", build_release(study, Options(rule="blimp")).files)
    return place / "gold"


@tasks
def test_frictionless_finds_the_package_valid(task, tmp_path):
    frictionless = pytest.importorskip("frictionless", reason=ABSENT)
    folder = folder_of(judged(task), tmp_path)
    report = frictionless.validate(str(folder / "datapackage.json"))
    assert report.valid, report.flatten(["name", "rowNumber", "fieldName", "type", "note"])[:5]
    assert {task.name for task in report.tasks} >= {"pairs", "pairs-csv", "judgments", "human"}
    assert sum(task.stats.get("rows", 0) for task in report.tasks) > 0


def test_frictionless_refuses_a_row_that_breaks_a_key(tmp_path):
    frictionless = pytest.importorskip("frictionless", reason=ABSENT)
    folder = folder_of(judged("forced_choice"), tmp_path)
    rows = (folder / "judgments.csv").read_text().splitlines()
    rows.append(rows[1].replace("p0", "stranger"))
    (folder / "judgments.csv").write_text("\n".join(rows) + "\n")
    report = frictionless.validate(str(folder / "datapackage.json"))
    assert {error[0] for error in report.flatten(["type"])} == {"foreign-key"}


def test_names_of_resources_are_unique_and_the_licence_has_name_and_path():
    package = json.loads(build_release(judged("likert"), Options()).files["datapackage.json"])
    names = [resource["name"] for resource in package["resources"]]
    assert len(set(names)) == len(names)
    assert package["licenses"] == [
        {
            "name": "CC-BY-4.0",
            "title": "Creative Commons Attribution 4.0 International",
            "path": "https://creativecommons.org/licenses/by/4.0/",
        }
    ]


def test_values_of_a_source_that_differ_in_type_are_stated_as_any():
    study = judged("forced_choice")
    pair = study.materials.pairs.first()
    pair.fields = {"pairID": 7, "note": [1, 2]}
    pair.save()
    package = json.loads(build_release(study, Options()).files["datapackage.json"])
    fields = {
        field["name"]: field["type"]
        for resource in package["resources"]
        if resource["name"] == "pairs"
        for field in resource["schema"]["fields"]
    }
    assert (fields["pairID"], fields["note"], fields["human_n"]) == ("any", "any", "integer")


@tasks
def test_datasets_loads_every_table(task, tmp_path):
    datasets = pytest.importorskip("datasets", reason=ABSENT)
    folder = folder_of(judged(task), tmp_path)
    card = yaml.safe_load((folder / "README.md").read_text().split("---")[1])
    assert card["license"] == "cc-by-4.0" and card["configs"][0]["config_name"] == "pairs"
    for config in card["configs"]:
        name = config["config_name"]
        loaded = datasets.load_dataset(str(folder), name, cache_dir=str(tmp_path / "cache"))["train"]
        lines = (folder / f"{name}.csv").read_text().splitlines()
        assert len(loaded) == len(lines) - 1, name
    pairs = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))["train"]
    assert pairs[0]["sentence_good"] == "The keys 1 are here."


@tasks
def test_mlcroissant_validates_and_reads_the_records(task, tmp_path):
    mlcroissant = pytest.importorskip("mlcroissant", reason=ABSENT)
    folder = folder_of(judged(task), tmp_path)
    dataset = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    [*human] = dataset.records("human")
    assert len(human) == 8
    assert {record["pairs/sentence_good"] for record in dataset.records("pairs")} == {
        f"The keys {n} are here.".encode() for n in range(1, 5)
    }


@pytest.mark.parametrize(
    ("licence", "names"), [("", ("Ada", "Lovelace")), ("MIT", ("", "")), ("Ask: us", ("", ""))]
)
def test_the_citation_is_valid_and_names_the_authors(licence, names, tmp_path):
    citation_tool = pytest.importorskip("cffconvert", reason=ABSENT)
    study = judged("likert")
    study.materials.licence = licence
    study.materials.save()
    study.owner.first_name, study.owner.last_name = names
    study.owner.save()
    text = build_release(study, Options()).files["CITATION.cff"].decode()
    citation_tool.Citation(text).validate()
    document = yaml.safe_load(text)
    expected = {"family-names": "Lovelace", "given-names": "Ada"} if names[0] else None
    assert document["authors"] == [expected or {"name": f"The authors of {study.title}"}]
    assert document.get("license") == ("MIT" if licence == "MIT" else None)


@pytest.mark.parametrize("licence", ["", "CC BY 4.0", "Ask: us"])
def test_the_metadata_of_datacite_are_valid(licence):
    schema = pytest.importorskip("datacite.schema45", reason=ABSENT)
    study = judged("likert")
    study.materials.licence = licence
    study.materials.save()
    record = json.loads(build_release(study, Options()).files["datacite.json"])
    schema.validator.validate(record)
    assert record["titles"] == [{"title": study.title}]


@tasks
def test_parquet_has_the_rows_of_the_csv_with_types(task):
    files = build_release(judged(task), Options()).files
    tables = [name for name in files if name.endswith(".csv") and name != "pairs.csv"]
    for name in tables:
        text = pd.read_csv(io.BytesIO(files[name]), dtype=str, keep_default_na=False)
        typed = pd.read_parquet(io.BytesIO(files[f"{name.removesuffix('.csv')}.parquet"]))
        assert list(typed.columns) == list(text.columns) and len(typed) == len(text), name
        for column in text.columns:
            assert (typed[column].notna() == (text[column] != "")).all(), (name, column)
    pairs = pd.read_parquet(io.BytesIO(files["pairs.parquet"]))
    records = [json.loads(line) for line in files["pairs.jsonl"].decode().splitlines()]
    assert list(pairs.columns) == list(records[0]) and pairs["human_n"].tolist() == [
        record["human_n"] for record in records
    ]
    judgments = pd.read_parquet(io.BytesIO(files["judgments.parquet"]))
    assert judgments["value"].dtype == float and judgments["rt_ms"].tolist() == [900] * len(judgments)


def test_a_column_that_is_not_of_its_kind_stays_text():
    content = parquet_bytes(b"n,m\n1.5,2\n3,4\n", {"n": "integer", "m": "integer"})
    assert pd.read_parquet(io.BytesIO(content)).to_dict("list") == {"n": ["1.5", "3"], "m": [2, 4]}


def r_output(folder: Path) -> str:
    """What ``analysis.R`` of a release prints."""
    program = shutil.which("Rscript")
    needs = "for (p in c('lme4', 'ordinal')) if (!requireNamespace(p, quietly = TRUE)) q(status = 9)"
    if program is None or subprocess.run([program, "-e", needs], capture_output=True).returncode:
        pytest.skip("R, lme4 or ordinal is absent: apt install r-base-core r-cran-lme4 r-cran-ordinal")
    process = subprocess.run(
        [program, "analysis.R"], cwd=folder, capture_output=True, text=True, timeout=240, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@tasks
def test_the_program_in_the_release_runs_in_r(task, tmp_path):
    output = r_output(folder_of(judged(task), tmp_path))
    assert "Fixed effects" in output and "(Intercept)" in output


NASTY = (
    {"context": ("true", "false"), "clause type": ("01", "1")},
    {"NA": ("T", "F"), "excluded_by": ("no", "null")},
    {"if": ("NA", "None"), "human_n": ("1e3", 'é;",`\\')},
)
"""Factors and levels that are valid, and that some reader takes for something else."""


def nasty_study(folder: Path, factors) -> Experiment:
    """Ratings of a 2×2 design by these factors; sentences have a comma, a quotation mark and a line end."""
    cells = [(first, second) for first in [*factors.values()][0] for second in [*factors.values()][1]]
    texts = {
        (n, cell): f'Sentence {n}, "{number}"' + "\n." * (n == 1)
        for n in range(1, 5)
        for number, cell in enumerate(cells)
    }
    tables = {
        "materials": [["item_set", *factors, "text"], *([n, *cell, texts[n, cell]] for n, cell in texts)],
        "ratings": [
            ["participant", "item_set", *factors, "text", "value"],
            *(
                [f"p{person}", n, *cell, texts[n, cell], 1 + (person * 3 + n * 5 + cells.index(cell)) % 7]
                for person in range(4)
                for n, cell in texts
            ),
        ],
    }
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    mapping = f"condition={'+'.join(factors)}", "item=item_set", "sentence=text"
    cast.ada()
    call_command(
        *("import_materials", str(folder / "materials.csv"), "--name", "Nasty", "--language", "no"),
        *("--map", *mapping),
        stdout=io.StringIO(),
    )
    call_command(
        *("import_judgments", str(folder / "ratings.csv"), "--experiment", "Nasty", "--materials", "nasty"),
        *("--format", "table", "--task", "likert", "--scale-low", "1", "--scale-high", "7"),
        *("--owner", "ada", "--map", *mapping),
        stdout=io.StringIO(),
    )
    return Experiment.objects.get(title="Nasty")


@pytest.mark.parametrize("factors", NASTY)
def test_names_and_levels_of_any_spelling_survive_every_reader(factors, tmp_path):
    study = nasty_study(tmp_path, factors)
    files = build_release(study, Options(formats="minicons,psych-ds")).files
    write_folder(tmp_path / "gold", files)
    names = list(study.materials.levels)
    assert not set(names) & {"context", "excluded_by", "human_n"}
    for name in [file for file in files if file.endswith(".csv")]:
        rows = list(csv.reader(io.StringIO(files[name].decode(), newline="")))
        assert len(set(rows[0])) == len(rows[0]), name
    judgments = pd.read_csv(tmp_path / "gold" / "judgments.csv", dtype=str, keep_default_na=False)
    for name, levels in zip(names, factors.values(), strict=True):
        assert judgments[name].value_counts().to_dict() == dict.fromkeys(levels, 32)
        assert set(pd.read_parquet(tmp_path / "gold" / "judgments.parquet")[name]) == set(levels)
    stimuli = pd.read_csv(tmp_path / "gold" / "minicons" / "stimuli.csv", dtype=str, keep_default_na=False)
    assert set(stimuli["prefix"]) == {""} and len(stimuli) == 12
    card = yaml.safe_load(files["README.md"].decode().split("---")[1])
    assert card["language"] == ["no"] and "pairs" not in {c["config_name"] for c in card["configs"]}
    package = json.loads(files["datapackage.json"])
    croissant = json.loads(files["croissant.json"])
    paths = {resource["path"] for resource in package["resources"]}
    assert "pairs.jsonl" not in paths and "`pairs.jsonl`" not in files["README.md"].decode()
    assert not any(" " in field["@id"] for records in croissant["recordSet"] for field in records["field"])
    [snippet] = [part.code for part in release_snippets(study, "judgments.csv") if part.language == "pandas"]
    assert_means(snippet, tmp_path / "gold", judgments, names)
    if shutil.which("Rscript"):
        program = files["analysis.R"].decode().partition("m <- lmer")[0].replace("library(", "# library(")
        seen = 'write.csv(d, "seen.csv", row.names = FALSE, na = "", fileEncoding = "UTF-8")'
        (tmp_path / "gold" / "analysis.R").write_text(f"{program}\n{seen}\n", encoding="utf-8")
        run = [shutil.which("Rscript"), "analysis.R"]
        subprocess.run(run, cwd=tmp_path / "gold", capture_output=True, timeout=240, check=True)
        seen = pd.read_csv(tmp_path / "gold" / "seen.csv", dtype=str, keep_default_na=False)
        pd.testing.assert_frame_equal(seen[[*names, "trial"]], judgments[[*names, "trial"]])


def assert_means(snippet: str, folder: Path, judgments: pd.DataFrame, names: list[str]) -> None:
    """Run a snippet in the folder; its table of means has every cell of the design."""
    run = [
        sys.executable,
        "-c",
        f"{snippet}\nprint(means.index.tolist(), means['count'].astype(int).tolist())",
    ]
    printed = subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.splitlines()[-1].endswith("[4, 4, 4, 4]"), printed.stdout
    assert len(judgments.groupby(names)) == 4


def test_control_characters_are_refused_at_import_and_two_columns_of_one_name_at_export(tmp_path):
    path = tmp_path / "m.csv"
    for sign in ("\r", "\x0c", "\x7f", "\x1a"):
        path.write_bytes(f'sentence,item\n"A{sign}B",1\nC,2\n'.encode())
        with pytest.raises(CommandError, match="control character"):
            call_command("import_materials", str(path), "--name", "M", stdout=io.StringIO())
    assert csv_bytes(pd.DataFrame({"a": ["x\ry", "z"]}), ["a"]) == b'a\n"x\ry"\nz\n'
    with pytest.raises(BadInput, match="two columns are named 'a'"):
        csv_bytes(pd.DataFrame({"a": [1]}), ["a", "a"])
    assert yaml.safe_load(quoted_yaml("no\x85\u2028\x7f")) == "no\x85\u2028\x7f"


def test_quotes_line_ends_and_semicolons_survive_and_the_card_names_who_changes_them(tmp_path):
    texts = ['He said "no"; and left.', '"Yes", she said.', "One line;\nand another.", "Plain; with, commas."]
    rows = [
        ["participant", "item", "sentence", "value"],
        *([f"p{n}", i, text, 1 + (n + i) % 7] for n in range(3) for i, text in enumerate(texts)),
    ]
    with (tmp_path / "r.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    options = {"experiment": "quoted", "format": "table", "task": "likert"}
    call_command("import_judgments", str(tmp_path / "r.csv"), **options, stdout=io.StringIO())
    files = build_release(Experiment.objects.get(), Options(formats="minicons")).files
    write_folder(tmp_path / "gold", files)
    read = pd.read_csv(tmp_path / "gold" / "sentences.csv", dtype=str)["sentence"]
    typed = pd.read_parquet(tmp_path / "gold" / "sentences.parquet")["sentence"]
    assert sorted(read) == sorted(texts) == sorted(typed)
    card = files["README.md"].decode()
    assert "Sentences with quotation marks: 2." in card and "Sentences of several lines: 1." in card
    assert "quotation marks" not in build_release(judged("likert"), Options()).files["README.md"].decode()
    left_out = list(csv.reader(io.StringIO(files["minicons/left_out.csv"].decode())))
    assert left_out == [["sentence_id", "reason"], ["2", "the sentence has several lines"]]
    if not (rscript := shutil.which("Rscript")):
        return
    program = """
    b <- read.csv("sentences.csv", colClasses = "character", encoding = "UTF-8", check.names = FALSE)
    cat(paste0("b", chartr("\\n", "_", b$sentence)), sep = "\\n")
    if (requireNamespace("data.table", quietly = TRUE)) {
      f <- data.table::fread("sentences.csv", encoding = "UTF-8")
      cat(paste0("f", gsub("\\"\\"", "\\"", chartr("\\n", "_", f$sentence), fixed = TRUE)), sep = "\\n")
      cat("d", sum(f$sentence != b$sentence), "\\n", sep = "")
    }
    """
    (tmp_path / "gold" / "read.R").write_text(program)
    run = subprocess.run(
        [rscript, "read.R"], cwd=tmp_path / "gold", capture_output=True, text=True, timeout=60, check=True
    )
    by_reader: dict[str, list[str]] = {}
    for line in sorted(run.stdout.splitlines()):
        by_reader.setdefault(line[0], []).append(line[1:])
    expected = sorted(text.replace("\n", "_") for text in texts)
    assert by_reader["b"] == by_reader.get("f", expected) == expected
    assert by_reader.get("d", ["2"]) == ["2"]  # the number that the card gives


def imported_ratings(folder: Path, task: str, value):
    """A factorial study of six people and eight items in a Latin square, by the import of judgments."""
    cells = list(factorial.TEXTS)
    materials = factorial.stored(folder, n_items=8)
    rows = [["participant", "item_set", "structure", "distance", "text", "value"]]
    for person in range(6):
        for item in range(1, 9):
            cell = cells[(person + item) % 4]
            text = factorial.TEXTS[cell].format(n=item)
            rows.append([f"p{person}", item, *cell, text, value(person, item, cells.index(cell))])
    path = folder / "ratings.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    scale = ("--scale-low", "1", "--scale-high", "7") if task == "likert" else ()
    call_command(
        *("import_judgments", str(path), "--experiment", "Islands", "--materials", materials.name),
        *("--format", "table", "--task", task, *scale, "--owner", "ada"),
        *("--map", "condition=structure+distance", "item=item_set", "sentence=text"),
        stdout=io.StringIO(),
    )
    return Experiment.objects.get(title="Islands")


@pytest.mark.parametrize(
    ("task", "value", "outcome"),
    [
        ("likert", lambda person, item, cell: 6 - cell - (person * item) % 3 // 2, "z"),
        ("magnitude_estimation", lambda person, item, cell: 100 / (cell + 1) + (person * item) % 7, "z_log"),
        ("slider", lambda person, item, cell: 90 - 20 * cell - (person * item) % 7, "z"),
    ],
)
def test_the_program_has_the_factors_and_the_outcome_of_the_task(task, value, outcome, tmp_path):
    study = imported_ratings(tmp_path, task, value)
    folder = folder_of(study, tmp_path)
    output = r_output(folder)
    assert f"Formula: {outcome} ~ structure * distance + (1 | item)" in output
    assert "structureisland:distancelong" in output
    assert ("Cumulative Link Mixed Model" in output) == (task == "likert")


def test_the_program_of_best_worst_scaling_averages_the_marks(tmp_path):
    study = cast.draft(
        task="best_worst", materials=cast.material_set(n_items=4), parameters={"size": 4, "showings": 4}
    )
    Design.objects.create(experiment=study, n_lists=2, seed=3)
    open_study(study, cast.ada())
    for number in range(5):
        sit(study, Persona(f"person-{number}", seed=number))
    output = r_output(folder_of(study, tmp_path))
    assert "Formula: value ~ condition + (1 | item)" in output and "conditiongood" in output


def test_the_release_has_a_task_for_each_paradigm_with_the_ceilings_of_people():
    study = judged("forced_choice")
    files = build_release(study, Options()).files
    names = sorted(name for name in files if name.startswith("lm_eval/"))
    texts = {name: files[name].decode().replace("!function ", "") for name in names if name.endswith("yaml")}
    documents = {name: yaml.safe_load(text) for name, text in texts.items()}
    [task] = [document for document in documents.values() if "doc_to_choice" in document]
    assert task["output_type"] == "multiple_choice" and task["target_delimiter"] == task["doc_to_text"] == ""
    assert task["metadata"]["human_individual_agreement"] == pytest.approx(5 / 6, abs=1e-9)
    assert (task["metadata"]["human_majority_agreement"], task["metadata"]["pairs"]) == (1.0, 4)
    groups = [document for document in documents.values() if "group" in document]
    named = {document.get("task") for document in documents.values() if "doc_to_choice" in document}
    named |= {group["group"] for group in groups}
    assert all(set(group["task"]) <= named for group in groups)
    assert study.slug in {group["group"] for group in groups}


def test_files_in_the_folder_of_tasks_are_listed_and_downloaded(ada):
    study = judged("forced_choice")
    release = ready_release(study)
    [name, *_] = [file["path"] for file in release.manifest["files"] if "/" in file["path"]]
    page = ada.get(reverse("study-release", args=[study.slug, release.number])).content.decode()
    address = reverse("study-release-file", args=[study.slug, release.number, name])
    assert address in page
    answer = ada.get(address)
    assert b"".join(answer.streaming_content) and "/" not in answer["Content-Disposition"].partition("=")[2]


def test_a_study_without_pairs_has_no_tasks(tmp_path):
    study = cast.study("empty")
    study.materials.pairs.update(discard=True)
    call_command("export_gold", study.slug, to=tmp_path / "gold", stdout=io.StringIO())
    assert not (tmp_path / "gold" / "lm_eval").exists()
    assert "lm_eval/" not in (tmp_path / "gold" / "README.md").read_text()
