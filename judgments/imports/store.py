"""Import of judgments collected elsewhere, in one transaction.

1. :func:`prepare` matches the file with materials (stored ones or its own sentences) and stored sessions.
2. :func:`store` inserts the new sessions. Importing the same file again adds nothing; a file that has grown
   adds its new sessions.
"""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from analysis.errors import BadInput, UnknownName
from analysis.text import plural
from experiments.intake.language import language_of_texts
from experiments.intake.store import MaterialSetInfo, refuse_errors, store_materials
from experiments.materials.checks import check
from experiments.materials.collection import Materials
from experiments.materials.findings import Report
from experiments.models import AuditEntry, Experiment, ExperimentVersion, MaterialSet, Membership
from experiments.studies.creation import find_experiment, free_slug
from experiments.studies.lifecycle import document_sha256
from experiments.studies.readiness import count_contexts
from judgments.imports.insert import insert_sessions, known_names, update_demographics
from judgments.imports.matching import match, warn_of_inversion
from judgments.imports.personal import with_background, without_personal
from judgments.imports.readers import JudgmentFile
from judgments.imports.readers.base import refuse_control_characters
from judgments.imports.readers.materials import create_materials
from judgments.imports.repeats import resolve_repeats
from judgments.imports.similar_names import warn_of_similar_names

Progress = Callable[[int, int], None]
CONTEXTS_UNKNOWN = (
    "sentences have contexts, which models read; the file does not say whether participants saw them: "
    "say it on the settings of the study (Contexts of sentences)"
)


@dataclass(frozen=True)
class Prepared:
    """A file matched with materials, and the sessions already stored."""

    read: JudgmentFile
    sha256: str
    title: str
    experiment: Experiment | None
    materials: MaterialSet | None
    own_materials: Materials | None
    findings: Report = field(default_factory=Report)
    already: frozenset[str] = frozenset()
    language: str = "en"

    def describe(self) -> dict[str, Any]:
        """Preview of an import, as plain values."""
        materials = self.own_materials
        return {
            "file": self.read.file,
            "format": self.read.format,
            "encoding": self.read.description,
            "inferred_encoding": asdict(self.read.inferred) if self.read.inferred else None,
            "experiment": self.experiment.slug if self.experiment else self.title,
            "creates_experiment": self.experiment is None,
            "task": self.read.task,
            "scale": list(self.read.scale),
            "columns": dict(self.read.mapping),
            "kept_with_trials": list(self.read.extra),
            "kept_with_participants": self.read.questions,
            **self.read.counts,
            "sessions_already_here": len(self.already),
            "sessions_new": len(self.read.sessions) - len(self.already),
            "language": self.language,
            "materials": self.materials.name if self.materials else self.title,
            "creates_materials": materials.counts if materials is not None else None,
            "notes": list(self.read.notes),
            "demographics": dict(self.read.demographics) if self.read.demographics else None,
            "warnings": [*self.read.warnings, *self.findings.warnings],
            "finding_counts": dict(self.findings.counts),
            "findings": self.findings.as_dict()["findings"],
        }


@dataclass(frozen=True)
class Imported:
    """Result of an import."""

    experiment: Experiment
    report: dict[str, Any] = field(default_factory=dict)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes; of a folder, of the names and checksums of its files."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        lines = (f"{file_sha256(file)}  {file.relative_to(path).as_posix()}\n" for file in files)
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def prepare(
    read: JudgmentFile,
    *,
    sha256: str,
    experiment: str | Experiment,
    materials: MaterialSet | None = None,
    among: QuerySet[Experiment] | None = None,
    repeats: str = "",
    spelling: str = "",
    language: str = "",
    keep_names: bool = False,
) -> Prepared:
    """Match a file with its materials and with stored sessions, without writing.

    The study is searched ``among`` the given ones (all by default); one that does not exist will be created.
    ``repeats`` is a rule of :data:`judgments.imports.repeats.REPEATS`, ``spelling`` one of
    :data:`judgments.imports.readers.materials.SPELLINGS`; with ``keep_names`` ids that may be names are
    codes.
    """
    title, study = _study(experiment, among)
    refuse_control_characters(read)
    read = warn_of_similar_names(with_background(without_personal(read, keep_names=keep_names)))
    if study is not None:
        _refuse_unfit(study, read, materials)
        materials = materials or study.materials
    own_materials, report = None, Report()
    if materials is not None:
        read = match(read, materials)
    else:
        read, own_materials = create_materials(read, spelling=spelling)
        report = check(own_materials)
        refuse_errors(report)
    read = warn_of_inversion(resolve_repeats(read, rule=repeats), materials)
    language, warning = _language(study, materials, language, own_materials)
    if warning:
        read = replace(read, warnings=(*read.warnings, warning))
    already = frozenset[str]()
    if study is not None:
        names = known_names(study, read)
        stored = set(study.sessions.exclude(external_id="").values_list("external_id", flat=True))
        already = frozenset(name for name, external in names.items() if external in stored)
    return Prepared(read, sha256, title, study, materials, own_materials, report, already, language)


def _language(
    study: Experiment | None, materials: MaterialSet | None, stated: str, own_materials: Materials | None
) -> tuple[str, str]:
    """Return the language of the sentences and a warning; refuse one that contradicts stored ones."""
    materials = materials or (study.materials if study else None)
    stored = materials.language if materials else ""
    if materials and stated and stated.lower() != stored.lower():
        raise BadInput(
            f"the materials {materials.name!r} are in {stored}, not in {stated}.",
            remedy="Leave the language out, or import without these materials.",
        )
    language, warning = stored or stated, ""
    if not language:
        language, warning = language_of_texts(own_materials.sentences["text"] if own_materials else ())
    MaterialSetInfo("language", language)  # refuses what is no language tag
    return language, warning


def _study(experiment: str | Experiment, among: QuerySet[Experiment] | None) -> tuple[str, Experiment | None]:
    if isinstance(experiment, Experiment):
        return experiment.title, experiment
    if not experiment.strip():
        raise BadInput("the study needs a name.", remedy="Give --experiment NAME.")
    try:
        study = find_experiment(experiment, among=among)
    except UnknownName:
        return experiment.strip(), None
    return study.title, study


def _refuse_unfit(study: Experiment, read: JudgmentFile, materials: MaterialSet | None) -> None:
    """Refuse a study that collects its own judgments, or has another task or other materials."""
    collects = study.origin == Experiment.Origin.COLLECTED and study.sessions.exists()
    if collects or study.is_taking_participants:
        raise BadInput(
            f"the study {study.title!r} collects its own judgments.",
            remedy="Import into a study of another name.",
        )
    if study.sessions.exists() and study.task != read.task:
        raise BadInput(
            f"the study {study.title!r} has the task {study.task}, the file {read.task}.",
            file=read.file,
            remedy="Give --task, or import into a study of another name.",
        )
    if materials is not None and study.materials is not None and study.materials != materials:
        raise BadInput(
            f"the study {study.title!r} uses the materials {study.materials.name!r}.",
            remedy="Import into a study of another name, or leave --materials out.",
        )


@transaction.atomic
def store(prepared: Prepared, *, user: User | None = None, progress: Progress | None = None) -> Imported:
    """Store a prepared file; sessions that are stored already are skipped."""
    study = _locked_study(prepared, user)
    materials = prepared.materials or _own_materials(prepared, study)
    if study.materials_id is None:
        study.materials = materials
        if count_contexts(materials):
            study.context_display = Experiment.ContextDisplay.UNKNOWN
        study.save(update_fields=["materials", "context_display", "updated_at"])
    version = _version(study, prepared)
    n_updated = update_demographics(study, prepared.read)
    added = insert_sessions(
        prepared.read,
        version,
        materials,
        skip=prepared.already,
        progress=progress or (lambda n_done, total: None),
    )
    report = {**prepared.describe(), "experiment": study.slug, "materials": materials.name, "added": added}
    if not added["sessions"]:
        report["notes"] = [*report["notes"], "every session of this file is already here; nothing was added"]
    if n_updated:
        report["notes"] = [
            *report["notes"],
            f"demographics replaced: {plural(n_updated, 'stored participant')}",
        ]
    if study.context_display == Experiment.ContextDisplay.UNKNOWN:
        report["notes"] = [*report["notes"], CONTEXTS_UNKNOWN]
    details = {key: report[key] for key in ("file", "format", "added")}
    if prepared.read.demographics:
        details["demographics"] = {**prepared.read.demographics, "updated": n_updated}
    AuditEntry.objects.create(experiment=study, user=user, action="judgments imported", details=details)
    return Imported(study, report)


def _locked_study(prepared: Prepared, user: User | None) -> Experiment:
    """The study, locked."""
    if prepared.experiment is not None:
        study = Experiment.objects.select_for_update().get(pk=prepared.experiment.pk)
        # Race: another import may have stored sessions since :func:`prepare`
        if set(prepared.already) != set(_here(study, prepared.read)):
            raise BadInput(
                "another import into this study has finished since.", remedy="Run the import again."
            )
        if not study.sessions.exists():
            _describe_study(study, prepared)
            study.save()
        return study
    study = Experiment(slug=free_slug(prepared.title), title=prepared.title, owner=user)
    _describe_study(study, prepared)
    study.save()
    if user is not None:
        Membership.objects.create(experiment=study, user=user, role=Membership.Role.OWNER)
    return study


def _here(study: Experiment, read: JudgmentFile) -> list[str]:
    stored = set(study.sessions.exclude(external_id="").values_list("external_id", flat=True))
    return [name for name, external in known_names(study, read).items() if external in stored]


def _describe_study(study: Experiment, prepared: Prepared) -> None:
    """Set up an imported study: closed, with its language and the task and the scale of its file."""
    read = prepared.read
    study.language = prepared.language
    study.origin, study.status, study.task = Experiment.Origin.IMPORTED, Experiment.Status.CLOSED, read.task
    study.closed_at = timezone.now()
    low, high = read.scale
    if read.task == "likert" and low is not None and high is not None:
        study.parameters = {"lowest": int(low), "points": int(high - low) + 1}
    if read.task == "best_worst":
        study.parameters = {"size": int(read.judgments.groupby(["session", "position"]).size().max())}


def _own_materials(prepared: Prepared, study: Experiment) -> MaterialSet:
    assert prepared.own_materials is not None  # prepare() reads them where no stored set is chosen
    about = MaterialSetInfo(
        _free_name(study.title), prepared.language, source=f"sentences of {prepared.read.file}"
    )
    return store_materials(
        prepared.own_materials, about, owner=study.owner, report=prepared.findings
    ).material_set


def _free_name(title: str) -> str:
    """The study's title, numbered where a material set of that name exists."""
    taken = set(MaterialSet.objects.filter(name__startswith=title[:190]).values_list("name", flat=True))
    if title[:190] not in taken:
        return title[:190]
    return next(name for n in range(2, len(taken) + 3) if (name := f"{title[:190]} {n}") not in taken)


def _version(study: Experiment, prepared: Prepared) -> ExperimentVersion:
    """The frozen record of the judgments' source; one per file."""
    read = prepared.read
    snapshot = {
        "task": read.task,
        "scale": list(read.scale),
        "source": {
            "file": read.file,
            "sha256": prepared.sha256,
            "format": read.format,
            "columns": dict(read.mapping),
        },
    }
    checksum = document_sha256(snapshot)
    existing = study.versions.filter(sha256=checksum).first()
    if existing is not None:
        return existing
    last = study.versions.order_by("-number").first()
    return ExperimentVersion.objects.create(
        experiment=study, number=last.number + 1 if last else 1, snapshot=snapshot, sha256=checksum
    )
