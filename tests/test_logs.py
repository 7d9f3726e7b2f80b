"""What an error leaves in the log: where it came about, and nothing that people typed or said."""

import json
import logging
import logging.config
import os
import subprocess
import sys
from pathlib import Path

import pytest
import structlog
from django.conf import settings

from config.settings import LOG_RENDERERS

ROOT = Path(__file__).resolve().parents[1]


def logged(form: str) -> str:
    """One line of the log as the platform writes it in that form, of an error near a secret."""
    formatter = {**settings.LOGGING["formatters"]["lines"]}
    remove = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    formatter["processors"] = [remove, *LOG_RENDERERS[form]]
    del formatter["()"]
    try:
        check_password("correct-" + "horse")
    except ValueError as error:
        caught = (type(error), error, error.__traceback__)
    record = logging.LogRecord("obelus", logging.ERROR, __file__, 1, "Internal Server Error", (), caught)
    return structlog.stdlib.ProcessorFormatter(**formatter).format(record)


def check_password(typed: str) -> None:
    raise ValueError("no such login")


@pytest.mark.parametrize("form", LOG_RENDERERS)
def test_an_error_shows_its_place_and_no_value_there(form):
    line = logged(form)
    assert "Internal Server Error" in line and "no such login" in line
    assert "check_password" in line and "test_logs.py" in line
    assert "correct-horse" not in line


def test_a_line_for_a_collector_is_one_json_object():
    [error] = json.loads(logged("json"))["exception"]
    assert error["exc_type"] == "ValueError" and error["exc_value"] == "no such login"
    assert [frame["name"] for frame in error["frames"]] == ["logged", "check_password"]


def test_our_own_lines_go_where_django_s_go_and_leave_documents_on_stdout_alone(tmp_path):
    code = (
        "import django; django.setup(); import structlog; "
        "structlog.get_logger('judgments.x').warning('slow request', path='/s/' + 'AbCdEfGh' * 4 + '/')"
    )
    surroundings = {**os.environ, "LOG_FORMAT": "json", "VAR_DIR": str(tmp_path), "LOG_LEVEL": "INFO"}
    surroundings["DJANGO_SETTINGS_MODULE"] = "config.settings"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=surroundings, capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    line = json.loads(done.stderr)
    assert (line["event"], line["level"], line["logger"]) == ("slow request", "warning", "judgments.x")
    assert "AbCdEfGh" * 4 not in done.stderr
