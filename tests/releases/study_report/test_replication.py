"""A report's replication package: it gives the numbers again, needs nothing else and holds nothing more."""

import io
import re
import sys
import zipfile
from pathlib import Path

import pytest

from analysis.report.replicate import main
from releases.gold.options import Options
from releases.gold.plans import write_plan
from releases.reports.compute import compute_exclusions
from releases.study_report.build import build_report
from tests import cast
from tests.releases.study import add_sitting, judged_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("drawn_once")]


def unpacked(content: bytes, folder: Path) -> Path:
    """A replication package as a folder."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    return next(folder.iterdir())


def test_the_package_gives_the_numbers_and_a_changed_judgment_is_named(tmp_path, capsys):
    study = judged_study(people=7)
    add_sitting(study, "careless", catch=False)
    report = build_report(study, Options("catch_failed,flagged", "4/5"), has_pdf=False)
    assert "models" not in report.numbers  # without scores
    folder = unpacked(report.files["replication.zip"], tmp_path)
    assert main(folder) == 0
    assert "All numbers match the report" in capsys.readouterr().out
    path = folder / "data" / "judgments.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    names = lines[0].split(",")
    cells = lines[1].split(",")
    assert cells[names.index("value")] == "1"
    cells[names.index("value")] = "0"
    path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n", encoding="utf-8")
    assert main(folder) == 1
    output = capsys.readouterr().out
    assert "DIFFERS agreement.overall.individual_agreement: expected" in output


def test_the_package_holds_the_source_it_needs_and_no_more(tmp_path):
    report = build_report(judged_study(), Options(), has_pdf=False)
    folder = unpacked(report.files["replication.zip"], tmp_path)
    needed = {
        "analyse.py",
        "README.md",
        "LICENSE",
        "requirements.txt",
        "expected.json",
        "data",
        "report",
        "analysis",
    }
    assert {path.name for path in folder.iterdir()} == needed
    programs = [folder / "analyse.py", *(folder / "analysis").rglob("*.py")]  # not the loader of another tool
    source = "\n".join(path.read_text(encoding="utf-8") for path in programs)
    imported = set(re.findall(r"^(?:from|import) (\w+)", source, flags=re.MULTILINE)) - set(
        sys.stdlib_module_names
    )
    pinned = set(
        re.findall(r"^([a-z0-9-]+)==", (folder / "requirements.txt").read_text(), flags=re.MULTILINE)
    )
    assert imported - {"analysis"} <= {name.replace("-", "_") for name in pinned}
    assert "django" not in imported and not (folder / "analysis" / "releases").exists()
    assert "--hash=sha256:" in (folder / "requirements.txt").read_text()


def test_pins_of_a_package_are_those_of_the_platform():
    root = Path(__file__).resolve().parents[3]
    pattern = re.compile(r"^\S+==.*?(?= \\)", re.MULTILINE)
    pins = [
        set(pattern.findall((root / "lock" / f"{name}.txt").read_text())) for name in ("replication", "base")
    ]
    assert pins[0] and pins[0] <= pins[1]


def test_a_plan_that_reads_unpublished_evidence_can_be_counted_again(tmp_path):
    study = judged_study(people=6)
    steps = [{"name": "signal:side_bias", "rule": "signal:side_bias", "scope": "participant"}]
    write_plan(study, "careful", steps=steps, user=cast.ada())
    report = build_report(study, Options("careful"), has_pdf=False)
    assert report.numbers["exclusions"]["flow"] == compute_exclusions(study, exclude="careful")["flow"]
    assert main(unpacked(report.files["replication.zip"], tmp_path)) == 0


def test_a_report_without_any_estimable_contrast_is_still_built(tmp_path):
    study = judged_study("alone", people=1)
    report = build_report(study, Options())
    assert "Measures without a value" in report.files["report.html"].decode()
    assert main(unpacked(report.files["replication.zip"], tmp_path)) == 0
