"""Sums by participant behind the intervals of an agreement report, and the side of the answer."""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from analysis.agreement.bootstrap import Intervals, participant_intervals, ratio_sums
from analysis.agreement.majority import ItemCodes
from analysis.agreement.summaries import Study
from analysis.rows import Codes, Flags, Floats, chunks, group_codes, none_if_nan

Ends = list[dict[str, Any]]


def report_intervals(
    decided: pd.DataFrame, coded: ItemCodes, study: Study, *, kept: Flags, draws: int, seed: int
) -> dict[str, Ends]:
    """Give the participant-cluster intervals of an agreement report.

    Parameters
    ----------
    decided : DataFrame
        As from :func:`analysis.agreement.decisions.decisions`.
    coded : ItemCodes
        Its items.
    study : Study
        The counted items.
    kept : array of bool
        Paradigms of ``overall_included``.
    draws, seed : int
        As in :func:`analysis.agreement.bootstrap.participant_intervals`.

    Returns
    -------
    dict of lists of dict
        ``overall`` (two: all, included), ``paradigms``, ``phenomena`` and ``position`` (one).

    See Also
    --------
    analysis.agreement.bootstrap.participant_intervals : How they are made.
    """
    agrees = decided["agrees"].to_numpy(dtype=np.float64)
    person, people = group_codes(decided["participant"])
    tops, bottoms, judged = _paradigm_sums(agrees, person, coded, study, n_people=max(len(people), 1))
    select: Any = _selection(study, kept, judged)
    sides = _side_sums(decided, agrees, person, n_people=tops.shape[0])
    wide = participant_intervals(tops, bottoms, draws=draws, seed=seed)
    if isinstance(tops, np.ndarray):
        select = _dense(select)  # a full times a sparse table is copied and turned over twice
    few = [
        np.hstack([_dense(sums @ select), side]) for sums, side in zip((tops, bottoms), sides, strict=True)
    ]
    ends = _ends(participant_intervals(few[0], few[1], draws=draws, seed=seed))
    return {"overall": ends[:2], "phenomena": ends[2:-1], "position": ends[-1:], "paradigms": _ends(wide)}


def _paradigm_sums(
    agrees: Floats, person: Codes, coded: ItemCodes, study: Study, *, n_people: int
) -> tuple[Any, Any, Codes]:
    """Sum agreement and weight by participant and paradigm; a judgment weighs 1 / n of its item."""
    item = coded.codes
    answered = ~np.isnan(agrees)
    if not answered.all():
        person, item, agrees = person[answered], item[answered], agrees[answered]
    n_item = np.bincount(item, minlength=len(coded.table))
    place = {name: number for number, name in enumerate(study.paradigms)}
    paradigm_of = np.array([place[name] for name in coded.table["paradigm"]], dtype=np.int64)
    weight_of = np.divide(1.0, n_item, out=np.zeros(len(n_item)), where=n_item > 0)
    shape = (n_people, len(study.paradigms))
    tops, bottoms = ratio_sums(agrees, person, item, weight_of, paradigm_of, shape=shape)
    return tops, bottoms, np.bincount(paradigm_of[n_item > 0], minlength=shape[1])


def position_summary(decided: pd.DataFrame, ends: Ends) -> dict[str, Any]:
    """Report the share of first-shown choices, and accuracy by the side of the expected member.

    Parameters
    ----------
    decided : DataFrame
        As from :func:`analysis.agreement.decisions.decisions`.
    ends : list of dict
        The interval of the share, from :func:`report_intervals`.

    Returns
    -------
    dict
        None throughout, with status ``not_recorded``, where no side is known.

    See Also
    --------
    chose_first : The choices that are counted.
    """
    agrees, first = (decided[name].to_numpy(dtype=np.float64) for name in ("agrees", "expected_first"))
    chosen_first, sided, right = 0.0, np.zeros(2, dtype=np.int64), np.zeros(2)
    for rows in chunks(len(agrees)):
        chosen, known = chose_first(first[rows], agrees[rows])
        answer, side = agrees[rows][known > 0], first[rows][known > 0].astype(np.int64)
        chosen_first += chosen.sum()
        sided += np.bincount(side, minlength=2)
        right += np.bincount(side, weights=answer, minlength=2)
    n = int(sided.sum())
    sides = {"first": 1, "second": 0}
    accuracy = {
        f"accuracy_expected_{name}": float(right[side] / sided[side]) if sided[side] else None
        for name, side in sides.items()
    }
    counts = {f"n_expected_{name}": int(sided[side]) for name, side in sides.items()}
    share = float(chosen_first / n) if n else None
    return {
        "p_first": share,
        "n": n,
        **ends[0],
        **accuracy,
        **counts,
        "status": "ok" if n else "not_recorded",
    }


def chose_first(first: Floats, agrees: Floats) -> tuple[Floats, Floats]:
    """Give 1 for each choice of the member shown first, and 1 for each choice whose sides are known.

    Parameters
    ----------
    first, agrees : arrays of float
        Columns ``expected_first`` and ``agrees`` of :func:`analysis.agreement.decisions.decisions`.

    Returns
    -------
    first, sided : arrays of float

    Examples
    --------
    >>> sides = chose_first(np.array([1.0, 0.0, np.nan]), np.array([1.0, 1.0, 1.0]))
    >>> [part.tolist() for part in sides]
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    sided = ~np.isnan(first) & ~np.isnan(agrees)
    return (sided & (agrees == first)).astype(np.float64), sided.astype(np.float64)


def _side_sums(decided: pd.DataFrame, agrees: Floats, person: Codes, *, n_people: int) -> list[Floats]:
    """Sum by participant the choices of the member shown first, and those whose sides are known."""
    first = decided["expected_first"].to_numpy(dtype=np.float64)
    sums = np.zeros((2, n_people))
    for rows in chunks(len(agrees)):
        for total, weights in zip(sums, chose_first(first[rows], agrees[rows]), strict=True):
            total += np.bincount(person[rows], weights=weights, minlength=n_people)
    return [total[:, None] for total in sums]


def _selection(study: Study, kept: Flags, judged: Codes) -> "scipy.sparse.csr_array":
    """Weigh paradigms into the statistics: items alike overall, paradigms alike in a phenomenon."""
    n = len(study.paradigms)
    weight = np.divide(1.0, judged, out=np.zeros(n), where=judged > 0)
    place = (np.arange(n), study.phenomenon_of)
    phenomena = scipy.sparse.csr_array((weight, place), shape=(n, len(study.phenomena)))
    overall = scipy.sparse.csr_array(np.column_stack([np.ones(n), kept.astype(np.float64)]))
    parts: list[Any] = [overall, phenomena]
    return scipy.sparse.csr_array(scipy.sparse.hstack(parts))


def _ends(intervals: Intervals) -> Ends:
    """Round to ten decimals: matrix products differ in the last digits from machine to machine."""
    lows, highs = (np.round(ends, 10) for ends in (intervals.low, intervals.high))
    return [
        {"ci_low": none_if_nan(low), "ci_high": none_if_nan(high), "ci_method": method}
        for low, high, method in zip(lows, highs, intervals.method, strict=True)
    ]


def _dense(sums: Any) -> Any:
    return sums if isinstance(sums, np.ndarray) else sums.toarray()
