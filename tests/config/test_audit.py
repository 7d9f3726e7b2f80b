"""The audit of locked packages against a copy of the OSV database."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from config.maintenance.audit import LOCKS, audit, locked_versions

ROOT = Path(__file__).resolve().parents[2]


def advisory(name: str, events: list[dict[str, str]], **fields) -> dict:
    ranges = [{"type": "ECOSYSTEM", "events": events}] if events else []
    affected = {"package": {"ecosystem": "PyPI", "name": name}, "ranges": ranges}
    affected["versions"] = fields.pop("versions", [])
    return {"id": "PYSEC-1", "summary": "It breaks.", "affected": [affected], **fields}


def database(path: Path, *rows: dict) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for n, row in enumerate(rows):
            archive.writestr(f"{n}.json", json.dumps(row))
    return path


@pytest.fixture
def lock(tmp_path) -> Path:
    folder = tmp_path / "lock"
    folder.mkdir()
    (folder / "base.txt").write_text("django-allauth==65.3.1 \\\n    --hash=sha256:00\nidna==3.10\n")
    (folder / "dev.txt").write_text("idna==3.10\n")
    return folder


@pytest.mark.parametrize(
    ("events", "is_affected"),
    [
        ([{"introduced": "0"}], True),
        ([{"introduced": "0"}, {"fixed": "65.3.1"}], False),
        ([{"introduced": "0"}, {"fixed": "65.4"}], True),
        ([{"introduced": "0"}, {"last_affected": "65.3.1"}], True),
        ([{"introduced": "0"}, {"last_affected": "65.3.0"}], False),
        ([{"introduced": "0"}, {"fixed": "60"}, {"introduced": "65.0"}, {"fixed": "65.10"}], True),
        ([{"introduced": "65.10"}], False),
    ],
)
def test_the_last_event_up_to_the_version_decides(tmp_path, lock, events, is_affected):
    lines = audit(database(tmp_path / "all.zip", advisory("Django_Allauth", events)), lock)
    assert bool(lines) is is_affected


def test_listed_versions_count_and_withdrawn_advisories_do_not(tmp_path, lock):
    listed = advisory("idna", [], versions=["3.10"], aliases=["CVE-2000-1"])
    withdrawn = {**advisory("django-allauth", [{"introduced": "0"}]), "withdrawn": "2024-01-01"}
    assert audit(database(tmp_path / "all.zip", listed, withdrawn), lock) == [
        "idna 3.10 (base.txt, dev.txt): PYSEC-1, CVE-2000-1: It breaks."
    ]


def test_every_pin_of_our_locks_has_a_hash_and_is_read():
    pins = locked_versions()
    assert {"django", "numpy", "granian"} <= set(pins)
    for path in LOCKS.glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert text.count("==") <= text.count("--hash=sha256:"), path.name


def test_without_a_database_the_command_says_what_to_give():
    done = subprocess.run(
        [sys.executable, "-m", "config.maintenance.audit"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "OSV_DATABASE" in done.stdout
