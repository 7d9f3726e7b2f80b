"""docker/systemd: the command ``obelus`` runs as the service does; the timer makes backups when due."""

import configparser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deployment.compose import DOCKER, ROOT

SYSTEMD = DOCKER / "systemd"
WRAPPER = (SYSTEMD / "obelus").read_text()
#: Does what systemd-run does with the options of the command; users and cgroups need systemd itself.
SYSTEMD_RUN = """import os, sys
environment = {"PATH": os.environ["PATH"]}
options = sys.argv[1:]
while options[0].startswith("--"):
    name, _, value = options.pop(0).partition("=")
    if name == "--working-directory":
        os.chdir(value)
    elif name == "--setenv":
        environment |= [value.split("=", 1)]
    elif name == "--property" and value.startswith("EnvironmentFile="):
        lines = open(value.partition("=")[2]).read().splitlines()
        environment |= [line.split("=", 1) for line in lines]
    elif name == "--property" and value.startswith("UMask="):
        os.umask(int(value.partition("=")[2], 8))
    elif name not in ("--quiet", "--collect", "--wait", "--pipe", "--pty", "--uid", "--gid"):
        sys.exit("unknown option " + name)
os.execvpe(options[0], options, environment)
"""


def unit(name: str) -> configparser.ConfigParser:
    """A unit; of settings given twice the last."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    assert parser.read(SYSTEMD / name)
    return parser


def test_the_command_runs_with_the_settings_of_the_service_and_its_own_words(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "systemd-run.py").write_text(SYSTEMD_RUN)
    call = f'exec "{sys.executable}" "{programs / "systemd-run.py"}" "$@"'  # a path after #! has no spaces
    (programs / "systemd-run").write_text(f"#!/bin/sh\n{call}\n")
    (programs / "systemd-run").chmod(0o700)
    (tmp_path / "obelus.env").write_text(f"BACKUP_KEEP=3\nDATA_LOCATION=Leipzig, Germany\nHOME={tmp_path}\n")
    python, checkout = programs / "python-of-the-tests", tmp_path / "checkout"  # their paths may have spaces
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o700)
    checkout.symlink_to(ROOT)
    replaced = {
        "/opt/obelus/.venv/bin/python": str(python),
        "/opt/obelus": str(checkout),
        "/etc/obelus/obelus.env": str(tmp_path / "obelus.env"),
        "/var/lib/obelus": str(tmp_path / "var"),
    }
    text = WRAPPER
    for name, ours in replaced.items():
        assert name in text
        text = text.replace(name, ours)
    code = "from django.conf import settings as s; print(s.BACKUP_KEEP, s.DATA_LOCATION, s.VAR, sep='|')"
    done = subprocess.run(
        ["sh", "-c", text, "obelus", "shell", "--no-imports", "-c", code],
        cwd=tmp_path,
        env={"PATH": f"{programs}:{os.environ['PATH']}", "BACKUP_KEEP": "9"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"3|Leipzig, Germany|{tmp_path / 'var'}\n"), done.stderr


def test_the_command_fails_as_the_command_of_django_does(tmp_path: Path) -> None:
    (tmp_path / "systemd-run").write_text("#!/bin/sh\nexit 7\n")
    (tmp_path / "systemd-run").chmod(0o700)
    command = ["/bin/sh", "-c", WRAPPER, "obelus", "check"]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, check=False)
    assert done.returncode == 7


@pytest.mark.parametrize("name", ["web", "worker", "scheduler", "backup"])
def test_the_command_has_user_folder_and_settings_of_the_units(name: str) -> None:
    service = unit(f"obelus-{name}.service")["Service"]
    assert f"--uid={service['User']} --gid={service['Group']}" in WRAPPER
    assert f"--working-directory={service['WorkingDirectory']} " in WRAPPER
    assert f"EnvironmentFile={service['EnvironmentFile']} " in WRAPPER
    assert f"--setenv={service['Environment'].split()[0]} " in WRAPPER
    assert f"UMask={service['UMask']} " in WRAPPER


@pytest.mark.skipif(not shutil.which("systemd-run"), reason="needs systemd-run")
def test_systemd_knows_the_options_of_the_command() -> None:
    known = subprocess.run(["systemd-run", "--help"], capture_output=True, text=True, check=True).stdout
    used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", WRAPPER))
    assert len(used) >= 8 and used <= set(re.findall(r"--[a-z][a-z-]*", known))


def test_the_timer_makes_a_backup_as_often_as_one_is_due() -> None:
    timer = unit("obelus-backup.timer")
    service = timer["Timer"].get("Unit", "obelus-backup.service")
    assert unit(service)["Service"]["ExecStart"].endswith("manage.py backup")
    assert timer["Install"]["WantedBy"] == "timers.target" and timer["Timer"]["Persistent"] == "yes"
    assert re.fullmatch(r"\*-\*-\* \d\d:\d\d:\d\d", timer["Timer"]["OnCalendar"])  # once a day
    assert "BACKUP_DUE_HOURS=24" in unit("obelus-web.service")["Service"]["Environment"].split()
    guide = (ROOT / "docs" / "how-to" / "deploy.md").read_text()
    assert re.search(r"systemctl enable --now .*obelus-backup\.timer", guide)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_reads_the_times_of_the_timer() -> None:
    times = unit("obelus-backup.timer")["Timer"]["OnCalendar"]
    command = ["systemd-analyze", "calendar", "--iterations=2", times]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert len(re.findall(r"\d{4}-\d\d-\d\d 03:00:00", printed)) >= 2
