"""The blocks of an agreement report: one for each paradigm, each phenomenon and overall.

Individual agreement is the probability that a single judgment agrees with the expected label.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ..rows import RATING_TASKS, Codes, Flags, group_codes
from ..text import natural_order
from .inclusion import Rule, Tally
from .majority import USABLE, majority_agreement


def pooled_share(k: npt.ArrayLike, n: npt.ArrayLike) -> float | None:
    """Compute Σk / Σn: every judgment has the same weight (micro average).

    Examples
    --------
    >>> round(pooled_share([9, 1, 4, 0], [10, 2, 4, 1]), 6)
    0.823529
    """
    chosen, total = np.asarray(k), np.asarray(n)
    return float(chosen.sum() / total.sum()) if total.sum() > 0 else None


def mean_of_item_shares(k: npt.ArrayLike, n: npt.ArrayLike) -> float | None:
    """Compute the mean of k / n over items with judgments: every item has the same weight (macro average).

    Notes
    -----
    BLiMP's released ``total_mean`` is this mean, not the pooled share.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8.

    Examples
    --------
    >>> mean_of_item_shares([9, 1, 4, 0], [10, 2, 4, 1])
    0.6
    """
    chosen, total = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    judged = total > 0
    return float((chosen[judged] / total[judged]).mean()) if judged.any() else None


def mean_of_group_means(shares: npt.ArrayLike, groups: npt.ArrayLike) -> float | None:
    """Average within groups, then over groups: paradigms within phenomena, for instance.

    Examples
    --------
    >>> mean_of_group_means([1.0, 1.0, 0.0], ["x", "x", "y"])
    0.5
    """
    values = pd.Series(np.asarray(shares, dtype=np.float64)).dropna()
    if values.empty:
        return None
    return float(values.groupby(np.asarray(groups, dtype=object)[values.index]).mean().mean())


Ends = Sequence[Mapping[str, Any]]
COUNT_COLUMNS = ("k", "n", "n_missing", "n_undecided", "n_half", "majority")


@dataclass(frozen=True)
class Study:
    """Counted items with their paradigms and phenomena, in alphabetical order."""

    items: pd.DataFrame
    paradigms: list[str]
    paradigm_of: Codes
    """Paradigm of each item."""
    phenomena: list[str]
    phenomenon_of: Codes
    """Phenomenon of each paradigm."""
    rated: frozenset[str]
    """Paradigms whose decisions come from ratings."""

    @classmethod
    def of(cls, items: pd.DataFrame, table: pd.DataFrame) -> "Study":
        """Arrange a table of items, as from ``count_items``, with the tasks in an ``ItemCodes`` table."""
        paradigm_of, paradigms = group_codes(items["paradigm"])
        phenomenon, phenomena = group_codes(items["phenomenon"])
        phenomenon_of = np.zeros(len(paradigms), dtype=np.int64)
        phenomenon_of[paradigm_of] = phenomenon
        rated = frozenset(table["paradigm"][table["task"].isin(RATING_TASKS).to_numpy()])
        return cls(items, paradigms, paradigm_of, phenomena, phenomenon_of, rated)

    def statuses(self, rule: Rule | None) -> list[str]:
        """Return included, rejected, insufficient_items, not_estimable, no_data or ok for each paradigm."""
        order = np.argsort(self.paradigm_of, kind="stable")
        starts = np.searchsorted(self.paradigm_of[order], np.arange(len(self.paradigms) + 1))
        k, n = self.items["k"].to_numpy()[order], self.items["n"].to_numpy()[order]
        if self.items["n_half"].any():  # count in half judgments, so that fractions stay exact
            k, n = 2 * k + self.items["n_half"].to_numpy()[order], 2 * n
        word = self.items["majority"].to_numpy(dtype=object)[order]
        statuses = []
        for number, name in enumerate(self.paradigms):
            part = slice(starts[number], starts[number + 1])
            if n[part].sum() == 0 and (name in self.rated or rule is None):
                statuses.append("not_estimable" if name in self.rated else "no_data")
            elif rule is None:
                statuses.append("ok")
            else:
                majorities = Counter(word[part].tolist())
                usable = sum(majorities[status] for status in USABLE)
                right = majorities["expected"]
                counts = list(zip(k[part].tolist(), n[part].tolist(), strict=True))
                statuses.append(rule.decide(Tally(right, usable, counts)))
        return statuses

    def summaries(
        self,
        status: Sequence[str],
        included: Sequence[bool] | None,
        *,
        ties: str,
        intervals: Mapping[str, Ends],
    ) -> dict[str, Any]:
        """Return ``overall``, ``overall_included``, ``paradigms`` and ``phenomena``."""
        everything = np.ones(len(self.paradigms), dtype=bool)
        is_included = everything if included is None else np.array(included, dtype=bool)
        overall, overall_included = intervals["overall"]
        paradigms = []
        for number, counts in enumerate(self._group_counts(self.paradigm_of, len(self.paradigms), ties=ties)):
            chosen = None if included is None else bool(included[number])
            names = {
                "paradigm": self.paradigms[number],
                "phenomenon": self.phenomena[self.phenomenon_of[number]] or None,
            }
            decision = {"included": chosen, "status": status[number]}
            paradigms.append({**names, **counts, **intervals["paradigms"][number], **decision})
        return {
            "overall": self.block(everything, included, ties=ties) | {**overall},
            "overall_included": self.block(is_included, included, ties=ties) | {**overall_included},
            "paradigms": sorted(paradigms, key=lambda row: natural_order(row["paradigm"])),
            "phenomena": [
                {"phenomenon": name or None}
                | self.block(self.phenomenon_of == number, included, ties=ties, by_paradigm=True)
                | {**intervals["phenomena"][number]}
                for number, name in enumerate(self.phenomena)
            ],
        }

    def block(
        self, chosen: Flags, included: Sequence[bool] | None, *, ties: str, by_paradigm: bool = False
    ) -> dict[str, Any]:
        """Summarize some paradigms together."""
        items = self.items[chosen[self.paradigm_of]]
        counts = count(items, ties=ties)
        shares = items["share"].to_numpy(dtype=np.float64)
        paradigm_macro = mean_of_group_means(shares, items["paradigm"])
        extra: dict[str, Any] = {"paradigm_macro": paradigm_macro}
        if by_paradigm:
            counts["individual_agreement"] = paradigm_macro
            extra = {}
        n_included = None if included is None else int((np.array(included, dtype=bool) & chosen).sum())
        return {"paradigms": int(chosen.sum()), "included": n_included, **counts, **extra}

    def _group_counts(self, groups: Codes, n_groups: int, *, ties: str) -> list[dict[str, Any]]:
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(n_groups + 1))
        columns = {name: self.items[name].to_numpy()[order] for name in COUNT_COLUMNS}
        parts = [slice(starts[g], starts[g + 1]) for g in range(n_groups)]
        return [count({name: column[part] for name, column in columns.items()}, ties=ties) for part in parts]


def count(items: Any, *, ties: str) -> dict[str, Any]:
    """Count items and judgments and compute the three agreements."""
    k, n = np.asarray(items["k"], dtype=np.float64), np.asarray(items["n"], dtype=np.int64)
    k = k + np.asarray(items["n_half"], dtype=np.float64) / 2
    majority = np.asarray(items["majority"], dtype=object)
    majorities = Counter(majority.tolist())  # quicker than numpy for the few items of a paradigm
    return {
        "items": sum(majorities[status] for status in USABLE),
        "items_right": majorities["expected"],
        "ties": majorities["tie"],
        "items_insufficient": majorities["insufficient"] + majorities["no_data"],
        "majority_agreement": majority_agreement(majority, ties=ties),
        "individual_agreement": mean_of_item_shares(k, n),
        "individual_agreement_pooled": pooled_share(k, n),
        "judgments": int(n.sum()),
        "judgments_undecided": int(np.asarray(items["n_undecided"]).sum()),
        "judgments_missing": int(np.asarray(items["n_missing"]).sum()),
    }
