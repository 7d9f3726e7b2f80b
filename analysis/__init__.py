"""Conclude: statistics of acceptability judgments, and models compared with people.

A library first: tidy pandas frames in, frames out, no Django outside :mod:`analysis.releases`.

``import analysis`` costs nothing: each name below, and each subpackage (``analysis.figures``), is
imported when it is first used. ``dir(analysis)`` lists them; ``docs/how-to/tutorial.ipynb`` uses them.
"""

from importlib import import_module
from typing import Any

#: Where each public name lives: the way from judgments to a comparison, in its order.
HOMES = {
    "require_columns": "columns",
    "read_table": "files",
    "Plan": "exclusions.plan",
    "Step": "exclusions.plan",
    "parse_plan": "exclusions.plan",
    "apply_plan": "exclusions.apply",
    "exclusion_report": "exclusions.report",
    "agreement_report": "agreement.report",
    "item_table": "agreement.report",
    "parse_rule": "agreement.inclusion",
    "progress_report": "agreement.progress",
    "anytime_interval": "agreement.sequential",
    "anytime_mean_interval": "agreement.sequential",
    "wilson_interval": "aggregation.proportions",
    "zscore_by_participant": "scales",
    "item_means": "aggregation.ratings",
    "ratings_report": "aggregation.ratings",
    "likert_distribution": "aggregation.ratings",
    "reliability_report": "agreement.reliability_report",
    "krippendorff_alpha": "agreement.chance_corrected",
    "five_analyses": "effects.five_analyses",
    "effects_report": "effects.report",
    "prospective_report": "effects.power_report",
    "pilot_report": "effects.power_report",
    "preference_labels": "gold.labels",
    "acceptability_labels": "gold.labels",
    "difference_labels": "gold.labels",
    "train_model": "ngrams.smoothing",
    "token_logprobs": "ngrams.query",
    "scorer": "scoring",
    "score_sentences": "scoring.frames",
    "standardize": "comparison.criteria",
    "blimp_criterion": "comparison.criteria",
    "acceptability_delta_criterion": "comparison.criteria",
    "adc_curve": "comparison.curve",
    "compare_report": "comparison.report",
    "Evidence": "figures.evidence",
    "applicable": "figures.registry",
    "draw": "figures.registry",
    "export_figure": "figures.export",
}
SUBPACKAGES = (
    "aggregation",
    "agreement",
    "comparison",
    "corpora",
    "effects",
    "exclusions",
    "figures",
    "gold",
    "ngrams",
    "quality",
    "scoring",
)
__all__ = [*HOMES, *SUBPACKAGES]


def __getattr__(name: str) -> Any:
    """Import a public name or a subpackage when it is first asked for."""
    if name in HOMES:
        return getattr(import_module(f"analysis.{HOMES[name]}"), name)
    if name in SUBPACKAGES:
        return import_module(f"analysis.{name}")
    raise AttributeError(f"analysis has no {name!r}; see dir(analysis).")


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
