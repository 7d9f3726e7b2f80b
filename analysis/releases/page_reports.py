"""What the results pages show, from a study's rows: the same steps for page, command, API and report."""

from typing import Any

import pandas as pd

from analysis.aggregation.conditions import condition_report
from analysis.aggregation.diagnostics import item_diagnostics
from analysis.aggregation.ordinal_report import ordinal_report
from analysis.agreement.reliability_report import reliability_report
from analysis.effects.power_report import SIZES, Price, pilot_report
from analysis.effects.report import effects_report
from analysis.exclusions.report import exclusion_report
from analysis.releases.material_frames import pair_frame
from analysis.releases.plans import find_plan, judgments_for
from analysis.releases.reports import Kept, kept_judgments
from experiments.models import Experiment
from judgments.frames import participant_frame


def exclusions_of(experiment: Experiment, *, exclude: str = "", transform: str = "z") -> dict[str, Any]:
    """What a plan removes, of whom, and the headline numbers with and without it."""
    plan = find_plan(experiment, exclude)
    return exclusion_report(
        judgments_for(experiment, plan),
        plan,
        background=background_of(experiment),
        experiment=experiment.slug,
        transform=transform,
    )


def background_of(experiment: Experiment) -> pd.DataFrame:
    """What participants said of themselves, one column per question."""
    people = participant_frame(experiment)
    said = [one if isinstance(one, dict) else {} for one in people["background"]]
    names = list(dict.fromkeys(str(name) for one in said for name in one))
    columns = {
        name: [value if isinstance(value := one.get(name), (str, int, float)) else None for one in said]
        for name in names
    }
    return pd.DataFrame({"participant": people["participant"], **columns})


def reliability_of(
    experiment: Experiment,
    *,
    exclude: str = "",
    transform: str = "z",
    coding: str = "label_blind",
    seed: int = 0,
) -> dict[str, Any]:
    """How far annotators agree with each other, and the ceilings."""
    kept = kept_judgments(experiment, exclude=exclude)
    report = reliability_report(
        kept.excluded.kept, transform=transform, coding=coding, seed=seed, experiment=experiment.slug
    )
    return report | _basis(kept)


def effects_of(experiment: Experiment, *, exclude: str = "", **choices: Any) -> dict[str, Any]:
    """The five analyses of every contrast, and interactions."""
    kept = kept_judgments(experiment, exclude=exclude)
    return effects_report(kept.excluded.kept, experiment=experiment.slug, **choices) | _basis(kept)


def diagnostics_of(experiment: Experiment, *, exclude: str = "") -> dict[str, Any]:
    """Annotator models, strengths and sensitivity."""
    kept = kept_judgments(experiment, exclude=exclude)
    report = item_diagnostics(kept.excluded.kept, pair_frame(experiment.materials))
    return {"experiment": experiment.slug, **report, **_basis(kept)}


def conditions_of(
    experiment: Experiment, *, exclude: str = "", transform: str = "z", ddof: int = 1
) -> dict[str, Any]:
    """Ratings by condition."""
    kept = kept_judgments(experiment, exclude=exclude)
    return condition_report(kept.excluded.kept, transform=transform, ddof=ddof)


def ordinal_of(experiment: Experiment, *, exclude: str = "", by: str = "phenomenon") -> dict[str, Any]:
    """The cumulative link model of every contrast."""
    kept = kept_judgments(experiment, exclude=exclude)
    return ordinal_report(kept.excluded.kept, by=by, experiment=experiment.slug) | _basis(kept)


def pilot_of(
    experiment: Experiment,
    *,
    exclude: str = "",
    reward_minor: int = 0,
    fee: float = 0.0,
    participants: list[int] | None = None,
    **choices: Any,
) -> dict[str, Any]:
    """Power of other numbers of participants, from this study as a pilot."""
    kept = kept_judgments(experiment, exclude=exclude)
    report = pilot_report(
        kept.excluded.kept,
        participants=participants or list(SIZES),
        price=Price(reward_minor, fee),
        **choices,
    )
    return {"experiment": experiment.slug, **report, **_basis(kept)}


def _basis(kept: Kept) -> dict[str, Any]:
    """The plan and its flow: every report names what it rests on."""
    plan = kept.excluded.plan
    return {
        "plan": {"name": plan.name, "version": plan.version, "sha256": plan.sha256},
        "excluded": kept.excluded.flow_rows(),
    }
