"""Statistics of acceptability judgments, and comparison of language models with human judgments.

A library on tidy pandas frames, without Django. A table with columns of other names becomes one by
``obelus.tidy``, or where it is used: ``data=``, ``subject=``, ``dv=`` and ``within=`` are taken as pingouin
takes them. Reports are dicts that show their tables in a notebook.

``import obelus`` is fast: each public name and each subpackage (such as ``obelus.figures``) is
imported on first use. ``dir(obelus)`` lists them; ``docs/how-to/tutorial.ipynb`` uses them.
"""

from importlib import import_module
from typing import Any

#: Module of each public name, in the order of a study: from judgments to a comparison.
HOMES = {
    "require_columns": "columns",
    "read_table": "files",
    "read_judgment_file": "judgment_tables",
    "tidy": "judgment_tables",
    "example_study": "command_line.example_data",
    "write_examples": "command_line.example_data",
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
    "reliability_report": "reliability.report",
    "intraclass_correlation": "reliability.icc",
    "krippendorff_alpha": "reliability.chance_corrected",
    "five_analyses": "effects.five_analyses",
    "effects_report": "effects.report",
    "time_report": "effects.response_times",
    "groups_report": "groups.report",
    "sequential_report": "bayesian.sequential",
    "prospective_report": "power.report",
    "pilot_report": "power.report",
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
    "adc_curve": "comparison.adc_curve",
    "compare_report": "comparison.report",
    "Evidence": "figures.evidence",
    "applicable": "figures.registry",
    "draw": "figures.registry",
    "export_figure": "figures.export",
    "Client": "client",
}
SUBPACKAGES = (
    "aggregation",
    "agreement",
    "bayesian",
    "client",
    "comparison",
    "corpora",
    "effects",
    "exclusions",
    "figures",
    "gold",
    "groups",
    "mixed_models",
    "ngrams",
    "power",
    "quality",
    "reliability",
    "scoring",
)
__version__ = "0.2.0"  # equals pyproject.toml
__all__ = [*HOMES, *SUBPACKAGES]


def __getattr__(name: str) -> Any:
    """Import a public name or a subpackage on first access."""
    if name in HOMES:
        member = getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
        if not isinstance(member, type):
            member = import_module(f"{__name__}.judgment_tables").for_notebooks(member)
        globals()[name] = member  # so that a name is one object, and the next access a dictionary's
        return member
    if name in SUBPACKAGES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"{__name__} has no {name!r}; see dir({__name__}).")


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
