"""Steps of exclusion plans as forms offer them: labels, groups, and which apply to a study's task."""

from collections.abc import Iterable

from analysis.exclusions.criteria import CRITERIA, SIGNAL_PREFIX
from analysis.quality.report import SIGNALS
from analysis.rows import RATING_TASKS
from experiments.models import Experiment

STEP_LABELS = {
    "rejected": "rejected on the platform",
    "catch_failed": "failed a catch trial",
    "incomplete": "did not finish",
    "not_native": "not a native speaker",
    "flagged": "flagged manually",
    "too_few": "too few answers",
    **{f"{SIGNAL_PREFIX}{name}": f"signal: {signal.label}" for name, signal in SIGNALS.items()},
}
GROUPS = {
    "Participants": "rejected not_native flagged signal:duplicates",
    "Completeness": "incomplete too_few",
    "Attention": "catch_failed signal:catch_trials signal:honeypot signal:straight_lining signal:side_bias "
    "signal:line_training signal:speed signal:focus",
    "Browser and device": "signal:untrusted signal:paste signal:plain_form signal:storage "
    "signal:missing_glyphs signal:coarse_time",
    "Times of answers": "signal:impossible_time signal:before_onset signal:one_delivery signal:engine_facts",
}
#: Tasks of the steps that need one; the others apply to every task.
TASKS = {
    "signal:straight_lining": {*RATING_TASKS, "yes_no"},
    "signal:side_bias": {"forced_choice"},
    "signal:line_training": {"magnitude_estimation"},
    "signal:paste": {"magnitude_estimation"},
}
OTHER = "Comparison with others"  # of criteria that no group names, such as those of a plugin


def step_choices(study: Experiment, chosen: Iterable[str] = ()) -> list[tuple[str, list[tuple[str, str]]]]:
    """Steps by group with their labels: those for the study's task, and those ``chosen`` already."""
    groups = {heading: names.split() for heading, names in GROUPS.items()}
    grouped = {name for names in groups.values() for name in names}
    groups[OTHER] = [name for name in CRITERIA if name not in grouped]
    offered = {name for name in CRITERIA if study.task in TASKS.get(name, {study.task})} | {*chosen}
    choices = {
        heading: [(name, STEP_LABELS.get(name, name.replace("_", " "))) for name in names if name in offered]
        for heading, names in groups.items()
    }
    return [(heading, steps) for heading, steps in choices.items() if steps]
