"""`make run` where its port is taken, or is no port at all; a command before the first start."""

import os
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from config.run import FIRST_PORT, choose_port

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
        timeout=60,
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


def test_without_a_port_the_first_free_one_is_taken_and_said(monkeypatch, taken_port, capsys):
    monkeypatch.setattr("config.run.FIRST_PORT", taken_port)
    chosen = choose_port("")
    assert chosen > taken_port
    assert f"Port {taken_port} is taken; using the next free one, {chosen}" in capsys.readouterr().out
    assert FIRST_PORT == 8000


def test_a_command_before_the_first_start_says_what_to_do(tmp_path):
    environment = {**os.environ, "VAR_DIR": str(tmp_path), "DATABASE_URL": ""}
    done = subprocess.run(
        [sys.executable, "manage.py", "agreement", "blimp"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "CommandError: The database is not set up for this version. Run manage.py migrate first."
    )
