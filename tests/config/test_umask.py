"""Files with data are readable by their owner only."""

import os
import subprocess
import sys

import pytest

CODE = """
import django; django.setup()
from django.core.management import call_command
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.conf import settings
from django.db import connection
connection.cursor().execute("CREATE TABLE IF NOT EXISTS t (n int)")
storages["default"].save("uploads/x.csv", ContentFile(b"x"))
storages["releases"].save("r/x.csv", ContentFile(b"x"))
from releases.gold.storage import read, store
store("study/release", {"manifest.json": b"{}", "data/judgments.csv": b"x"})
assert read("study/release", "data/judgments.csv") == b"x"
str(settings.SECRET_KEY)
"""


def run(folder, **environment):
    env = {**os.environ, "VAR_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings", **environment}
    for name in ("DATABASE_URL", "RELEASE_STORAGE", "MEDIA_ROOT", "SECRET_KEY"):
        env.pop(name, None)
    return subprocess.run([sys.executable, "-c", CODE], env=env, capture_output=True, text=True, timeout=120)


def modes(folder):
    return {path.name: oct(path.stat().st_mode & 0o077) for path in folder.rglob("*")}


def test_database_secrets_and_uploads_are_the_owners_even_where_they_were_not(tmp_path):
    folder = tmp_path / "var"
    folder.mkdir()
    (folder / "obelus.sqlite3").touch(mode=0o644)
    (folder / "obelus.sqlite3").chmod(0o644)
    result = run(folder)
    assert result.returncode == 0, result.stderr
    assert {"obelus.sqlite3", "x.csv", "secret_key", "uploads", "release", "data"} <= set(modes(folder))
    assert {name: mode for name, mode in modes(folder).items() if mode != "0o0"} == {}


def test_folders_of_releases_are_readable_as_umask_says(tmp_path):
    result = run(tmp_path, UMASK="027")
    assert result.returncode == 0, result.stderr
    found = modes(tmp_path)
    assert (found["release"], found["data"], found["judgments.csv"]) == ("0o50", "0o50", "0o40")


@pytest.mark.parametrize("value", ["7", "rw", "999"])
def test_a_wrong_umask_says_what_to_set(tmp_path, value):
    result = run(tmp_path, UMASK=value)
    assert result.returncode != 0 and "three octal digits" in result.stderr
