"""The wheel: the modules of `analysis` as the package `obelus`, complete, and working where Django is not."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import analysis
from tools import distribution

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: Runs in a Python that has the wheel: every public name and the examples of every module.
EXAMPLES = """
import doctest, importlib, json, pkgutil, sys

class BaseOnly:
    refused = {"analysis", "config", "django", "experiments", "judgments", "kenlm", "releases", "torch"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.refused:
            raise ModuleNotFoundError(f"{name} is not installed with the library", name=name)

sys.meta_path.insert(0, BaseOnly())
import obelus

names = [name for name in dir(obelus) if getattr(obelus, name) is not None]
examined = failed = 0
missing = set()
for module in pkgutil.walk_packages(obelus.__path__, "obelus.", onerror=lambda name: None):
    try:
        result = doctest.testmod(importlib.import_module(module.name))
    except ModuleNotFoundError as error:
        missing.add(error.name.split(".")[0])
        continue
    examined, failed = examined + result.attempted, failed + result.failed
print()
print(json.dumps({"names": names, "examined": examined, "failed": failed, "missing": sorted(missing)}))
"""


def run(python, *arguments, **options):
    ran = subprocess.run([str(python), *arguments], capture_output=True, text=True, **options)
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-3000:]
    return ran.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy so that the source tree stays as it is."""
    pytest.importorskip("setuptools", reason="the wheel is built by setuptools: make test installs it")
    return distribution.build(tmp_path_factory.mktemp("wheel"))[1]


def test_a_second_build_has_the_same_bytes(wheel, tmp_path, monkeypatch):
    copy = tmp_path / "elsewhere"
    copy.mkdir()
    for name in distribution.FILES:
        shutil.copyfile(ROOT / name, copy / name)
    shutil.copytree(ROOT / "analysis", copy / "analysis", copy_function=shutil.copyfile)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", distribution.commit_time())
    monkeypatch.setattr(distribution, "ROOT", copy)
    before = os.umask(0o077)
    try:
        again = distribution.build(tmp_path / "dist")
    finally:
        os.umask(before)
    assert {path.name: path.read_bytes() == (wheel.parent / path.name).read_bytes() for path in again} == {
        path.name: True for path in again
    }


def test_the_wheel_has_every_module_and_data_file(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("obelus/")}
    files = [path for path in (ROOT / "analysis").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert names == {f"obelus/{path.relative_to(ROOT / 'analysis')}" for path in files}


def test_the_wheel_says_what_it_needs_without_the_platform(wheel):
    with zipfile.ZipFile(wheel) as archive:
        info = f"obelus_judgments-{analysis.__version__}.dist-info"
        metadata = archive.read(f"{info}/METADATA").decode()
        points = archive.read(f"{info}/entry_points.txt").decode()
    needed = {line for line in metadata.splitlines() if line.startswith("Requires-Dist") and ";" not in line}
    assert {line.split()[1].split(">")[0] for line in needed} == {
        "httpx", "numpy", "pandas", "pingouin", "pyarrow", "rich", "scipy", "threadpoolctl",
    }  # fmt: skip
    assert all(">=" in line for line in needed)
    assert {"figures", "models", "pdf", "server"} <= {
        line.split()[1] for line in metadata.splitlines() if line.startswith("Provides-Extra")
    }
    assert "analysis" not in points
    assert "obelus = obelus.command_line.program:main" in points


def test_the_version_is_that_of_the_project():
    assert analysis.__version__ == PROJECT["version"]


def test_the_installed_library_gives_its_examples_without_django(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    environment = {"PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1"}
    printed = run(sys.executable, "-c", EXAMPLES, cwd=tmp_path, env=environment)
    report = json.loads(printed.splitlines()[-1])
    assert report["failed"] == 0, printed[-3000:]
    assert set(report["missing"]) <= {"torch", "transformers", "kenlm"}
    assert report["examined"] > 500
    assert report["names"] == dir(analysis)
    usage = run(sys.executable, "-m", "obelus", "agreement", "--help", cwd=tmp_path, env=environment)
    assert "usage: obelus agreement" in usage
