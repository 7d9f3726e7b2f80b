"""The few numbers that a paper's abstract would give: what a sensitivity panel repeats under each plan."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.aggregation.transforms import transformed
from analysis.agreement.chance_corrected import krippendorff_alpha
from analysis.agreement.report import agreement_report
from analysis.effects.contrasts import paired_means
from analysis.errors import MissingColumns
from analysis.exclusions.criteria import analysed
from analysis.rows import RATING_TASKS, column_or_blank, group_codes, is_kind, none_if_nan, tasks

HEADLINES = (
    "participants",
    "judgments",
    "items",
    "majority_agreement",
    "individual_agreement",
    "alpha",
    "mean_difference",
    "contrasts",
    "contrasts_expected",
)
CONVENTIONS = {
    "judgments": "answered targets",
    "items": "with a usable majority (at least 3 answers)",
    "majority_agreement": "strict: a tie is not right",
    "individual_agreement": "mean of item shares",
    "alpha": "Krippendorff; forced choice label-blind, yes-no as answered, ratings: interval of z",
    "mean_difference": "ratings (z) and yes-no (share of yes): acceptable minus unacceptable, participants' "
    "means, then the mean over phenomena",
    "contrasts_expected": "phenomena whose difference, or share of expected choices less ½, is positive",
}


def headline(judgments: pd.DataFrame, *, transform: str = "z") -> dict[str, Any]:
    """Give the headline numbers of some judgments.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment of one task
        Needs ``participant``, ``item`` and ``value``; ``expected`` for rating tasks and yes-no.
    transform : str
        Of ratings, as in :func:`analysis.aggregation.transforms.transformed`.

    Returns
    -------
    dict
        The keys :data:`HEADLINES`; None where the task or the data have no such number.

    Notes
    -----
    :data:`CONVENTIONS` names what each number is.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("aabbcc"), "item": [1, 2] * 3, "value": [1, 1, 1, 0, 1, 1],
    ...     "task": "forced_choice", "phenomenon": "islands"})
    >>> found = headline(rows)
    >>> found["judgments"], found["majority_agreement"], round(found["individual_agreement"], 3)
    (6, 1.0, 0.833)
    """
    used = analysed(judgments)
    counts = {
        "participants": int(judgments.loc[used, "participant"].nunique()),
        "judgments": int(used.sum()),
    }
    blank = dict.fromkeys(HEADLINES)
    if not used.any():
        return {**blank, **counts}
    task = str(tasks(judgments)[used].iloc[0])
    found = blank | counts | _agreement(judgments)
    if task in RATING_TASKS or task == "yes_no":
        scored = _scored(judgments, transform="raw" if task == "yes_no" else transform)
        found |= _differences(scored)
        if task != "yes_no":
            found["alpha"] = _alpha(scored)
    else:
        found |= _choices(judgments[used])
    return found


def _agreement(judgments: pd.DataFrame) -> dict[str, Any]:
    try:
        report = agreement_report(judgments, draws=0)
    except MissingColumns:
        return {}
    overall = report["overall"]
    names = ("items", "majority_agreement", "individual_agreement")
    return {**{name: overall[name] for name in names}, "alpha": report["reliability"]["krippendorff_alpha"]}


def _scored(judgments: pd.DataFrame, *, transform: str) -> pd.DataFrame:
    scored = judgments.assign(score=transformed(judgments, transform=transform))
    return scored[is_kind(scored, ("target",)) & scored["score"].notna()]


def _alpha(scored: pd.DataFrame) -> float | None:
    unit = column_or_blank(scored, "sentence_id")
    answers = pd.DataFrame({"unit": unit.to_numpy(), "value": scored["score"].to_numpy()})
    return krippendorff_alpha(answers, level="interval").value


def _differences(scored: pd.DataFrame) -> dict[str, Any]:
    """Give the mean difference over phenomena, and how many are positive."""
    if "expected" not in scored.columns:
        return {}
    labelled = scored[scored["expected"].astype(object).isin(["acceptable", "unacceptable"])]
    names = column_or_blank(labelled, "phenomenon").astype(str)
    found = [
        float(people["difference"].mean())
        for _, part in labelled.groupby(names, observed=True)
        if len(people := paired_means(part, value="score"))
    ]
    return _summed(np.array(found, dtype=np.float64)) if found else {}


def _choices(rows: pd.DataFrame) -> dict[str, Any]:
    codes, names = group_codes(column_or_blank(rows, "phenomenon"))
    value = rows["value"].to_numpy(dtype=np.float64)
    shares = np.bincount(codes, weights=value, minlength=len(names)) / np.bincount(codes)
    return _summed(shares - 0.5) | {"mean_difference": None}


def _summed(differences: np.ndarray) -> dict[str, Any]:
    return {
        "mean_difference": none_if_nan(float(differences.mean())),
        "contrasts": len(differences),
        "contrasts_expected": int((differences > 0).sum()),
    }
