"""The audit of locked packages against a copy of the OSV database."""

import json
import re
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


def test_torch_is_installed_by_hash_whichever_file_the_platform_needs():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    version = re.search(r"^TORCH := (\S+)$", makefile, re.MULTILINE)[1]
    assert locked_versions()["torch"] == {version: ["torch.txt"], f"{version}+cpu": ["torch-cpu.txt"]}
    hashes = {
        name: re.findall(r"--hash=sha256:([0-9a-f]{64})", (LOCKS / name).read_text(encoding="utf-8"))
        for name in ("torch.txt", "torch-cpu.txt")
    }
    named = re.search(r"^TORCH_CPU_SHA256 := (.+)$", makefile, re.MULTILINE)[1].split()
    assert hashes["torch-cpu.txt"] == named and len(set(hashes["torch.txt"])) > 20
    shared = set(re.search(r"^TORCH_SHARED := (.+)$", makefile, re.MULTILINE)[1].split())
    alone = set(re.findall(r"^([\w-]+)==", (LOCKS / "torch-cuda.txt").read_text("utf-8"), re.MULTILINE))
    assert {"nvidia-cublas", "triton"} <= alone and not alone & (shared | {"torch"})
    for line in makefile.splitlines():
        assert "$(PIP) install" not in line or "--require-hashes" in line, line


def test_pip_refuses_a_file_of_torch_with_another_hash(tmp_path):
    """A wheel of the locked version that the lock does not list, as a changed mirror would offer it."""
    version = min(locked_versions()["torch"])
    with zipfile.ZipFile(tmp_path / f"torch-{version}-py3-none-any.whl", "w") as wheel:
        metadata = f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n"
        wheel.writestr(f"torch-{version}.dist-info/METADATA", metadata)
        wheel.writestr(
            f"torch-{version}.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"torch-{version}.dist-info/RECORD", "")
    pip = [sys.executable, "-m", "pip", "download", "--no-index", "--no-deps", "--dest", str(tmp_path / "to")]
    pip += ["--isolated", "--find-links", str(tmp_path)]
    locked = subprocess.run(
        [*pip, "--require-hashes", "-r", str(LOCKS / "torch.txt")], capture_output=True, text=True
    )
    assert locked.returncode and "DO NOT MATCH THE HASHES" in locked.stderr
    free = subprocess.run([*pip, f"torch=={version}"], capture_output=True, text=True)
    assert free.returncode == 0, free.stderr


def test_without_a_database_the_command_says_what_to_give():
    done = subprocess.run(
        [sys.executable, "-m", "config.maintenance.audit"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "OSV_DATABASE" in done.stdout
