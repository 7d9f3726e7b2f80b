"""The majority label of an item, with ties and thin items visible."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.aggregation.proportions import wilson_interval
from analysis.errors import UnknownName
from analysis.joint_groups import joint_codes
from analysis.rows import Codes, group_codes

N_MIN = 3
TIES = ("strict", "half", "drop")
USABLE = ("expected", "unexpected", "tie")


def majority_status(
    k: npt.ArrayLike, n: npt.ArrayLike, *, n_min: int = N_MIN, halves: npt.ArrayLike = 0
) -> np.ndarray:
    """Name the majority of each item.

    Parameters
    ----------
    k, n : arrays of counts
        Judgments for the expected label, and all kept judgments.
    n_min : int
        Items with fewer judgments are ``insufficient``.
    halves : array of counts
        Judgments among ``n`` that count one half for each side.

    Returns
    -------
    array of str
        ``expected`` (2k + halves > n), ``unexpected`` (2k + halves < n), ``tie``, ``insufficient`` or
        ``no_data``.

    Notes
    -----
    Counts are compared as integers; a tie is never broken by the order of the rows.

    Examples
    --------
    >>> majority_status([3, 2, 1, 0], [4, 4, 3, 0]).tolist()
    ['expected', 'tie', 'unexpected', 'no_data']
    """
    chosen, total = np.asarray(k, dtype=np.int64), np.asarray(n, dtype=np.int64)
    doubled = 2 * chosen + np.asarray(halves, dtype=np.int64)
    conditions = [total == 0, total < n_min, doubled > total, doubled < total]
    words = ["no_data", "insufficient", "expected", "unexpected"]
    return np.select(conditions, words, default="tie").astype(object)


def majority_agreement(majority: npt.ArrayLike, *, ties: str = "strict") -> float | None:
    """Give the share of items whose majority is the expected label.

    Parameters
    ----------
    majority : array of str
        As from :func:`majority_status`; ``no_data`` and ``insufficient`` items are left out.
    ties : {"strict", "half", "drop"}
        A tie is not right, counts one half, or leaves the denominator.

    Returns
    -------
    float or None
        None where no item can be used.

    Raises
    ------
    UnknownName
        If ``ties`` is another word.

    Examples
    --------
    >>> majority_agreement(["expected", "tie"]), majority_agreement(["expected", "tie"], ties="drop")
    (0.5, 1.0)
    """
    if ties not in TIES:
        raise UnknownName("tie rule", ties, TIES)
    words = np.asarray(majority, dtype=object)
    right, tied = int((words == "expected").sum()), int((words == "tie").sum())
    items = right + tied + int((words == "unexpected").sum())
    if ties == "drop":
        items -= tied
    doubled = 2 * right + (tied if ties == "half" else 0)
    return doubled / (2 * items) if items else None


@dataclass(frozen=True)
class ItemCodes:
    """The item of each decision as an integer, and the items in order of paradigm and name."""

    codes: Codes
    table: pd.DataFrame
    """``paradigm``, ``phenomenon``, ``item``, ``coding`` and ``task`` of each code."""


def item_codes(decided: pd.DataFrame) -> ItemCodes:
    """Number the items of a frame of decisions; the same item name in two paradigms is two items.

    Parameters
    ----------
    decided : DataFrame
        As from :func:`analysis.agreement.decisions.decisions`.

    Returns
    -------
    ItemCodes

    Examples
    --------
    >>> from analysis.agreement.decisions import decisions
    >>> rows = pd.DataFrame({"participant": "a", "paradigm": ["x", "y"], "item": "1", "value": [1, 1]})
    >>> item_codes(decisions(rows)).codes.tolist()
    [0, 1]
    """
    paradigm, paradigms = group_codes(decided["paradigm"])
    item, items = group_codes(decided["item"])
    codes, paradigm_of, item_of = joint_codes(paradigm, item)
    row = np.zeros(len(paradigm_of), dtype=np.int64)
    row[codes[::-1]] = np.arange(len(codes))[::-1]
    phenomenon = decided["phenomenon"].iloc[row].astype(object)
    table = {
        "paradigm": np.array(paradigms, dtype=object)[paradigm_of],
        "phenomenon": phenomenon.where(phenomenon.notna(), "").astype(str).astype(object).to_numpy(),
        "item": np.array(items, dtype=object)[item_of],
        "coding": decided["coding"].iloc[row].to_numpy(),
        "task": decided["task"].iloc[row].to_numpy(),
    }
    return ItemCodes(codes, pd.DataFrame(table))


def count_items(decided: pd.DataFrame, *, n_min: int = N_MIN, coded: ItemCodes | None = None) -> pd.DataFrame:
    """Count the decisions of each item.

    Parameters
    ----------
    decided : DataFrame
        As from :func:`analysis.agreement.decisions.decisions`.
    n_min : int
        As in :func:`majority_status`.
    coded : ItemCodes, optional
        As from :func:`item_codes`, where it was computed before.

    Returns
    -------
    DataFrame
        One row per item: ``paradigm``, ``phenomenon``, ``item``, ``k`` (agree), ``n``, ``n_missing``,
        ``n_undecided`` (of ``n``, both or neither), ``n_half`` (of ``n``, counted one half), ``share``
        ((k + n_half / 2) / n), ``ci_low``, ``ci_high`` (Wilson, 95 %) and ``majority``.

    Examples
    --------
    >>> from analysis.agreement.decisions import decisions
    >>> rows = pd.DataFrame({"participant": list("abcd"), "item": "i", "value": [1, 1, 0, 0]})
    >>> count_items(decisions(rows))[["k", "n", "majority"]].to_dict("records")
    [{'k': 2, 'n': 4, 'majority': 'tie'}]
    """
    known = coded or item_codes(decided)
    codes, items = known.codes, known.table[["paradigm", "phenomenon", "item"]]
    agrees = decided["agrees"].to_numpy(dtype=np.float64)
    answered = ~np.isnan(agrees)
    shown = np.bincount(codes, minlength=len(items))
    n = np.bincount(codes[answered], minlength=len(items))
    k = np.bincount(codes[agrees == 1], minlength=len(items))
    open_ = answered & decided["undecided"].to_numpy(dtype=bool)
    undecided = np.bincount(codes[open_], minlength=len(items))
    halves = np.bincount(codes[agrees == 0.5], minlength=len(items))
    low, high = wilson_interval(k + halves / 2, n)
    share = np.divide(k + halves / 2, n, out=np.full(len(items), np.nan), where=n > 0)
    return items.assign(
        k=k,
        n=n,
        n_missing=shown - n,
        n_undecided=undecided,
        n_half=halves,
        share=share,
        ci_low=low,
        ci_high=high,
        majority=majority_status(k, n, n_min=n_min, halves=halves),
    )
