"""Sums by participant behind the intervals of an agreement report, and the side of the answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from analysis.agreement.bootstrap import Intervals, cluster_sums
from analysis.agreement.majority import item_codes
from analysis.agreement.summaries import Study
from analysis.rows import Codes, Flags, Floats, group_codes, none_if_nan


@dataclass(frozen=True)
class ParticipantSums:
    """Numerators and denominators, participants by statistics, with the statistics' groups in order."""

    numerators: Any
    denominators: Any
    groups: tuple[tuple[str, int], ...]

    def named(self, intervals: Intervals) -> dict[str, list[dict[str, Any]]]:
        """Split the columns' intervals by group."""
        ends = [
            {"ci_low": none_if_nan(low), "ci_high": none_if_nan(high), "ci_method": method}
            for low, high, method in zip(intervals.low, intervals.high, intervals.method, strict=True)
        ]
        named, start = {}, 0
        for name, size in self.groups:
            named[name] = ends[start : start + size]
            start += size
        return named


def participant_sums(decided: pd.DataFrame, study: Study, *, kept: Flags) -> ParticipantSums:
    """Sum each participant's agreement by paradigm, phenomenon and overall.

    Parameters
    ----------
    decided : DataFrame
        As from :func:`analysis.agreement.decisions.decisions`.
    study : Study
        The counted items.
    kept : array of bool
        Paradigms of ``overall_included``.

    Returns
    -------
    ParticipantSums
        Groups ``overall`` (two: all, included), ``paradigms``, ``phenomena`` and ``position``.
    """
    agrees = decided["agrees"].to_numpy(dtype=np.float64)
    answered = ~np.isnan(agrees)
    item, items = item_codes(decided)
    n_item = np.bincount(item[answered], minlength=len(items))
    place = {name: number for number, name in enumerate(study.paradigms)}
    paradigm_of = np.array([place[name] for name in items["paradigm"]], dtype=np.int64)
    person, people = group_codes(decided["participant"])
    used, row = person[answered], item[answered]
    weight, paradigm = 1.0 / n_item[row], paradigm_of[row]
    shape = (max(len(people), 1), len(study.paradigms))
    tops = cluster_sums(agrees[answered] * weight, used, paradigm, shape=shape)
    bottoms = cluster_sums(weight, used, paradigm, shape=shape)
    judged = np.bincount(paradigm_of[n_item > 0], minlength=shape[1])
    select = _selection(study, kept, judged)
    chose_first, sided = _chose_first(decided, agrees)
    side = [np.bincount(person, weights=w, minlength=shape[0])[:, None] for w in (chose_first, sided)]
    groups = (("overall", 2), ("paradigms", shape[1]), ("phenomena", len(study.phenomena)), ("position", 1))
    return ParticipantSums(_beside(tops @ select, side[0]), _beside(bottoms @ select, side[1]), groups)


def position_summary(decided: pd.DataFrame, ends: list[dict[str, Any]]) -> dict[str, Any]:
    """Report the share of first-shown choices, and accuracy by the side of the expected member.

    Parameters
    ----------
    decided : DataFrame
        As from :func:`analysis.agreement.decisions.decisions`.
    ends : list of dict
        The interval of the share, from :meth:`ParticipantSums.named`.

    Returns
    -------
    dict
        None throughout, with status ``not_recorded``, where no side is known.
    """
    agrees, first = decided["agrees"].to_numpy(dtype=float), decided["expected_first"].to_numpy(dtype=float)
    chose_first, sided = _chose_first(decided, agrees)
    n = int(sided.sum())
    sides: Mapping[str, Flags] = {"first": (sided > 0) & (first == 1), "second": (sided > 0) & (first == 0)}
    accuracy = {
        f"accuracy_expected_{name}": float(agrees[rows].mean()) if rows.any() else None
        for name, rows in sides.items()
    }
    counts = {f"n_expected_{name}": int(rows.sum()) for name, rows in sides.items()}
    share = float(chose_first.sum() / n) if n else None
    return {
        "p_first": share,
        "n": n,
        **ends[0],
        **accuracy,
        **counts,
        "status": "ok" if n else "not_recorded",
    }


def _chose_first(decided: pd.DataFrame, agrees: Floats) -> tuple[Floats, Floats]:
    first = decided["expected_first"].to_numpy(dtype=np.float64)
    sided = ~np.isnan(first) & ~np.isnan(agrees)
    return (sided & (agrees == first)).astype(np.float64), sided.astype(np.float64)


def _selection(study: Study, kept: Flags, judged: Codes) -> sparse.csr_array:
    """Weigh paradigms into the statistics: items alike overall, paradigms alike in a phenomenon."""
    n = len(study.paradigms)
    phenomena = sparse.csr_array(
        (
            np.divide(1.0, judged, out=np.zeros(n), where=judged > 0),
            (np.arange(n), study.phenomenon_of),
        ),
        shape=(n, len(study.phenomena)),
    )
    overall = sparse.csr_array(np.column_stack([np.ones(n), kept.astype(np.float64)]))
    parts: list[Any] = [overall, sparse.eye_array(n), phenomena]
    return sparse.csr_array(sparse.hstack(parts))


def _beside(sums: Any, column: Any) -> Any:
    if sparse.issparse(sums):
        parts: list[Any] = [sums, sparse.csr_array(column)]
        return sparse.csr_array(sparse.hstack(parts))
    return np.hstack([sums, column])
