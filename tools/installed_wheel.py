"""Run the examples and the tests of `analysis` against the wheel, in environments that have nothing else.

    python -m tools.installed_wheel                              # an empty environment, from an index
    python -m tools.installed_wheel --python python3.12 python3.13
    python -m tools.installed_wheel --here tests/analysis/gold   # no index: this one without its platform

Tests import `analysis`; a finder gives them the modules of the installed `obelus` under that name. Tests that
need Django, the platform or files of the repository are left out, and counted.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import zipfile
from pathlib import Path

from tools.distribution import build

ROOT = Path(__file__).resolve().parent.parent
#: What the tests compare our numbers with, beside pytest.
COMPARED = (
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "statsmodels",
    "krippendorff",
    "scikit-learn",
    "babel",
)
PLATFORM = ("config", "django", "experiments", "judgments", "releases", "setup")
OF_PLATFORM = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(PLATFORM)})\b", re.MULTILINE)
#: About the repository or about one process that imports the folder: not about installed modules.
OF_REPOSITORY = (
    "test_gallery.py",
    "test_wheel.py",
    "test_tutorial.py",
    "test_library.py",
    "test_examples.py",
)
#: Single tests that read the manual or pyproject.toml, or start a Python that imports `analysis`.
OF_FILES = (
    "tests/analysis/scoring/neural/test_hub_download.py",
    "tests/analysis/scoring/test_options.py::test_the_documentation_lists_every_option_with_its_values",
    "tests/analysis/scoring/test_scorers.py::test_our_own_kinds_are_in_the_projects_entry_points",
    "tests/analysis/scoring/test_scorers.py::test_torch_is_not_imported_before_a_model_needs_it",
)
CONFTEST = '''
"""Give the tests the installed package under the name of the folder; refuse the platform."""

import importlib
import importlib.abc
import importlib.machinery
import sys


class InstalledUnderOldName(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused!r}:
            raise ModuleNotFoundError(f"{{name}} is not installed with the library", name=name)
        if name.partition(".")[0] == "analysis":
            return importlib.machinery.ModuleSpec(name, self)
        return None

    def create_module(self, spec):
        module = importlib.import_module("obelus" + spec.name.removeprefix("analysis"))
        spec.loader_state = module.__spec__  # importlib replaces it by its own
        return module

    def exec_module(self, module):
        module.__spec__ = module.__spec__.loader_state


sys.meta_path.insert(0, InstalledUnderOldName())
'''
EXAMPLES = """
import doctest, importlib, pkgutil, sys
import obelus

examined = failed = 0
missing = set()
for module in pkgutil.walk_packages(obelus.__path__, "obelus.", onerror=lambda name: None):
    try:
        result = doctest.testmod(importlib.import_module(module.name))
    except ModuleNotFoundError as error:
        missing.add(error.name.partition(".")[0])
        continue
    examined, failed = examined + result.attempted, failed + result.failed
print(f"examples: {examined} run, {failed} failed; not installed: {', '.join(sorted(missing)) or 'nothing'}")
sys.exit(bool(failed or missing - {"torch", "transformers", "kenlm"}))
"""


def copy_tests(folder: Path, parts: list[str]) -> int:
    """Copy the tests that need the library only; return how many files are left out."""
    left_out = 0
    skipped = shutil.ignore_patterns("__pycache__", "*.pyc")
    for part in [*parts, "tests/reference", "benchmarks", "docs/tutorials"]:
        shutil.copytree(ROOT / part, folder / part, ignore=skipped, dirs_exist_ok=True)
    for parent in {parent for part in parts for parent in Path(part).parents if parent.name}:
        for path in (ROOT / parent).glob("*.py"):
            if not path.name.startswith("test_"):
                shutil.copy(path, folder / parent)
    fixtures = "from tests.real_data import shared_data, shared_vectors\n"
    (folder / "tests" / "conftest.py").write_text(fixtures)
    if (ROOT.parent / "shared").is_dir():
        (folder.parent / "shared").symlink_to((ROOT.parent / "shared").resolve())
    for path in tests_of_platform(folder):
        path.unlink()
        left_out += path.name.startswith("test_")
    (folder / "conftest.py").write_text(CONFTEST.format(refused=set(PLATFORM)))
    (folder / "pytest.ini").write_text(
        textwrap.dedent("""
        [pytest]
        addopts = -q --import-mode=importlib -p no:cacheprovider -p no:django -p no:locust
        pythonpath = .
        markers =
            browser: drives a Chromium
    """)
    )
    return left_out


def tests_of_platform(folder: Path) -> set[Path]:
    """Return files that import the platform, themselves or through other files of tests."""
    sources = {path: path.read_text(encoding="utf-8") for path in (folder / "tests").rglob("*.py")}
    needing = {
        path for path, text in sources.items() if path.name in OF_REPOSITORY or OF_PLATFORM.search(text)
    }
    needing -= {path for path in needing if "tests/analysis" not in str(path) and path.name == "__init__.py"}
    while True:
        names = {".".join(path.relative_to(folder).with_suffix("").parts) for path in needing}
        folders = {path.parent for path in needing if path.name == "conftest.py"}
        more = {
            path
            for path, text in sources.items()
            if names & set(re.findall(r"(?:from|import) (tests[\w.]*)", text))
            or any(parent in folders for parent in path.parents)
        }
        if more <= needing:
            return needing
        needing |= more


def run(python: str | Path, folder: Path, parts: list[str], *, path: str = "") -> int:
    """Run the examples and the tests in the folder; return the number of commands that failed."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "PYTHONPATH"))
    }
    environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"} | (
        {"PYTHONPATH": path} if path else {}
    )
    commands = [
        [str(python), "-c", EXAMPLES],
        [
            *(str(python), "-m", "pytest", "-n", "logical", "--dist", "worksteal", "-m", "not slow"),
            *(f"--deselect={name}" for name in OF_FILES),
            *parts,
        ],
    ]
    return sum(subprocess.run(command, cwd=folder, env=environment).returncode != 0 for command in commands)


def main() -> int:
    """Build, install, run; print what was left out and how long it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=["tests/analysis"], help="folders of tests")
    parser.add_argument(
        "--python", nargs="+", default=[sys.executable], help="interpreters to make environments of"
    )
    parser.add_argument(
        "--here", action="store_true", help="this environment without its platform; needs no index"
    )
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="obelus-wheel-") as name:
        folder = Path(name)
        _, wheel = build(folder / "dist")
        tests = folder / "run"
        tests.mkdir()
        left_out = copy_tests(tests, options.parts)
        print(
            f"{wheel.name}: {wheel.stat().st_size / 1000:,.0f} kB; {left_out} files of tests left out",
            flush=True,
        )
        if options.here:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder / "site")
            return run(sys.executable, tests, options.parts, path=str(folder / "site"))
        for number, python in enumerate(options.python):
            started = time.monotonic()
            environment = folder / f"env{number}"
            subprocess.run([python, "-m", "venv", str(environment)], check=True)
            python_there = environment / "bin" / "python"
            install = [python_there, "-m", "pip", "install", "-q", f"{wheel}[figures,pdf]", *COMPARED]
            subprocess.run(list(map(str, install)), check=True)
            seconds = time.monotonic() - started
            version = subprocess.run(
                [python_there, "--version"], capture_output=True, text=True
            ).stdout.strip()
            print(f"== {version}, installed in {seconds:.0f} s", flush=True)
            failed += run(python_there, tests, options.parts)
    return failed


if __name__ == "__main__":
    sys.exit(main())
