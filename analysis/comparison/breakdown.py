"""A model beside people, paradigm by paradigm and phenomenon by phenomenon."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from analysis.comparison.baselines import adc_shares
from analysis.comparison.criteria import Signs
from analysis.comparison.deltas import PairTable

Counted = npt.NDArray[np.bool_]


def by_paradigm(
    table: PairTable, model: str, counted: Counted, *, deltas: Sequence[float], signs: Signs
) -> list[dict[str, Any]]:
    """Give a model's criteria within each paradigm, with Wilson intervals.

    Parameters
    ----------
    table : PairTable
        The joined data.
    model : str
        A column of the scores.
    counted : ndarray of bool
        Which pairs count.
    deltas : sequence of float
        The δ of the ADC.
    signs : {"strict", "published"}
        How zeros are treated.

    Returns
    -------
    list of dict
        ``paradigm``, ``phenomenon``, ``pairs``, ``blimp``, ``ci_low``, ``ci_high``, ``adc``,
        ``people_prefer_good``; empty when the pairs name no paradigm.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22. Warstadt et al. (2020), "BLiMP", TACL
    8.
    """
    if "paradigm" not in table.pairs.columns:
        return []
    rows = []
    for paradigm, places in table.pairs[counted].groupby("paradigm", sort=True).groups.items():
        rows.append(_row(table, model, str(paradigm), list(places), deltas=deltas, signs=signs))
    return rows


def by_phenomenon(
    table: PairTable, model: str, counted: Counted, *, deltas: Sequence[float], signs: Signs
) -> list[dict[str, Any]]:
    """Give each phenomenon the unweighted mean of its paradigms, as BLiMP does.

    Parameters
    ----------
    table : PairTable
        The joined data.
    model : str
        A column of the scores.
    counted : ndarray of bool
        Which pairs count.
    deltas : sequence of float
        The δ of the ADC.
    signs : {"strict", "published"}
        How zeros are treated.

    Returns
    -------
    list of dict
        ``phenomenon``, ``paradigms``, ``pairs``, ``blimp``, ``adc``; empty when the pairs name no phenomenon.
        Without paradigms the pairs of a phenomenon are averaged.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8.
    """
    if "phenomenon" not in table.pairs.columns:
        return []
    unit = "paradigm" if "paradigm" in table.pairs.columns else "phenomenon"
    found = []
    for phenomenon, members in table.pairs[counted].groupby("phenomenon", sort=True):
        rows = [
            _row(table, model, str(name), list(places), deltas=deltas, signs=signs)
            for name, places in members.groupby(unit).groups.items()
        ]
        found.append({
            "phenomenon": str(phenomenon),
            "paradigms": len(rows),
            "pairs": len(members),
            "blimp": _mean([row["blimp"] for row in rows]),
            "adc": {key: _mean([row["adc"][key] for row in rows]) for key in rows[0]["adc"]},
        })  # fmt: skip
    return found


def _row(
    table: PairTable, model: str, name: str, places: list[int], *, deltas: Sequence[float], signs: Signs
) -> dict[str, Any]:
    prefers = table.prefers_good[model].loc[places].to_numpy(dtype=float)
    human = table.human_delta.loc[places].to_numpy(dtype=float)
    adc = adc_shares(
        human, table.model_delta[model].loc[places].to_numpy(dtype=float), deltas=deltas, signs=signs
    )
    right = int(np.nansum(prefers))
    interval = scipy.stats.binomtest(right, len(places)).proportion_ci(method="wilson")
    known = human[~np.isnan(human)]
    return {
        "paradigm": name,
        "phenomenon": _phenomenon(table.pairs, places),
        "pairs": len(places),
        "blimp": right / len(places),
        "ci_low": float(interval.low),
        "ci_high": float(interval.high),
        "adc": {format(delta, "g"): value for delta, value in adc.items()},
        "people_prefer_good": float((known > 0).mean()) if known.size else None,
    }


def _phenomenon(pairs: pd.DataFrame, places: list[int]) -> str | None:
    if "phenomenon" not in pairs.columns or pd.isna(pairs["phenomenon"].loc[places[0]]):
        return None
    return str(pairs["phenomenon"].loc[places[0]])


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
