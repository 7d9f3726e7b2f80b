"""What was shown and measured beside each answer, as columns of a download for the study's team."""

import json
from datetime import datetime
from typing import Any

import pandas as pd

from analysis.columns import CONTRACT
from experiments.models import TrialKind
from judgments.models import Judgment

#: Measurements by the names under which a judgment keeps them; a task's own, not listed, are in ``more``.
MEASURES = (
    "engine",
    "task_version",
    "focus_lost_ms",
    "page_hidden_ms",
    "trusted",
    "early_answers",
    "early_ms",
    "held_keys",
    "key",
    "place",
    "layout",
    "changes",
    "confirm_ms",
    "first_key_ms",
    "pasted",
    "refused_answers",
    "first_touch_ms",
    "last_touch_ms",
    "clock_step_ms",
    "coarse_clock",
    "frame_ms",
    "viewport",
    "loaded_by",
    "from_kept",
    "seen_before",
    "by_form",
    "clock_offset_ms",
    "clock_backwards",
    "odd_clock",
    "odd_rt",
    "no_rt",
    "server_ms",
    "simulated",
)
OF_TRIAL = ("kind", "list", "status", "correct")
BESIDE = ("version", "check", "shown", "input_type", "answered_at", "received_at")
STORED = (
    *("trial", "trial__kind", "trial__correct", "trial__shown", "trial__session__version__number"),
    *("input_type", "answered_at", "received_at", "timing"),
)
FORMULA = "=+-@"  # browsers send these texts; one such key alone is a key
COLUMNS = [*CONTRACT, *OF_TRIAL, *BESIDE, *MEASURES, "more"]


def with_measures(block: pd.DataFrame) -> pd.DataFrame:
    """A block of a frame with :data:`BESIDE`, :data:`MEASURES` and ``more``; unknown cells are None."""
    kept = Judgment.objects.filter(trial__in=[int(one) for one in block["trial"].unique()]).values(*STORED)
    found = {str(one["trial"]): _cells(one) for one in kept.iterator()}
    nothing: list[Any] = [None] * (len(COLUMNS) - len(CONTRACT) - len(OF_TRIAL))
    cells = [found.get(str(trial), nothing) for trial in block["trial"]]
    names = [*BESIDE, *MEASURES, "more"]
    beside = {
        name: pd.Series(values, index=block.index, dtype=object)
        for name, values in zip(names, zip(*cells, strict=True), strict=True)
    }
    return block.assign(**(beside or dict.fromkeys(names)))


def _cells(one: dict[str, Any]) -> list[Any]:
    """One judgment's cells; texts in the order of the screen, and what has no column, as JSON."""
    timing = one["timing"] if isinstance(one["timing"], dict) else {}
    more = {name: value for name, value in timing.items() if name not in {*MEASURES, "position"}}
    is_catch = one["trial__kind"] == TrialKind.CATCH
    return [
        one["trial__session__version__number"],
        (one["trial__correct"] or {}).get("check", "gold") if is_catch else None,
        _json(_texts(one["trial__shown"])),
        one["input_type"],
        _moment(one["answered_at"]),
        _moment(one["received_at"]),
        *(_cell(timing.get(name)) for name in MEASURES),
        _json(more) if more else None,
    ]


def _texts(shown: Any) -> list[str]:
    """The sentences of a screen, in their order."""
    shown = shown if isinstance(shown, dict) else {}
    return [str(one["text"]) for one in shown.get("options") or [shown] if "text" in one]


def _cell(value: Any) -> Any:
    """A measurement as it stands, or as JSON where one cell does not hold it."""
    return _json(value) if isinstance(value, list | dict) else no_formula(value)


def no_formula(value: Any) -> Any:
    """A value as it stands; a text that a spreadsheet would run as a formula gets JSON's quotes."""
    is_formula = isinstance(value, str) and len(value) > 1 and value[0] in FORMULA
    return _json(value) if is_formula else value


def _moment(at: datetime | None) -> str | None:
    return at.isoformat(timespec="milliseconds") if at else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
