"""The majority label of an item, with ties and items of few judgments as separate values."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..aggregation.proportions import wilson_interval
from ..choices import TIES
from ..errors import UnknownName
from ..rows import Codes, average_repeats, distinct_codes, group_codes, joint_codes, own_majority

# Judgments; with fewer an item has no majority.
N_MIN = 3
USABLE = ("expected", "unexpected", "tie")


def majority_status(
    k: npt.ArrayLike, n: npt.ArrayLike, *, n_min: int = N_MIN, halves: npt.ArrayLike = 0
) -> np.ndarray:
    """Return the majority of each item: expected, unexpected, tie, insufficient or no_data.

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
    """Compute the share of items whose majority is the expected label.

    Examples
    --------
    >>> majority_agreement(["expected", "tie"]), majority_agreement(["expected", "tie"], ties="drop")
    (0.5, 1.0)
    """
    if ties not in TIES:
        raise UnknownName("tie rule", ties, TIES)
    n_items = Counter(np.asarray(majority, dtype=object).tolist())
    right, tied = n_items["expected"], n_items["tie"]
    items = right + tied + n_items["unexpected"]
    if ties == "drop":
        items -= tied
    doubled = 2 * right + (tied if ties == "half" else 0)
    return doubled / (2 * items) if items else None


@dataclass(frozen=True)
class ItemCodes:
    """Item of each decision as an integer, and the items ordered by paradigm and name."""

    codes: Codes
    table: pd.DataFrame
    """``paradigm``, ``phenomenon``, ``item``, ``coding`` and ``task`` of each code."""


def item_codes(decided: pd.DataFrame) -> ItemCodes:
    """Number the items of a frame of decisions; the same item name in two paradigms is two items.

    Examples
    --------
    >>> from obelus.aggregation.decisions import decisions
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


def one_answer_each(decided: pd.DataFrame) -> tuple[pd.DataFrame, ItemCodes]:
    """Merge the decisions of one participant about one item, and number the items.

    Notes
    -----
    A participant counts once for an item, by the answer given more often. Two answers given equally often
    count one half each, as an undecided answer.

    Examples
    --------
    >>> from obelus.aggregation.decisions import decisions
    >>> rows = pd.DataFrame({"participant": list("aaab"), "item": "i", "value": [1, 1, 0, 0]})
    >>> one_answer_each(decisions(rows))[0][["participant", "agrees"]].to_numpy().tolist()
    [['a', 1.0], ['b', 0.0]]
    """
    coded = item_codes(decided)
    if "participant" not in decided.columns:
        return decided, coded
    agrees = decided["agrees"].to_numpy(dtype=np.float64, copy=True)
    undecided = decided["undecided"].to_numpy(dtype=np.float64, copy=True)
    person = distinct_codes(decided["participant"])
    is_repeat = average_repeats([agrees, undecided], coded.codes, person, n_groups=len(coded.table))
    if not is_repeat.any():
        return decided, coded
    agrees = own_majority(agrees)
    is_open = (undecided == 1) | (agrees == 0.5)
    merged = decided.assign(agrees=agrees, undecided=is_open)[~is_repeat].reset_index(drop=True)
    return merged, ItemCodes(coded.codes[~is_repeat], coded.table)


def count_items(decided: pd.DataFrame, *, n_min: int = N_MIN, coded: ItemCodes | None = None) -> pd.DataFrame:
    """Count the decisions of each item.

    Notes
    -----
    One row per item: ``paradigm``, ``phenomenon``, ``item``, ``k`` (agree), ``n``, ``n_missing``,
    ``n_undecided`` (of ``n``, both or neither), ``n_half`` (of ``n``, counted one half), ``share``
    ((k + n_half / 2) / n), ``ci_low``, ``ci_high`` (Wilson, 95 %) and ``majority``. A participant counts
    once for an item (:func:`one_answer_each`); ``coded`` are the items of decisions merged already.

    Examples
    --------
    >>> from obelus.aggregation.decisions import decisions
    >>> rows = pd.DataFrame({"participant": list("abcd"), "item": "i", "value": [1, 1, 0, 0]})
    >>> count_items(decisions(rows))[["k", "n", "majority"]].to_dict("records")
    [{'k': 2, 'n': 4, 'majority': 'tie'}]
    """
    if coded is None:
        decided, coded = one_answer_each(decided)
    codes, items = coded.codes, coded.table[["paradigm", "phenomenon", "item"]]
    agrees = decided["agrees"].to_numpy(dtype=np.float64)
    answered = ~np.isnan(agrees)
    n_rows = np.bincount(codes, minlength=len(items))
    n = n_rows if answered.all() else np.bincount(codes[answered], minlength=len(items))
    k = np.bincount(codes, weights=agrees == 1, minlength=len(items)).astype(np.int64)
    is_open = answered & decided["undecided"].to_numpy(dtype=bool)
    undecided = np.bincount(codes[is_open], minlength=len(items))
    halves = np.bincount(codes[agrees == 0.5], minlength=len(items))
    share = np.divide(k + halves / 2, n, out=np.full(len(items), np.nan), where=n > 0)
    low, high = wilson_interval(k + halves / 2, n)
    return items.assign(
        k=k,
        n=n,
        n_missing=n_rows - n,
        n_undecided=undecided,
        n_half=halves,
        share=share,
        ci_low=low,
        ci_high=high,
        majority=majority_status(k, n, n_min=n_min, halves=halves),
    )
