"""`make run` where its port is taken, or is no port at all; a command before the first start."""

import os
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from config.run import FIRST_PORT, choose_port, main

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def taken_port():
    """A port somebody listens on."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def run_with(port: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "config.run"],
        cwd=ROOT,
        env={**os.environ, "PORT": port},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_taken_port_is_named_and_the_next_free_one_offered(taken_port):
    ended = run_with(str(taken_port))
    assert ended.returncode != 0
    assert f"Port {taken_port} is taken" in ended.stderr
    assert "make run PORT=" in ended.stderr


def test_what_is_no_port_is_refused_with_an_example():
    ended = run_with("eight thousand")
    assert ended.returncode != 0
    assert "make run PORT=8001" in ended.stderr


def test_without_a_port_the_first_free_one_is_used_and_printed(monkeypatch, taken_port, capsys):
    monkeypatch.setattr("config.run.FIRST_PORT", taken_port)
    chosen = choose_port("")
    assert chosen > taken_port
    assert f"Port {taken_port} is taken; using the next free one, {chosen}" in capsys.readouterr().out
    assert FIRST_PORT == 8000


def test_every_process_is_told_the_port_that_was_chosen(monkeypatch, taken_port):
    def prepare() -> str:
        raise SystemExit(os.environ["PORT"])

    monkeypatch.setattr("config.run.FIRST_PORT", taken_port)
    monkeypatch.setattr("config.run.run_preparation", prepare)
    monkeypatch.setenv("PORT", "")
    with pytest.raises(SystemExit) as ended:
        main()
    assert int(ended.value.code) > taken_port


def fresh_checkout(folder: Path, *program: str, **settings: str) -> subprocess.CompletedProcess:
    """Run Python with an empty, not yet existing data folder."""
    unset = {"DATABASE_URL": "", "SECRET_KEY": "", "DEBUG": ""}
    environment = {**os.environ, "VAR_DIR": str(folder), **unset, **settings}
    return subprocess.run(
        [sys.executable, *program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_reading_settings_and_starting_django_creates_nothing(tmp_path):
    program = "import django; django.setup(); import config.urls, config.job_queue.celery_settings"
    completed = fresh_checkout(tmp_path / "var", "-c", program)
    assert completed.returncode == 0, completed.stderr
    assert not (tmp_path / "var").exists()


LOGIN_PAGE = """
import django, re; django.setup()
from django.core.management import call_command
from django.test import Client
call_command("migrate", verbosity=0)
page = Client().get("/accounts/login/")
sheets = re.findall(r'href="(/static/[^"]+[.]css)"', page.text)
print(page.status_code, bool(sheets), *{Client().get(sheet).status_code for sheet in sheets})
"""


def test_mail_and_webhooks_lead_to_the_port_that_is_served(tmp_path):
    for environment, address in (
        ({"PORT": "8123"}, "http://localhost:8123"),
        ({"PORT": ""}, "http://localhost:8000"),
        ({"PORT": "8123", "SITE_ADDRESS": "https://judgments.example.org/"}, "https://judgments.example.org"),
    ):
        words = "-c", "import django; from django.conf import settings; print(settings.SITE_ADDRESS)"
        completed = fresh_checkout(tmp_path / "var", *words, **environment)
        assert completed.stdout.strip() == address, completed.stderr


def test_pages_work_before_static_files_are_collected(tmp_path):
    page = fresh_checkout(tmp_path / "var", "-W", "error::UserWarning", "-c", LOGIN_PAGE)
    assert page.stdout.split() == ["200", "True", "200"], page.stderr
    assert not (tmp_path / "var" / "static").exists()


def test_a_command_before_the_first_start_prints_a_remedy(tmp_path):
    process = fresh_checkout(tmp_path, "manage.py", "agreement", "blimp")
    assert process.returncode == 2
    assert process.stderr.strip() == (
        "CommandError: The database is not set up for this version. Run manage.py migrate first."
    )
