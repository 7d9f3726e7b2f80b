"""What an error leaves in the log: where it came about, and nothing that people typed or said."""

import json
import logging
import logging.config

import pytest
import structlog
from django.conf import settings

from config.settings import LOG_RENDERERS


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
