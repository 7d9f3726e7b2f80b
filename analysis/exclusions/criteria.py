"""Exclusion criteria: functions from judgments to failed, passed or no evidence for each unit.

A criterion does not depend on the answers to analysed items: excluding participants because they
disagree with the expected labels would inflate the reported agreement. Quality signals are available
as criteria ``signal:<name>``; the reason states if a signal compares participants with each other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..aggregation.undecided import is_undecided
from ..errors import BadInput
from ..quality.base import Signal, session_codes
from ..quality.report import SIGNALS
from ..rows import (
    Codes,
    Flags,
    Floats,
    column_or_blank,
    flags,
    group_codes,
    is_kind,
    joint_codes,
    numbers,
)

Verdicts = Floats
"""1: the unit fails; 0: it passes; NaN: no evidence."""
Scope = Literal["participant", "session", "judgment"]
Judge = Callable[[pd.DataFrame, Codes, int, Mapping[str, Any]], Verdicts]

SCORABLE_KINDS = ("catch",)


@dataclass(frozen=True)
class Criterion:
    """A criterion with its function, scopes and default settings."""

    judge: Judge
    scopes: tuple[Scope, ...]
    """The first is the default."""
    reason: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    version: int | None = None
    """Version of the signal; a plan stores the version for which it was written."""

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise BadInput for settings out of range or that would use the answers to analysed items."""
        scored = [kind for kind in settings.get("kinds", SCORABLE_KINDS) if kind not in SCORABLE_KINDS]
        if scored:
            raise BadInput(
                f"a plan cannot exclude by the answers to {', '.join(scored)} trials: that would raise the "
                "agreement it is meant to measure.",
                remedy="Only catch trials, which are outside the analysis, may exclude.",
            )
        for name in ("max_errors", "minimum"):
            if name in settings and not (type(settings[name]) is int and settings[name] >= 0):
                raise BadInput(f"{name} is {settings[name]!r}.", remedy="Give a whole number from 0.")
        if "version" in settings and settings["version"] != self.version:
            raise BadInput(
                f"the plan was written for version {settings['version']!r} of a signal that now has version "
                f"{self.version}.",
                remedy="Look at what has changed, and write the next version of the plan.",
            )
        for name in ("min_share", "max_share"):
            if name in settings:
                share_from(settings[name], name)


def any_row(marks: Floats, unit: Codes, n_units: int) -> Verdicts:
    """Fail a unit if any of its rows fails; no evidence if no row has any.

    Examples
    --------
    >>> any_row(np.array([1, 0, 0]), np.array([0, 0, 1]), 3).tolist()
    [1.0, 0.0, nan]
    """
    judged = ~np.isnan(marks)
    n_judged = np.bincount(unit[judged], minlength=n_units)
    failing = np.bincount(unit[judged & (marks == 1)], minlength=n_units)
    return np.where(n_judged > 0, (failing > 0).astype(float), np.nan)


def share_from(text: Any, name: str = "min_share") -> Fraction:
    """Parse a share as an exact fraction.

    Examples
    --------
    >>> share_from("0.9")
    Fraction(9, 10)
    """
    try:
        share = Fraction(str(text))
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise BadInput(f"{name} is {text!r}.", remedy="Give a share from 0 to 1.")
    return share


def is_rejected(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units whose submission was rejected on the recruitment platform.

    Examples
    --------
    >>> rows = pd.DataFrame({"submission_status": ["rejected", "approved"]})
    >>> is_rejected(rows, np.array([0, 1]), 2, {}).tolist()
    [1.0, 0.0]
    """
    codes, labels = group_codes(column_or_blank(judgments, "submission_status"))
    meaning = [np.nan if label == "" else float(label.strip().lower() == "rejected") for label in labels]
    return any_row(np.array(meaning)[codes], unit, n_units)


def catch_failed(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units with more than ``max_errors`` wrong answers to catch trials.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8: one obvious pair in every HIT.
    """
    catches = is_kind(judgments, tuple(settings["kinds"]))
    correct = flags(column_or_blank(judgments, "correct"))
    answered = catches & ~np.isnan(correct)
    n_answered = np.bincount(unit[answered], minlength=n_units)
    wrong = np.bincount(unit[answered & (correct == 0)], minlength=n_units)
    return np.where(n_answered > 0, (wrong > settings["max_errors"]).astype(float), np.nan)


def incomplete(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units that answered less than ``min_share`` of their planned trials.

    Examples
    --------
    >>> rows = pd.DataFrame({"value": [1, 1], "session_status": ["complete", "abandoned"]})
    >>> incomplete(rows, np.array([0, 1]), 2, {"min_share": 0.9}).tolist()
    [0.0, 1.0]
    """
    share = share_from(settings["min_share"])
    total = _n_planned(judgments, unit, n_units)
    is_answered = ~np.isnan(numbers(judgments)) | is_undecided(judgments)
    answered = np.bincount(unit[is_answered], minlength=n_units)
    short = answered * share.denominator < total * share.numerator
    codes, labels = group_codes(column_or_blank(judgments, "session_status"))
    meaning = [np.nan if label == "" else float(label != "complete") for label in labels]
    unfinished = any_row(np.array(meaning)[codes], unit, n_units)
    verdict: Verdicts = np.where(np.isnan(total), unfinished, short.astype(np.float64))
    return verdict


def timed_out(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units with more than ``max_share`` of their trials without an answer at the deadline.

    Examples
    --------
    >>> rows = pd.DataFrame({"status": ["timed_out", "answered", "answered", "answered"]})
    >>> timed_out(rows, np.array([0, 0, 1, 1]), 2, {"max_share": "0.2"}).tolist()
    [1.0, 0.0]
    """
    share = share_from(settings["max_share"], "max_share")
    codes, labels = group_codes(column_or_blank(judgments, "status"))
    counted = np.array([label != "" for label in labels], dtype=bool)[codes]
    counted &= ~is_kind(judgments, ("practice",))
    late = counted & np.array([label == "timed_out" for label in labels], dtype=bool)[codes]
    n = np.bincount(unit[counted], minlength=n_units)
    n_late = np.bincount(unit[late], minlength=n_units)
    return np.where(n > 0, (n_late * share.denominator > n * share.numerator).astype(float), np.nan)


def _n_planned(judgments: pd.DataFrame, unit: Codes, n_units: int) -> Floats:
    """Sum the planned trials of each unit's sessions; NaN if no session has a number."""
    column = pd.to_numeric(column_or_blank(judgments, "n_planned"), errors="coerce")
    by_row = column.to_numpy(dtype=np.float64)
    cell, unit_of, _ = joint_codes(unit, group_codes(column_or_blank(judgments, "session"))[0])
    by_session = np.full(len(unit_of), np.nan)
    has_number = ~np.isnan(by_row)
    by_session[cell[has_number]] = by_row[has_number]
    stated = ~np.isnan(by_session)
    total = np.bincount(unit_of[stated], weights=by_session[stated], minlength=n_units)
    return np.where(np.bincount(unit_of[stated], minlength=n_units) > 0, total, np.nan)


def not_native(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units whose participant does not report the study's language as a native one.

    Examples
    --------
    >>> rows = pd.DataFrame({"native": [True, False]})
    >>> not_native(rows, np.array([0, 1]), 2, {}).tolist()
    [0.0, 1.0]
    """
    native = flags(column_or_blank(judgments, "native"))
    return any_row(1 - native, unit, n_units)


def is_flagged(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units that a researcher flagged manually.

    Examples
    --------
    >>> rows = pd.DataFrame({"flagged": [True, False]})
    >>> is_flagged(rows, np.array([0, 1]), 2, {}).tolist()
    [1.0, 0.0]
    """
    return any_row(flags(column_or_blank(judgments, "flagged")), unit, n_units)


def too_few(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units with fewer than ``minimum`` answered targets.

    Examples
    --------
    >>> rows = pd.DataFrame({"value": [1, 1]})
    >>> too_few(rows, np.array([0, 1]), 2, {"minimum": 2}).tolist()
    [1.0, 1.0]
    """
    answered = is_analysed(judgments)
    verdict: Verdicts = np.where(
        np.bincount(unit[answered], minlength=n_units) < settings["minimum"], 1.0, 0.0
    )
    return verdict


def is_analysed(judgments: pd.DataFrame) -> Flags:
    """Return which rows are answered targets, that is analysed judgments.

    Examples
    --------
    >>> rows = pd.DataFrame({"value": [1, None, 1], "kind": ["target", "target", "catch"]})
    >>> is_analysed(rows).tolist()
    [True, False, False]
    """
    return is_kind(judgments, ("target",)) & ~np.isnan(numbers(judgments))


def _signal_criterion(signal: Signal) -> Judge:
    """Make a criterion that fails units with a flagged session; no evidence where the signal has none."""

    def judge(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
        flagged = signal.measure(judgments)["flagged"].astype(float)
        codes, labels = session_codes(judgments)
        by_session: Floats = np.asarray(flagged.reindex(labels), dtype=np.float64)
        marks: Floats = by_session[codes]
        return any_row(marks, unit, n_units)

    return judge


SIGNAL_PREFIX = "signal:"
CRITERIA: dict[str, Criterion] = {
    "rejected": Criterion(is_rejected, ("session", "participant"), "submission rejected on the platform"),
    "catch_failed": Criterion(
        catch_failed,
        ("session", "participant"),
        "too many catch trials wrong",
        {"max_errors": 0, "kinds": ("catch",)},
    ),
    "incomplete": Criterion(
        incomplete, ("session", "participant"), "too few planned trials answered", {"min_share": "0.9"}
    ),
    "timed_out": Criterion(
        timed_out, ("session", "participant"), "too many trials timed out", {"max_share": "0.2"}
    ),
    "not_native": Criterion(not_native, ("participant", "session"), "not a native speaker by own report"),
    "flagged": Criterion(is_flagged, ("session", "participant", "judgment"), "flagged by a researcher"),
    "too_few": Criterion(too_few, ("participant", "session"), "too few answers", {"minimum": 4}),
    **{
        f"{SIGNAL_PREFIX}{name}": Criterion(
            _signal_criterion(signal),
            ("session", "participant"),
            signal.reason,
            {"version": signal.version},
            version=signal.version,
        )
        for name, signal in SIGNALS.items()
    },
}
