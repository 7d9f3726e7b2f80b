"""Description of a release: participants as pseudonyms, withdrawals, texts and manifest."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from django.db.models import Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from analysis.exclusions.apply import Excluded
from analysis.exclusions.plan import Plan
from analysis.gold.card import dataset_card
from analysis.gold.codebook import (
    DEVIATION_FILE,
    EXCLUSION_FILE,
    HUMAN_FILE,
    JUDGMENT_FILE,
    PAIR_FILE,
    PAIR_RECORD,
    PARTICIPANT_FILE,
    SENTENCE_FILE,
    data_package,
)
from analysis.gold.differences import DIFFERENCE_FILE
from analysis.gold.facts import Facts
from analysis.gold.labels import label_rule
from analysis.gold.writers import DIGITS, json_bytes
from analysis.rows import is_kind, numbers
from config.version import code_version
from experiments.models import Experiment
from judgments.frames.measurements import no_formula
from judgments.models import Judgment, Participant, Session, Tombstone
from judgments.recruitment.demographics import DEMOGRAPHICS
from releases.gold.options import Options
from releases.gold.storage import checksum
from releases.models import Release


def participant_table(
    experiment: Experiment, judgments: pd.DataFrame, excluded: Excluded
) -> tuple[pd.DataFrame, list[str]]:
    """One row per participant with a judgment, and the names of published background columns."""
    published = published_questions(experiment)
    counts = _counts(judgments, excluded)
    rows = []
    participants = Participant.objects.filter(experiment=experiment).order_by("pk")
    fields = ("pseudonym", "is_native", "is_simulated", "background")
    for pseudonym, native, simulated, background in participants.values_list(*fields):
        if pseudonym in counts.index:
            answers = {f"background_{name}": _answer(background.get(name)) for name in published}
            rows.append({"participant": pseudonym, "native": native, "simulated": simulated, **answers})
    columns = ["participant", "native", "simulated", *(f"background_{name}" for name in published)]
    table = pd.DataFrame(rows, columns=columns, dtype=object).merge(counts, on="participant", how="left")
    return table[[*PARTICIPANT_FILE, *columns[3:]]], columns[3:]


def published_questions(experiment: Experiment) -> list[str]:
    """Questions whose answers may be published: those with ``"publish": true``, and chosen demographics."""
    questions = experiment.questionnaire if isinstance(experiment.questionnaire, list) else []
    demographics = {
        name
        for campaign in experiment.campaigns.all()
        for name in campaign.platform_data.get(DEMOGRAPHICS, {}).get("published", [])
    }
    return [
        *(
            str(question["name"])
            for question in questions
            if isinstance(question, dict) and question.get("publish") is True and question.get("name")
        ),
        *sorted(demographics),
    ]


def sessions_of(experiment: Experiment, round_number: int | None = None) -> QuerySet[Session]:
    """Sessions other than tests, optionally of one round; sessions without a list belong to the first."""
    sessions = Session.objects.filter(experiment=experiment, is_test=False)
    if round_number is None:
        return sessions
    of_round = Q(list__round=round_number)
    return sessions.filter(of_round | Q(list__isnull=True) if round_number == 1 else of_round)


def answered_between(experiment: Experiment, round_number: int | None = None) -> tuple[str, str]:
    """Times of the first and last answer (UTC, ISO 8601), empty without answers."""
    rows = Judgment.objects.filter(trial__session__in=sessions_of(experiment, round_number))
    at = Coalesce("received_at", "answered_at")
    times = rows.aggregate(first=Min(at), last=Max(at))
    first, last = (f"{when:%Y-%m-%dT%H:%M:%SZ}" if when else "" for when in (times["first"], times["last"]))
    return first, last


def _counts(judgments: pd.DataFrame, excluded: Excluded) -> pd.DataFrame:
    """Per participant: sessions, answered targets, those kept, and the step that removed everything."""
    answered = is_kind(judgments, ("target",)) & ~pd.isna(numbers(judgments))
    participant = judgments["participant"].astype(object)
    is_kept = judgments.index.isin(excluded.kept.index)
    by_participant = pd.DataFrame({"answered": answered, "kept": answered & is_kept, "row": is_kept}).groupby(
        participant
    )
    counts = by_participant[["answered", "kept"]].sum().rename(columns={"answered": "judgments"})
    sessions = judgments["session"].astype(object).groupby(participant).nunique().rename("sessions")
    first_step = excluded.mask.groupby(excluded.mask["participant"].astype(object))["step"].first()
    has_nothing_left = ~by_participant["row"].any()
    table = counts.join(sessions)
    table["excluded_by"] = first_step.reindex(table.index).where(has_nothing_left.reindex(table.index))
    return table.rename_axis("participant")


def _answer(value: object) -> str:
    if isinstance(value, list):
        return str(no_formula("; ".join(str(part) for part in value)))
    return "" if value is None else str(no_formula(value))


def withdrawn_from(study: Experiment) -> dict[str, int]:
    """Sessions and judgments deleted at participants' request."""
    return _withdrawn_counts(Tombstone.objects.filter(experiment=study))


def withdrawn_since(release: Release) -> dict[str, int]:
    """The same since a release was requested, whose files may still contain them."""
    return _withdrawn_counts(
        Tombstone.objects.filter(experiment=release.experiment_id, at__gt=release.created_at)
    )


def _withdrawn_counts(tombstones: Any) -> dict[str, int]:
    totals = tombstones.aggregate(sessions=Sum("n_sessions"), judgments=Sum("n_judgments"))
    return {name: count or 0 for name, count in totals.items()}


FORMAT = "obelus-release/1"
PLAN_FIELDS = ("name", "version", "steps", "sha256", "locked_before_first_response")
FILES = {
    "pairs.jsonl": "every minimal pair with BLiMP's fields and what people said",
    "sentences.csv": "every sentence with what people said",
    "judgments.csv": "every judgment, one row each, kept or not",
    "participants.csv": "every participant as a pseudonym",
    "exclusions.csv": "what was excluded, by which step",
    "deviations.csv": "what was done otherwise than in the frozen plan, and why",
    "human.csv": "one human score per sentence, ready for comparing models",
    "pairs.csv": "the pairs as ids, ready for comparing models",
    "methods.md": "a methods paragraph with references",
    "datapackage.json": "the meaning of every column",
    "manifest.json": "checksums, plan, conventions, versions",
}
FACTORIAL_FILES = {
    "differences.csv": "the difference of differences of each participant and item, and of models",
}
"""Files of factorial designs only."""


def facts_of(
    experiment: Experiment,
    options: Options,
    plan: Plan,
    *,
    counts: dict[str, int],
    report: dict[str, Any],
    excluded: Excluded,
) -> Facts:
    """The facts for the dataset card and the methods paragraph."""
    materials = experiment.materials
    first, last = answered_between(experiment, options.round_number)
    return Facts(
        slug=experiment.slug,
        title=experiment.title,
        task=experiment.task,
        language=materials.language if materials else experiment.language,
        code_version=code_version(),
        exclusions=_plan_text(plan),
        n_min=options.n_min,
        description=experiment.description,
        licence=materials.licence if materials else "",
        source=materials.source if materials else "",
        materials=materials.name if materials else "",
        first_answer=first,
        last_answer=last,
        counts=counts,
        flow=excluded.flow_rows(),
        agreement={name: report[name] for name in ("overall", "overall_included")},
        undecided=(report["undecided"] or {}).get("statement", ""),
    )


def _plan_text(plan: Plan) -> str:
    if not plan.steps:
        return ""
    steps = ", ".join(step.name for step in plan.steps)
    if not plan.created_at:  # built-in steps, not a stored plan
        return f"the built-in steps {steps}"
    when = ", fixed before the first response" if plan.locked_before_first_response else ""
    return f"plan {plan.name}, version {plan.version} (steps: {steps}{when})"


def file_columns(
    sentences: pd.DataFrame, factors: Mapping[str, Sequence[str]], *, participants: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """The columns of each table; factors follow those that every release has."""
    extra = tuple(name for name in ("kind", "context") if name in sentences.columns)
    return {
        "pairs.jsonl": PAIR_RECORD,
        "sentences.csv": (*SENTENCE_FILE, *extra, *factors),
        "judgments.csv": (*JUDGMENT_FILE, *factors),
        "participants.csv": participants,
        "exclusions.csv": EXCLUSION_FILE,
        "deviations.csv": DEVIATION_FILE,
        "human.csv": HUMAN_FILE,
        "pairs.csv": PAIR_FILE,
        "differences.csv": DIFFERENCE_FILE,
    }


def text_files(
    facts: Facts, *, columns: Mapping[str, tuple[str, ...]], factors: Mapping[str, Sequence[str]]
) -> dict[str, bytes]:
    """The codebook and the card."""
    package = data_package(
        columns, name=facts.slug, title=facts.title, licence=facts.licence, factors=factors
    )
    files = [*FILES.items(), *(row for row in FACTORIAL_FILES.items() if row[0] in columns)]
    return {
        "datapackage.json": json_bytes(package),
        "README.md": dataset_card(facts, files).encode(),
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
        **({"factors": materials.factors} if materials and materials.factors else {}),
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


def listed(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Every file with its size and checksum, in alphabetical order."""
    return [
        {"path": name, "bytes": len(content), "sha256": checksum(content)}
        for name, content in sorted(files.items())
    ]
