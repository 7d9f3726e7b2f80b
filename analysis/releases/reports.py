"""A study's rows → frame → exclusions → report: the same steps for command, page and API."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.aggregation.ratings import ratings_report
from analysis.agreement.report import agreement_report
from analysis.exclusions.apply import Excluded, apply_plan
from analysis.releases.plans import find_plan, judgments_for
from experiments.models import Experiment
from judgments.declared import treatment_of


@dataclass(frozen=True)
class Kept:
    """A study's judgments before and after a plan."""

    judgments: pd.DataFrame
    excluded: Excluded


def kept_judgments(
    experiment: Experiment, *, exclude: str = "", round_number: int | None = None, narrow: bool = False
) -> Kept:
    """The study's judgments and what a plan keeps of them; of one round, as if it were a study of its own.

    ``narrow`` leaves out columns that agreement does not read.
    """
    plan = find_plan(experiment, exclude)
    judgments = judgments_for(experiment, plan, narrow=narrow, round_number=round_number)
    return Kept(judgments, apply_plan(judgments, plan))


def agreement_of(
    experiment: Experiment,
    *,
    exclude: str = "",
    rule: str | None = None,
    ties: str = "strict",
    seed: int = 0,
    round_number: int | None = None,
    kept: Kept | None = None,
) -> dict[str, Any]:
    """Agreement and inclusion of a study, or of one of its rounds, ready for JSON."""
    kept = kept or kept_judgments(experiment, exclude=exclude, round_number=round_number, narrow=True)
    report = agreement_report(
        kept.excluded.kept,
        rule=rule or None,
        ties=ties,
        experiment=experiment.slug,
        seed=seed,
        excluded=kept.excluded.flow_rows(),
        before=kept.judgments,
        undecided=treatment_of(experiment),
    )
    said = "all" if round_number is None else f"{round_number} only, for exclusions as well"
    return report | {"round": round_number, "conventions": {"rounds": said, **report["conventions"]}}


def ratings_of(
    experiment: Experiment,
    *,
    exclude: str = "",
    transform: str = "z",
    ddof: int = 1,
    kept: Kept | None = None,
) -> dict[str, Any]:
    """Item means of a study's ratings, ready for JSON."""
    kept = kept or kept_judgments(experiment, exclude=exclude)
    report = ratings_report(kept.excluded.kept, transform=transform, ddof=ddof, experiment=experiment.slug)
    return {**report, "excluded": kept.excluded.flow_rows()}
