"""Description of a release: participants as pseudonyms, withdrawals, texts and manifest."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd
from django.db.models import Max, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from analysis.exclusions.apply import Excluded
from analysis.exclusions.plan import Plan
from analysis.gold.card import dataset_card
from analysis.gold.citation import citation_file, datacite_record, recognize_licence
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
    field_kinds,
)
from analysis.gold.differences import DIFFERENCE_FILE
from analysis.gold.facts import Facts
from analysis.gold.formats.croissant import croissant
from analysis.gold.formats.lm_eval_tasks import FOLDER, task_files
from analysis.gold.formats.registry import FORMATS, format_contents
from analysis.gold.labels import label_rule
from analysis.gold.parquet import parquet_bytes, record_parquet_bytes
from analysis.gold.programs import r_judgments
from analysis.gold.writers import DIGITS, json_bytes
from analysis.rows import is_kind, numbers
from analysis.text import no_formula
from config.version import code_version
from experiments.models import Experiment, Sentence
from judgments.frames.data_source import data_condition
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
    names = [
        *(
            str(question["name"])
            for question in questions
            if isinstance(question, dict) and question.get("publish") is True and question.get("name")
        ),
        *sorted(demographics),
    ]
    return list(dict.fromkeys(names))


def real_sessions(experiment: Experiment, round_number: int | None = None) -> QuerySet[Session]:
    """Sessions of the study's ``data``, optionally of one round; those without a list belong to the first."""
    sessions = Session.objects.filter(data_condition(experiment), experiment=experiment)
    if round_number is None:
        return sessions
    of_round = Q(list__round=round_number)
    return sessions.filter(of_round | Q(list__isnull=True) if round_number == 1 else of_round)


def answered_between(experiment: Experiment, round_number: int | None = None) -> tuple[str, str]:
    """Times of the first and last answer (UTC, ISO 8601), empty without answers."""
    rows = Judgment.objects.filter(trial__session__in=real_sessions(experiment, round_number))
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
    if hasattr(release, "withdrawn_sessions"):  # of a list, in one query
        return {"sessions": release.withdrawn_sessions, "judgments": release.withdrawn_judgments}  # type: ignore[attr-defined]
    return _withdrawn_counts(
        Tombstone.objects.filter(experiment=release.experiment_id, at__gt=release.created_at)
    )


def with_withdrawn(releases: QuerySet[Release]) -> QuerySet[Release]:
    """The releases with the counts of :func:`withdrawn_since`, in one query."""
    later = Tombstone.objects.filter(experiment=OuterRef("experiment"), at__gt=OuterRef("created_at"))
    by_study = later.order_by().values("experiment")
    return releases.annotate(
        **{
            f"withdrawn_{kind}": Coalesce(Subquery(by_study.annotate(n=Sum(f"n_{kind}")).values("n")), 0)
            for kind in ("sessions", "judgments")
        }
    )


def _withdrawn_counts(tombstones: Any) -> dict[str, int]:
    totals = tombstones.aggregate(sessions=Sum("n_sessions"), judgments=Sum("n_judgments"))
    return {name: count or 0 for name, count in totals.items()}


FORMAT = "obelus-release/1"
MAX_LEVELS = 6  # conditions up to which they are a predictor; above, the expected status is
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
    "datapackage.json": "the meaning of every column (Frictionless Data Package)",
    "croissant.json": "the same for machine learning (Croissant)",
    "CITATION.cff": "how to cite the release",
    "datacite.json": "the metadata that a repository asks for (DataCite)",
    "analysis.R": "a first analysis in R: factors and a mixed model",
    "pairs.parquet": "the rows of pairs.jsonl, typed",
    **{
        f"{name}.parquet": f"the rows of {name}.csv, typed"
        for name in ("sentences", "judgments", "participants", "exclusions", "deviations", "human")
    },
    "manifest.json": "checksums, plan, conventions, versions",
}
FACTORIAL_FILES = {
    "differences.csv": "the difference of differences of each participant and item, and of models",
    "differences.parquet": "the rows of differences.csv, typed",
}
"""Files of factorial designs only."""
TASKS_HOLD = "tasks of lm-evaluation-harness: one for each paradigm, grouped by phenomenon"
CONTENTS = {
    "README.md": "description of the release: read it first",
    f"{FOLDER}/": TASKS_HOLD,
    **FILES,
    **FACTORIAL_FILES,
    **dict(format_contents(tuple(FORMATS))),
}
"""Content of every file and folder that a release may have."""
WITHOUT_PEOPLE = frozenset(
    {
        *("README.md", "methods.md", "CITATION.cff", "analysis.R", ".psychdsignore"),
        *("manifest.json", "datapackage.json", "croissant.json", "datacite.json", "dataset_description.json"),
        *("pairs.jsonl", "pairs.csv", "pairs.parquet"),
        *(
            f"{name}.{suffix}"
            for name in ("sentences", "human", "deviations")
            for suffix in ("csv", "parquet")
        ),
    }
)
FOLDERS_WITHOUT_PEOPLE = frozenset({FOLDER, "ewok", "minicons"})


def has_people(name: str) -> bool:
    """Whether a file of a release may have rows of single participants, as every unknown file may."""
    return name not in WITHOUT_PEOPLE and name.partition("/")[0] not in FOLDERS_WITHOUT_PEOPLE


def collect_facts(
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
        authors=list_authors(experiment),
        year=last[:4] or f"{experiment.created_at:%Y}",
        undecided=(report["undecided"] or {}).get("statement", ""),
    )


def list_authors(experiment: Experiment) -> list[tuple[str, str]]:
    """Family and given name of the owner, where the account has both."""
    owner = experiment.owner
    return [(owner.last_name, owner.first_name)] if owner and owner.last_name and owner.first_name else []


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


def predictors(experiment: Experiment) -> dict[str, list[str]]:
    """Levels of each column that explains the answers: factors, else conditions, else expected status."""
    if experiment.materials is None or experiment.task == "forced_choice":
        return {}
    if levels := experiment.materials.levels:
        return levels
    sentences = Sentence.objects.filter(material_set=experiment.materials_id, is_filler=False)
    for name, most in (("condition", MAX_LEVELS), ("expected", 2)):
        values = sentences.exclude(**{name: ""}).exclude(**{name: Sentence.Expected.UNKNOWN})
        labels = sorted(values.order_by().values_list(name, flat=True).distinct())
        if 2 <= len(labels) <= most:
            return {name: labels}
    return {}


def text_files(
    experiment: Experiment,
    facts: Facts,
    *,
    tables: Mapping[str, pd.DataFrame],
    columns: Mapping[str, tuple[str, ...]],
    factors: Mapping[str, Sequence[str]],
    formats: tuple[str, ...] = (),
) -> dict[str, bytes]:
    """The codebook, the card, citations, the program of a first analysis and the harness's tasks.

    ``columns`` are those of the tables with rows: validators and loaders refuse an empty one.
    """
    package = data_package(
        columns,
        name=facts.slug,
        title=facts.title,
        licence=recognize_licence(facts.licence),
        factors=factors,
        tables=tables,
    )
    listed = [row for row in (*FILES.items(), *FACTORIAL_FILES.items()) if _is_listed(row[0], columns)]
    tasks = task_files(tables["pairs.jsonl"], slug=facts.slug)
    sentences = tables["sentences.csv"]
    shown = [sentences[name] for name in ("sentence", "context") if name in sentences.columns]
    texts = [str(text) for column in shown for text in column if text and text == text]
    card_rows = [*listed, *([(f"{FOLDER}/", TASKS_HOLD)] if tasks else []), *format_contents(formats)]
    return {
        "datapackage.json": json_bytes(package),
        "README.md": dataset_card(facts, card_rows, tables=_loadable(tables), texts=texts).encode(),
        "CITATION.cff": citation_file(facts).encode(),
        "datacite.json": json_bytes(datacite_record(facts)),
        "analysis.R": r_judgments(
            experiment.task, predictors(experiment), "judgments.csv", is_release=True
        ).encode(),
        **tasks,
    }


def _is_listed(file: str, columns: Collection[str]) -> bool:
    """Whether a file is no table, or one with rows, whose columns are given."""
    stem, _, suffix = file.rpartition(".")
    if suffix == "parquet":
        return f"{stem}.csv" in columns or (stem == "pairs" and "pairs.jsonl" in columns)
    return suffix not in ("csv", "jsonl") or file in columns


def _loadable(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Tables with rows: ``datasets`` refuses an empty Parquet file."""
    return sorted({name.partition(".")[0] for name, table in tables.items() if len(table)})


def typed_copies(
    files: Mapping[str, bytes], package: Mapping[str, Any], *, records: Sequence[Mapping[str, Any]]
) -> dict[str, bytes]:
    """The tables as Parquet, typed by the data package; of pairs, the records with all fields."""
    copies = {}
    for resource in package["resources"]:
        stem, _, suffix = resource["path"].rpartition(".")
        if resource["path"] == "pairs.csv":
            continue
        kinds = field_kinds(resource)
        copies[f"{stem}.parquet"] = (
            record_parquet_bytes(records, kinds)
            if suffix == "jsonl"
            else parquet_bytes(files[resource["path"]], kinds)
        )
    return copies


def croissant_file(facts: Facts, package: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """The Croissant metadata of the data files."""
    stems = {resource["path"].rpartition(".")[0] for resource in package["resources"]}
    data = {
        name: checksum(files[name])
        for name in files
        if name.endswith((".csv", ".jsonl", ".parquet")) and name.rpartition(".")[0] in stems
    }
    return json_bytes(croissant(facts, package, data))


def build_manifest(
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


def file_manifest(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Every file with its size and checksum, in alphabetical order."""
    return [
        {"path": name, "bytes": len(content), "sha256": checksum(content)}
        for name, content in sorted(files.items())
    ]
