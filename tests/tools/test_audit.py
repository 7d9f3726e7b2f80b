"""The audit of locked packages against a copy of the OSV database."""

import json
import re
import subprocess
import sys
import tokenize
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tools.audit import LARGEST_AGE, LOCKS, UnusableDatabase, audit, check_database, locked_versions
from tools.locks import read_lock

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
    locks = sorted(LOCKS.glob("*.txt"))
    assert len(locks) > 10
    for path in locks:
        for pin in read_lock(path):
            assert pin.hashes and all(re.fullmatch("[0-9a-f]{64}", hash_) for hash_ in pin.hashes), (
                f"{path.name}: {pin.name}=={pin.version}"
            )


def test_a_lock_is_read_pin_by_pin_and_refused_where_a_line_is_no_pin(tmp_path):
    lock = tmp_path / "base.txt"
    lock.write_text(
        "a==1 \\\n    --hash=sha256:0a \\\n    --hash=sha256:0b\n    # via\n    #   c==3\n"
        "b.c==2+cpu ; sys_platform == 'win32' and python_full_version < '3.12'\n"
    )
    first, second = read_lock(lock)
    assert (first.name, first.version, first.marker, first.hashes) == ("a", "1", "", ("0a", "0b"))
    assert (second.name, second.version, second.hashes) == ("b.c", "2+cpu", ())
    assert second.marker == "sys_platform == 'win32' and python_full_version < '3.12'"
    for line in ("a>=1", "a", "git+https://example.org/a", "--index-url https://example.org"):
        lock.write_text(f"{line}\n")
        with pytest.raises(ValueError, match="not a pinned requirement"):
            read_lock(lock)


def test_without_a_database_the_command_says_what_to_give():
    done = subprocess.run([sys.executable, "-m", "tools.audit"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "tools.audit FOLDER/all.zip" in done.stdout


DAY = datetime(2026, 11, 26, tzinfo=UTC)


def test_a_current_database_is_counted_and_dated(tmp_path):
    rows = [advisory("idna", [], modified=f"2026-11-{day}T10:00:00Z") for day in (20, 25)]
    n_advisories, newest = check_database(database(tmp_path / "all.zip", *rows), DAY)
    assert (n_advisories, newest) == (2, datetime(2026, 11, 25, 10, tzinfo=UTC))


def test_an_old_database_is_refused_with_its_date(tmp_path):
    stamp = DAY - LARGEST_AGE - timedelta(days=1)
    path = database(tmp_path / "all.zip", advisory("idna", [], modified=stamp.isoformat()))
    with pytest.raises(UnusableDatabase, match=f"is old: .*{stamp:%Y-%m-%d}, 31 days ago"):
        check_database(path, DAY)


def test_a_file_that_is_no_database_of_pypi_is_refused(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<p>Not found</p>")
    with pytest.raises(UnusableDatabase, match="is not a database of OSV"):
        check_database(page, DAY)
    other = advisory("idna", [], modified=DAY.isoformat())
    other["affected"][0]["package"]["ecosystem"] = "npm"
    with pytest.raises(UnusableDatabase, match="has no advisory for PyPI"):
        check_database(database(tmp_path / "npm.zip", other), DAY)
    with pytest.raises(UnusableDatabase, match="is not a database of OSV"):
        check_database(database(tmp_path / "rows.zip", advisory("idna", [])), DAY)


def test_the_command_says_what_is_wrong_with_an_unusable_file(tmp_path):
    old = database(tmp_path / "all.zip", advisory("idna", [], modified="2020-01-01T00:00:00Z"))
    done = subprocess.run(
        [sys.executable, "-m", "tools.audit", str(old)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "is old: its newest advisory is of 2020-01-01" in done.stdout and "Take a new copy" in done.stdout


def test_each_exception_of_bandits_rules_has_its_reason_beside_it():
    files = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    exceptions = []
    for name in files:
        if name.startswith("tests/"):
            continue
        with (ROOT / name).open("rb") as file:
            exceptions += [
                (name, token.start[0], match[1])
                for token in tokenize.tokenize(file.readline)
                if token.type == tokenize.COMMENT and (match := re.search(r"noqa: ?S\d+(.*)", token.string))
            ]
    assert len(exceptions) > 15
    assert [(name, line) for name, line, reason in exceptions if not re.match(r" - \w+", reason)] == []
