"""The criteria of exclusion: one function each, from judgments to failed, passed or no evidence.

A criterion never looks at the answers to analysed items: excluding people because they disagree
with the expected labels would raise the very agreement that is reported. Quality signals serve as
criteria under ``signal:<name>``; the one that compares people with each other says so in its reason.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.exclusions.criterion import Criterion, Judge, Verdicts, any_row, share_from
from analysis.joint_groups import joint_codes
from analysis.quality.base import Signal, session_codes
from analysis.quality.report import SIGNALS
from analysis.rows import Codes, Flags, Floats, column_or_blank, flags, group_codes, is_kind, numbers
from analysis.undecided import is_undecided


def rejected(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units whose submission the platform's requester rejected.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``submission_status``; empty where nothing was decided.
    unit : array of int
        The unit (session or participant) of each row.
    n_units : int
    settings : mapping
        None used.

    Returns
    -------
    array of float
        1, 0 or NaN for each unit.

    Examples
    --------
    >>> rows = pd.DataFrame({"submission_status": ["rejected", "approved"]})
    >>> rejected(rows, np.array([0, 1]), 2, {}).tolist()
    [1.0, 0.0]
    """
    codes, labels = group_codes(column_or_blank(judgments, "submission_status"))
    meaning = [np.nan if label == "" else float(label.strip().lower() == "rejected") for label in labels]
    return any_row(np.array(meaning)[codes], unit, n_units)


def catch_failed(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units with more than ``max_errors`` wrong answers to catch trials.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``correct`` of the rows whose ``kind`` is catch.
    unit : array of int
        The unit (session or participant) of each row.
    n_units : int
    settings : mapping
        ``max_errors`` (default 0) and ``kinds`` (only catch).

    Returns
    -------
    array of float
        NaN for units that answered no catch trial.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8: one obvious pair in every HIT.
    """
    catches = is_kind(judgments, tuple(settings["kinds"]))
    correct = flags(column_or_blank(judgments, "correct"))
    answered = catches & ~np.isnan(correct)
    seen = np.bincount(unit[answered], minlength=n_units)
    wrong = np.bincount(unit[answered & (correct == 0)], minlength=n_units)
    return np.where(seen > 0, (wrong > settings["max_errors"]).astype(float), np.nan)


def incomplete(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units that answered less than ``min_share`` of their planned trials.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``n_planned`` with ``session``; where it is unknown, ``session_status`` other than
        ``complete`` fails.
    unit : array of int
        The unit (session or participant) of each row.
    n_units : int
    settings : mapping
        ``min_share`` (default 0.9); exactly that share passes.

    Returns
    -------
    array of float
        NaN for units with neither.

    Examples
    --------
    >>> rows = pd.DataFrame({"value": [1, 1], "session_status": ["complete", "abandoned"]})
    >>> incomplete(rows, np.array([0, 1]), 2, {"min_share": 0.9}).tolist()
    [0.0, 1.0]
    """
    share = share_from(settings["min_share"])
    total = _planned(judgments, unit, n_units)
    given = ~np.isnan(numbers(judgments)) | is_undecided(judgments)
    answered = np.bincount(unit[given], minlength=n_units)
    short = answered * share.denominator < total * share.numerator
    codes, labels = group_codes(column_or_blank(judgments, "session_status"))
    meaning = [np.nan if label == "" else float(label != "complete") for label in labels]
    unfinished = any_row(np.array(meaning)[codes], unit, n_units)
    verdict: Verdicts = np.where(np.isnan(total), unfinished, short.astype(np.float64))
    return verdict


def _planned(judgments: pd.DataFrame, unit: Codes, n_units: int) -> Floats:
    """Add up the planned trials of each unit's sessions, NaN where none says how many."""
    column = pd.to_numeric(column_or_blank(judgments, "n_planned"), errors="coerce")
    by_row = column.to_numpy(dtype=np.float64)
    cell, unit_of, _ = joint_codes(unit, group_codes(column_or_blank(judgments, "session"))[0])
    by_session = np.full(len(unit_of), np.nan)
    known = ~np.isnan(by_row)
    by_session[cell[known]] = by_row[known]
    said = ~np.isnan(by_session)
    total = np.bincount(unit_of[said], weights=by_session[said], minlength=n_units)
    return np.where(np.bincount(unit_of[said], minlength=n_units) > 0, total, np.nan)


def not_native(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units whose participant does not report the study's language as a native one.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``native``; empty where it was not asked.
    unit : array of int
        The unit (participant or session) of each row.
    n_units : int
    settings : mapping
        None used.

    Returns
    -------
    array of float

    Examples
    --------
    >>> rows = pd.DataFrame({"native": [True, False]})
    >>> not_native(rows, np.array([0, 1]), 2, {}).tolist()
    [0.0, 1.0]
    """
    native = flags(column_or_blank(judgments, "native"))
    return any_row(1 - native, unit, n_units)


def flagged(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units that a researcher flagged by hand.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``flagged``.
    unit : array of int
        The unit (session or participant) of each row.
    n_units : int
    settings : mapping
        None used.

    Returns
    -------
    array of float

    Examples
    --------
    >>> rows = pd.DataFrame({"flagged": [True, False]})
    >>> flagged(rows, np.array([0, 1]), 2, {}).tolist()
    [1.0, 0.0]
    """
    return any_row(flags(column_or_blank(judgments, "flagged")), unit, n_units)


def too_few(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
    """Fail units with fewer than ``minimum`` answered targets.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``value``, ``kind`` and ``status``.
    unit : array of int
        The unit (participant or session) of each row.
    n_units : int
    settings : mapping
        ``minimum`` (default 4, as for participant z-scores).

    Returns
    -------
    array of float
        Never NaN: a count is always known.

    Examples
    --------
    >>> rows = pd.DataFrame({"value": [1, 1]})
    >>> too_few(rows, np.array([0, 1]), 2, {"minimum": 2}).tolist()
    [1.0, 1.0]
    """
    answered = analysed(judgments)
    verdict: Verdicts = np.where(
        np.bincount(unit[answered], minlength=n_units) < settings["minimum"], 1.0, 0.0
    )
    return verdict


def analysed(judgments: pd.DataFrame) -> Flags:
    """Tell which rows are answered targets, the judgments that an analysis counts.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``value``; ``kind`` and ``status`` are used where present.

    Returns
    -------
    array of bool

    Examples
    --------
    >>> rows = pd.DataFrame({"value": [1, None, 1], "kind": ["target", "target", "catch"]})
    >>> analysed(rows).tolist()
    [True, False, False]
    """
    return is_kind(judgments, ("target",)) & ~np.isnan(numbers(judgments))


def _judge_of(signal: Signal) -> Judge:
    """Fail units with a session that the signal flags; no evidence where the signal has none."""

    def judge(judgments: pd.DataFrame, unit: Codes, n_units: int, settings: Mapping[str, Any]) -> Verdicts:
        flagged = signal.measure(judgments)["flagged"].astype(float)
        codes, labels = session_codes(judgments)
        by_session: Floats = np.asarray(flagged.reindex(labels), dtype=np.float64)
        marks: Floats = by_session[codes]
        return any_row(marks, unit, n_units)

    return judge


SIGNAL_PREFIX = "signal:"
CRITERIA: dict[str, Criterion] = {
    "rejected": Criterion(rejected, ("session", "participant"), "submission rejected on the platform"),
    "catch_failed": Criterion(
        catch_failed,
        ("session", "participant"),
        "too many catch trials wrong",
        {"max_errors": 0, "kinds": ("catch",)},
    ),
    "incomplete": Criterion(
        incomplete, ("session", "participant"), "too few planned trials answered", {"min_share": "0.9"}
    ),
    "not_native": Criterion(not_native, ("participant", "session"), "not a native speaker by own report"),
    "flagged": Criterion(flagged, ("session", "participant", "judgment"), "flagged by a researcher"),
    "too_few": Criterion(too_few, ("participant", "session"), "too few answers", {"minimum": 4}),
    **{
        f"{SIGNAL_PREFIX}{name}": Criterion(
            _judge_of(one),
            ("session", "participant"),
            one.reason,
            {"version": one.version},
            version=one.version,
        )
        for name, one in SIGNALS.items()
    },
}
