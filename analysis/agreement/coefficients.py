"""Every coefficient of agreement between annotators, or the reason why there is none."""

from typing import Any

import pandas as pd

from analysis.agreement.answers import CODINGS, Answers
from analysis.agreement.chance_corrected import (
    Coefficient,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)
from analysis.agreement.light import LEAST_COMMON, light_kappa

REASONS = {
    "no_data": "no unit has two answers",
    "no_variation": "everybody gave the same answer throughout",
    "unequal_n": "units have unequal numbers of answers; Fleiss' kappa needs the same number on each",
    "not_for_ratings": "answers are points of a scale: whether two are the very same says little",
    "same_as_nominal": "two categories: every level gives the nominal value",
    "no_ratio_scale": "the scale has no zero, so ratios of its points mean nothing",
    "negative": "there are negative values, and the ratio level has none",
    "too_many_values": "more than 2,000 different values: the ratio level compares every two",
    "too_few": f"no two participants share {LEAST_COMMON} units",
    "not_for_categories": "answers are two categories; alpha and AC1 compare them",
    "singular": "a variance came out as 0",
}
LEVELS = ("nominal", "ordinal", "interval", "ratio")
_RATIO_TASKS = ("magnitude_estimation",)
_MOST_VALUES = 2_000


def coefficients(answers: Answers, *, seed: int = 0) -> list[dict[str, Any]]:
    """Give percent agreement, Fleiss, Krippendorff's four levels, AC1 and Cohen's kappa.

    Parameters
    ----------
    answers : Answers
    seed : int
        Of the draw of pairs of annotators.

    Returns
    -------
    list of dict
        ``measure``, ``value``, ``of`` (what is compared), ``needs``, ``status`` (``ok``, or
        ``not_estimable``) and ``reason``.

    Notes
    -----
    Ratings: percent, Fleiss, AC1, nominal and ordinal alpha and kappa are of the raw points, interval
    alpha is of the transformed scores. Two categories: kappa weights and levels make no difference.

    Examples
    --------
    >>> from analysis.agreement.answers import answers_of
    >>> rows = pd.DataFrame({"participant": list("abab"), "item": [1, 1, 2, 2], "value": [1, 1, 0, 1]})
    >>> found = coefficients(answers_of(rows, coding="expected"))
    >>> [(row["measure"], row["value"]) for row in found][0]
    ('percent', 0.5)
    """
    raw = answers.table[["unit", "participant"]].assign(value=answers.table["category"])
    scores = answers.table[["unit", "participant"]].assign(value=answers.table["score"])
    of = "raw points" if answers.is_rating else {"yes_no": "answers"}.get(answers.task, answers.coding)
    rows = [
        _row("percent", percent_agreement(raw), of, "two answers on a unit"),
        _row("fleiss_kappa", fleiss_kappa(raw), of, "equally many answers on every unit"),
        _row("gwet_ac1", gwet_ac1(raw), of, "two answers on a unit"),
    ]
    rows += [_alpha(answers, raw, scores, level=level, of=of) for level in LEVELS]
    rows += _other_coding(answers) if answers.table["category"].isin([0.0, 1.0]).all() else []
    rows += [_kappa(answers, raw, weights=weights, of=of, seed=seed) for weights in _WEIGHTS]
    return rows


_WEIGHTS = ("none", "linear", "quadratic")
_NEEDS = {
    "nominal": "categories",
    "ordinal": "ordered points",
    "interval": "differences that mean the same all along the scale",
    "ratio": "a true zero, nothing negative",
}


def _row(measure: str, found: Coefficient, of: str, needs: str) -> dict[str, Any]:
    return _told(measure, found.value, found.status, of=of, needs=needs)


def _told(measure: str, value: float | None, status: str, *, of: str, needs: str) -> dict[str, Any]:
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

    def told(value: float | None, status: str, what: str) -> dict[str, Any]:
        return _told(measure, value, status, of=what, needs=needs)

    if level == "nominal":
        found = krippendorff_alpha(raw, level=level)
        return told(found.value, found.status, of)
    if not answers.is_rating:
        return told(None, "same_as_nominal", of)
    if level == "ratio":
        status = _ratio_status(answers, raw)
        if status != "ok":
            return told(None, status, of)
    source, what = (scores, "transformed ratings") if level == "interval" else (raw, of)
    found = krippendorff_alpha(source, level=level)
    return told(found.value, found.status, what)


def _ratio_status(answers: Answers, raw: pd.DataFrame) -> str:
    if answers.task not in _RATIO_TASKS:
        return "no_ratio_scale"
    if (raw["value"] < 0).any():
        return "negative"
    return "too_many_values" if raw["value"].nunique() > _MOST_VALUES else "ok"


def _other_coding(answers: Answers) -> list[dict[str, Any]]:
    """Give alpha and AC1 of forced choices under the other coding, for comparing with published values."""
    if answers.coding not in CODINGS:
        return []
    other = next(word for word in CODINGS if word != answers.coding)
    coded = answers.table["value"] if other == "expected" else answers.table["blind"]
    raw = answers.table[["unit"]].assign(value=coded)
    note = "by the expected label everybody uses one category: alpha collapses" if other == "expected" else ""
    found = [
        _row("gwet_ac1", gwet_ac1(raw), other, "two answers on a unit"),
        _row("alpha_nominal", krippendorff_alpha(raw), other, _NEEDS["nominal"]),
    ]
    return [row | {"reason": row["reason"] or note} for row in found]


def _kappa(answers: Answers, raw: pd.DataFrame, *, weights: str, of: str, seed: int) -> dict[str, Any]:
    measure = "cohen_kappa" if weights == "none" else f"cohen_kappa_{weights}"
    needs = f"pairs of participants with {LEAST_COMMON} common units"
    if weights != "none" and not answers.is_rating:
        return _told(measure, None, "same_as_nominal", of=of, needs=needs)
    found = light_kappa(raw, weights=weights, seed=seed)
    told = _told(measure, found["value"], found["status"], of=of, needs=needs)
    if found["value"] is None:
        return told
    drawn = "a draw of " if found["drawn"] else ""
    note = f"mean of {drawn}{found['pairs']} pairs, quartiles {found['low']:.3f} to {found['high']:.3f}"
    return told | {"reason": note}
