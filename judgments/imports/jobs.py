"""Jobs that import an uploaded file of judgments."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet

from analysis.errors import BadInput
from experiments.intake.previews import (
    Preview,
    Report,
    is_large,
    limited_memory,
    preview_or_job,
    store_preview,
)
from experiments.intake.uploads import discard_uploads, find_batch, local_copies, upload_encoding
from experiments.models import Experiment, Job, MaterialSet, Upload
from experiments.operation.job_runner import Run, enqueue, job
from experiments.webhooks.events import emit
from judgments.imports.readers import SourceOptions, read_judgments
from judgments.imports.readers.base import ATTRIBUTE, Rows
from judgments.imports.readers.materials import OpenFactor
from judgments.imports.readers.presets import (
    HEAD_BYTES,
    PRESETS,
    WHOLE,
    preset_rows,
    read_preset,
    recognized_format,
)
from judgments.imports.readers.prolific import join_demographics, read_demographic_export
from judgments.imports.readers.registry import parse_conditions, parse_labels
from judgments.imports.readers.shapes import OpenAnswer
from judgments.imports.readers.table import read_judgment_table, table_rows
from judgments.imports.store import Imported, Prepared, prepare, store

IMPORT, PREVIEW = "judgments.import", "judgments.preview"
PURPOSE = "judgments"
FIRST_ROWS = 12
PREVIEW_COLUMNS = (
    "session",
    "position",
    "kind",
    "item",
    "condition",
    "sentence_id",
    "pair_id",
    "response",
    "value",
    "status",
)


def editable_studies(user: User) -> QuerySet[Experiment]:
    """Studies that the user may import into."""
    return Experiment.objects.editable_by(user)


def source_options(upload: Upload) -> SourceOptions:
    """Return the options with which an upload is read."""
    chosen = upload.options
    people, answers = (
        tuple((chosen.get(name) or "").replace(",", " ").split()) for name in ("people", "answers")
    )
    return SourceOptions(
        mapping=chosen.get("mapping") or {},
        task=chosen.get("task") or "",
        scale_low=chosen.get("scale_low"),
        scale_high=chosen.get("scale_high"),
        encoding=upload_encoding(chosen),
        sheet=chosen.get("sheet") or "",
        people=people,
        answers=answers,
        missing=tuple(_words(chosen.get("missing"))),
        labels=parse_labels(_words(chosen.get("labels"))),
        where=parse_conditions(_words(chosen.get("where"))),
    )


def _words(text: str | None) -> list[str]:
    """Return the parts of a field: one on each line, else separated by commas or spaces."""
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return (
        lines
        if len(lines) > 1 or "=" in (text or "") and (text or "").count("=") == 1
        else ((text or "").replace(",", " ").split())
    )


def recognize(upload: Upload) -> None:
    """Choose the format that the file looks like, to be confirmed; a table where it looks like no export.

    The request reads the beginning of a text. Spreadsheets and Parquet are read whole up to the size that the
    preview reads at once; a larger one counts as a table.
    """
    is_whole = Path(upload.name).suffix.lower() in WHOLE
    format = reason = ""
    if not (is_whole and is_large([upload])):
        with local_copies([upload], n_bytes=None if is_whole else HEAD_BYTES) as (path,):
            format, reason = recognized_format(path, source_options(upload))
    upload.options = {**upload.options, "format": format or "table", "guess": reason}
    upload.save(update_fields=["options"])


def prepare_upload(
    uploads: Sequence[Upload], *, table: tuple[Rows, dict[str, str]] | None = None
) -> Prepared:
    """Read an upload with its options, and compare it with the stored sessions.

    The second file, where there is one, is Prolific's demographic export. ``table`` is not read again.
    """
    upload = uploads[0]
    chosen = upload.options
    format, options = chosen["format"], source_options(upload)
    with local_copies(uploads) as (path, *exports):
        if table is None:
            read = read_judgments(path, format, options=options)
        elif format == "table":
            read = read_judgment_table(path, options, rows=table[0])
        else:
            read = read_preset(path, options, format=format, table=table)
        for export in exports:
            read = join_demographics(read, read_demographic_export(export.read_bytes(), file=export.name))
    return prepare(
        read,
        sha256=upload.sha256,
        experiment=chosen["experiment"],
        materials=_materials(upload.owner, chosen.get("materials")),
        among=editable_studies(upload.owner),
        repeats=chosen.get("repeats") or "",
        spelling=chosen.get("spelling") or "",
        language=chosen.get("language") or "",
        keep_names=bool(chosen.get("keep_names")),
    )


def read_or_job(uploads: Sequence[Upload]) -> Preview | Job:
    """Return what the preview shows with the present options, or the job that reads a large file."""
    return preview_or_job(PREVIEW, uploads, describe_reading)


@job(PREVIEW)
def preview_judgments(run: Run) -> None:
    """Read a large file for its preview."""
    store_preview(run, describe_reading, purpose=PURPOSE)


def describe_reading(
    uploads: Sequence[Upload], item: int = 1, report_step: Report = lambda step: None
) -> Preview:
    """Return how the file is read, as plain values: report, first rows, columns; or the error."""
    upload = uploads[0]
    report_step("reading the columns of")
    table, file_columns = None, None
    try:
        table = _read_table(upload)
        if table is not None:
            file_columns = [str(name) for name in table[0].frame.columns]
        report_step("reading the judgments of")
        prepared = prepare_upload(uploads, table=table)
    except OpenAnswer as error:
        return {"error": str(error), "file_columns": error.choices, "fields": ["value"]}
    except OpenFactor as error:
        fields = None if file_columns else ["condition", ATTRIBUTE]
        columns = file_columns or error.columns
        return {"error": str(error), "file_columns": columns, "fields": fields, "proposal": error.proposal}
    except BadInput as error:
        return {"error": str(error), "file_columns": file_columns}
    report_step("preparing the preview of")
    rows = prepared.read.judgments.head(FIRST_ROWS)
    columns = [name for name in PREVIEW_COLUMNS if rows[name].astype(str).ne("").any()]
    return {
        "file_columns": file_columns,
        "report": prepared.describe(),
        "inferred": [asdict(prepared.read.inferred)] if prepared.read.inferred else [],
        "columns": columns,
        "rows": rows[columns].astype(object).where(rows[columns].notna(), "").values.tolist(),
    }


def _read_table(upload: Upload) -> tuple[Rows, dict[str, str]] | None:
    """Return the rows of a table or preset with the preset's mapping; None of other formats."""
    format, options = upload.options["format"], source_options(upload)
    if format != "table" and format not in PRESETS:
        return None
    with local_copies([upload]) as (path,):
        if format == "table":
            return table_rows(path, encoding=options.encoding, sheet=options.sheet), {}
        return preset_rows(path, options, format=format)


def _materials(user: User, number: int | None) -> MaterialSet | None:
    if not number:
        return None
    materials = MaterialSet.objects.visible_to(user).filter(pk=number).first()
    if materials is None:
        raise BadInput("the chosen materials no longer exist.", remedy="Choose others.")
    return materials


def import_later(upload: Upload) -> Job:
    """Queue the import; a repeated request returns the same job, unless that job failed."""
    batch = str(upload.batch)
    failed = Job.objects.filter(kind=IMPORT, arguments__batch=batch, state=Job.State.FAILED).count()
    arguments = {"batch": batch, "user": upload.owner_id}
    return enqueue(IMPORT, arguments, user=upload.owner, key=f"{IMPORT}:{batch}:{failed}")


@job(IMPORT)
def import_judgments(run: Run) -> None:
    """Read outside of the transaction, store together with the job's end."""
    user = User.objects.get(pk=run.arguments["user"])
    uploads = find_batch(user, run.arguments["batch"], purpose=PURPOSE)
    if not uploads:
        raise BadInput("the uploaded file is gone.", remedy="Upload it again.")
    run.progress(0, 2, "reading")
    with limited_memory(*(upload.name for upload in uploads)):
        prepared = prepare_upload(uploads)
    run.progress(1, 2, "storing")
    with run.finishing() as result:
        imported = store(prepared, user=user)
        result.update(outcome(imported))
        counts = {name: value for name, value in result.items() if name not in {"study", "slug"}}
        emit(imported.experiment, "judgments.imported", counts)
    Job.objects.filter(pk=run.job.pk).update(experiment=imported.experiment)
    discard_uploads(uploads)


def outcome(imported: Imported) -> dict[str, Any]:
    """Summary of an import for the page of its job."""
    report = imported.report
    return {
        "study": imported.experiment.title,
        "slug": imported.experiment.slug,
        "file": report["file"],
        **{f"{name}_added": number for name, number in report["added"].items()},
        "sessions_already_here": report["sessions_already_here"],
    }
