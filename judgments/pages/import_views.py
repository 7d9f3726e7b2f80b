"""Import of judgments: upload a file, preview how it is read, confirm."""

import uuid
from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from config.http.body_limit import takes_large_files
from experiments.intake.previews import Preview, is_large, needs_confirmation
from experiments.intake.uploads import (
    discard_uploads,
    find_batch,
    inferred_encoding,
    list_quotas,
    save_uploads,
)
from experiments.materials.encoding import InferredEncoding
from experiments.materials.schema import recognize_columns
from experiments.models import Experiment, Job, Lab, MaterialSet, Upload
from experiments.operation.job_runner import retry
from experiments.pages.access import AuthenticatedRequest
from experiments.pages.forms import LanguageInput
from experiments.pages.materials.reading import (
    encoding_field,
    encoding_questions,
    kept_encodings,
    offer_sheets,
    posted_encodings,
    sheet_field,
    to_preview,
)
from experiments.pages.materials.upload import not_found_once_deleted
from experiments.studies.languages import tag_named
from judgments.imports.jobs import PURPOSE, describe_reading, import_later, read_or_job, recognize
from judgments.imports.readers import FORMATS
from judgments.imports.readers.cells import TASKS
from judgments.imports.readers.presets import PRESETS
from judgments.imports.readers.registry import format_labels
from judgments.imports.readers.table import TABLE_FIELDS
from judgments.imports.repeats import REPEATS

FORMAT_LABELS = {
    "table": "Table: one judgment per row",
    "mturk-batch": "MTurk batch results: forced choice",
    "pcibex": "PCIbex: raw results",
    "jspsych": "jsPsych: JSON or CSV",
    "ibex": "Ibex (classic): raw results",
    **{name: preset.label for name, preset in PRESETS.items()},
}
AUTO = ("auto", "Recognize from the file, and ask")
#: Formats whose columns can be mapped.
MAPPED = ("table", "jspsych", *PRESETS)


def _format_choices() -> list[tuple[str, str]]:
    """Built-in formats, then those of installed plugins."""
    return [*((name, FORMAT_LABELS[name]) for name in FORMATS), *format_labels().items()]


class ReadingForm(forms.Form):
    """Study, materials and format of a file."""

    experiment = forms.CharField(
        label="Study", max_length=200, help_text="One of your studies, or a name for a new one."
    )
    format = forms.ChoiceField(choices=_format_choices, initial="table")
    language = forms.CharField(
        max_length=35,
        required=False,
        widget=LanguageInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="Of the sentences, such as en, tr or zh-Hans. Empty: that of the materials, else English.",
    )
    materials = forms.ModelChoiceField(
        MaterialSet.objects.none(),
        required=False,
        empty_label="the file's own sentences",
        help_text="Stored materials that rows are matched with by id, item or text.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        materials = self.fields["materials"]
        assert isinstance(materials, forms.ModelChoiceField)
        materials.queryset = MaterialSet.objects.visible_to(user)

    def clean_language(self) -> str:
        """The tag of a language that was called by its name."""
        return tag_named(self.cleaned_data["language"])

    def options(self) -> dict[str, Any]:
        """The choices as they are stored with the upload."""
        materials = self.cleaned_data["materials"]
        files = ("file", "demographics")
        options = {name: value for name, value in self.cleaned_data.items() if name not in files}
        return {**options, "materials": materials.pk if materials else None}


class UploadForm(ReadingForm):
    """A file and its study."""

    file = forms.FileField(
        help_text="CSV, TSV (also packed as .gz), Excel, OpenDocument, JSON, JSONL, Parquet, or the ZIP of a "
        "Hugging Face dataset."
    )
    format = forms.ChoiceField(choices=lambda: [AUTO, *_format_choices()], initial="auto")
    demographics = forms.FileField(
        required=False,
        label="Prolific’s demographic export",
        help_text="CSV, joined by participant or submission id; ids are stored apart from the answers.",
    )
    field_order = ["file", "experiment", "format", "language", "materials", "demographics"]

    def sent_files(self) -> list[Any]:
        """The file of judgments, then the demographic export where one was sent."""
        return [self.cleaned_data[name] for name in ("file", "demographics") if self.cleaned_data[name]]


class PreviewForm(ReadingForm):
    """All options of reading a file."""

    task = forms.ChoiceField(
        choices=[("", "detected automatically"), *((name, name.replace("_", " ")) for name in TASKS)],
        required=False,
    )
    repeats = forms.ChoiceField(
        label="Several judgments of one sentence by one participant",
        choices=[("", "number them, with a warning"), *REPEATS.items()],
        required=False,
        help_text="Intervals count participants, not rows, whatever you choose.",
    )
    scale_low = forms.FloatField(label="Lowest point", required=False, help_text="Empty: detected.")
    scale_high = forms.FloatField(label="Highest point", required=False, help_text="Empty: detected.")
    people = forms.CharField(
        label="Columns of one person each",
        max_length=2000,
        required=False,
        help_text="In a table with one row for each sentence: their names, or annotator* for all of them.",
    )
    answers = forms.CharField(
        label="Columns of one sentence each",
        max_length=2000,
        required=False,
        help_text="In a table with one row for each person: their names, or Q* for all of them.",
    )
    encoding = encoding_field()
    sheet = sheet_field()

    def __init__(self, *args: Any, sent: Upload, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_sheets(self, [sent])


class MappingForm(forms.Form):
    """The file's column for each of our columns."""

    prefix = "map"

    def __init__(
        self,
        *args: Any,
        columns: Sequence[str],
        mapping: dict[str, str],
        fields: Sequence[str],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        for name, field in ((name, TABLE_FIELDS[name]) for name in fields):
            names = dict.fromkeys([*columns, *([mapping[name]] if name in mapping else [])])
            self.fields[name] = forms.ChoiceField(
                choices=[("", "not in the file"), *((column, column) for column in names)],
                required=False,
                initial=mapping.get(name, ""),
                label=name.replace("_", " "),
                help_text=field.meaning,
            )


@takes_large_files
@login_required
def upload(request: AuthenticatedRequest) -> HttpResponse:
    """Choose a file and a study; the preview follows."""
    start = {"experiment": request.GET.get("study", "")}
    form = UploadForm(request.POST or None, request.FILES or None, user=request.user, initial=start)
    if request.method == "POST" and form.is_valid():
        try:
            uploads = save_uploads(
                request.user,
                form.sent_files(),
                purpose=PURPOSE,
                options=form.options(),
                lab=_find_lab(request.user, form.cleaned_data["experiment"]),
            )
        except BadInput as error:
            form.add_error("file", str(error))
        else:
            if form.cleaned_data["format"] == "auto":
                recognize(uploads[0])
            return to_preview(request, reverse("judgment-preview", args=[uploads[0].batch]))
    context = {"section": "studies", "form": form, "quotas": list_quotas(request.user)}
    return render(request, "judgments/import_upload.html", context)


def _find_lab(user: User, name: str) -> Lab | None:
    """The lab of the study of a slug or title, which the upload counts towards; None for a new study."""
    studies = Experiment.objects.editable_by(user).filter(Q(slug=name) | Q(title=name))
    study = studies.select_related("lab").first()
    return study.lab if study else None


def own_uploads(request: AuthenticatedRequest, batch: uuid.UUID) -> list[Upload]:
    """The files of the user's own upload, or 404."""
    uploads = find_batch(request.user, batch, purpose=PURPOSE)
    if not uploads:
        raise Http404("no such upload")
    return uploads


@login_required
@not_found_once_deleted
def preview(request: AuthenticatedRequest, batch: uuid.UUID) -> HttpResponse:
    """Show what would be imported; ``again`` reads with other options, ``import`` queues the job."""
    uploads = own_uploads(request, batch)
    sent, export = uploads[0], uploads[1] if len(uploads) > 1 else None
    is_small_form = request.method == "POST" and not is_large(uploads)
    reading = {} if is_small_form else read_or_job(uploads)
    if isinstance(reading, Job):
        if request.POST.get("action") == "retry":
            retry(reading)
            return redirect("judgment-preview", batch)
        context = {"section": "studies", "upload": sent, "demographics": export, "job": reading}
        return render(request, "judgments/import_preview.html", context)
    form = PreviewForm(request.POST or None, user=request.user, initial=sent.options, sent=sent)
    if request.method == "POST" and form.is_valid():
        is_same = form.cleaned_data["format"] == sent.options["format"]
        is_mapped = is_same and form.cleaned_data["format"] in MAPPED
        is_guess_open = bool(sent.options.get("guess")) and is_same and not request.POST.get("guess_is_right")
        encodings, is_other_encoding = posted_encodings(request.POST, [sent])
        sent.options = {
            **form.options(),
            "mapping": posted_mapping(request) if is_mapped else {},
            **kept_encodings(sent, encodings),
            **({"guess": sent.options["guess"]} if is_guess_open else {}),
        }
        sent.save(update_fields=["options"])
        if request.POST.get("action") == "import" and is_guess_open:
            messages.error(request, "Say whether the file is an export of this tool, or choose its format.")
            return redirect("judgment-preview", batch)
        if request.POST.get("action") == "import" and not is_other_encoding:
            return confirm(request, uploads, reading=reading)
        return redirect("judgment-preview", batch)
    reading = reading or describe_reading(uploads)
    context = {"section": "studies", "upload": sent, "demographics": export, "form": form}
    context |= preview_context(sent, reading)
    return render(request, "judgments/import_preview.html", context)


def confirm(request: AuthenticatedRequest, uploads: Sequence[Upload], *, reading: Preview) -> HttpResponse:
    """Queue the import, unless the encoding was inferred and not confirmed."""
    sent = uploads[0]
    is_open = (
        needs_confirmation(reading, sent.options)
        if is_large(uploads)
        else inferred_encoding(sent) is not None
    )
    if is_open:
        messages.error(request, "Say whether the lines with special characters are right.")
        return redirect("judgment-preview", sent.batch)
    return redirect("job", import_later(sent).pk)


def posted_mapping(request: AuthenticatedRequest) -> dict[str, str]:
    """Columns chosen on the page by our names; an empty choice means that the file has no such column."""
    sent = {
        name.removeprefix("map-"): str(column)
        for name, column in request.POST.items()
        if name.startswith("map-")
    }
    mapping = {name: column for name, column in sent.items() if name in TABLE_FIELDS}
    return mapping if any(mapping.values()) else {}


def preview_context(upload: Upload, reading: Preview) -> dict[str, Any]:
    """Return the reading of the file: counts, first rows, columns; or the error."""
    file_columns = reading["file_columns"]
    format, reason = upload.options["format"], upload.options.get("guess", "")
    guess = {"label": FORMAT_LABELS[format], "reason": reason} if reason else None
    if "error" in reading:
        fields = ("value",) if reading.get("is_answer_open") else tuple(TABLE_FIELDS)
        mapping = mapping_form(upload, file_columns, {}, fields=fields)
        return {"error": reading["error"], "guess": guess, "mapping": mapping}
    inferred = (InferredEncoding(**row) for row in reading["inferred"])
    return {
        "report": reading["report"],
        "guess": guess,
        "encoding_questions": encoding_questions([upload], inferred),
        "columns": reading["columns"],
        "rows": reading["rows"],
        "mapping": mapping_form(upload, file_columns, reading["report"]["columns"]),
    }


def mapping_form(
    upload: Upload,
    columns: list[str] | None,
    detected: dict[str, str],
    *,
    fields: Sequence[str] = tuple(TABLE_FIELDS),
) -> MappingForm | None:
    """The mapping as chosen or detected; None where the format has none or the file cannot be read."""
    if columns is None:
        return None
    chosen = {
        field: column for field, column in (upload.options.get("mapping") or {}).items() if column in columns
    }
    mapping = detected or recognize_columns(columns, TABLE_FIELDS, mapping=chosen)
    return MappingForm(columns=columns, mapping=mapping, fields=fields)


@login_required
@require_POST
def discard(request: AuthenticatedRequest, batch: uuid.UUID) -> HttpResponse:
    """Delete the uploaded file."""
    discard_uploads(own_uploads(request, batch))
    messages.success(request, "The file was discarded.")
    return redirect("home")
