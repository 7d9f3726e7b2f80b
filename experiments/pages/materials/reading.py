"""Content of uploaded files as the preview of materials shows it."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, replace
from typing import Any

from analysis.errors import BadInput
from experiments.intake.previews import (
    PURPOSE,
    Preview,
    Report,
    UploadTables,
    preview_or_job,
    read_top_rows,
    read_upload_tables,
    read_uploads,
    store_preview,
)
from experiments.intake.store import import_report
from experiments.materials.checks import check
from experiments.materials.collection import Materials
from experiments.materials.leaving_out import concerned_items
from experiments.materials.readers.sheets import Sheet
from experiments.materials.readers.table import proposed_mapping, recognize_sheets
from experiments.models import Job, Upload
from experiments.operation.job_runner import Run, job
from experiments.pages.materials.columns import item_grid, table_columns

PREVIEW = "materials.preview"
NOT_READ = ("name", "language", "source", "licence")  # options that say nothing of how files are read
FIRST_ROWS = 10


def read_or_job(uploads: Sequence[Upload], *, item: int = 1) -> Preview | Job:
    """Return what the preview shows with the present options, or the job that reads large files."""
    return preview_or_job(PREVIEW, uploads, describe_reading, without=NOT_READ, item=item)


@job(PREVIEW)
def preview_materials(run: Run) -> None:
    """Read large files for their preview."""
    store_preview(run, describe_reading, purpose=PURPOSE)


def describe_reading(
    uploads: Sequence[Upload],
    item: int = 1,
    report_step: Report = lambda step: None,
    *,
    tables: UploadTables | None = None,
) -> Preview:
    """Return how the files are read, as plain values: first rows, report, columns; or the error."""
    options = uploads[0].options
    is_table = (options.get("format") or "auto") in ("auto", "table")
    report_step("reading the columns of")
    if is_table and tables is None:
        tables = read_upload_tables(uploads)
    proposed: dict[str, str] = {}
    if tables is not None and is_table and not options.get("mapping"):
        tables = replace(tables, sheets=recognize_sheets(tables.sheets))
        proposed = proposed_mapping(tables.sheets)
    sheets = tables.sheets if tables is not None and is_table else ()
    columns = column_rows(sheets)
    report_step("reading the sentences of")
    try:
        materials = read_uploads(uploads, proposed=proposed, tables=tables)
    except BadInput as error:
        first_rows = read_top_rows(uploads)
        return {"error": str(error), "columns": columns, "proposed": proposed, "first_rows": first_rows}
    report_step("checking")
    report = check(materials)
    report_step("preparing the preview of")
    return {
        "columns": columns,
        "proposed": proposed,
        "report": import_report(materials, report),
        "may_leave_out": {code: len(items) for code, items in concerned_items(materials).items()},
        "blocking": [asdict(finding) for finding in report.errors],
        "inferred": [asdict(source.inferred) for source in materials.sources if source.inferred],
        "first_pairs": [] if materials.factors else _first_pairs(materials),
        "first_sentences": materials.sentences.head(FIRST_ROWS).to_dict("records"),
        "grid": item_grid(materials, item),
        "n_sentences": len(materials.sentences),
        "first_rows": read_top_rows(uploads) if options.get("header_row") else [],
    }


def column_rows(sheets: Sequence[Sheet]) -> list[dict[str, Any]]:
    """Return the columns of tables with the values of their first rows."""
    return [asdict(column) for column in table_columns(sheets)]


def _first_pairs(materials: Materials) -> list[dict[Hashable, Any]]:
    """Return the first pairs with their texts."""
    texts = materials.sentences.set_index("sentence_id")["text"]
    first = materials.pairs.head(FIRST_ROWS)
    return first.assign(good=first["good_id"].map(texts), bad=first["bad_id"].map(texts)).to_dict("records")
