"""Agreement of included paradigms, measured by participants who had no part in including them."""

from typing import Any

import numpy as np
import pandas as pd

from ..rows import Codes, Floats, distinct_codes
from .inclusion import Rule
from .majority import ItemCodes, majority_status
from .summaries import Study

FOLDS, REPEATS = 10, 20


def cross_fitted_agreement(
    decided: pd.DataFrame,
    coded: ItemCodes,
    rule: Rule,
    *,
    rng: np.random.Generator,
    n_min: int,
    folds: int = FOLDS,
    repeats: int = REPEATS,
) -> dict[str, Any]:
    """Return the individual agreement with included paradigms, corrected for their selection.

    Notes
    -----
    Participants are divided into folds at random. The rule selects paradigms without one fold; that fold's
    decisions on them are counted. An item's share is over all folds and repeats, its weight the share of its
    decisions that were counted. The rule has fewer judgments than in the study (nine of ten participants), so
    a paradigm near its limit counts in some folds only. None below two participants.

    References
    ----------
    Hastie, Tibshirani & Friedman (2009), *The Elements of Statistical Learning*, section 7.10.2: selection
    belongs inside of cross-validation.

    Examples
    --------
    >>> from obelus.aggregation.decisions import decisions
    >>> from obelus.agreement.inclusion import parse_rule
    >>> from obelus.agreement.majority import one_answer_each
    >>> rows = pd.DataFrame([(f"p{p}", f"i{i}", float(p + i > 0)) for p in range(9) for i in range(5)],
    ...     columns=["participant", "item", "value"])
    >>> merged, coded = one_answer_each(decisions(rows))
    >>> rng = np.random.default_rng(0)
    >>> found = cross_fitted_agreement(merged, coded, parse_rule("blimp"), rng=rng, n_min=3)
    >>> round(found["individual_agreement"], 3), found["folds"]
    (0.978, 9)
    """
    agrees = decided["agrees"].to_numpy(dtype=np.float64)
    answered = ~np.isnan(agrees)
    agrees, items = agrees[answered], coded.codes[answered]
    person = pd.factorize(distinct_codes(decided["participant"])[answered])[0]
    n_people, n_items = int(person.max(initial=-1)) + 1, len(coded.table)
    used = min(folds, n_people)
    result = {"individual_agreement": None, "paradigms": None, "folds": used, "repeats": repeats}
    if used < 2:
        return result | {"status": "too_few"}
    total, counted, right = np.zeros(n_items), np.zeros(n_items), np.zeros(n_items)
    selected = 0
    for _ in range(repeats):
        fold_of = rng.permutation(n_people) % used
        for fold in range(used):
            inside = fold_of[person] == fold
            included, n_included = _selected_items(items[~inside], agrees[~inside], coded, rule, n_min=n_min)
            selected += n_included
            n = np.bincount(items[inside], minlength=n_items)
            total += n
            counted += n * included
            right += np.bincount(items[inside], weights=agrees[inside], minlength=n_items) * included
    judged = counted > 0
    if not judged.any():
        return result | {"paradigms": 0.0, "status": "no_data"}
    weight = counted[judged] / total[judged]
    value = float((right[judged] / counted[judged] * weight).sum() / weight.sum())
    return result | {
        "individual_agreement": value,
        "paradigms": selected / (repeats * used),
        "status": "ok",
    }


def _selected_items(
    items: Codes, agrees: Floats, coded: ItemCodes, rule: Rule, *, n_min: int
) -> tuple[np.ndarray, int]:
    """Return which items are of paradigms that the rule includes, and the number of those paradigms."""
    size = len(coded.table)
    k = np.bincount(items, weights=agrees == 1, minlength=size).astype(np.int64)
    n = np.bincount(items, minlength=size)
    halves = np.bincount(items[agrees == 0.5], minlength=size)
    counts = coded.table[["paradigm", "phenomenon", "item"]].assign(
        k=k, n=n, n_half=halves, majority=majority_status(k, n, n_min=n_min, halves=halves)
    )
    study = Study.of(counts, coded.table)
    included = np.array([word == "included" for word in study.statuses(rule)], dtype=bool)
    return included[study.paradigm_of], int(included.sum())
