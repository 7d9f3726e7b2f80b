"""Scoring runs asked for: one model over one material set by one measure."""

import hashlib
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from django.conf import settings
from django.core.files.base import File
from django.db import transaction

from analysis.comparison.files import read_number_columns
from analysis.comparison.roster import FULL, METHODS, read_roster, roster
from analysis.errors import BadInput, UnknownName
from analysis.releases.held_model import kind_of
from analysis.releases.model_places import checked_uri, shown_name
from analysis.releases.models import Release, ScoringRun
from analysis.releases.shards import retry
from analysis.releases.training import KEY, Training
from analysis.scoring.tables import COUNTS
from experiments.job_runner import enqueue
from experiments.models import AuditEntry, Experiment, Job, Upload

SCORE = "releases.score"
CLASSIFIER = "classifier"


@transaction.atomic
def request_scoring(
    experiment: Experiment,
    file: File,
    *,
    name: str = "",
    method: str = "lp",
    column: str = "",
    training: Training | None = None,
    user=None,
) -> ScoringRun:
    """Keep an uploaded model or table of scores, and score the study's sentences with it."""
    if experiment.materials is None:
        raise BadInput("the study has no materials to score.", remedy="Choose materials first.")
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    upload = _kept(file, user)
    return _requested(
        experiment,
        upload,
        name=name or column or upload.name,
        method=method,
        column=column,
        training=training or Training(),
        user=user,
    )


@transaction.atomic
def request_score_sets(
    experiment: Experiment, file: File, *, models: File | None = None, user=None
) -> list[ScoringRun]:
    """Score with every column of a table; a second table says how each was scored and trained."""
    if experiment.materials is None:
        raise BadInput("the study has no materials to score.", remedy="Choose materials first.")
    if kind_of(str(file.name)) != "csv":
        raise BadInput("several models come as one table.", file=str(file.name), column="file")
    with tempfile.TemporaryDirectory(prefix="obelus-score-") as folder:
        path = _laid_down(file, Path(folder))
        table, _ = read_number_columns(path, keys=("sentence_id", "sentence"))
        columns = [str(name) for name in table.columns if name not in COUNTS]
        if not columns:
            raise BadInput("the table has no column of scores.", file=path.name, column="file")
        given = read_roster(_laid_down(models, Path(folder), "models")) if models is not None else None
    known = roster(columns, given)
    upload = _kept(file, user)
    return [
        _requested(
            experiment,
            upload,
            name=str(row["name"]),
            method=str(row["method"]),
            column=str(row["model"]),
            training=_training(row),
            user=user,
        )
        for row in known.to_dict("records")
    ]


def _training(row: dict[str, Any]) -> Training:
    tokens = row["training_tokens"]
    return Training(
        "" if row["family"] == row["name"] else str(row["family"]),
        None if pd.isna(tokens) else round(tokens),
        "" if pd.isna(row["seed"]) else str(row["seed"]),
        "" if row["corpus"] == FULL else str(row["corpus"]),
    )


def _kept(file: File, user) -> Upload:
    filename = Path(str(file.name)).name
    kind_of(filename)
    upload = Upload(owner=user, batch=uuid.uuid4(), name=filename, purpose="scores", sha256=_sha256(file))
    upload.file.save(filename, file, save=False)
    upload.save()
    return upload


def _requested(
    experiment: Experiment,
    upload: Upload,
    *,
    name: str,
    method: str,
    column: str,
    training: Training,
    user,
) -> ScoringRun:
    run = ScoringRun.objects.create(
        material_set=experiment.materials,
        name=name[:200],
        model=f"{kind_of(upload.name)}:{upload.name}"[:500],
        method=method,
        spec={"upload": upload.pk, "column": column, KEY: training.as_dict()},
        created_by=user,
    )
    return _audited(run, experiment, user)


@transaction.atomic
def request_model_runs(
    experiment: Experiment,
    models: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    methods: Sequence[str] = ("lp",),
    release: Release | None = None,
    device: str = "",
    asked_by: str = "",
    user=None,
) -> list[ScoringRun]:
    """A run for each model and measure; ``asked_by`` names the request, which asked twice is one.

    Models may come with measures of their own, which go before ``methods``.
    """
    if experiment.materials is None:
        raise BadInput("the study has no materials to score.", remedy="Choose materials first.")
    wanted = models if isinstance(models, Mapping) else dict.fromkeys(models, methods)
    for method in dict.fromkeys(name for names in wanted.values() for name in names):
        if method not in METHODS:
            raise UnknownName("method", method, METHODS)
    said = said_of(experiment, release, device)
    rows = ScoringRun.objects.filter(material_set=experiment.materials)
    if asked_by and (made := list(rows.filter(spec__asked_by=asked_by).order_by("pk"))):
        return made
    runs = []
    for uri, names in {checked_uri(uri): names for uri, names in wanted.items()}.items():
        for method in measures_for(uri, names):
            run = ScoringRun.objects.create(
                material_set=experiment.materials,
                name=shown_name(uri)[:200],
                model=uri[:500],
                method=method,
                spec={**said, "asked_by": asked_by},
                created_by=user,
            )
            runs.append(_audited(run, experiment, user))
    return runs


def said_of(experiment: Experiment, release: Release | None, device: str) -> dict[str, Any]:
    """What runs of one request share: the kind of device, and the release whose sentences are scored."""
    device = device or settings.SCORING_DEVICES[0]
    if device not in settings.SCORING_DEVICES:
        raise UnknownName("kind of device", device, settings.SCORING_DEVICES)
    number = release.number if release is not None else None
    return {"device": device, "release": number, "study": experiment.slug}


def measures_for(uri: str, methods: Sequence[str]) -> list[str]:
    """A classifier's answers are taken as they are; every other model is measured as asked."""
    return [CLASSIFIER] if uri.startswith("hf-classifier:") else list(dict.fromkeys(methods))


def has_stopped(run: ScoringRun) -> bool:
    """Whether nothing will bring the run to its end: it failed, or its job did."""
    is_over = run.job is None or run.job.state in Job.State.final()
    return run.state != ScoringRun.State.DONE and is_over


@transaction.atomic
def retry_run(run: ScoringRun, *, experiment: Experiment, user=None) -> ScoringRun:
    """Try a failed run again: its failed shards, and whatever else it lacks."""
    retry(run)
    if not has_stopped(run):
        return run
    ScoringRun.objects.filter(pk=run.pk).update(state=ScoringRun.State.QUEUED, error="")
    run.state = ScoringRun.State.QUEUED
    details = {"run": run.pk, "name": run.name}
    AuditEntry.objects.create(experiment=experiment, user=user, action="scoring tried again", details=details)
    return start(run, experiment=experiment, user=user)


def start(run: ScoringRun, *, experiment: Experiment | None = None, user=None) -> ScoringRun:
    """Queue the run's job; asked twice, it is one job."""
    again = f"-after-{run.job_id}" if run.job_id else ""
    arguments = {"run": run.pk, "queue": run.spec.get("device", "cpu")}
    key = f"{SCORE}-{run.pk}{again}"
    run.job = enqueue(SCORE, arguments, user=user, experiment=experiment, key=key)
    run.save(update_fields=["job"])
    return run


def _audited(run: ScoringRun, experiment: Experiment, user) -> ScoringRun:
    details = {"run": run.pk, "name": run.name, "model": run.model, "method": run.method}
    AuditEntry.objects.create(experiment=experiment, user=user, action="scoring asked for", details=details)
    return start(run, experiment=experiment, user=user)


def _laid_down(file: File, folder: Path, sub: str = "") -> Path:
    """The upload as a file of its own name, so that messages about it carry that name."""
    path = folder / sub / Path(str(file.name)).name
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as target:
        for piece in file.chunks():
            target.write(piece)
    file.seek(0)
    return path


def _sha256(file: File) -> str:
    digest = hashlib.sha256()
    for piece in file.chunks():
        digest.update(piece)
    file.seek(0)
    return digest.hexdigest()
