"""Parsing of sent answers: invalid measurements or clocks never cost an answer.

Only rows without a trial or a response are refused. Measurements are sanitised, and odd values are flagged
in the judgment's ``timing``. Unknown keys are ignored, unlike elsewhere in the API: a browser may hold a page
of another version of the engine.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from judgments.models import Judgment

MAX_ANSWERS = 200
MAX_RESPONSE_CHARACTERS = 1000
PUBLIC_ID = re.compile(r"[-\w]{1,24}", re.ASCII)
STORAGE = "storage"  # event: a store of the browser failed or did not respond in time
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
WORD = re.compile(r"[A-Za-z]{1,40}")
MAX_MEASUREMENTS, MAX_EVENTS, MAX_TEXT_CHARACTERS, MAX_NUMBERS = 40, 20, 200, 20
MAX_NUMBER, MAX_RT_MS = 10**15, 2**31 - 1  # the second is PostgreSQL's largest integer
OF_SERVER_TYPES = {Judgment.InputType.IMPORTED.value, Judgment.InputType.FORM.value}
SENT_TYPES = frozenset(Judgment.InputType.values) - OF_SERVER_TYPES
YEARS = range(2000, 2101)
NUMBERS = (int, float)
# Measurements that the server takes itself; a client cannot claim them.
OF_SERVER = frozenset({"no_rt", "by_form", "server_ms", "clock_offset_ms", "odd_clock", "odd_rt"})


@dataclass(frozen=True)
class SentAnswer:
    """A parsed answer with its input type, measurements and events."""

    trial: str  # public id
    response: str
    input_type: str = Judgment.InputType.FORM
    rt_ms: int | None = None
    answered_at: datetime | None = None
    timing: dict[str, Any] = field(default_factory=dict)
    events: tuple[dict[str, Any], ...] = ()
    is_timed_out: bool = False  # the response, if any, was not confirmed in time


class BadPayload(ValueError):
    """A body without a list of answers; ``code`` is stable."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class BadRow(ValueError):
    """A row that names no trial or no answer."""


@dataclass(frozen=True)
class RefusedRow:
    """A refused row: the trial that it names, or an empty string, and the reason."""

    trial: str
    message: str


class Payload(NamedTuple):
    """The first :data:`MAX_ANSWERS` rows of a body, the number of all, and problems of its storage."""

    answers: list[SentAnswer]
    refused: list[RefusedRow]
    n_rows: int
    problems: tuple[dict[str, str], ...]  # what failed, and the reason


def read_payload(text: str | bytes) -> Payload:
    """Parse a body.

    Raises :class:`BadPayload` when the body holds no list of answers.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise BadPayload("invalid_json", "The body has to be JSON in UTF-8.") from None
    if not isinstance(body, dict) or not isinstance(body.get("judgments"), list):
        raise BadPayload("invalid", "The body has to be an object with a list of judgments.")
    rows = body["judgments"]
    received_at, sent_at = timezone.now(), browser_time(body.get("sent_at"))
    answers, refused = [], []
    for row in rows[:MAX_ANSWERS]:
        try:
            answers.append(read_row(row, received_at=received_at, sent_at=sent_at))
        except BadRow as problem:
            trial = row.get("trial") if isinstance(row, dict) else None
            is_id = isinstance(trial, str) and PUBLIC_ID.fullmatch(trial)
            refused.append(RefusedRow(str(trial) if is_id else "", str(problem)))
    return Payload(answers, refused, len(rows), _storage_problems(body.get("events")))


def read_row(row: Any, *, received_at: datetime, sent_at: datetime | None) -> SentAnswer:
    """Parse one row; raises :class:`BadRow` if it names no trial or has no response."""
    if not isinstance(row, Mapping):
        raise BadRow("A judgment is an object with trial and response.")
    trial, response = row.get("trial"), row.get("response")
    if not isinstance(trial, str) or not PUBLIC_ID.fullmatch(trial):
        raise BadRow("A judgment names its trial by the id of the plan.")
    if isinstance(response, int) and not isinstance(response, bool):
        response = str(response) if abs(response) < MAX_NUMBER else None
    if not isinstance(response, str) or len(response) > MAX_RESPONSE_CHARACTERS:
        raise BadRow(f"A response is text of at most {MAX_RESPONSE_CHARACTERS} signs.")
    timing = measurements(row.get("timing"))
    rt_ms = _rt_ms(row.get("rt_ms"), timing)
    answered_at = browser_time(row.get("answered_at"))
    if answered_at is None and row.get("answered_at") is not None:
        timing["odd_clock"] = True
    if sent_at is not None:
        timing["clock_offset_ms"] = round((received_at - sent_at).total_seconds() * 1000)
        if answered_at is not None and answered_at > sent_at:
            timing["clock_backwards"] = True
    input_type = row.get("input_type")
    if not isinstance(input_type, str) or input_type not in SENT_TYPES:
        input_type = Judgment.InputType.UNKNOWN.value
    events = valid_events(row.get("events"))
    return SentAnswer(
        trial,
        response,
        input_type,
        rt_ms,
        answered_at,
        timing=timing,
        events=events,
        is_timed_out=row.get("timed_out") is True,
    )


def _rt_ms(value: Any, timing: dict[str, Any]) -> int | None:
    """A response time in ms; an impossible one is dropped and flagged."""
    if value is None:
        return None
    if not _is_number(value) or not 0 <= value <= MAX_RT_MS:
        timing["odd_rt"] = True
        if _is_number(value) and value < 0:
            timing["clock_backwards"] = True
        return None
    return int(round(value))


def browser_time(text: Any) -> datetime | None:
    """An aware datetime of the browser's clock; None unless it is in this century."""
    try:
        parsed = parse_datetime(text) if isinstance(text, str) and len(text) < 40 else None
    except ValueError:
        return None
    if parsed is None or parsed.tzinfo is None or parsed.year not in YEARS:
        return None
    return parsed


def measurements(values: Any) -> dict[str, Any]:
    """Valid measurements by name: flags, numbers, short strings, short lists of numbers."""
    if not isinstance(values, Mapping):
        return {}
    return {
        name: value
        for name, value in list(values.items())[:MAX_MEASUREMENTS]
        if isinstance(name, str) and NAME.fullmatch(name) and name not in OF_SERVER and _is_measurement(value)
    }


def _is_measurement(value: Any) -> bool:
    if isinstance(value, bool) or _is_number(value):
        return True
    if isinstance(value, str):
        return len(value) <= MAX_TEXT_CHARACTERS and value.isprintable()
    return isinstance(value, list) and len(value) <= MAX_NUMBERS and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, NUMBERS)
        and not isinstance(value, bool)
        and (isinstance(value, int) or math.isfinite(value))
        and abs(value) < MAX_NUMBER
    )


def _storage_problems(events: Any) -> tuple[dict[str, str], ...]:
    details = [event["details"] for event in valid_events(events) if event["kind"] == STORAGE]
    words = [{name: str(one.get(name, "")) for name in ("what", "reason")} for one in details]
    return tuple(one for one in words if all(WORD.fullmatch(word) for word in one.values()))


def valid_events(values: Any) -> tuple[dict[str, Any], ...]:
    """Valid events of a trial: their kind and measurements."""
    if not isinstance(values, list):
        return ()
    return tuple(
        {"kind": event["kind"], "details": measurements(event.get("details"))}
        for event in values[:MAX_EVENTS]
        if isinstance(event, Mapping) and isinstance(event.get("kind"), str) and NAME.fullmatch(event["kind"])
    )
