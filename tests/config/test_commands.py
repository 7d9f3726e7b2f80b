"""Every command, and every process of a service, checks what protects the data before it runs."""

import os
import subprocess
import sys

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from config.checks import check_shared_secret, check_shared_storage


@pytest.mark.parametrize(
    ("name", "value", "code"), [("TIME_ZONE", "Europe/Berlin", "E002"), ("SECRET_KEY", "short", "E001")]
)
def test_a_command_stops_where_settings_endanger_the_data(settings, name, value, code):
    setattr(settings, name, value)
    with pytest.raises(SystemCheckError, match=code):
        call_command("lists", "study", skip_checks=False)


def test_a_command_without_its_database_says_so_in_one_line(tmp_path):
    environment = {
        **os.environ,
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/nothing",
        "SECRET_KEY": "k" * 50,
        "VAR_DIR": str(tmp_path),
    }
    command = [sys.executable, "manage.py", "agreement", "demo"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "Traceback" not in ended.stderr
    [line] = ended.stderr.splitlines()
    assert line.startswith("CommandError: The database of DATABASE_URL cannot be reached: connection failed")


@pytest.mark.parametrize(
    ("host", "is_generated", "codes"),
    [
        ("db.example.org", True, ["obelus.E003"]),
        ("db.example.org", False, []),
        ("127.0.0.1", True, []),
        ("/run/postgresql", True, []),
        ("", True, []),
    ],
)
def test_database_of_several_hosts_needs_a_key_that_they_share(
    settings, monkeypatch, host, is_generated, codes
):
    monkeypatch.setitem(settings.DATABASES["default"], "HOST", host)
    settings.SECRET_KEY_IS_GENERATED = is_generated
    assert [problem.id for problem in check_shared_secret()] == codes


PROCESSES = {
    "web": ["config.serve", "--port", "0"],
    "worker": ["celery", "-A", "config", "worker", "--loglevel", "error"],
    "scheduler": ["celery", "-A", "config", "beat", "--pidfile=", "--loglevel", "error"],
}
NO_SHARED_KEY = (
    "Obelus cannot start: SECRET_KEY is not set, and the database at 192.0.2.1 may serve several hosts."
    " Set SECRET_KEY or SECRET_KEY_FILE to the same value on every host."
)
SHORT_KEY = "Obelus cannot start: SECRET_KEY is shorter than 32 characters. Unset it to have one generated."


def ended_processes(folder, **settings):
    """Exit status and standard error of each process of a service, whose database nobody reaches."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("SECRET_KEY")}
    variables |= {"DATABASE_URL": "postgres://nobody@192.0.2.1/nothing", "CELERY_BROKER_URL": ""}
    started = {
        name: subprocess.Popen(
            [sys.executable, "-m", *words],
            env={**variables, "VAR_DIR": str(folder / name), **settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name, words in PROCESSES.items()
    }
    try:
        return {
            name: (process.communicate(timeout=240)[1], process.returncode)
            for name, process in started.items()
        }
    finally:
        for process in started.values():
            process.kill()


@pytest.mark.parametrize(
    ("settings", "reason"), [({}, NO_SHARED_KEY), ({"SECRET_KEY": "short"}, SHORT_KEY)], ids=["none", "short"]
)
def test_no_process_starts_where_settings_endanger_the_data(tmp_path, settings, reason):
    for name, (printed, status) in ended_processes(tmp_path, **settings).items():
        assert (name, status) == (name, 1), printed
        assert [line for line in printed.splitlines() if "Obelus" in line] == [reason], name
        assert "Traceback" not in printed, printed
    assert not list(tmp_path.glob("*/secret_key"))


def test_database_of_several_hosts_wants_a_storage_that_they_share(settings, monkeypatch):
    monkeypatch.setitem(settings.DATABASES["default"], "HOST", "db.example.org")
    monkeypatch.delenv("UPLOAD_STORAGE", raising=False)
    monkeypatch.setenv("RELEASE_STORAGE", "s3://releases")
    [warning] = check_shared_storage()
    assert warning.id == "obelus.W002" and warning.msg.startswith("UPLOAD_STORAGE not set")
    monkeypatch.setenv("UPLOAD_STORAGE", "/mnt/shared/uploads")
    assert check_shared_storage() == []
    monkeypatch.delenv("UPLOAD_STORAGE")
    monkeypatch.setitem(settings.DATABASES["default"], "HOST", "/run/postgresql")
    assert check_shared_storage() == []
