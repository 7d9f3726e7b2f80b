"""Import of judgments: upload a file, preview how it is read, confirm."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect

from analysis.errors import BadInput
from experiments.intake.previews import Preview, is_large, needs_confirmation
from experiments.intake.uploads import (
    inferred_encoding,
    save_uploads,
)
from experiments.materials.encoding import InferredEncoding
from experiments.materials.schema import JOINT, recognize_columns
from experiments.models import Experiment, Job, Lab, MaterialSet, Upload
from experiments.pages.access import AuthenticatedRequest
from experiments.pages.forms import LanguageInput
from experiments.pages.upload_wizard import (
    UploadWizard,
    encoding_field,
    encoding_questions,
    kept_encodings,
    offer_sheets,
    posted_encodings,
    sheet_field,
)
from experiments.studies.languages import tag_named
from judgments.imports.jobs import PURPOSE, describe_reading, import_later, read_or_job, recognize
from judgments.imports.readers import FORMATS
from judgments.imports.readers.cells import TASKS
from judgments.imports.readers.materials import SPELLINGS
from judgments.imports.readers.presets import PRESETS
from judgments.imports.readers.registry import format_labels
from judgments.imports.readers.table import OPTIONS, OWN_FIELDS, SEVERAL, STATED, TABLE_FIELDS
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
MAPPED = ("table", "jspsych", "pcibex", *PRESETS)


def _format_choices() -> list[tuple[str, str]]:
    """Built-in formats, then those of installed plugins."""
    return [*((name, FORMAT_LABELS[name]) for name in FORMATS), *format_labels().items()]


def format_names() -> list[str]:
    """Names of the formats, built-in ones first."""
    return [name for name, _ in _format_choices()]


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
        help_text="A participant counts once for a sentence, whatever you choose: the mean rating, the more "
        "frequent choice.",
    )
    spelling = forms.ChoiceField(
        label="Several texts of one sentence",
        choices=[("", "refuse them"), *SPELLINGS.items()],
        required=False,
        help_text="Where a spelling was corrected during the study. Judgments keep the text that was shown.",
    )
    keep_names = forms.ChoiceField(
        label="Names of participants",
        choices=[("", "replace words that may be names by pseudonyms"), ("yes", "keep them: they are codes")],
        required=False,
        help_text="Replaced words are stored apart and are in no export.",
    )
    missing = forms.CharField(
        label="Codes for no answer",
        max_length=500,
        required=False,
        help_text="Answers that stand for none, such as 99 -99.",
    )
    labels = forms.CharField(
        label="Meanings of the answers",
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Answer=meaning, such as 0=yes 1=no, or one on each line. A meaning is a number, yes, no, "
        "good, bad, first or second.",
    )
    where = forms.CharField(
        label="Rows to be read",
        max_length=2000,
        required=False,
        help_text="Column=value, such as trial_type=html-button-response; empty: all.",
    )
    scale_low = forms.FloatField(
        label="Lowest point", required=False, help_text="Empty: detected. Above the highest point: 1 is best."
    )
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
        proposal: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        for name, field in ((name, TABLE_FIELDS[name]) for name in fields):
            if name in SEVERAL:
                self.fields[name] = forms.CharField(
                    max_length=1000,
                    required=False,
                    initial=mapping.get(name, ""),
                    help_text=f"{field.meaning} Empty: the numbered columns."
                    if name == OPTIONS
                    else field.meaning,
                )
                continue
            proposed = [proposal] if proposal and name == "condition" else []
            names = dict.fromkeys([*columns, *proposed, *([mapping[name]] if name in mapping else [])])
            self.fields[name] = forms.ChoiceField(
                choices=[("", "not in the file"), *((column, column) for column in names)],
                required=False,
                initial=mapping.get(name, ""),
                label=name.replace("_", " "),
                help_text=field.meaning,
            )


def find_lab(user: User, name: str) -> Lab | None:
    """The lab of the study of a slug or title, which the upload counts towards; None for a new study."""
    studies = Experiment.objects.editable_by(user).filter(Q(slug=name) | Q(title=name))
    study = studies.select_related("lab").first()
    return study.lab if study else None


def posted_mapping(request: AuthenticatedRequest) -> dict[str, str]:
    """Columns chosen on the page by our names; an empty choice means that the file has no such column."""
    sent = {
        name.removeprefix("map-"): str(column)
        for name, column in request.POST.items()
        if name.startswith("map-")
    }
    mapping = {name: column for name, column in sent.items() if name in TABLE_FIELDS}
    return mapping if any(mapping.values()) else {}


def chosen_mapping(request: AuthenticatedRequest, upload: Upload) -> dict[str, str]:
    """Columns chosen on the page, and those chosen before for which the page had no fields."""
    before = upload.options.get("mapping") or {}
    kept = {field: column for field, column in before.items() if f"map-{field}" not in request.POST}
    return kept | posted_mapping(request)


def mapping_form(
    upload: Upload,
    columns: list[str] | None,
    detected: dict[str, str],
    *,
    fields: Sequence[str] = tuple(TABLE_FIELDS),
    proposal: str = "",
) -> MappingForm | None:
    """The mapping as chosen or detected; None where the format has none or the file cannot be read."""
    if columns is None:
        return None
    sent = upload.options.get("mapping") or {}
    stated = {field: sent[field] for field in STATED if sent.get(field)}
    chosen = {field: column for field, column in sent.items() if column in columns and field not in stated}
    joined = {
        field: column
        for field, column in sent.items()
        if column not in columns and column and {*column.split(JOINT)} <= {*columns}
    }
    mapping = detected or recognize_columns(columns, OWN_FIELDS, mapping=chosen) | stated | joined
    return MappingForm(columns=columns, mapping=mapping, fields=fields, proposal=proposal)


class JudgmentsWizard(UploadWizard):
    """Upload of judgments; the second file, where there is one, is Prolific's demographic export."""

    purpose, section, file_field = PURPOSE, "studies", "file"
    upload_template, preview_template = "judgments/import_upload.html", "judgments/import_preview.html"
    preview_url, home_url = "judgment-preview", "home"
    discarded = "The file was discarded."

    def upload_form(self, request: AuthenticatedRequest) -> UploadForm:
        start = {"experiment": request.GET.get("study", "")}
        return UploadForm(request.POST or None, request.FILES or None, user=request.user, initial=start)

    def save(self, request: AuthenticatedRequest, form: UploadForm) -> list[Upload]:
        uploads = save_uploads(
            request.user,
            form.sent_files(),
            purpose=PURPOSE,
            options=form.options(),
            lab=find_lab(request.user, form.cleaned_data["experiment"]),
        )
        if form.cleaned_data["format"] == "auto":
            recognize(uploads[0])
        return uploads

    def file_context(self, uploads: Sequence[Upload]) -> dict[str, Any]:
        return {"upload": uploads[0], "demographics": uploads[1] if len(uploads) > 1 else None}

    def read_or_job(self, request: AuthenticatedRequest, uploads: list[Upload]) -> Preview | Job:
        return read_or_job(uploads)

    def describe(self, uploads: list[Upload], reading: Preview) -> Preview:
        return describe_reading(uploads)

    def preview_form(self, request: AuthenticatedRequest, uploads: list[Upload]) -> PreviewForm:
        sent = uploads[0]
        return PreviewForm(request.POST or None, user=request.user, initial=sent.options, sent=sent)

    def choose(
        self, request: AuthenticatedRequest, uploads: list[Upload], form: PreviewForm, *, reading: Preview
    ) -> bool:
        sent = uploads[0]
        is_same = form.cleaned_data["format"] == sent.options["format"]
        is_mapped = is_same and form.cleaned_data["format"] in MAPPED
        is_guess_open = bool(sent.options.get("guess")) and is_same and not request.POST.get("guess_is_right")
        encodings, is_other_encoding = posted_encodings(request.POST, [sent])
        sent.options = {
            **form.options(),
            "mapping": chosen_mapping(request, sent) if is_mapped else {},
            **kept_encodings(sent, encodings),
            **({"guess": sent.options["guess"]} if is_guess_open else {}),
        }
        sent.save(update_fields=["options"])
        if request.POST.get("action") == "import" and is_guess_open:
            raise BadInput("Say whether the file is an export of this tool, or choose its format.")
        return not is_other_encoding

    def confirm(
        self, request: AuthenticatedRequest, uploads: list[Upload], *, reading: Preview
    ) -> HttpResponse:
        sent = uploads[0]
        if is_large(uploads):
            is_open = needs_confirmation(reading, sent.options)
        else:
            is_open = inferred_encoding(sent) is not None
        if is_open:
            raise BadInput("Say whether the lines with special characters are right.")
        return redirect("job", import_later(sent).pk)

    def reading_context(self, uploads: list[Upload], reading: Preview, form: PreviewForm) -> dict[str, Any]:
        file_columns = reading["file_columns"]
        format, reason = uploads[0].options["format"], uploads[0].options.get("guess", "")
        guess = {"label": FORMAT_LABELS[format], "reason": reason} if reason else None
        if "error" in reading:
            fields = reading.get("fields") or tuple(TABLE_FIELDS)
            mapping = mapping_form(
                uploads[0], file_columns, {}, fields=fields, proposal=reading.get("proposal", "")
            )
            return {"error": reading["error"], "guess": guess, "mapping": mapping}
        inferred = (InferredEncoding(**row) for row in reading["inferred"])
        return {
            "report": reading["report"],
            "guess": guess,
            "encoding_questions": encoding_questions(uploads[:1], inferred),
            "columns": reading["columns"],
            "rows": reading["rows"],
            "mapping": mapping_form(uploads[0], file_columns, reading["report"]["columns"]),
        }


wizard = JudgmentsWizard()
