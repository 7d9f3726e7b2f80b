"""Preview of uploaded files: choices of sheet and encoding, and the files' content."""

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from analysis.errors import BadInput
from experiments.intake.previews import (
    PURPOSE,
    Preview,
    Report,
    UploadTables,
    preview_or_job,
    read_upload_tables,
    read_uploads,
    store_preview,
)
from experiments.intake.store import import_report
from experiments.intake.uploads import local_copies
from experiments.materials.checks import check
from experiments.materials.collection import Materials
from experiments.materials.encoding import CODECS, InferredEncoding
from experiments.materials.leaving_out import concerned_items
from experiments.materials.readers.dataset_folders import dataset_names, is_dataset
from experiments.materials.readers.sheets import Sheet
from experiments.materials.readers.spreadsheets import is_spreadsheet, sheet_names
from experiments.materials.readers.table import proposed_mapping
from experiments.models import Job, Upload
from experiments.operation.job_runner import Run, job
from experiments.pages.materials.columns import item_grid, table_columns

PREVIEW = "materials.preview"
NOT_READ = ("name", "language", "source", "licence")  # options that say nothing of how files are read
FIRST_ROWS = 10
_FIELD = "encoding-of-"  # and the number of the file
_SHOWN = "inferred-for-"


def encoding_field() -> forms.ChoiceField:
    """The encoding of all files; by default each file's own."""
    return forms.ChoiceField(
        choices=[("", "detected"), *((name, name) for name in CODECS)],
        required=False,
        help_text="Choose one where the characters of the preview are wrong.",
    )


def to_preview(request: HttpRequest, address: str) -> HttpResponse:
    """Lead to the preview; a script that shows the progress of sending gets the address."""
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"next": address})
    return redirect(address)


def sheet_field() -> forms.ChoiceField:
    """The sheet of a spreadsheet or the table of a dataset; :func:`offer_sheets` fills it."""
    return forms.ChoiceField(required=False, help_text="One table is read at a time.")


def offer_sheets(form: forms.Form, uploads: Sequence[Upload]) -> None:
    """Offer the sheets of the uploaded spreadsheets and datasets; without a choice there is no such field."""
    names: dict[str, None] = {}
    if any(is_spreadsheet(Path(upload.name)) or upload.name.lower().endswith(".zip") for upload in uploads):
        with local_copies(uploads) as paths:
            for path in paths:
                try:
                    if is_dataset(path):
                        names |= dict.fromkeys(dataset_names(path))
                    elif is_spreadsheet(path):
                        names |= dict.fromkeys(sheet_names(path))
                except BadInput:
                    continue  # the preview explains what is wrong with the file
    if len(names) < 2:
        del form.fields["sheet"]
        return
    field = form.fields["sheet"]
    assert isinstance(field, forms.ChoiceField)
    field.choices = [("", "the first with cells, or the default"), *((name, name) for name in names)]


@dataclass(frozen=True)
class EncodingQuestion:
    """An inferred encoding, to be confirmed on the page."""

    number: int
    inferred: InferredEncoding

    @property
    def field(self) -> str:
        """Name of the radio buttons."""
        return f"{_FIELD}{self.number}"

    @property
    def shown_field(self) -> str:
        """Name of the hidden input that says which encoding the page was shown in."""
        return f"{_SHOWN}{self.number}"

    @property
    def lines(self) -> list[tuple[int, SafeString]]:
        """The lines to check, with their non-ASCII characters marked."""
        return [(row, _mark_line(line)) for row, line in self.inferred.lines]

    @property
    def n_more(self) -> int:
        """Lines with non-ASCII characters that are not listed."""
        return self.inferred.n_lines - len(self.inferred.lines)

    @property
    def alternatives(self) -> list[tuple[str, SafeString]]:
        """Other encodings with a line as they read it."""
        return [(encoding, _mark_line(line)) for encoding, line in self.inferred.alternatives]


def _mark_line(line: str) -> SafeString:
    parts = re.split(r"([^\x00-\x7f]+)", line)
    marked = (format_html("<mark>{}</mark>" if n % 2 else "{}", part) for n, part in enumerate(parts))
    return format_html_join("", "{}", ((part,) for part in marked))


def encoding_questions(
    uploads: Sequence[Upload], inferred: Iterable[InferredEncoding | None]
) -> list[EncodingQuestion]:
    """Return a question for each file whose encoding was inferred."""
    numbers = {upload.name: upload.number for upload in uploads}
    return [EncodingQuestion(numbers.get(check.file, 0), check) for check in inferred if check is not None]


def posted_encodings(sent: QueryDict, uploads: Sequence[Upload]) -> tuple[dict[str, str], bool]:
    """Return the encodings chosen by file, and whether one differs from what the page showed."""
    chosen: dict[str, str] = {}
    is_changed = False
    for upload in uploads:
        encoding = sent.get(f"{_FIELD}{upload.number}", "")
        if encoding in CODECS:
            chosen[upload.name] = encoding
            is_changed = is_changed or encoding != sent.get(f"{_SHOWN}{upload.number}")
    return chosen, is_changed


def kept_encodings(first: Upload, chosen: dict[str, str]) -> dict[str, Any]:
    """Return the option that holds all confirmed encodings of an upload."""
    return {"encodings": {**(first.options.get("encodings") or {}), **chosen}}


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
    sheets = tables.sheets if is_table and tables is not None else ()
    proposed = proposed_mapping(sheets) if is_table and not options.get("mapping") else {}
    columns = column_rows(sheets)
    report_step("reading the sentences of")
    try:
        materials = read_uploads(uploads, proposed=proposed, tables=tables)
    except BadInput as error:
        return {"error": str(error), "columns": columns, "proposed": proposed}
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
    }


def column_rows(sheets: Sequence[Sheet]) -> list[dict[str, Any]]:
    """Return the columns of tables with the values of their first rows."""
    return [asdict(column) for column in table_columns(sheets)]


def _first_pairs(materials: Materials) -> list[dict[Hashable, Any]]:
    """Return the first pairs with their texts."""
    texts = materials.sentences.set_index("sentence_id")["text"]
    first = materials.pairs.head(FIRST_ROWS)
    return first.assign(good=first["good_id"].map(texts), bad=first["bad_id"].map(texts)).to_dict("records")
