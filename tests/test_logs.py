"""What an error leaves in the log: where it came about, and nothing that people typed or said."""

import io
import json
import logging
import logging.config
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import structlog
from django.conf import settings

from config.http import middleware
from config.settings import LOG_RENDERERS
from experiments.operation import job_runner

ROOT = Path(__file__).resolve().parents[1]


def formatter_of(form: str) -> logging.Formatter:
    """The formatter of the platform's log in that form."""
    formatter = {**settings.LOGGING["formatters"]["lines"]}
    remove = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    formatter["processors"] = [remove, *LOG_RENDERERS[form]]
    del formatter["()"]
    return structlog.stdlib.ProcessorFormatter(**formatter)


@pytest.fixture
def log_file():
    """What the platform writes into its log as JSON during the test."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter_of("json"))
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def lines_of(stream: io.StringIO) -> list[dict]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def logged(form: str) -> str:
    """One line of the log as the platform writes it in that form, of an error near a secret."""
    try:
        check_password("correct-" + "horse")
    except ValueError as error:
        caught = (type(error), error, error.__traceback__)
    record = logging.LogRecord("obelus", logging.ERROR, __file__, 1, "Internal Server Error", (), caught)
    return formatter_of(form).format(record)


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


@pytest.mark.django_db
def test_lines_of_a_request_have_the_id_of_its_response(client, monkeypatch, log_file):
    monkeypatch.setattr(middleware, "SLOW_S", -1)  # a line of ours beside Django's
    answer = client.get("/no/such/page/", HTTP_X_REQUEST_ID="from-the-proxy-1")
    other = client.get("/no/such/page/", HTTP_X_REQUEST_ID="with spaces\nand lines")
    logging.getLogger("obelus").warning("between requests")
    *of_requests, between = lines_of(log_file)
    events = ["slow request", "Not Found: /no/such/page/"]
    assert [line["event"] for line in of_requests] == events * 2
    assert re.fullmatch("[0-9a-f]{16}", other["X-Request-ID"])
    assert answer["X-Request-ID"] == "from-the-proxy-1"
    ids = [answer["X-Request-ID"]] * 2 + [other["X-Request-ID"]] * 2
    assert [line["request_id"] for line in of_requests] == ids
    assert "request_id" not in between


@pytest.mark.django_db
def test_lines_of_a_job_have_its_id_and_attempt(monkeypatch, log_file):
    def work(run: job_runner.Run) -> None:
        structlog.get_logger("releases.build").warning("of ours")
        logging.getLogger("botocore").warning("of a library")
        raise ZeroDivisionError

    monkeypatch.setattr(job_runner, "KINDS", {"test.work": work})
    row = job_runner.enqueue("test.work", {})
    job_runner.run(row.pk)
    row.refresh_from_db()
    job_runner.retry(row)
    job_runner.run(row.pk)
    logging.getLogger("obelus").warning("between jobs")
    *of_jobs, between = lines_of(log_file)
    expected = [(event, attempt) for attempt in (1, 2) for event in ("of ours", "of a library", "job failed")]
    assert [(line["event"], line["job_attempt"]) for line in of_jobs] == expected
    assert {line["job_id"] for line in of_jobs} == {row.pk} and "job_id" not in between
