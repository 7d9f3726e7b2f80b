"""Sensitivity of the main results to the exclusion plan."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from ..aggregation.ratings import transform_ratings
from ..agreement.report import agreement_report
from ..effects.contrasts import paired_means
from ..errors import MissingColumns
from ..reliability.chance_corrected import krippendorff_alpha
from ..rows import RATING_TASKS, column_or_blank, group_codes, is_kind, none_if_nan, tasks
from .apply import apply_plan
from .criteria import is_analysed
from .plan import Plan

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
    """Compute the headline numbers of some judgments.

    Notes
    -----
    :data:`CONVENTIONS` defines each number.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("aabbcc"), "item": [1, 2] * 3, "value": [1, 1, 1, 0, 1, 1],
    ...     "task": "forced_choice", "phenomenon": "islands"})
    >>> row = headline(rows)
    >>> row["judgments"], row["majority_agreement"], round(row["individual_agreement"], 3)
    (6, 1.0, 0.833)
    """
    answered = is_analysed(judgments)
    counts = {
        "participants": int(judgments.loc[answered, "participant"].nunique()),
        "judgments": int(answered.sum()),
    }
    blank = dict.fromkeys(HEADLINES)
    if not answered.any():
        return {**blank, **counts}
    task = str(tasks(judgments)[answered].iloc[0])
    row = blank | counts | _agreement(judgments)
    if task in RATING_TASKS or task == "yes_no":
        scored = _with_scores(judgments, transform="raw" if task == "yes_no" else transform)
        row |= _differences(scored)
        if task != "yes_no":
            row["alpha"] = _alpha(scored)
    else:
        row |= _choices(judgments[answered])
    return row


def _agreement(judgments: pd.DataFrame) -> dict[str, Any]:
    try:
        report = agreement_report(judgments, draws=0)
    except MissingColumns:
        return {}
    overall = report["overall"]
    names = ("items", "majority_agreement", "individual_agreement")
    return {**{name: overall[name] for name in names}, "alpha": report["reliability"]["krippendorff_alpha"]}


def _with_scores(judgments: pd.DataFrame, *, transform: str) -> pd.DataFrame:
    scored = judgments.assign(score=transform_ratings(judgments, transform=transform))
    return scored[is_kind(scored, ("target",)) & scored["score"].notna()]


def _alpha(scored: pd.DataFrame) -> float | None:
    unit = column_or_blank(scored, "sentence_id")
    answers = pd.DataFrame({"unit": unit.to_numpy(), "value": scored["score"].to_numpy()})
    return krippendorff_alpha(answers, level="interval").value


def _differences(scored: pd.DataFrame) -> dict[str, Any]:
    """Compute the mean difference over phenomena, and how many are positive."""
    if "expected" not in scored.columns:
        return {}
    labelled = scored[scored["expected"].astype(object).isin(["acceptable", "unacceptable"])]
    names = column_or_blank(labelled, "phenomenon").astype(str)
    means = [
        float(people["difference"].mean())
        for _, part in labelled.groupby(names, observed=True)
        if len(people := paired_means(part, value="score"))
    ]
    return _contrast_summary(np.array(means, dtype=np.float64)) if means else {}


def _choices(rows: pd.DataFrame) -> dict[str, Any]:
    codes, names = group_codes(column_or_blank(rows, "phenomenon"))
    value = rows["value"].to_numpy(dtype=np.float64)
    shares = np.bincount(codes, weights=value, minlength=len(names)) / np.bincount(codes)
    return _contrast_summary(shares - 0.5) | {"mean_difference": None}


def _contrast_summary(differences: np.ndarray) -> dict[str, Any]:
    return {
        "mean_difference": none_if_nan(float(differences.mean())),
        "contrasts": len(differences),
        "contrasts_expected": int((differences > 0).sum()),
    }


def sensitivity(judgments: pd.DataFrame, plan: Plan, *, transform: str = "z") -> list[dict[str, Any]]:
    """Compute the headline numbers without exclusion, with the plan, and with the plan minus each step.

    Notes
    -----
    A conclusion that holds in every row does not depend on the plan. The table is descriptive: choosing the
    plan by its result would invalidate every interval. A plan of one step has the same rows for
    ``none`` and for ``without``.

    References
    ----------
    Steegen, Tuerlinckx, Gelman & Vanpaemel (2016), Perspectives on Psychological Science 11.

    Examples
    --------
    >>> from obelus.exclusions.plan import parse_plan
    >>> rows = pd.DataFrame({"participant": list("aabbcc"), "item": [1, 2] * 3, "value": [1, 1, 0, 0, 1, 1],
    ...     "task": "forced_choice", "flagged": [False, False, True, True, False, False]})
    >>> [(row["recipe"], row["participants"]) for row in sensitivity(rows, parse_plan("flagged"))]
    [('none', 3), ('plan', 2), ('without', 3)]
    """
    return [
        {"recipe": recipe, "step": step, **headline(apply_plan(judgments, variant).kept, transform=transform)}
        for recipe, step, variant in _recipes(plan)
    ]


def _recipes(plan: Plan) -> Iterator[tuple[str, str, Plan]]:
    yield "none", "", Plan("none")
    if not plan.steps:
        return
    yield "plan", "", plan
    for left_out in plan.steps:
        other_steps = [step for step in plan.steps if step.name != left_out.name]
        yield "without", left_out.name, Plan(plan.name, other_steps)
