"""Reports of filtered judgments as the documents that commands print, from a file or from a stored study."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..aggregation.ordinal import ordinal_report
from ..aggregation.ratings import magnitude_counts, ratings_report
from ..agreement.report import agreement_report, included_paradigms
from ..bayesian.sequential import sequential_report
from ..effects.report import effects_report
from ..effects.response_times import time_report
from ..exclusions.apply import Excluded, apply_plan
from ..exclusions.multiverse import NOTHING, Universe, multiverse_report, plan_variants
from ..exclusions.plan import Plan
from ..exclusions.report import exclusion_report
from ..groups.report import groups_report
from ..magnitudes import without_zeros
from ..reliability.item_diagnostics import item_diagnostics
from ..reliability.report import reliability_report


@dataclass(frozen=True)
class FilteredJudgments:
    """A study's judgments before and after an exclusion plan."""

    judgments: pd.DataFrame
    excluded: Excluded


def agreement_document(
    filtered: FilteredJudgments,
    *,
    rule: str | None = None,
    round_number: int | None = None,
    **choices: Any,
) -> dict[str, Any]:
    """Agreement and inclusion, ready for JSON."""
    report = agreement_report(
        filtered.excluded.kept,
        rule=rule or None,
        excluded=filtered.excluded.flow_rows(),
        before=filtered.judgments,
        **choices,
    )
    rounds = "all" if round_number is None else f"{round_number} only, for exclusions as well"
    conventions = {"rounds": rounds, **report["conventions"]}
    return report | {"round": round_number, "conventions": conventions, "plan": plan_label(filtered)}


def ratings_document(filtered: FilteredJudgments, **choices: Any) -> dict[str, Any]:
    """Item means of ratings, ready for JSON."""
    return ratings_report(filtered.excluded.kept, **choices) | basis(filtered)


def exclusions_document(
    judgments: pd.DataFrame,
    plan: Plan,
    *,
    transform: str = "z",
    zeros: str = "keep",
    background: pd.DataFrame | None = None,
    experiment: str = "",
) -> dict[str, Any]:
    """Exclusions of a plan by group, and the main results with and without it."""
    judgments, magnitudes = usable_magnitudes(judgments, transform=transform, zeros=zeros)
    report = exclusion_report(
        judgments, plan, background=background, experiment=experiment, transform=transform
    )
    return report | magnitudes


def reliability_document(
    filtered: FilteredJudgments,
    *,
    transform: str = "z",
    coding: str = "label_blind",
    seed: int = 0,
    zeros: str = "keep",
    rule: str = "",
    experiment: str = "",
    undecided: str = "",
) -> dict[str, Any]:
    """Agreement between participants, over all and over the included paradigms, and the ceilings."""
    included = None
    if rule:
        agreement = agreement_document(filtered, rule=rule, experiment=experiment, undecided=undecided)
        included = included_paradigms(agreement)
    judgments, magnitudes = usable_magnitudes(filtered.excluded.kept, transform=transform, zeros=zeros)
    report = reliability_report(
        judgments,
        transform=transform,
        coding=coding,
        seed=seed,
        experiment=experiment,
        included=included,
    )
    return report | {"rule": rule} | magnitudes | basis(filtered)


def effects_document(
    filtered: FilteredJudgments, *, transform: str = "z", zeros: str = "keep", **choices: Any
) -> dict[str, Any]:
    """Five analyses of every contrast, and the interactions of factorial designs."""
    judgments, magnitudes = usable_magnitudes(filtered.excluded.kept, transform=transform, zeros=zeros)
    return effects_report(judgments, transform=transform, **choices) | magnitudes | basis(filtered)


def ordinal_document(filtered: FilteredJudgments, **choices: Any) -> dict[str, Any]:
    """The cumulative link model of every contrast."""
    return ordinal_report(filtered.excluded.kept, **choices) | basis(filtered)


def times_document(filtered: FilteredJudgments, **choices: Any) -> dict[str, Any]:
    """Response times by condition."""
    return time_report(filtered.excluded.kept, **choices) | basis(filtered)


def groups_document(
    filtered: FilteredJudgments, *, transform: str = "z", zeros: str = "keep", **choices: Any
) -> dict[str, Any]:
    """Effects and items by group of participants."""
    judgments, magnitudes = usable_magnitudes(filtered.excluded.kept, transform=transform, zeros=zeros)
    return groups_report(judgments, transform=transform, **choices) | magnitudes | basis(filtered)


def sequential_document(
    filtered: FilteredJudgments, *, transform: str = "z", zeros: str = "keep", **choices: Any
) -> dict[str, Any]:
    """The Bayes factor of every contrast after each participant."""
    judgments, magnitudes = usable_magnitudes(filtered.excluded.kept, transform=transform, zeros=zeros)
    return sequential_report(judgments, transform=transform, **choices) | magnitudes | basis(filtered)


def multiverse_document(
    judgments: pd.DataFrame,
    plan: Plan,
    *,
    other_plans: Sequence[Plan] = (),
    unusable: Sequence[dict[str, str]] = (),
    **choices: Any,
) -> dict[str, Any]:
    """One effect under every combination of exclusion, transformation and model."""
    report = multiverse_report(
        [
            Universe(variant.name, apply_plan(judgments, variant).kept)
            for variant in [*plan_variants(plan), *other_plans]
        ],
        exclusion=plan.name if plan.steps else NOTHING,
        **choices,
    )
    return report | {"plan": plan_record(plan), "unusable": list(unusable)}


def diagnostics_document(
    filtered: FilteredJudgments, pairs: pd.DataFrame | None = None, *, experiment: str = ""
) -> dict[str, Any]:
    """Annotator models, strengths of sentences, and sensitivity."""
    report = item_diagnostics(filtered.excluded.kept, pairs)
    return {"experiment": experiment, **report, **basis(filtered)}


def items_document(table: pd.DataFrame, diagnostics: dict[str, Any]) -> dict[str, Any]:
    """The table of items and the diagnostics as one document, ready for JSON."""
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    plain = [
        {name: getattr(value, "item", lambda v=value: v)() for name, value in row.items()} for row in rows
    ]
    return {**diagnostics, "items": plain}


def usable_magnitudes(
    judgments: pd.DataFrame, *, transform: str = "z", zeros: str = "keep"
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Leave estimates of zero out where that is chosen; return the judgments and the report's ``magnitudes``.

    It counts the estimates that are zero or negative and those left out; None without magnitude estimates.
    """
    counts = magnitude_counts(judgments, transform=transform, zeros=zeros)
    return without_zeros(judgments) if zeros == "leave-out" else judgments, {"magnitudes": counts}


def basis(filtered: FilteredJudgments) -> dict[str, Any]:
    """The plan and the flow of exclusions that every report names."""
    return {"plan": plan_label(filtered), "excluded": filtered.excluded.flow_rows()}


def plan_label(filtered: FilteredJudgments) -> dict[str, Any]:
    """Name, version and checksum of the plan."""
    return plan_record(filtered.excluded.plan)


def plan_record(plan: Plan) -> dict[str, Any]:
    """Name, version and checksum of a plan."""
    return {"name": plan.name, "version": plan.version, "sha256": plan.sha256}
