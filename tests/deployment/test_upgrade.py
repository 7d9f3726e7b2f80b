"""`make upgrade` on a small project with versions: its steps, their order, and what ends it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = """
install:
	@echo make install of $$(cat version) >> $(LOG)
	@test "$(FAILING)" != install
"""
MANAGE = """
import os, pathlib, sys
version = pathlib.Path("version").read_text().strip()
with open(os.environ["LOG"], "a") as log:
    log.write(f"{sys.argv[1]} of {version}\\n")
sys.exit(sys.argv[1] == os.environ.get("FAILING"))
"""


class Project:
    """A clone of a project whose origin has the versions 1 and 2."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log, self.origin = folder / "clone", folder / "log", folder / "origin"
        self.origin.mkdir()
        (self.origin / "Makefile").write_text(MAKEFILE)
        (self.origin / "manage.py").write_text(MANAGE)
        git(self.origin, "init", "--quiet", "--initial-branch=main")
        self.release("1")
        git(folder, "clone", "--quiet", str(self.origin), str(self.folder))
        self.release("2")
        (self.folder / ".venv" / "bin").mkdir(parents=True)
        (self.folder / ".venv" / "bin" / "python").symlink_to(sys.executable)

    def release(self, version: str) -> None:
        (self.origin / "version").write_text(version)
        git(self.origin, "add", ".")
        git(self.origin, "commit", "--quiet", "--message", version)
        git(self.origin, "tag", f"v{version}")

    def upgrade(self, version: str = "", **environment: str) -> tuple[int, str, list[str]]:
        process = subprocess.run(
            [sys.executable, str(ROOT / "tools" / "upgrade.py"), version],
            cwd=self.folder,
            env={**os.environ, "LOG": str(self.log), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        steps = self.log.read_text().splitlines() if self.log.exists() else []
        return process.returncode, process.stdout + process.stderr, steps

    def run(self, line: str) -> None:
        environment = {**os.environ, "LOG": str(self.log)}
        subprocess.run(line, shell=True, cwd=self.folder, env=environment, check=True, capture_output=True)


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path) -> Project:
    return Project(tmp_path)


STEPS = ["backup of 1", "make install of 2", "check of 2", "migrate of 2", "collectstatic of 2"]


@pytest.mark.parametrize("version", ["", "v2"])
def test_the_old_version_backs_up_and_the_new_one_migrates(project, version):
    status, text, steps = project.upgrade(version)
    assert (status, steps) == (0, STEPS)
    assert "Restart web server, worker and scheduler now" in text


def test_the_working_tree_is_taken_as_it_is(project):
    (project.folder / "version").write_text("1 with a change")
    status, _, steps = project.upgrade("here")
    assert status == 0
    assert steps == [step.partition(" of ")[0] + " of 1 with a change" for step in STEPS]


def test_without_a_backup_nothing_is_changed(project):
    status, text, steps = project.upgrade("v2", FAILING="backup")
    assert (status, steps) == (1, ["backup of 1"])
    assert "There is no backup, so nothing was changed." in text
    assert (project.folder / "version").read_text() == "1"


FAILURES = {
    "install": ("the packages could not be installed", "make install of 2"),
    "check": ("the settings do not fit this version", "check of 2"),
    "migrate": ("a migration failed", "migrate of 2"),
    "collectstatic": ("static files could not be gathered", "collectstatic of 2"),
}


@pytest.mark.parametrize("failing", list(FAILURES))
def test_a_step_that_fails_ends_the_upgrade_and_names_commands_that_go_back(project, failing):
    sentence, last = FAILURES[failing]
    status, text, steps = project.upgrade("v2", FAILING=failing)
    assert (status, steps[-1]) == (1, last)
    assert sentence in text and "still run the version before" in text
    [way_back] = re.findall(r"To go back: (.+?)\. The database stays as it is", text)
    # Without its packages the new version may be unable to back up, and no table was changed.
    assert way_back.startswith("git checkout") == (failing in {"install", "check"})
    if way_back.startswith("make upgrade"):  # the Makefile of this project runs upgrade.py
        status, text, steps = project.upgrade(way_back.partition("VERSION=")[2])
        assert status == 0 and steps[-5:] == ["backup of 2", *(step.replace("2", "1") for step in STEPS[1:])]
    else:
        project.run(way_back)
        assert project.log.read_text().splitlines()[-1] == "make install of 1"
    assert (project.folder / "version").read_text() == "1"


def test_a_copy_that_came_without_git_is_taken_back_as_it_came(project):
    (project.folder / "version").write_text("2")
    status, text, _ = project.upgrade("here", FAILING="migrate")
    assert status == 1 and "git checkout" not in text
    assert "put the earlier files in their place again and run make upgrade VERSION=here" in text


def test_an_environment_without_a_package_is_completed_before_the_backup(project):
    _, text, steps = project.upgrade("here", FAILING="backup")
    assert steps == ["backup of 1"] and "if a Python package is missing, run make install first" in text


def test_own_changes_are_not_overwritten(project):
    (project.folder / "version").write_text("1 with a change")
    status, text, steps = project.upgrade("v2")
    assert (status, steps) == (1, ["backup of 1 with a change"])
    assert "changes of its own" in text and "VERSION=here" in text


def test_a_version_that_does_not_exist_is_named(project):
    status, text, steps = project.upgrade("v9")
    assert (status, steps) == (1, ["backup of 1"])
    assert "There is no version v9" in text
