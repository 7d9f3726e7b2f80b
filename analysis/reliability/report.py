"""The reliability report: coefficients, ICC and split halves, each with a reason if it is undefined."""

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..choices import CODINGS
from ..mixed_models.structures import LARGEST
from .chance_corrected import (
    Coefficient,
    category_counts,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)
from .coding import Answers, code_answers
from .icc import FORMS, intraclass_correlation
from .kappa import MIN_COMMON, light_kappa
from .repetitions import repeated_answers
from .response_styles import rating_drift, response_styles
from .split_half import SPLITS, SplitHalf, split_half

REASONS = {
    "no_data": "no unit has two answers",
    "no_variation": "everybody gave the same answer throughout",
    "unequal_n": "units have unequal numbers of answers; Fleiss' kappa needs the same number on each",
    "not_for_ratings": "estimates are numbers: whether two are the very same says little",
    "same_as_nominal": "two categories: every level gives the nominal value",
    "no_ratio_scale": "the scale has no zero, so ratios of its points mean nothing",
    "negative": "there are negative values, and the ratio level has none",
    "too_many_values": "more than 2,000 different values: the ratio level compares every two",
    "too_few": f"no two participants share {MIN_COMMON} units",
    "not_for_categories": "answers are two categories; alpha and AC1 compare them",
    "singular": "a variance came out as 0",
}
LEVELS = ("nominal", "ordinal", "interval", "ratio")
_RATIO_TASKS = ("magnitude_estimation",)
# Measures of identical answers, and of distances in the ranks of all values.
_CATEGORICAL = {"percent", "fleiss_kappa", "gwet_ac1", "alpha_nominal", "cohen_kappa", "cohen_kappa_linear"}
_NOT_COUNTED = {"value": None, "status": "not_estimable", "reason": REASONS["not_for_ratings"]}
# Different values; the ratio level compares each pair of them.
_MAX_VALUES = 2_000


def coefficients(answers: Answers, *, seed: int = 0) -> list[dict[str, Any]]:
    """Compute percent agreement, Fleiss' kappa, AC1, alpha at four levels and Cohen's kappa.

    Notes
    -----
    Ratings: percent, Fleiss, AC1, nominal and ordinal alpha and kappa are of the raw points, interval
    alpha is of the transformed scores. Two categories: kappa weights and levels make no difference.

    Examples
    --------
    >>> from obelus.reliability.coding import code_answers
    >>> rows = pd.DataFrame({"participant": list("abab"), "item": [1, 1, 2, 2], "value": [1, 1, 0, 1]})
    >>> table = coefficients(code_answers(rows, coding="expected"))
    >>> [(row["measure"], row["value"]) for row in table][0]
    ('percent', 0.5)
    """
    raw = answers.table[["unit", "participant"]].assign(value=answers.table["category"])
    scores = answers.table[["unit", "participant"]].assign(value=answers.table["score"])
    counts = category_counts(raw)
    of = "raw points" if answers.is_rating else {"yes_no": "answers"}.get(answers.task, answers.coding)
    rows = [
        _coefficient_row("percent", percent_agreement(counts), of, "two answers on a unit"),
        _coefficient_row("fleiss_kappa", fleiss_kappa(counts), of, "equally many answers on every unit"),
        _coefficient_row("gwet_ac1", gwet_ac1(counts), of, "two answers on a unit"),
    ]
    rows += [_alpha(answers, raw, scores, level=level, of=of) for level in LEVELS]
    rows += _other_coding(answers) if raw["value"].dropna().isin([0.0, 1.0]).all() else []
    rows += [_kappa(answers, raw, weights=weights, of=of, seed=seed) for weights in _WEIGHTS]
    if answers.task in _RATIO_TASKS:
        rows = [row | _NOT_COUNTED if row["measure"] in _CATEGORICAL else row for row in rows]
    return rows


_WEIGHTS = ("none", "linear", "quadratic")
_NEEDS = {
    "nominal": "categories",
    "ordinal": "ordered points",
    "interval": "differences that mean the same all along the scale",
    "ratio": "a true zero, nothing negative",
}


def _coefficient_row(measure: str, coefficient: Coefficient, of: str, needs: str) -> dict[str, Any]:
    return _result_row(measure, coefficient.value, coefficient.status, of=of, needs=needs)


def _result_row(measure: str, value: float | None, status: str, *, of: str, needs: str) -> dict[str, Any]:
    is_known = value is not None
    return {
        "measure": measure,
        "value": value,
        "of": of,
        "needs": needs,
        "status": "ok" if is_known else "not_estimable",
        "reason": "" if is_known else REASONS.get(status, status.replace("_", " ")),
    }


def _alpha(
    answers: Answers, raw: pd.DataFrame, scores: pd.DataFrame, *, level: str, of: str
) -> dict[str, Any]:
    measure, needs = f"alpha_{level}", _NEEDS[level]

    def row(value: float | None, status: str, coded_as: str) -> dict[str, Any]:
        return _result_row(measure, value, status, of=coded_as, needs=needs)

    if level == "nominal":
        coefficient = krippendorff_alpha(raw, level=level)
        return row(coefficient.value, coefficient.status, of)
    if not answers.is_rating:
        return row(None, "same_as_nominal", of)
    if level == "ratio":
        status = _ratio_status(answers, raw)
        if status != "ok":
            return row(None, status, of)
    source, coded_as = (scores, "transformed ratings") if level == "interval" else (raw, of)
    coefficient = krippendorff_alpha(source, level=level)
    return row(coefficient.value, coefficient.status, coded_as)


def _ratio_status(answers: Answers, raw: pd.DataFrame) -> str:
    if answers.task not in _RATIO_TASKS:
        return "no_ratio_scale"
    if (raw["value"] < 0).any():
        return "negative"
    return "too_many_values" if raw["value"].nunique() > _MAX_VALUES else "ok"


def _other_coding(answers: Answers) -> list[dict[str, Any]]:
    """Compute alpha and AC1 of forced choices in the other coding, for comparison with published values."""
    if answers.coding not in CODINGS:
        return []
    other = next(word for word in CODINGS if word != answers.coding)
    coded = answers.table["value"] if other == "expected" else answers.table["blind"]
    raw = answers.table[["unit"]].assign(value=coded)
    note = "by the expected label everybody uses one category: alpha collapses" if other == "expected" else ""
    coefficient_rows = [
        _coefficient_row("gwet_ac1", gwet_ac1(raw), other, "two answers on a unit"),
        _coefficient_row("alpha_nominal", krippendorff_alpha(raw), other, _NEEDS["nominal"]),
    ]
    return [row | {"reason": row["reason"] or note} for row in coefficient_rows]


def _kappa(answers: Answers, raw: pd.DataFrame, *, weights: str, of: str, seed: int) -> dict[str, Any]:
    measure = "cohen_kappa" if weights == "none" else f"cohen_kappa_{weights}"
    needs = f"pairs of participants with {MIN_COMMON} common units"
    if weights != "none" and not answers.is_rating:
        return _result_row(measure, None, "same_as_nominal", of=of, needs=needs)
    kappa = light_kappa(raw, weights=weights, seed=seed)
    row = _result_row(measure, kappa["value"], kappa["status"], of=of, needs=needs)
    if kappa["value"] is None:
        return row
    sample_text = "a draw of " if kappa["drawn"] else ""
    note = f"mean of {sample_text}{kappa['pairs']} pairs, quartiles {kappa['low']:.3f} to {kappa['high']:.3f}"
    return row | {"reason": note}


GROUPS = 20
# Per jackknife group; their mean only enters the standard error.
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
    included: Collection[str] | None = None,
) -> dict[str, Any]:
    """Report how well participants agree with each other, and the ceiling that this sets for models.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment of one task
        After exclusion; needs ``participant``, ``item`` and ``value``.
    transform : {"z", "z-log", "raw", "robust-z", "rank-normal"}
        Scale of ratings in ICC and split halves; choices ignore it.
    coding : {"label_blind", "expected"}
        Categories of forced choices: the two members in a fixed order (default), or the expected and the
        other member. With ``expected`` nearly all answers are in one category, and alpha is close to 0.
    splits : int
        Number of random splits of the participants into halves.
    groups : int
        Number of groups of participants in the jackknife interval of the split-half reliability; 0 omits
        the interval.
    seed : int
        Seed of the random splits.
    experiment : str
        Name of the study, copied into the document.
    included : collection of str, optional
        Paradigms that an inclusion rule accepts: every coefficient is computed over all judgments and over
        those of these paradigms.

    Returns
    -------
    dict
        JSON-ready: ``task``, ``participants``, ``judgments``, ``units``, ``unit``, ``coding``, ``transform``,
        ``coefficients`` (each with ``value_included``, None without ``included``), ``included`` (number of
        paradigms and judgments, or None), ``icc``, ``split_half`` (one row per kind of unit, with ceilings),
        ``repetitions`` (consistency of participants who judged a unit more than once), ``styles`` and
        ``drift`` (:mod:`obelus.reliability.response_styles`) and ``conventions``. A number that cannot be
        estimated is None with ``status`` ``not_estimable`` and a ``reason``.

    Raises
    ------
    BadInput, UnknownName
        If the judgments are of several tasks, or a parameter has an unknown value.

    See Also
    --------
    obelus.agreement.report.agreement_report : Agreement with the expected labels.

    Notes
    -----
    Participants are split within lists. The interval is a delete-a-group jackknife over participants (a
    bootstrap would put copies of one participant into both halves and overestimate reliability).
    Ceilings: a perfect model reaches √reliability, another sample of participants the reliability.

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
    answers = code_answers(judgments, transform=transform, coding=coding)
    table = answers.table
    part = answers.of_paradigms(included) if included is not None else None
    part_rows = coefficients(part, seed=seed) if part is not None else []
    values = {(row["measure"], row["of"]): row["value"] for row in part_rows}
    rows = [
        row | {"value_included": values.get((row["measure"], row["of"]))}
        for row in coefficients(answers, seed=seed)
    ]
    halves = [
        _split_half_row(answers, kind, splits=splits, groups=groups, seed=seed)
        for kind in ("unit", "paradigm")
    ]
    return {
        "experiment": experiment,
        "task": answers.task,
        "participants": int(table["participant"].nunique()),
        "judgments": len(table),
        "judgments_merged": len(answers.showings) - len(table),
        "units": int(table["unit"].nunique()),
        "unit": answers.unit,
        "coding": answers.coding,
        "transform": transform if answers.is_rating else "none",
        "coefficients": rows,
        "included": {"paradigms": len(included), "judgments": len(part.table)}
        if included is not None and part is not None
        else None,
        "icc": _icc(answers),
        "split_half": halves,
        "repetitions": repeated_answers(answers),
        "styles": response_styles(judgments),
        "drift": rating_drift(judgments, transform=transform),
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
    icc = intraclass_correlation(rows, unit="unit")
    if icc.table.empty:
        reason = REASONS.get(icc.status, icc.status.replace("_", " "))
        return empty | {"status": "not_estimable", "reason": reason}
    values = icc.table.set_index("form").reindex(columns=["value", "ci_low", "ci_high"]).astype(object)
    values = values.where(values.notna(), None)
    return {
        "needs": needs,
        "method": icc.method,
        "ratings_per_unit": icc.ratings_per_unit,
        "forms": [{"form": form, **values.loc[form].to_dict()} for form in FORMS],
        "variances": {name: float(size) for name, size in icc.variances.items()},
        "status": "ok",
        "reason": REASONS["singular"] if icc.status == "singular" else "",
    }


def _split_half_row(answers: Answers, kind: str, *, splits: int, groups: int, seed: int) -> dict[str, Any]:
    name = answers.unit if kind == "unit" else "paradigm"
    rows = answers.table.assign(value=answers.table["score"])
    listed = rows if (rows["list"] != "").all() else rows.drop(columns="list")
    result = split_half(listed, unit=kind, splits=splits, seed=seed)
    ceiling = result.ceiling
    row = {
        "unit": name,
        "n_units": result.n_units,
        "n_participants": result.n_participants,
        "n_lists": result.n_lists,
        "r": result.r,
        "spearman_brown": result.spearman_brown,
        "ci_low": None,
        "ci_high": None,
        "ceiling_model": ceiling.model,
        "ceiling_sample": ceiling.sample,
        "splits": result.splits,
        "needs": "two participants in a list, three units judged by both halves",
        "status": "ok" if result.status == "ok" else "not_estimable",
        "reason": _half_reason(result),
    }
    if result.status == "ok" and groups > 1:
        ends = _interval(rows, kind, result=result, groups=groups, seed=seed)
        row["ci_low"], row["ci_high"] = ends
    return row


def _half_reason(result: SplitHalf) -> str:
    reasons = {
        "ok": "",
        "no_data": "there is no answer",
        "too_few": "fewer than two participants, or than three units judged by both halves",
        "no_variation": "all means are equal",
        "negative": "the halves contradict each other, and the formula has no value near r = −1",
    }
    return reasons.get(result.status, result.status)


def _interval(
    rows: pd.DataFrame, kind: str, *, result: SplitHalf, groups: int, seed: int
) -> tuple[float | None, float | None]:
    """Compute the delete-a-group jackknife interval of the reliability on Fisher's z scale."""
    keys = rows.groupby("participant", sort=True).agg(list=("list", "first")).reset_index()
    shuffled = keys.sample(frac=1, random_state=np.random.default_rng([seed, 1]))
    ordered = shuffled.sort_values("list", kind="stable")
    group_of = dict(zip(ordered["participant"], np.arange(len(ordered)) % groups, strict=True))
    group = rows["participant"].map(group_of).to_numpy()
    left = [
        split_half(rows[group != number], unit=kind, splits=_SPLITS_EACH, seed=seed).spearman_brown
        for number in range(min(groups, len(keys)))
    ]
    values = np.array([value for value in left if value is not None and abs(value) < 1])
    if len(values) < max(2, len(left)) or result.spearman_brown is None or abs(result.spearman_brown) >= 1:
        return None, None
    z = np.arctanh(values)
    error = np.sqrt((len(z) - 1) * z.var())
    half = float(scipy.stats.t.ppf(0.975, len(z) - 1) * error)
    centre = float(np.arctanh(result.spearman_brown))
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
        "repeats": "a participant counts once for a unit: the mean of ratings, the more frequent choice",
        "included": "the same coefficients over the paradigms that the inclusion rule accepts",
        "repetitions": "answers of one participant to one unit, in the order of their trials; agreement: "
        "share of equal pairs, averaged over units; kappa: first against second answer",
        "styles": "answers to targets and fillers; Wilson with answers as units; apart: an interval for all "
        "participants and styles together (Bonferroni) is away from the sample's share",
        "drift": f"order: (place - 1) / (last place - 1); REML, Satterthwaite; {LARGEST}; participants by "
        "least squares",
        "seed": seed,
    }
