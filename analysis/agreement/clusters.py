"""Sums by participant for the intervals of an agreement report, and position bias."""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..rows import Codes, Flags, Floats, chunks, group_codes, none_if_nan
from .bootstrap import Intervals, participant_intervals, ratio_sums
from .majority import ItemCodes
from .summaries import Study

Ends = list[dict[str, Any]]


def report_intervals(
    decided: pd.DataFrame,
    coded: ItemCodes,
    study: Study,
    *,
    showings: pd.DataFrame,
    included: Flags,
    draws: int,
    seed: int,
    method: str = "auto",
) -> dict[str, Ends]:
    """Compute the participant-cluster intervals of an agreement report; the side is that of each showing."""
    agrees = decided["agrees"].to_numpy(dtype=np.float64)
    person, people = group_codes(decided["participant"])
    tops, bottoms, judged = _paradigm_sums(agrees, person, coded, study, n_people=max(len(people), 1))
    select: Any = _selection(study, included, judged)
    sides = _side_sums(showings, n_people=tops.shape[0])
    wide = participant_intervals(tops, bottoms, draws=draws, seed=seed, method=method)
    if isinstance(tops, np.ndarray):
        # A dense times a sparse matrix would be copied and transposed twice.
        select = _dense(select)
    few = [
        np.hstack([_dense(sums @ select), side]) for sums, side in zip((tops, bottoms), sides, strict=True)
    ]
    ends = _interval_rows(participant_intervals(few[0], few[1], draws=draws, seed=seed, method=method))
    return {
        "overall": ends[:2],
        "phenomena": ends[2:-1],
        "position": ends[-1:],
        "paradigms": _interval_rows(wide),
    }


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
    """Report the share of first-shown choices, and accuracy by the side of the expected member."""
    agrees, first = (decided[name].to_numpy(dtype=np.float64) for name in ("agrees", "expected_first"))
    chosen_first, sided, right = 0.0, np.zeros(2, dtype=np.int64), np.zeros(2)
    for rows in chunks(len(agrees)):
        chosen, has_side = first_choices(first[rows], agrees[rows])
        answer, side = agrees[rows][has_side > 0], first[rows][has_side > 0].astype(np.int64)
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


def first_choices(first: Floats, agrees: Floats) -> tuple[Floats, Floats]:
    """Return two indicators: the member shown first was chosen; the position is known.

    Examples
    --------
    >>> sides = first_choices(np.array([1.0, 0.0, np.nan]), np.array([1.0, 1.0, 1.0]))
    >>> [part.tolist() for part in sides]
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    sided = ~np.isnan(first) & ~np.isnan(agrees)
    return (sided & (agrees == first)).astype(np.float64), sided.astype(np.float64)


def _side_sums(showings: pd.DataFrame, *, n_people: int) -> list[Floats]:
    """Sum the choices of the member shown first, and those with known position, by participant."""
    first, agrees = (showings[name].to_numpy(dtype=np.float64) for name in ("expected_first", "agrees"))
    person, _ = group_codes(showings["participant"])
    sums = np.zeros((2, n_people))
    for rows in chunks(len(agrees)):
        for total, weights in zip(sums, first_choices(first[rows], agrees[rows]), strict=True):
            total += np.bincount(person[rows], weights=weights, minlength=n_people)
    return [total[:, None] for total in sums]


def _selection(study: Study, included: Flags, judged: Codes) -> "scipy.sparse.csr_array":
    """Build weights of paradigms: items have equal weight overall, paradigms within a phenomenon."""
    n = len(study.paradigms)
    weight = np.divide(1.0, judged, out=np.zeros(n), where=judged > 0)
    place = (np.arange(n), study.phenomenon_of)
    phenomena = scipy.sparse.csr_array((weight, place), shape=(n, len(study.phenomena)))
    overall = scipy.sparse.csr_array(np.column_stack([np.ones(n), included.astype(np.float64)]))
    parts: list[Any] = [overall, phenomena]
    return scipy.sparse.csr_array(scipy.sparse.hstack(parts))


def _interval_rows(intervals: Intervals) -> Ends:
    """Convert intervals to records."""
    # Ten decimals: the last digits of matrix products depend on the machine's BLAS.
    lows, highs = (np.round(ends, 10) for ends in (intervals.low, intervals.high))
    return [
        {"ci_low": none_if_nan(low), "ci_high": none_if_nan(high), "ci_method": method}
        for low, high, method in zip(lows, highs, intervals.method, strict=True)
    ]


def _dense(sums: Any) -> Any:
    return sums if isinstance(sums, np.ndarray) else sums.toarray()
