"""Everything the reliability page shows, as one document."""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from analysis.agreement.answers import Answers, answers_of
from analysis.agreement.coefficients import REASONS, coefficients
from analysis.agreement.reliability import FORMS, intraclass_correlation
from analysis.agreement.split_half import SPLITS, SplitHalf, split_half

GROUPS = 20
_SPLITS_EACH = 200


def reliability_report(
    judgments: pd.DataFrame,
    *,
    transform: str = "z",
    coding: str = "label_blind",
    splits: int = SPLITS,
    groups: int = GROUPS,
    seed: int = 0,
    experiment: str = "",
) -> dict[str, Any]:
    """Report how far annotators agree with each other, and what ceiling this sets for models.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment of one task
        The kept rows; needs ``participant``, ``item`` and ``value``.
    transform : str
        Of ratings.
    coding : {"label_blind", "expected"}
        Of forced choices. Coded by the expected label everybody uses one category, and alpha collapses.
    splits : int
        Random halvings of the participants.
    groups : int
        Groups of participants left out in turn for the interval of the split-half reliability; 0 leaves
        it out.
    seed : int
    experiment : str
        Copied into the document.

    Returns
    -------
    dict
        JSON-ready: ``task``, ``participants``, ``judgments``, ``units``, ``unit``, ``coding``, ``transform``,
        ``coefficients``, ``icc``, ``split_half`` (one row per kind of unit, with ceilings) and
        ``conventions``. Every number that cannot be had is None with ``status`` ``not_estimable`` and a
        ``reason``.

    Raises
    ------
    BadInput, UnknownName
        If the judgments are of several tasks, or a choice is another word.

    See Also
    --------
    analysis.agreement.report.agreement_report : Agreement with the expected labels.

    Notes
    -----
    Split halves are within list. The interval leaves out one group of
    participants after the other (a bootstrap would put copies of one person into both halves and come out
    too high). Ceilings: a perfect model reaches √reliability, another sample of people the reliability.

    References
    ----------
    Krippendorff (2019), *Content Analysis*; Gwet (2008), BJMSP 61; McGraw & Wong (1996), Psychological
    Methods 1.

    Examples
    --------
    >>> rows = pd.DataFrame([(p, i, float((p * i) % 5 < 3)) for p in range(9) for i in range(6)],
    ...     columns=["participant", "item", "value"])
    >>> report = reliability_report(rows, splits=20, groups=0)
    >>> report["coding"], report["units"], round(report["coefficients"][0]["value"], 3)
    ('label_blind', 6, 0.648)
    """
    answers = answers_of(judgments, transform=transform, coding=coding)
    table = answers.table
    halves = [
        _halves(answers, kind, splits=splits, groups=groups, seed=seed) for kind in ("unit", "paradigm")
    ]
    return {
        "experiment": experiment,
        "task": answers.task,
        "participants": int(table["participant"].nunique()),
        "judgments": len(table),
        "units": int(table["unit"].nunique()),
        "unit": answers.unit,
        "coding": answers.coding,
        "transform": transform if answers.is_rating else "none",
        "coefficients": coefficients(answers, seed=seed),
        "icc": _icc(answers),
        "split_half": halves,
        "conventions": _conventions(splits=splits, groups=groups, seed=seed),
    }


def _icc(answers: Answers) -> dict[str, Any]:
    needs = "scores on a scale; two participants and two units, one with two ratings"
    blank = [{"form": form, "value": None, "ci_low": None, "ci_high": None} for form in FORMS]
    empty: dict[str, Any] = {
        "needs": needs,
        "method": "",
        "ratings_per_unit": None,
        "forms": blank,
        "variances": {},
    }
    if not answers.is_rating:
        return empty | {"status": "not_estimable", "reason": REASONS["not_for_categories"]}
    rows = answers.table.assign(value=answers.table["score"])
    found = intraclass_correlation(rows, unit="unit")
    if found.table.empty:
        reason = REASONS.get(found.status, found.status.replace("_", " "))
        return empty | {"status": "not_estimable", "reason": reason}
    values = found.table.set_index("form").reindex(columns=["value", "ci_low", "ci_high"]).astype(object)
    values = values.where(values.notna(), None)
    return {
        "needs": needs,
        "method": found.method,
        "ratings_per_unit": found.ratings_per_unit,
        "forms": [{"form": form, **values.loc[form].to_dict()} for form in FORMS],
        "variances": {name: float(size) for name, size in found.variances.items()},
        "status": "ok",
        "reason": REASONS["singular"] if found.status == "singular" else "",
    }


def _halves(answers: Answers, kind: str, *, splits: int, groups: int, seed: int) -> dict[str, Any]:
    name = answers.unit if kind == "unit" else "paradigm"
    rows = answers.table.assign(value=answers.table["score"])
    listed = rows if (rows["list"] != "").all() else rows.drop(columns="list")
    found = split_half(listed, unit=kind, splits=splits, seed=seed)
    ceiling = found.ceiling
    told = {
        "unit": name,
        "n_units": found.n_units,
        "n_participants": found.n_participants,
        "n_lists": found.n_lists,
        "r": found.r,
        "spearman_brown": found.spearman_brown,
        "ci_low": None,
        "ci_high": None,
        "ceiling_model": ceiling.model,
        "ceiling_sample": ceiling.sample,
        "splits": found.splits,
        "needs": "two participants in a list, three units judged by both halves",
        "status": "ok" if found.status == "ok" else "not_estimable",
        "reason": _half_reason(found),
    }
    if found.status == "ok" and groups > 1:
        ends = _interval(rows, kind, found=found, groups=groups, seed=seed)
        told["ci_low"], told["ci_high"] = ends
    return told


def _half_reason(found: SplitHalf) -> str:
    reasons = {
        "ok": "",
        "no_data": "there is no answer",
        "too_few": "fewer than two participants, or than three units judged by both halves",
        "no_variation": "all means are equal",
    }
    return reasons.get(found.status, found.status)


def _interval(
    rows: pd.DataFrame, kind: str, *, found: SplitHalf, groups: int, seed: int
) -> tuple[float | None, float | None]:
    """Leave out one group of participants after the other: the delete-a-group jackknife of Fisher's z."""
    keys = rows.groupby("participant", sort=True).agg(list=("list", "first")).reset_index()
    shuffled = keys.sample(frac=1, random_state=np.random.default_rng([seed, 1]))
    ordered = shuffled.sort_values("list", kind="stable")
    group_of = dict(zip(ordered["participant"], np.arange(len(ordered)) % groups, strict=True))
    group = rows["participant"].map(group_of).to_numpy()
    left = [
        split_half(rows[group != one], unit=kind, splits=_SPLITS_EACH, seed=seed).spearman_brown
        for one in range(min(groups, len(keys)))
    ]
    known = np.array([value for value in left if value is not None and abs(value) < 1])
    if len(known) < max(2, len(left)) or found.spearman_brown is None or abs(found.spearman_brown) >= 1:
        return None, None
    z = np.arctanh(known)
    error = np.sqrt((len(z) - 1) * z.var())
    half = float(scipy.stats.t.ppf(0.975, len(z) - 1) * error)
    centre = float(np.arctanh(found.spearman_brown))
    return float(np.tanh(centre - half)), float(np.tanh(centre + half))


def _conventions(*, splits: int, groups: int, seed: int) -> dict[str, Any]:
    return {
        "coding": "forced choice: which member was chosen, members ordered by a hash of the pair's name "
        "(label_blind), or whether it was the expected one (expected)",
        "percent": "mean over units of the share of agreeing pairs of answers",
        "alpha": "Krippendorff: ordinal and nominal of raw points, interval of transformed ratings",
        "cohen_kappa": "mean over pairs of participants (Light)",
        "icc": "of transformed ratings; mean squares where everybody rated everything once, else variance "
        "components by REML",
        "split_half": f"halves of the participants of each list, mean of 2r / (1 + r) over {splits} halvings",
        "interval": f"95 %, jackknife over {groups} groups of participants, Fisher's z",
        "ceilings": "a perfect model: root of the reliability; another sample of people: the reliability",
        "trials": "answered targets",
        "seed": seed,
    }
