"""Upload of materials: send files, see how they are read, confirm."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect

from analysis.errors import BadInput
from experiments.intake.previews import (
    MAX_IMMEDIATE,
    PURPOSE,
    Preview,
    import_later,
    import_now,
    is_large,
    needs_confirmation,
    read_info,
    read_upload_tables,
    read_uploads,
)
from experiments.intake.uploads import (
    save_uploads,
)
from experiments.materials.collection import Materials
from experiments.materials.encoding import InferredEncoding
from experiments.materials.findings import LEFT_OUT_FOR
from experiments.materials.readers.layout import SHOWN_ROWS
from experiments.materials.schema import FORMATS, recognize_columns
from experiments.models import Job, Lab, Upload
from experiments.pages.access import AuthenticatedRequest
from experiments.pages.forms import language_field
from experiments.pages.materials.columns import (
    FACTORS,
    ColumnsForm,
    TableColumn,
    column_uses,
    level_rows,
    meant_fields,
    posted_levels,
    posted_mapping,
)
from experiments.pages.materials.reading import column_rows, describe_reading, read_or_job
from experiments.pages.upload_wizard import (
    UploadWizard,
    encoding_field,
    encoding_questions,
    kept_encodings,
    offer_sheets,
    posted_encodings,
    sheet_field,
)

PASTED = "pasted.tsv"
UNCONFIRMED = "Say below whether the lines with special characters are right."
SHOWN = ("report", "may_leave_out", "blocking", "first_pairs", "first_sentences", "grid", "n_sentences")
FORMAT_WORDS = {
    "auto": "Detect from the files",
    "blimp": "BLiMP: a pair per line, JSON lines",
    "table": "Table of sentences or pairs",
    "climp": "CLiMP: sentences in turn, good and bad",
    "li-adger": "LI-Adger: sentences and pairs",
    "syntaxgym": "SyntaxGym: test suites, JSON",
}


class ManyFilesInput(forms.ClearableFileInput):
    """A file input for several files."""

    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Several files at once."""

    widget = ManyFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        """Check each file."""
        files = data if isinstance(data, list | tuple) else [data] if data else []
        return [super(ManyFilesField, self).clean(file, initial) for file in files]


class AboutForm(forms.Form):
    """Description of a material set."""

    name = forms.CharField(max_length=200, help_text="Under this name you choose the materials for a study.")
    language = language_field()
    source = forms.CharField(max_length=500, required=False, help_text="Where they were published.")
    licence = forms.CharField(max_length=200, required=False, help_text="For example CC BY 4.0.")


class UploadForm(AboutForm):
    """Files with a name."""

    # The metaclass moves fields out of the class, so the form's own ``files`` stays what it is.
    files = ManyFilesField(  # type: ignore[assignment]
        required=False,
        help_text="CSV, TSV, Excel, OpenDocument, JSON, JSONL, Parquet, or a Hugging Face dataset as ZIP. "
        "Files that belong together, together.",
    )
    pasted = forms.CharField(
        label="Or paste rows from a spreadsheet",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="With the column names in the first row.",
    )
    lab = forms.ModelChoiceField(
        Lab.objects.none(),
        required=False,
        to_field_name="slug",
        empty_label="Your own",
        label="Counts towards the quota of",
    )
    field_order = ["files", "pasted", "name", "language", "source", "licence", "lab"]

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        lab = self.fields["lab"]
        assert isinstance(lab, forms.ModelChoiceField)
        lab.queryset = Lab.objects.open_to_studies_by(user)
        if not lab.queryset.exists():
            del self.fields["lab"]

    def clean(self) -> dict[str, Any]:
        """Take pasted rows as a file, and ask for one of the two."""
        cleaned = super().clean() or {}
        pasted = cleaned.pop("pasted", "")
        if pasted.strip():
            cleaned["files"] = [
                *(cleaned.get("files") or []),
                SimpleUploadedFile(PASTED, pasted.encode(), content_type="text/tab-separated-values"),
            ]
        if not cleaned.get("files") and "files" not in self.errors:
            self.add_error("files", "Choose files, or paste rows below.")
        return cleaned


class PreviewForm(AboutForm):
    """Options for reading the files, and the name again."""

    format = forms.ChoiceField(choices=[(name, FORMAT_WORDS[name]) for name in FORMATS])
    split_paradigms = forms.BooleanField(
        label="Paradigms are numbered anew in each phenomenon",
        required=False,
        help_text="Names them phenomenon:paradigm.",
    )
    split_condition = forms.CharField(
        label="Split conditions into factors",
        max_length=100,
        required=False,
        help_text="For conditions such as g_sg: the character between the levels, an equals sign and the "
        "names of the factors, for example _=grammaticality,number.",
    )
    encoding = encoding_field()
    sheet = sheet_field()

    def __init__(self, *args: Any, uploads: Sequence[Upload], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_sheets(self, uploads)


def posted_header_row(data: QueryDict, first: Upload) -> int:
    """Return the chosen row of the column names; the present one where none was sent."""
    sent = data.get("header_row", "")
    is_row = sent.isdecimal() and len(sent) < 3 and int(sent) <= SHOWN_ROWS
    return int(sent) if is_row else first.options.get("header_row") or 0


def choose_left_out(first: Upload, request: HttpRequest) -> None:
    """Store which findings the items are left out for: one more, or one fewer."""
    codes = [code for code in first.options["leave_out"] if code != request.POST.get("include")]
    code = request.POST.get("leave_out", "")
    if code in LEFT_OUT_FOR and code not in codes:
        codes.append(code)
    if codes != first.options["leave_out"]:
        first.options["leave_out"] = codes
        first.save(update_fields=["options"])


def column_forms(
    columns: Sequence[TableColumn],
    options: dict[str, Any],
    recognized: dict[str, str],
    *,
    is_proposed: bool = True,
    n_items: int | None = None,
) -> dict[str, Any]:
    """Return the form of the columns and the levels of the factors; nothing without columns."""
    if not columns:
        return {}
    names = [column.name for column in columns]
    chosen = options.get("mapping") or recognized or recognize_columns(names, meant_fields({}))
    factors = [name for name, use in column_uses(names, recognized).items() if use in FACTORS]
    proposed = factors if is_proposed and not options.get("mapping") else []
    return {
        "columns": ColumnsForm(columns=columns, mapping=chosen, proposed=proposed, n_items=n_items),
        "factors": level_rows(columns, chosen, options.get("levels") or {}),
    }


def refuse_unconfirmed_preview(reading: Preview, first: Upload) -> None:
    """Refuse files that a job has read and whose inferred encoding was not confirmed."""
    if needs_confirmation(reading, first.options):
        raise BadInput("the encoding is inferred from the characters.", remedy=UNCONFIRMED)


def refuse_unconfirmed(materials: Materials) -> None:
    """Refuse files whose inferred encoding was not confirmed."""
    for source in materials.sources:
        if source.inferred is not None:
            raise BadInput(
                "the encoding is inferred from the characters.",
                file=source.file,
                remedy=UNCONFIRMED,
            )


class MaterialsWizard(UploadWizard):
    """Upload of materials."""

    purpose, section, file_field = PURPOSE, "materials", "files"
    upload_template, preview_template = (
        "experiments/materials_upload.html",
        "experiments/materials_preview.html",
    )
    preview_url, home_url = "material-preview", "materials"
    discarded = "The files are discarded."

    def upload_form(self, request: AuthenticatedRequest) -> UploadForm:
        return UploadForm(request.POST or None, request.FILES or None, user=request.user)

    def save(self, request: AuthenticatedRequest, form: UploadForm) -> list[Upload]:
        chosen = {name: value for name, value in form.cleaned_data.items() if name not in ("files", "lab")}
        return save_uploads(
            request.user,
            form.cleaned_data["files"],
            purpose=PURPOSE,
            options=chosen,
            lab=form.cleaned_data.get("lab"),
        )

    def file_context(self, uploads: Sequence[Upload]) -> dict[str, Any]:
        return {"uploads": uploads}

    def read_or_job(self, request: AuthenticatedRequest, uploads: list[Upload]) -> Preview | Job:
        item = request.GET.get("item", "")
        return read_or_job(uploads, item=int(item) if item.isdecimal() and len(item) < 9 else 1)

    def read_for_choices(self, uploads: list[Upload]) -> Preview:
        tables = read_upload_tables(uploads)
        return {"columns": column_rows(tables.sheets), "tables": tables}

    def describe(self, uploads: list[Upload], reading: Preview) -> Preview:
        return describe_reading(uploads, tables=reading["tables"])

    def preview_form(self, request: AuthenticatedRequest, uploads: list[Upload]) -> PreviewForm:
        start = {"format": "auto", **uploads[0].options}
        return PreviewForm(request.POST or None, initial=start, uploads=uploads)

    def choose(
        self, request: AuthenticatedRequest, uploads: list[Upload], form: PreviewForm, *, reading: Preview
    ) -> bool:
        encodings, is_other_encoding = posted_encodings(request.POST, uploads)
        is_table = form.cleaned_data["format"] in ("auto", "table")
        names = [column["name"] for column in reading["columns"]] if is_table else []
        try:
            mapping = posted_mapping(request.POST, names)
        except BadInput as error:
            raise BadInput(f"Columns: {error}") from error
        factors = [name for name, use in column_uses(names, mapping).items() if use in FACTORS]
        first = uploads[0]
        header_row = posted_header_row(request.POST, first)
        is_same_header = header_row == (first.options.get("header_row") or 0)
        first.options = {
            **form.cleaned_data,
            "leave_out": first.options.get("leave_out", []),
            "header_row": header_row,
            # columns below another header have other names
            "mapping": mapping if is_same_header else {},
            "levels": posted_levels(request.POST, factors) if is_same_header else {},
            **kept_encodings(first, encodings),
        }
        first.save(update_fields=["options"])
        choose_left_out(uploads[0], request)
        return is_same_header and not is_other_encoding

    def confirm(
        self, request: AuthenticatedRequest, uploads: list[Upload], *, reading: Preview
    ) -> HttpResponse:
        read_info(uploads)
        if is_large(uploads):
            refuse_unconfirmed_preview(reading, uploads[0])
            return redirect("job", import_later(uploads).pk)
        materials = read_uploads(uploads, tables=reading["tables"])
        refuse_unconfirmed(materials)
        if len(materials.sentences) > MAX_IMMEDIATE:
            return redirect("job", import_later(uploads).pk)
        stored = import_now(uploads, materials)
        already = "holds exactly this already; nothing was stored twice"
        messages.success(request, f"{stored.material_set.name} {'is stored' if stored.created else already}.")
        return redirect("material-set", stored.material_set.slug)

    def reading_context(self, uploads: list[Upload], reading: Preview, form: PreviewForm) -> dict[str, Any]:
        options = uploads[0].options
        columns = [TableColumn(**column) for column in reading["columns"]]
        proposed = reading["proposed"]
        is_asked = any(finding["code"] == "two_groups" for finding in reading.get("blocking", ()))
        if not is_asked and not options.get("split_paradigms"):
            del form.fields["split_paradigms"]
        top = {"first_rows": reading["first_rows"], "header_row": options.get("header_row") or 0}
        if "error" in reading:
            return {"error": reading["error"], **top, **column_forms(columns, options, proposed)}
        inferred = (InferredEncoding(**row) for row in reading["inferred"])
        context = {
            **{name: reading[name] for name in SHOWN},
            **top,
            "left_out": options.get("leave_out") or [],
            "encoding_questions": encoding_questions(uploads, inferred),
        }
        if reading["report"]["format"] != "table":
            return context
        recognized = {**reading["report"]["mapping"], **(options.get("mapping") or {})}
        return context | column_forms(
            columns,
            options,
            proposed or recognized,
            is_proposed=bool(proposed),
            n_items=reading["report"]["counts"]["items"],
        )


wizard = MaterialsWizard()
