"""Multiverse of one effect: every combination of exclusion, transformation and model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..aggregation.ratings import transform_ratings
from ..choices import MULTIVERSE_EFFECTS, MULTIVERSE_MODELS, TRANSFORMS
from ..effects.contrasts import Contrast, paired_contrast, paired_means
from ..effects.factorial import difference_of_differences, group_designs, with_codes
from ..effects.factors import Cells, Levels
from ..effects.five_analyses import ALPHA, contrast_rows
from ..errors import BadInput, UnknownName
from ..mixed_models.linear import CROSSED, Estimate, mixed_model
from ..mixed_models.logistic import logistic_mixed_model
from ..mixed_models.structures import fit_largest
from ..rows import RATING_TASKS, Floats, column_or_blank, is_kind, name_items_apart, none_if_nan, tasks
from ..scales import rating_scales
from .plan import Plan

AS_ANSWERED = "as answered"
NOTHING = "nothing excluded"


@dataclass(frozen=True)
class Universe:
    """One choice of exclusions: its name, and the judgments that stay."""

    name: str
    judgments: pd.DataFrame


def plan_variants(plan: Plan) -> list[Plan]:
    """Return no exclusion, the plan, and the plan without each of its steps."""
    if not plan.steps:
        return [Plan(NOTHING)]
    without = [
        Plan(f"{plan.name} without {step.name}", [other for other in plan.steps if other != step])
        for step in plan.steps
    ]
    return [Plan(NOTHING), plan, *(without if len(plan.steps) > 1 else [])]


@dataclass(frozen=True)
class _Result:
    """An estimate of one specification, on the scale of its own scores."""

    status: str
    estimate: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p: float | None = None


def multiverse_report(
    universes: Sequence[Universe],
    *,
    by: str = "phenomenon",
    contrast: str = "",
    effect: str = "contrast",
    exclusion: str = "",
    transform: str = "z",
    model: str = "mixed-slopes",
    factors: Levels | None = None,
    experiment: str = "",
) -> dict[str, Any]:
    """Estimate one effect under every combination of exclusion, transformation and model.

    Notes
    -----
    ``specifications``, sorted by estimate: ``exclusion``, ``transform``, ``model``, ``participants``,
    ``judgments``, ``estimate`` with its interval in standard deviations of the judgments of the
    specification (ratings; other tasks: in shares), ``raw`` (on the scale of the scores), ``p``, ``status``
    and ``is_current``: the study's own, named by ``exclusion``, ``transform`` and ``model``. Universes with
    the same judgments as one before are left out and named in ``same``. Descriptive: specifications share
    their data, so that their number is no sample size, and choosing one by its result invalidates its p.

    References
    ----------
    Steegen, Tuerlinckx, Gelman & Vanpaemel (2016), Perspectives on Psychological Science 11; Simonsohn,
    Simmons & Nelson (2020), Nature Human Behaviour 4.
    """
    if effect not in MULTIVERSE_EFFECTS:
        raise UnknownName("effect", effect, MULTIVERSE_EFFECTS)
    if model not in MULTIVERSE_MODELS:
        raise UnknownName("model", model, list(MULTIVERSE_MODELS))
    present = {
        str(name) for universe in universes for name in column_or_blank(universe.judgments, by).unique()
    }
    if contrast and contrast not in present:
        raise UnknownName("contrast", contrast, sorted(present - {"", "nan"}))
    distinct, same = _distinct(universes)
    rows: list[dict[str, Any]] = []
    for universe in distinct:
        for name, scored in _transformations(universe.judgments, by=by, contrast=contrast):
            spread = _spread(scored)
            for model_name, result in _results(scored, effect=effect, by=by, factors=factors):
                rows.append(
                    {
                        "exclusion": universe.name,
                        "transform": name,
                        "model": model_name,
                        "participants": int(scored["participant"].nunique()),
                        "judgments": len(scored),
                        **_standardize_effect(result, spread),
                        "raw": result.estimate,
                        "p": result.p,
                        "status": result.status,
                    }
                )
    names = {row["transform"] for row in rows}
    if model == "mixed-slopes" and all(row["model"] != model for row in rows):
        model = "mixed"  # logistic models have intercepts only
    current = (same.get(exclusion, exclusion), transform if transform in names else AS_ANSWERED, model)
    for row in rows:
        row["is_current"] = (row["exclusion"], row["transform"], row["model"]) == current
    rows.sort(key=lambda row: (row["estimate"] is None, row["estimate"] or 0.0))
    return {
        "experiment": experiment,
        "by": by,
        "contrast": contrast,
        "effect": effect,
        "current": dict(zip(("exclusion", "transform", "model"), current, strict=True)),
        "same": [{"exclusion": name, "as": other} for name, other in same.items()],
        "specifications": rows,
        "summary": _summary(rows),
        "conventions": {
            "effect": "acceptable minus unacceptable; choices: share of the expected member less 1/2; "
            "interaction: difference of differences of the 2x2 design",
            "estimate": "ratings: divided by the standard deviation of the scores of the specification; "
            "other tasks: shares, logits of mixed models converted at the typical participant and item",
            "exclusion": "nothing, the plan, the plan without each of its steps, and the study's other plans",
            "mixed": "crossed intercepts, or the largest random structure that the data support; logistic "
            "models of choices and yes-no: intercepts",
            "significant": f"p < {ALPHA:g}, two-tailed, uncorrected",
        },
    }


def _distinct(universes: Sequence[Universe]) -> tuple[list[Universe], dict[str, str]]:
    """Leave out universes with the same judgments as one before; return the names of those."""
    distinct: dict[bytes, Universe] = {}
    same: dict[str, str] = {}
    for universe in universes:
        index = np.asarray(pd.util.hash_pandas_object(universe.judgments.index.to_series(), index=False))
        first = distinct.setdefault(index.tobytes(), universe)
        if first is not universe:
            same[universe.name] = first.name
    return list(distinct.values()), same


def _transformations(
    judgments: pd.DataFrame, *, by: str, contrast: str
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each transformation with the scored targets of the contrast."""
    judgments = name_items_apart(judgments)
    kinds = {str(name) for name in tasks(judgments).dropna().unique()}
    if len(kinds) > 1:
        raise BadInput("the judgments are of several tasks.", remedy="Analyse each task by itself.")
    task = next(iter(kinds), "")
    is_rating = task in RATING_TASKS
    # Logarithms need ratios, which only magnitude estimates have; raw points of two scales do not compare.
    has_scales = is_rating and len(rating_scales(judgments)) > 1
    is_left_out = {"z-log": task != "magnitude_estimation", "raw": has_scales}
    names = [name for name in TRANSFORMS if not is_left_out.get(name)]
    for name in names if is_rating else [AS_ANSWERED]:
        if task == "forced_choice" or not is_rating:
            parts = [
                part.assign(name=group) for group, _, part in contrast_rows(judgments, by=by, transform="raw")
            ]
            scored = pd.concat(parts) if parts else judgments.iloc[:0].assign(score=0.0, name="")
        else:
            score = transform_ratings(judgments, transform=name)
            scored = judgments.assign(score=score, name=column_or_blank(judgments, by).astype(str))
            scored = scored[is_kind(scored, ("target",)) & scored["score"].notna()]
        if contrast:
            scored = scored[scored["name"] == contrast]
        if len(scored):
            yield name, scored.assign(task=task)


def _spread(scored: pd.DataFrame) -> float:
    """Return the standard deviation that estimates are divided by; 1 for shares."""
    if str(scored["task"].iloc[0]) not in RATING_TASKS:
        return 1.0
    spread = float(scored["score"].std())
    return spread if spread > 0 else float("nan")


def _standardize_effect(result: _Result, spread: float) -> dict[str, float | None]:
    numbers = {"estimate": result.estimate, "ci_low": result.ci_low, "ci_high": result.ci_high}
    return {name: None if n is None else none_if_nan(n / spread) for name, n in numbers.items()}


def _results(
    scored: pd.DataFrame, *, effect: str, by: str, factors: Levels | None
) -> Iterator[tuple[str, _Result]]:
    task = str(scored["task"].iloc[0])
    if effect == "interaction":
        yield from _interaction(scored, by=by, factors=factors)
    elif task == "forced_choice":
        yield from _choices(scored)
    else:
        yield from _differences(scored, is_binary=task == "yes_no")


def _differences(scored: pd.DataFrame, *, is_binary: bool) -> Iterator[tuple[str, _Result]]:
    expected = column_or_blank(scored, "expected").astype(object)
    rows = scored[expected.isin(["acceptable", "unacceptable"])]
    if rows.empty:
        return
    for unit in ("participant", "item"):
        means = paired_means(rows, unit=unit, value="score")
        yield f"{unit}s", _of_contrast(paired_contrast(means["good"].to_numpy(), means["bad"].to_numpy()))
    good = (rows["expected"] == "acceptable").to_numpy(dtype=float)
    if is_binary:
        coded = rows.assign(condition=good)
        fit = logistic_mixed_model(coded, outcome="score")
        yield "mixed", _share_difference(fit["intercept"], fit["condition"], fit.status)
        return
    centred = rows.assign(condition=good - 0.5)  # without correlations the structure depends on the coding
    fit = mixed_model(centred, outcome="score", random=CROSSED)
    yield "mixed", _of_estimate(fit["condition"], fit.status)
    fit = fit_largest(
        lambda terms, start: mixed_model(centred, outcome="score", random=terms, start=start),
        centred,
        slopes=("condition",),
    )
    yield "mixed-slopes", _of_estimate(fit["condition"], fit.status)


def _choices(rows: pd.DataFrame) -> Iterator[tuple[str, _Result]]:
    for unit in ("participant", "item"):
        shares: Floats = rows.groupby(unit, observed=True)["score"].mean().to_numpy(dtype=np.float64)
        yield f"{unit}s", _of_contrast(paired_contrast(shares, np.full(len(shares), 0.5)))
    decided = rows[rows["score"].isin([0.0, 1.0])]
    fit = logistic_mixed_model(decided, outcome="score", fixed=())
    term = fit["intercept"]
    ends = _wald(term)
    half = tuple(None if end is None else float(scipy.special.expit(end)) - 0.5 for end in ends)
    yield "mixed", _Result(fit.status, half[0], half[1], half[2], term.p)


def _interaction(scored: pd.DataFrame, *, by: str, factors: Levels | None) -> Iterator[tuple[str, _Result]]:
    scored = scored.assign(condition=column_or_blank(scored, "condition").astype(str))
    designs = [
        (name, part, cells)
        for name, part, cells in group_designs(scored, by=by, factors=factors)
        if isinstance(cells, Cells)
    ]
    if len(designs) != 1:
        names = ", ".join(name for name, _, _ in designs)
        message = f"{len(designs)} groups of conditions form a 2x2 design."
        remedy = f"Choose one contrast of: {names}." if names else "Choose the effect contrast."
        raise BadInput(message, column="contrast", remedy=remedy)
    _, part, cells = designs[0]
    coded = with_codes(part, cells)
    difference = difference_of_differences(coded, first=cells.first, second=cells.second, value="score")
    yield "participants", _of_contrast(difference.by_participants)
    yield "items", _of_contrast(difference.by_items)
    yield "mixed", _of_estimate(difference.estimate, difference.mixed.status)
    difference = difference_of_differences(
        coded, first=cells.first, second=cells.second, value="score", random=None
    )
    yield "mixed-slopes", _of_estimate(difference.estimate, difference.mixed.status)


def _of_contrast(tested: Contrast) -> _Result:
    return _Result(tested.status, tested.mean_difference, tested.ci_low, tested.ci_high, tested.p)


def _of_estimate(term: Estimate, status: str) -> _Result:
    return _Result(status, term.estimate, term.ci_low, term.ci_high, term.p)


def _wald(term: Estimate) -> tuple[float | None, float | None, float | None]:
    """Return a logit with the ends of its 95 % interval."""
    if term.estimate is None or term.se is None or not np.isfinite(term.estimate):
        return None, None, None
    half = float(scipy.stats.norm.ppf(0.975)) * term.se
    return term.estimate, term.estimate - half, term.estimate + half


def _share_difference(intercept: Estimate, condition: Estimate, status: str) -> _Result:
    """Convert a difference of logits to one of shares, with the intercept held."""
    base, ends = intercept.estimate, _wald(condition)
    if base is None or ends[0] is None:
        return _Result(status, p=condition.p)
    shares = [
        None if end is None else float(scipy.special.expit(base + end) - scipy.special.expit(base))
        for end in ends
    ]
    return _Result(status, shares[0], shares[1], shares[2], condition.p)


def _summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Count the specifications with an estimate, of the same sign as the study's own, and significant."""
    estimated = [row for row in rows if row["estimate"] is not None]
    current = next((row for row in estimated if row["is_current"]), None)
    values = [float(row["estimate"]) for row in estimated]
    reference = current["estimate"] if current else float(np.median(values)) if values else 0.0
    same_sign = [row for row in estimated if row["estimate"] * reference > 0]
    return {
        "n": len(rows),
        "estimated": len(estimated),
        "same_sign": len(same_sign),
        "significant": sum(row["p"] is not None and row["p"] < ALPHA for row in estimated),
        "significant_same_sign": sum(row["p"] is not None and row["p"] < ALPHA for row in same_sign),
        "low": min(values, default=None),
        "median": float(np.median(values)) if values else None,
        "high": max(values, default=None),
        "rank": None if current is None else 1 + estimated.index(current),
    }
