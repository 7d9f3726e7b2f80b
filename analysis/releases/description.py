"""What a release says of itself: its texts and its manifest."""

from typing import Any

from analysis.exclusions.apply import Excluded
from analysis.exclusions.plan import Plan
from analysis.gold.card import dataset_card
from analysis.gold.codebook import (
    EXCLUSION_FILE,
    HUMAN_FILE,
    JUDGMENT_FILE,
    PAIR_FILE,
    PAIR_RECORD,
    SENTENCE_FILE,
    data_package,
)
from analysis.gold.facts import Facts
from analysis.gold.labels import label_rule
from analysis.gold.methods import methods_text
from analysis.gold.writers import DIGITS, json_bytes
from analysis.releases.options import Options
from analysis.releases.people import answered_between
from analysis.releases.storage import checksum
from analysis.releases.withdrawn import withdrawn_from
from config.version import code_version
from experiments.models import Experiment

FORMAT = "obelus-release/1"
PLAN_FIELDS = ("name", "version", "steps", "sha256", "locked_before_first_response")
FILES = {
    "pairs.jsonl": "every minimal pair with BLiMP's fields and what people said",
    "sentences.csv": "every sentence with what people said",
    "judgments.csv": "every judgment, one row each, kept or not",
    "participants.csv": "every participant as a pseudonym",
    "exclusions.csv": "what was excluded, by which step",
    "human.csv": "one human score per sentence, ready for comparing models",
    "pairs.csv": "the pairs as ids, ready for comparing models",
    "methods.md": "a methods paragraph with references",
    "datapackage.json": "the meaning of every column",
    "manifest.json": "checksums, plan, conventions, versions",
}


def facts_of(
    experiment: Experiment,
    options: Options,
    plan: Plan,
    *,
    counts: dict[str, int],
    report: dict[str, Any],
    excluded: Excluded,
) -> Facts:
    """What the card and the methods paragraph state."""
    materials = experiment.materials
    first, last = answered_between(experiment, options.round_number)
    return Facts(
        slug=experiment.slug,
        title=experiment.title,
        task=experiment.task,
        language=materials.language if materials else experiment.language,
        code_version=code_version(),
        seed=options.seed,
        exclusions=_plan_words(plan),
        ties=options.ties,
        n_min=options.n_min,
        description=experiment.description,
        licence=materials.licence if materials else "",
        source=materials.source if materials else "",
        materials=materials.name if materials else "",
        rule=report["rule"] or "",
        first_answer=first,
        last_answer=last,
        counts=counts,
        flow=excluded.flow_rows(),
        agreement={name: report[name] for name in ("overall", "overall_included")},
        undecided=(report["undecided"] or {}).get("statement", ""),
    )


def _plan_words(plan: Plan) -> str:
    if not plan.steps:
        return ""
    steps = ", ".join(step.name for step in plan.steps)
    if not plan.created_at:  # built-in steps, not a stored plan
        return f"the built-in steps {steps}"
    when = ", fixed before the first response" if plan.locked_before_first_response else ""
    return f"plan {plan.name}, version {plan.version} (steps: {steps}{when})"


def text_files(facts: Facts, *, people_columns: tuple[str, ...]) -> dict[str, bytes]:
    """The codebook, the card and the methods paragraph."""
    columns = {
        "pairs.jsonl": PAIR_RECORD,
        "sentences.csv": SENTENCE_FILE,
        "judgments.csv": JUDGMENT_FILE,
        "participants.csv": people_columns,
        "exclusions.csv": EXCLUSION_FILE,
        "human.csv": HUMAN_FILE,
        "pairs.csv": PAIR_FILE,
    }
    package = data_package(columns, name=facts.slug, title=facts.title, licence=facts.licence)
    return {
        "datapackage.json": json_bytes(package),
        "README.md": dataset_card(facts, list(FILES.items())).encode(),
        "methods.md": methods_text(facts).encode(),
    }


def manifest_of(
    experiment: Experiment,
    options: Options,
    plan: Plan,
    *,
    facts: Facts,
    report: dict[str, Any],
    background: list[str],
) -> dict[str, Any]:
    """The manifest without its list of files."""
    stored = plan.as_dict()
    materials = experiment.materials
    versions = experiment.versions.filter(is_preview=False).order_by("number")
    return {
        "format": FORMAT,
        "experiment": experiment.slug,
        "title": experiment.title,
        "task": experiment.task,
        "versions": list(versions.values_list("sha256", flat=True)),
        "materials": {"name": materials.name, "checksum": materials.checksum} if materials else None,
        "plan": {name: stored[name] for name in PLAN_FIELDS},
        "flow": list(facts.flow),
        "options": options.as_dict(),
        "seed": options.seed,
        "code_version": facts.code_version,
        "counts": facts.counts,
        "answered": {"first": facts.first_answer or None, "last": facts.last_answer or None},
        "published_background": background,
        "withdrawn": withdrawn_from(experiment),
        "agreement": facts.agreement,
        "conventions": report["conventions"] | {
            "label": label_rule(experiment.task),
            "z": "participant, ddof 1, target and filler trials, at least 4 ratings, constant raters out",
            "computed_numbers": f"{DIGITS} significant digits",
            "raw_numbers": "shortest text that reads back equal",
        },
    }  # fmt: skip


def listed(files: dict[str, bytes]) -> list[dict[str, Any]]:
    """Every file with its size and checksum, in alphabetical order."""
    return [
        {"path": name, "bytes": len(content), "sha256": checksum(content)}
        for name, content in sorted(files.items())
    ]
