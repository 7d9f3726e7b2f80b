"""What a browser sends becomes deliveries: an answer is never lost to an odd clock or an odd measurement.

Only what decides the answer is refused; measurements beside it are cleaned, and what was odd is flagged
in the judgment's ``timing``.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from judgments.models import Judgment
from judgments.sessions.record import Delivery

MOST_ROWS = 200
LONGEST_RESPONSE = 1000
PUBLIC_ID = re.compile(r"[-\w]{1,24}", re.ASCII)
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
MOST_FACTS, MOST_EVENTS, LONGEST_TEXT, MOST_NUMBERS = 40, 20, 200, 20
LARGEST_NUMBER, LARGEST_RT_MS = 10**15, 2**31 - 1
SENT_TYPES = frozenset(Judgment.InputType.values) - {Judgment.InputType.IMPORTED.value}
YEARS = range(2000, 2101)


class BadRow(ValueError):
    """A row that names no trial or no answer."""


@dataclass(frozen=True)
class Incoming:
    """One answer of a browser, with what happened beside it."""

    trial: str
    delivery: Delivery
    events: tuple[dict[str, Any], ...] = ()


def read_row(row: Any, *, received_at: datetime, sent_at: datetime | None) -> Incoming:
    """Read one row of a delivery; raise :class:`BadRow` where it cannot be an answer."""
    if not isinstance(row, Mapping):
        raise BadRow("A judgment is an object with trial and response.")
    trial, response = row.get("trial"), row.get("response")
    if not isinstance(trial, str) or not PUBLIC_ID.fullmatch(trial):
        raise BadRow("A judgment names its trial by the id of the plan.")
    if isinstance(response, int) and not isinstance(response, bool):
        response = str(response) if abs(response) < LARGEST_NUMBER else None
    if not isinstance(response, str) or len(response) > LONGEST_RESPONSE:
        raise BadRow(f"A response is text of at most {LONGEST_RESPONSE} signs.")
    timing = facts(row.get("timing"))
    rt_ms = _rt_ms(row.get("rt_ms"), timing)
    answered_at = moment(row.get("answered_at"))
    if answered_at is None and row.get("answered_at") is not None:
        timing["odd_clock"] = True
    if sent_at is not None:
        timing["clock_offset_ms"] = round((received_at - sent_at).total_seconds() * 1000)
        if answered_at is not None and answered_at > sent_at:
            timing["clock_backwards"] = True
    given = row.get("input_type")
    input_type = given if isinstance(given, str) and given in SENT_TYPES else Judgment.InputType.UNKNOWN.value
    delivery = Delivery(response, input_type, rt_ms=rt_ms, answered_at=answered_at, timing=timing)
    return Incoming(trial, delivery, events=events_of(row.get("events")))


def _rt_ms(given: Any, timing: dict[str, Any]) -> int | None:
    """A response time; one that cannot be is left out and flagged."""
    if given is None:
        return None
    if not _is_number(given) or not 0 <= given <= LARGEST_RT_MS:
        timing["odd_rt"] = True
        if _is_number(given) and given < 0:
            timing["clock_backwards"] = True
        return None
    return round(given)


def moment(text: Any) -> datetime | None:
    """A time of a browser's clock with its zone; None where it is none of this century."""
    try:
        found = parse_datetime(text) if isinstance(text, str) and len(text) < 40 else None
    except ValueError:
        return None
    if found is None or found.tzinfo is None or found.year not in YEARS:
        return None
    return found


def facts(given: Any) -> dict[str, Any]:
    """Named measurements: flags, numbers, short texts, short lists of numbers."""
    if not isinstance(given, Mapping):
        return {}
    kept = {}
    for name, value in list(given.items())[:MOST_FACTS]:
        if isinstance(name, str) and NAME.fullmatch(name) and _is_fact(value):
            kept[name] = value
    return kept


def _is_fact(value: Any) -> bool:
    if isinstance(value, bool) or _is_number(value):
        return True
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT and value.isprintable()
    return isinstance(value, list) and len(value) <= MOST_NUMBERS and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and (isinstance(value, int) or math.isfinite(value))
        and abs(value) < LARGEST_NUMBER
    )


def events_of(given: Any) -> tuple[dict[str, Any], ...]:
    """Events of a trial: what happened, and its measurements."""
    if not isinstance(given, list):
        return ()
    return tuple(
        {"kind": one["kind"], "details": facts(one.get("details"))}
        for one in given[:MOST_EVENTS]
        if isinstance(one, Mapping) and isinstance(one.get("kind"), str) and NAME.fullmatch(one["kind"])
    )
