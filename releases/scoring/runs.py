"""Requests for scoring runs (one model, material set and measure), and the records of stored runs."""

import tempfile
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.files.base import File
from django.db import transaction
from django.db.models import QuerySet

from analysis.comparison.in_depth.models import FULL, METHODS, read_roster, roster
from analysis.errors import BadInput, UnknownName
from analysis.files import read_column_names, read_table
from analysis.scoring.base import Spec
from analysis.scoring.conventions import conventions_text, scoring_conventions
from analysis.scoring.orientation import is_unclear, measure_of_column
from analysis.scoring.scorers.tables import COUNTS
from analysis.table_forms import SENTENCES, read_number_columns
from experiments.accounts.history import deleted_values
from experiments.intake.previews import MAX_IMMEDIATE_BYTES, is_large
from experiments.intake.uploads import (
    deleted_on_error,
    discard_uploads,
    local_copies,
    named_errors,
    save_uploads,
)
from experiments.materials.readers.sheets import check_parquet
from experiments.models import AuditEntry, Experiment, Job, MaterialSet, Sentence, Upload
from experiments.operation.job_runner import enqueue
from releases.models import SCORING_STARTED, Release, ScoringRun
from releases.scoring.loaded_model import scorer_kind
from releases.scoring.model_registry import checked_uris, shown_name
from releases.scoring.shards import retry
from releases.scoring.training_metadata import KEY, Training

SCORE = "releases.score"
CLASSIFIER = "classifier"
PURPOSE = "scores"  # of the upload
MAX_MODELS = 500  # of one table; each is a run with a job
KEYS = ("sentence_id", "sentence")  # of a table of scores


@transaction.atomic
def request_scoring(
    experiment: Experiment,
    file: "File[bytes]",
    *,
    name: str = "",
    method: str = "lp",
    column: str = "",
    sign: str = "",
    training: Training | None = None,
    user: User | None = None,
) -> ScoringRun:
    """Store an uploaded model or table of scores, and score the study's sentences with it."""
    materials = study_materials(experiment)
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    kind = scorer_kind(str(file.name))
    uploads = save_uploads(user, [file], purpose=PURPOSE, options={}, lab=experiment.lab)
    with deleted_on_error(uploads):
        if kind == "csv":
            _check_table(uploads, materials, column=column, is_single=True)
            unclear = _unclear_columns(uploads)
            check_signs([name for name in [column] if name in unclear] if column else unclear, sign)
            column = column or next(iter(_score_columns(uploads)), "")
        return _create_run(
            experiment,
            materials,
            uploads[0],
            name=name or column or uploads[0].name,
            method=method,
            column=column,
            sign=sign,
            training=training or Training(),
            user=user,
        )


@transaction.atomic
def request_score_sets(
    experiment: Experiment,
    file: "File[bytes]",
    *,
    models: "File[bytes] | None" = None,
    sign: str = "",
    user: User | None = None,
) -> list[ScoringRun]:
    """Score with every column of a table; a second table describes how each was scored and trained.

    ``sign`` concerns the columns named as surprisal, perplexity or loss, or with positive values only.
    """
    materials = study_materials(experiment)
    if scorer_kind(str(file.name)) != "csv":
        raise BadInput("several models come as one table.", file=str(file.name), column="file")
    if models is not None and models.size > MAX_IMMEDIATE_BYTES:
        raise BadInput(
            f"the table that describes the models has more than {MAX_IMMEDIATE_BYTES // 1_000_000} MB.",
            file=str(models.name),
            column="models",
        )
    uploads = save_uploads(user, [file], purpose=PURPOSE, options={}, lab=experiment.lab)
    with deleted_on_error(uploads):
        columns = _score_columns(uploads)
        if not columns:
            raise BadInput("the table has no column of scores.", file=uploads[0].name, column="file")
        if len(columns) > MAX_MODELS:
            raise BadInput(
                f"the table has {len(columns):,} columns of scores, above {MAX_MODELS:,}.",
                file=uploads[0].name,
                remedy="Split it, or leave out columns that are no scores.",
            )
        _check_table(uploads, materials)
        unclear = _unclear_columns(uploads)
        check_signs([name for name in columns if name in unclear], sign)
        models_table = roster(columns, _training_roster(models))
        signs = dict.fromkeys(unclear, sign)
        return _set_runs(experiment, materials, uploads[0], models_table, signs=signs, user=user)


def _set_runs(
    experiment: Experiment,
    materials: MaterialSet,
    upload: Upload,
    models_table: pd.DataFrame,
    *,
    signs: Mapping[str, str],
    user: User | None,
) -> list[ScoringRun]:
    return [
        _create_run(
            experiment,
            materials,
            upload,
            name=str(row["name"]),
            method=str(row["method"]),
            column=str(row["model"]),
            sign=signs.get(str(row["model"]), ""),
            training=_training(row),
            user=user,
        )
        for row in models_table.to_dict("records")
    ]


def _training_roster(models: "File[bytes] | None") -> pd.DataFrame | None:
    if models is None:
        return None
    with tempfile.TemporaryDirectory(prefix="obelus-score-") as folder:
        path = _write_to(models, Path(folder))
        with named_errors(path, path.name):
            if path.suffix.lower() == ".parquet":
                check_parquet(path)
            return read_roster(path)


def _score_columns(uploads: Sequence[Upload]) -> list[str]:
    """Return the columns that may be scores; the values of a large table are checked in its jobs only."""
    with local_copies(uploads) as (path,), named_errors(path, uploads[0].name):
        if not is_large(uploads):
            return score_columns(path)
        key, *_ = [*(name for name in KEYS if name in read_column_names(path)), ""]
        others = {key, *SENTENCES.required, *SENTENCES.optional, *COUNTS}
        return [name for name in read_column_names(path) if name not in others]


def score_columns(path: Path) -> list[str]:
    """The columns of a table that may be scores."""
    table, _ = read_number_columns(path, keys=KEYS)
    return [str(name) for name in table.columns if name not in COUNTS]


def _check_table(
    uploads: Sequence[Upload], materials: MaterialSet, *, column: str = "", is_single: bool = False
) -> None:
    """Refuse what its job would refuse: no rows, no column of scores, no sentence of the materials.

    The values of a large table are checked in its job.
    """
    if is_large(uploads):
        return
    with local_copies(uploads) as (path,), named_errors(path, uploads[0].name):
        table, key = read_number_columns(path, keys=KEYS)
        if table.empty:
            raise BadInput("the table has no rows.", file=uploads[0].name, column="file")
        columns = [str(name) for name in table.columns if name not in COUNTS]
        if column and column not in columns:
            raise UnknownName(f"column of {uploads[0].name}", column, columns)
        if is_single and not column and len(columns) != 1:
            raise BadInput(
                f"{len(columns)} columns could be the scores: {', '.join(columns) or 'none'}.",
                file=uploads[0].name,
                remedy="Name one as the column, or score all columns.",
            )
        sentences = Sentence.objects.filter(material_set=materials)
        if key == "sentence_id" and not set(table.index) & {*sentences.values_list("key", flat=True)}:
            raise BadInput(
                f"no sentence of {materials.name} has the id {table.index[0]!r} or another of the table.",
                file=uploads[0].name,
                column="sentence_id",
                remedy="Write the ids that the materials have; Downloads lists them.",
            )


def _unclear_columns(uploads: Sequence[Upload]) -> list[str]:
    """Return the columns that need a sign; of a large table by their names alone, its job sees the values."""
    with local_copies(uploads) as (path,), named_errors(path, uploads[0].name):
        if is_large(uploads):
            return [name for name in read_column_names(path) if is_unclear(name)]
        table = read_table(path).drop(columns=[*KEYS, *COUNTS, *SENTENCES.optional], errors="ignore")
        numbers = table.apply(pd.to_numeric, errors="coerce")  # the job says what is no number
        return [str(name) for name in table if is_unclear(str(name), numbers[name])]


def check_signs(unclear: Sequence[str], sign: str) -> None:
    """Refuse columns that need a sign, unless it was chosen."""
    if unclear and not sign:
        raise BadInput(
            f"{', '.join(unclear)}: does a higher or a lower value mean a better sentence? By the name, or "
            "because all values are above 0, it may be lower, as in surprisal, perplexity and loss.",
            column="sign",
            remedy="Choose one and upload the file again.",
        )


def _training(row: Mapping[Hashable, Any]) -> Training:
    tokens = row["training_tokens"]
    return Training(
        "" if row["family"] == row["name"] else str(row["family"]),
        None if pd.isna(tokens) else round(tokens),
        "" if pd.isna(row["seed"]) else str(row["seed"]),
        "" if row["corpus"] == FULL else str(row["corpus"]),
    )


def _create_run(
    experiment: Experiment,
    materials: MaterialSet,
    upload: Upload,
    *,
    name: str,
    method: str,
    column: str,
    sign: str,
    training: Training,
    user: User | None,
) -> ScoringRun:
    if (given := measure_of_column(column)) not in {"", "lp", method}:
        raise BadInput(
            f"the column {column} holds {given}, of which no {method} can be computed.",
            file=upload.name,
            column="method",
            remedy=f"Choose the measure {given}.",
        )
    run = ScoringRun.objects.create(
        material_set=materials,
        name=name[:200],
        model=f"{scorer_kind(upload.name)}:{upload.name}"[:500],
        method=method,
        spec={
            "upload": upload.pk,
            "column": column,
            **({"sign": sign} if sign else {}),
            KEY: training.as_dict(),
        },
        created_by=user,
    )
    return _audit_and_start(run, experiment, user)


@transaction.atomic
def request_model_runs(
    experiment: Experiment,
    models: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    methods: Sequence[str] = ("lp",),
    release: Release | None = None,
    device: str = "",
    asked_by: str = "",
    names_by_uri: Mapping[str, str] | None = None,
    user: User | None = None,
) -> list[ScoringRun]:
    """Create a run for each model and measure; a repeated request, by ``asked_by``, returns the same runs.

    A mapping gives measures by model, in place of ``methods``. ``name@one,two`` names two models.
    """
    materials = study_materials(experiment)
    methods_by_model = models if isinstance(models, Mapping) else dict.fromkeys(models, methods)
    for method in dict.fromkeys(name for names in methods_by_model.values() for name in names):
        if method not in METHODS:
            raise UnknownName("method", method, METHODS)
    shared = shared_settings(experiment, release, device)
    rows = ScoringRun.objects.filter(material_set=materials)
    if asked_by and (existing := list(rows.filter(spec__asked_by=asked_by).order_by("pk"))):
        return existing
    runs = []
    checked = {uri: names for text, names in methods_by_model.items() for uri in checked_uris(text)}
    display_names = {**run_names(list(checked)), **(names_by_uri or {})}
    for uri, names in checked.items():
        for method in measures_for(uri, names):
            run = ScoringRun.objects.create(
                material_set=materials,
                name=display_names[uri][:200],
                model=uri[:500],
                method=method,
                spec={**shared, "asked_by": asked_by},
                created_by=user,
            )
            runs.append(_audit_and_start(run, experiment, user))
    return runs


def run_names(uris: Sequence[str]) -> dict[str, str]:
    """Return a name for each model; checkpoints of one model are named with their revisions."""
    n = Counter(map(shown_name, uris))
    names = {}
    for uri in uris:
        name, revision = shown_name(uri), uri.partition("?")[0].partition("@")[2]
        names[uri] = f"{name}@{revision}" if n[name] > 1 and revision else name
    return names


def study_materials(experiment: Experiment) -> MaterialSet:
    """Return the materials of a study; raise BadInput if it has none."""
    if experiment.materials is None:
        raise BadInput("the study has no materials to score.", remedy="Choose materials first.")
    return experiment.materials


def shared_settings(experiment: Experiment, release: Release | None, device: str) -> dict[str, Any]:
    """Return the settings shared by runs of one request: the device, and the release that is scored."""
    device = device or settings.SCORING_DEVICES[0]
    if device not in settings.SCORING_DEVICES:
        raise UnknownName("kind of device", device, settings.SCORING_DEVICES)
    number = release.number if release is not None else None
    return {"device": device, "release": number, "study": experiment.slug}


def measures_for(uri: str, methods: Sequence[str]) -> list[str]:
    """Return the measures of a model; the output of a classifier is used as it is."""
    return [CLASSIFIER] if uri.startswith("hf-classifier:") else list(dict.fromkeys(methods))


def has_stopped(run: ScoringRun) -> bool:
    """Return whether the run will not finish: it failed, or its job did."""
    is_over = run.job is None or run.job.state in Job.State.final()
    return run.state != ScoringRun.State.DONE and is_over


def may_retry(user: User, run: ScoringRun) -> bool:
    """Whether the run is the user's, or of a study that the user edits, or over the user's materials.

    A viewer's copy of a study shows the runs of the materials' owner, and gives no right over them.
    """
    if user.is_staff or user.pk in {run.created_by_id, run.material_set.owner_id}:
        return True
    starts = AuditEntry.objects.filter(action=SCORING_STARTED, details__run=run.pk)
    return Experiment.objects.editable_by(user).filter(pk__in=starts.values("experiment")).exists()


@transaction.atomic
def retry_run(run: ScoringRun, *, experiment: Experiment, user: User | None = None) -> ScoringRun:
    """Retry a failed run: its failed shards, and sentences without a score."""
    if user is not None and not may_retry(user, run):
        raise PermissionDenied("Only the run's own team, or the owner of the materials, may try it again.")
    retry(run)
    if not has_stopped(run):
        return run
    ScoringRun.objects.filter(pk=run.pk).update(state=ScoringRun.State.QUEUED, error="")
    run.state = ScoringRun.State.QUEUED
    details = {"run": run.pk, "name": run.name}
    AuditEntry.objects.create(experiment=experiment, user=user, action="scoring tried again", details=details)
    return start(run, experiment=experiment, user=user)


def stored_file(run: ScoringRun) -> Upload | None:
    """Return the uploaded file that the run's scores come from, where it is still stored."""
    return Upload.objects.filter(pk=run.spec.get("upload") or 0, purpose=PURPOSE).first()


def runs_with_file(run: ScoringRun) -> QuerySet[ScoringRun]:
    """Return the runs whose scores come from the same uploaded file as the run's, itself among them."""
    return ScoringRun.objects.filter(spec__upload=run.spec.get("upload") or 0)


def check_may_delete_file(user: User, run: ScoringRun) -> None:
    """Raise ``PermissionDenied`` if the user may not retry one of the runs of the file."""
    if not all(may_retry(user, of_file) for of_file in runs_with_file(run).select_related("material_set")):
        raise PermissionDenied("Only the run's own team, or the owner of the materials, may delete its file.")


@transaction.atomic
def delete_file(run: ScoringRun, *, experiment: Experiment, user: User) -> None:
    """Delete the uploaded file of a run; its scores stay, and so do those of other runs of the file."""
    check_may_delete_file(user, run)
    runs = list(runs_with_file(run).select_related("job").order_by("name"))
    if any(of_file.state != ScoringRun.State.DONE and not has_stopped(of_file) for of_file in runs):
        raise BadInput("a run with this file is not finished.", remedy="Delete the file after it.")
    # Race: of two presses of the button, the second waits for the first and finds nothing.
    uploads = Upload.objects.select_for_update().filter(purpose=PURPOSE)
    upload = uploads.filter(pk=run.spec.get("upload") or 0).first()
    if upload is None:
        return
    details = {"run": run.pk, "runs": [of_file.name for of_file in runs], "sha256": upload.sha256}
    details |= deleted_values(upload.name, f"{upload.n_bytes / 1e6:,.1f} MB")
    AuditEntry.objects.create(
        experiment=experiment, user=user, action="scoring file deleted", details=details
    )
    discard_uploads([upload])


def start(run: ScoringRun, *, experiment: Experiment | None = None, user: User | None = None) -> ScoringRun:
    """Queue the run's job, once."""
    retry_suffix = f"-after-{run.job_id}" if run.job_id else ""
    arguments = {"run": run.pk, "queue": run.spec.get("device", "cpu")}
    key = f"{SCORE}-{run.pk}{retry_suffix}"
    run.job = enqueue(SCORE, arguments, user=user, experiment=experiment, key=key)
    run.save(update_fields=["job"])
    return run


def _audit_and_start(run: ScoringRun, experiment: Experiment, user: User | None) -> ScoringRun:
    details = {"run": run.pk, "name": run.name, "model": run.model, "method": run.method}
    AuditEntry.objects.create(experiment=experiment, user=user, action=SCORING_STARTED, details=details)
    return start(run, experiment=experiment, user=user)


def _write_to(file: "File[bytes]", folder: Path) -> Path:
    """Write the upload to a file of the same name, which error messages then show."""
    path = folder / Path(str(file.name)).name
    with path.open("wb") as target:
        for chunk in file.chunks():
            target.write(chunk)
    file.seek(0)
    return path


SPEC = frozenset(field.name for field in fields(Spec))


def run_records(runs: Sequence[ScoringRun], names: Iterable[str]) -> list[dict[str, Any]]:
    """Return the record of every run under its name in a table, with its conventions in words."""
    return [_record(run, name) for run, name in zip(runs, names, strict=True)]


def _record(run: ScoringRun, name: str) -> dict[str, Any]:
    recorded = run.spec
    spec = {key: recorded[key] for key in recorded if key in SPEC} | {
        "uri": run.model,
        "revision": run.revision,
    }
    record = {
        "run": run.pk,
        "model": name,
        "columns": [f"{name}:{run.method}"],
        "spec_id": recorded.get("spec_id"),
        "spec": spec if "method" in spec else None,  # runs of older versions hold none
        "tokens": recorded.get("n_tokens"),
        "unknown_tokens": recorded.get("n_unknown"),
        "flags": recorded.get("flags"),
        "check": recorded.get("check"),
    }
    conventions = scoring_conventions(record)
    return record | {"conventions": conventions, "text": conventions_text(conventions)}
