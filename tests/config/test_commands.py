"""Every command checks what protects the data before it runs."""

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
