"""Compute the reports of a study from its stored rows; commands, pages, API and study reports call these."""

from dataclasses import replace
from typing import Any

import pandas as pd

from analysis.aggregation.surprisingly_popular import SAME, YES
from analysis.agreement.item_statistics import item_statistics_table
from analysis.choices import POWER_SIZES
from analysis.command_line.documents import (
    FilteredJudgments,
    agreement_document,
    basis,
    diagnostics_document,
    effects_document,
    exclusions_document,
    groups_document,
    multiverse_document,
    ordinal_document,
    ratings_document,
    reliability_document,
    sequential_document,
    times_document,
    usable_magnitudes,
)
from analysis.effects.conditions import condition_report
from analysis.errors import BadInput
from analysis.exclusions.apply import apply_plan
from analysis.exclusions.multiverse import plan_variants
from analysis.exclusions.plan import Plan
from analysis.plugins.statistics import STATISTICS
from analysis.power.report import Price, pilot_report
from experiments.models import Experiment
from judgments.frames.build import participant_frame, tie_treatment, with_imported_columns
from releases.gold.plans import find_plan, stored_names
from releases.material_frames import pair_frame, score_frame, sentence_frame
from releases.reports.judgment_cache import study_judgments


def filtered_judgments(
    experiment: Experiment, *, exclude: str = "", round_number: int | None = None, narrow: bool = False
) -> FilteredJudgments:
    """Apply a plan to a study's judgments, or to those of one round as if it were a study of its own.

    ``narrow`` leaves out columns that agreement does not read.
    """
    plan = find_plan(experiment, exclude)
    judgments = study_judgments(experiment, plan, narrow=narrow, round_number=round_number)
    return FilteredJudgments(judgments, apply_plan(judgments, plan))


def compute_agreement(
    experiment: Experiment,
    *,
    exclude: str = "",
    rule: str | None = None,
    ties: str = "strict",
    seed: int = 0,
    round_number: int | None = None,
    interval: str = "auto",
    cross_fit: bool = False,
    filtered: FilteredJudgments | None = None,
) -> dict[str, Any]:
    """Agreement and inclusion of a study, or of one of its rounds, ready for JSON."""
    filtered = filtered or filtered_judgments(
        experiment, exclude=exclude, round_number=round_number, narrow=True
    )
    return agreement_document(
        filtered,
        rule=rule,
        ties=ties,
        experiment=experiment.slug,
        seed=seed,
        round_number=round_number,
        undecided=tie_treatment(experiment),
        interval=interval,
        cross_fit=cross_fit,
    )


def compute_ratings(
    experiment: Experiment,
    *,
    exclude: str = "",
    transform: str = "z",
    ddof: int = 1,
    zeros: str = "keep",
    filtered: FilteredJudgments | None = None,
) -> dict[str, Any]:
    """Item means of a study's ratings, ready for JSON."""
    filtered = filtered or filtered_judgments(experiment, exclude=exclude)
    return ratings_document(filtered, transform=transform, ddof=ddof, zeros=zeros, experiment=experiment.slug)


def compute_exclusions(
    experiment: Experiment, *, exclude: str = "", transform: str = "z", zeros: str = "keep"
) -> dict[str, Any]:
    """Exclusions of a plan by group, and the main results with and without it."""
    plan = find_plan(experiment, exclude)
    return exclusions_document(
        study_judgments(experiment, plan),
        plan,
        transform=transform,
        zeros=zeros,
        background=background_answers(experiment),
        experiment=experiment.slug,
    )


def background_answers(experiment: Experiment) -> pd.DataFrame:
    """Answers to the background questionnaire, one column per question."""
    participants = participant_frame(experiment)
    answers = [row if isinstance(row, dict) else {} for row in participants["background"]]
    names = list(dict.fromkeys(str(name) for row in answers for name in row))
    columns = {
        name: [value if isinstance(value := row.get(name), (str, int, float)) else None for row in answers]
        for name in names
    }
    return pd.DataFrame({"participant": participants["participant"], **columns})


def compute_statistic(
    experiment: Experiment, *, statistic: str, exclude: str = "", **_: Any
) -> dict[str, Any]:
    """A plugin's statistic of the remaining judgments; other choices only tell results apart in the cache."""
    plugin_statistic = STATISTICS.find(statistic, noun="statistic of a plugin")
    filtered = filtered_judgments(experiment, exclude=exclude)
    return {
        "experiment": experiment.slug,
        **basis(filtered),
        **plugin_statistic.document(filtered.excluded.kept),
    }


def compute_reliability(
    experiment: Experiment,
    *,
    exclude: str = "",
    transform: str = "z",
    coding: str = "label_blind",
    seed: int = 0,
    zeros: str = "keep",
    rule: str = "",
) -> dict[str, Any]:
    """Agreement between participants, over all and over the included paradigms, and the ceilings."""
    filtered = filtered_judgments(experiment, exclude=exclude)
    return reliability_document(
        filtered,
        transform=transform,
        coding=coding,
        seed=seed,
        zeros=zeros,
        rule=rule,
        experiment=experiment.slug,
        undecided=tie_treatment(experiment) if rule else "",
    )


def compute_effects(
    experiment: Experiment, *, exclude: str = "", transform: str = "z", zeros: str = "keep", **choices: Any
) -> dict[str, Any]:
    """Five analyses of every contrast, and interactions of participants and of the scored models."""
    filtered = filtered_judgments(experiment, exclude=exclude)
    materials = experiment.materials
    return effects_document(
        filtered,
        transform=transform,
        zeros=zeros,
        factors=materials.levels if materials else None,
        scores=score_frame(experiment),
        sentences=sentence_frame(materials),
        experiment=experiment.slug,
        **choices,
    )


def compute_groups(experiment: Experiment, *, exclude: str = "", **choices: Any) -> dict[str, Any]:
    """Effects and items by group of participants."""
    filtered = filtered_judgments(experiment, exclude=exclude)
    background = background_answers(experiment)
    return groups_document(filtered, background=background, experiment=experiment.slug, **choices)


def compute_sequential(experiment: Experiment, *, exclude: str = "", **choices: Any) -> dict[str, Any]:
    """The Bayes factor of every contrast after each participant."""
    filtered = filtered_judgments(experiment, exclude=exclude)
    return sequential_document(filtered, experiment=experiment.slug, **choices)


def compute_times(
    experiment: Experiment, *, exclude: str = "", by: str = "phenomenon", outliers: str = ""
) -> dict[str, Any]:
    """Response times by condition."""
    filtered = filtered_judgments(experiment, exclude=exclude)
    return times_document(filtered, by=by, outliers=outliers, experiment=experiment.slug)


def compute_multiverse(
    experiment: Experiment, *, exclude: str = "", contrast: str = "", **choices: Any
) -> dict[str, Any]:
    """One effect under every combination of exclusion, transformation and model."""
    plan = find_plan(experiment, exclude)
    other_plans, unusable = _other_plans(experiment, plan)
    reading = max([*plan_variants(plan), *other_plans], key=lambda variant: variant.has_signals)
    materials = experiment.materials
    return multiverse_document(
        study_judgments(experiment, reading),
        plan,
        other_plans=other_plans,
        unusable=unusable,
        contrast=contrast,
        factors=materials.levels if materials else None,
        experiment=experiment.slug,
        **choices,
    )


def _other_plans(experiment: Experiment, plan: Plan) -> tuple[list[Plan], list[dict[str, str]]]:
    """The newest versions of the study's other plans, and those that cannot be applied with the reason."""
    other_plans, unusable = [], []
    for name in stored_names(experiment):
        try:
            other = find_plan(experiment, name)
        except BadInput as error:  # written for an earlier version of a signal
            unusable.append({"exclusion": name, "reason": str(error)})
            continue
        if other.sha256 != plan.sha256:
            label = name if name != plan.name else f"{name} v{other.version}"
            other_plans.append(replace(other, name=label))
    return other_plans, unusable


def compute_diagnostics(experiment: Experiment, *, exclude: str = "") -> dict[str, Any]:
    """Annotator models, strengths of sentences, and sensitivity."""
    filtered = filtered_judgments(experiment, exclude=exclude)
    if experiment.origin == Experiment.Origin.IMPORTED:
        excluded = filtered.excluded
        kept = with_imported_columns(excluded.kept, experiment, (YES, SAME))
        filtered = replace(filtered, excluded=replace(excluded, kept=kept))
    return diagnostics_document(filtered, pair_frame(experiment.materials), experiment=experiment.slug)


def build_item_table(
    experiment: Experiment, *, exclude: str = "", round_number: int | None = None
) -> pd.DataFrame:
    """The table of items, with position bias, response time and spread of ratings of each."""
    filtered = filtered_judgments(experiment, exclude=exclude, round_number=round_number)
    return item_statistics_table(filtered.excluded.kept, before=filtered.judgments)


def compute_conditions(
    experiment: Experiment,
    *,
    exclude: str = "",
    transform: str = "z",
    ddof: int = 1,
    zeros: str = "keep",
) -> dict[str, Any]:
    """Ratings by condition."""
    filtered = filtered_judgments(experiment, exclude=exclude)
    judgments, magnitudes = usable_magnitudes(filtered.excluded.kept, transform=transform, zeros=zeros)
    report = condition_report(judgments, transform=transform, ddof=ddof)
    if report["magnitudes"] is not None:  # its own counts are of the judgments without zeros
        report["magnitudes"] |= magnitudes["magnitudes"] or {}
    return report


def fit_ordinal_models(experiment: Experiment, *, exclude: str = "", **choices: Any) -> dict[str, Any]:
    """The cumulative link model of every contrast."""
    filtered = filtered_judgments(experiment, exclude=exclude)
    return ordinal_document(filtered, experiment=experiment.slug, **choices)


def compute_pilot_power(
    experiment: Experiment,
    *,
    exclude: str = "",
    reward_minor: int = 0,
    fee: float = 0.0,
    participants: list[int] | None = None,
    transform: str = "z",
    zeros: str = "keep",
    **choices: Any,
) -> dict[str, Any]:
    """Power of other numbers of participants, from this study as a pilot."""
    filtered = filtered_judgments(experiment, exclude=exclude)
    judgments, magnitudes = usable_magnitudes(filtered.excluded.kept, transform=transform, zeros=zeros)
    report = pilot_report(
        judgments,
        participants=participants or list(POWER_SIZES),
        price=Price(reward_minor, fee),
        transform=transform,
        **choices,
    )
    return {"experiment": experiment.slug, **report, **magnitudes, **basis(filtered)}
