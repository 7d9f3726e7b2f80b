"""Judgments made elsewhere become sessions, trials and judgments: all of a file, or nothing of it.

1. :func:`prepare` joins the file to materials, stored ones or its own sentences, and looks what is
already here.
2. :func:`store` writes the rest in one transaction. The same file again adds nothing; a file that has
grown adds
   its new sessions.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from analysis.errors import BadInput, UnknownName
from experiments.intake import About, refuse_errors, store_materials
from experiments.lifecycle import sha256_of
from experiments.materials.checks import check
from experiments.materials.collection import Materials
from experiments.models import AuditEntry, Experiment, ExperimentVersion, MaterialSet, Membership
from experiments.names import find_experiment
from experiments.studies import free_slug
from judgments.matching import match
from judgments.rows import insert_sessions
from judgments.sources import JudgmentFile
from judgments.sources.materials import materials_of
from judgments.vault import known_names

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Prepared:
    """A file joined to materials, and what storing it would add."""

    read: JudgmentFile
    sha256: str
    title: str
    experiment: Experiment | None
    materials: MaterialSet | None
    own_materials: Materials | None
    already: frozenset[str] = frozenset()

    def describe(self) -> dict[str, Any]:
        """What would come in, as plain values."""
        materials = self.own_materials
        return {
            "file": self.read.file,
            "format": self.read.format,
            "encoding": self.read.description,
            "experiment": self.experiment.slug if self.experiment else self.title,
            "creates_experiment": self.experiment is None,
            "task": self.read.task,
            "scale": list(self.read.scale),
            "columns": dict(self.read.mapping),
            "kept_with_trials": list(self.read.extra),
            **self.read.counts,
            "sessions_already_here": len(self.already),
            "sessions_new": len(self.read.sessions) - len(self.already),
            "materials": self.materials.name if self.materials else self.title,
            "creates_materials": materials.counts if materials is not None else None,
            "notes": list(self.read.notes),
            "warnings": list(self.read.warnings),
        }


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    experiment: Experiment
    report: dict[str, Any] = field(default_factory=dict)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def prepare(
    read: JudgmentFile,
    *,
    sha256: str,
    experiment: str | Experiment,
    materials: MaterialSet | None = None,
    among: QuerySet[Experiment] | None = None,
) -> Prepared:
    """Join a file to its materials and to what is already stored; nothing is written.

    The study is looked for ``among`` some (all studies by default); one that is not there would be made.
    """
    title, study = _study(experiment, among)
    if study is not None:
        _refuse_unfit(study, read, materials)
        materials = materials or study.materials
    own = None
    if materials is not None:
        read = match(read, materials)
    else:
        read, own = materials_of(read)
        refuse_errors(check(own))
    already = frozenset[str]()
    if study is not None:
        names = known_names(study, read)
        stored = set(study.sessions.exclude(external_id="").values_list("external_id", flat=True))
        already = frozenset(name for name, external in names.items() if external in stored)
    return Prepared(read, sha256, title, study, materials, own, already)


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
    """A study that collects, or has another task or other materials, takes no judgments from this file."""
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
    if materials is not None and study.materials_id not in (None, materials.pk):
        raise BadInput(
            f"the study {study.title!r} uses the materials {study.materials.name!r}.",
            remedy="Import into a study of another name, or leave --materials out.",
        )


@transaction.atomic
def store(prepared: Prepared, *, user=None, progress: Progress | None = None) -> Imported:
    """Write a prepared file; sessions that are already here are passed over."""
    study = _locked_study(prepared, user)
    materials = prepared.materials or _own_materials(prepared, study)
    if study.materials_id is None:
        study.materials = materials
        study.save(update_fields=["materials", "updated_at"])
    version = _version(study, prepared)
    added = insert_sessions(
        prepared.read,
        version,
        materials,
        skip=prepared.already,
        progress=progress or (lambda done, total: None),
    )
    report = {**prepared.describe(), "experiment": study.slug, "materials": materials.name, "added": added}
    if not added["sessions"]:
        report["notes"] = [*report["notes"], "every session of this file is already here; nothing was added"]
    details = {key: report[key] for key in ("file", "format", "added")}
    AuditEntry.objects.create(experiment=study, user=user, action="judgments imported", details=details)
    return Imported(study, report)


def _locked_study(prepared: Prepared, user) -> Experiment:
    """The study, locked so that two imports of one file come one after the other."""
    if prepared.experiment is not None:
        study = Experiment.objects.select_for_update().get(pk=prepared.experiment.pk)
        if set(prepared.already) != set(_here(study, prepared.read)):
            raise BadInput("another import into this study was first.", remedy="Run the import again.")
        if not study.sessions.exists():
            _describe_study(study, prepared.read)
            study.save()
        return study
    study = Experiment(slug=free_slug(prepared.title), title=prepared.title, owner=user)
    _describe_study(study, prepared.read)
    study.save()
    if user is not None:
        Membership.objects.create(experiment=study, user=user, role=Membership.Role.OWNER)
    return study


def _here(study: Experiment, read: JudgmentFile) -> list[str]:
    stored = set(study.sessions.exclude(external_id="").values_list("external_id", flat=True))
    return [name for name, external in known_names(study, read).items() if external in stored]


def _describe_study(study: Experiment, read: JudgmentFile) -> None:
    """An imported study is closed, and has the task and the scale of its file."""
    study.origin, study.status, study.task = Experiment.Origin.IMPORTED, Experiment.Status.CLOSED, read.task
    study.closed_at = timezone.now()
    low, high = read.scale
    if read.task == "likert" and low is not None and high is not None:
        study.parameters = {"lowest": int(low), "points": int(high - low) + 1}


def _own_materials(prepared: Prepared, study: Experiment) -> MaterialSet:
    about = About(_free_name(study.title), source=f"sentences of {prepared.read.file}")
    return store_materials(prepared.own_materials, about, owner=study.owner).material_set


def _free_name(title: str) -> str:
    """The study's title, numbered where a material set of that name exists."""
    taken = set(MaterialSet.objects.filter(name__startswith=title[:190]).values_list("name", flat=True))
    if title[:190] not in taken:
        return title[:190]
    return next(name for n in range(2, len(taken) + 3) if (name := f"{title[:190]} {n}") not in taken)


def _version(study: Experiment, prepared: Prepared) -> ExperimentVersion:
    """The frozen record of where these judgments come from; one per file."""
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
    checksum = sha256_of(snapshot)
    known = study.versions.filter(sha256=checksum).first()
    if known is not None:
        return known
    last = study.versions.order_by("-number").first()
    return ExperimentVersion.objects.create(
        experiment=study, number=last.number + 1 if last else 1, snapshot=snapshot, sha256=checksum
    )
