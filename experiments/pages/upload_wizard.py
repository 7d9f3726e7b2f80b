"""Upload of files in two steps, shared by materials and judgments: send, see how they are read, confirm."""

import re
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import DatabaseError
from django.http import Http404, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from config.http.body_limit import takes_large_files
from experiments.intake.previews import Preview, is_large
from experiments.intake.uploads import discard_uploads, find_batch, list_quotas, local_copies
from experiments.materials.encoding import CODECS, InferredEncoding
from experiments.materials.readers.dataset_folders import dataset_names, is_dataset
from experiments.materials.readers.spreadsheets import is_spreadsheet, sheet_labels
from experiments.models import Job, Upload
from experiments.operation.job_runner import retry
from experiments.pages.access import AuthenticatedRequest

_FIELD = "encoding-of-"  # and the number of the file
_SHOWN = "inferred-for-"


def not_found_once_deleted(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer 404 where the upload is deleted while its preview is being made."""

    @wraps(view)
    def view_with_batch(wizard: Any, request: AuthenticatedRequest, batch: uuid.UUID) -> HttpResponse:
        try:
            return view(wizard, request, batch)
        except (FileNotFoundError, DatabaseError):
            # Race: discarded in another window, or removed by the scheduled job, since the rows were read.
            if Upload.objects.filter(batch=batch).exists():
                raise
            raise Http404("no such upload") from None

    return view_with_batch


class UploadWizard:
    """Views of the two steps; a subclass reads one kind of file.

    Attributes
    ----------
    purpose : str
        Purpose of the uploads.
    section : str
        Section of the navigation.
    file_field : str
        Field of the upload form that shows why files are refused.
    upload_template, preview_template : str
    preview_url, home_url : str
        Names of the addresses of the preview and of the page after discarding.
    discarded : str
        Message after discarding.
    """

    purpose: str
    section: str
    file_field: str
    upload_template: str
    preview_template: str
    preview_url: str
    home_url: str
    discarded: str

    def upload_form(self, request: AuthenticatedRequest) -> forms.Form:
        """Return the form of the first step."""
        raise NotImplementedError

    def save(self, request: AuthenticatedRequest, form: Any) -> list[Upload]:
        """Save the files of a valid upload form."""
        raise NotImplementedError

    def file_context(self, uploads: Sequence[Upload]) -> dict[str, Any]:
        """Return the context of the preview that names the files."""
        raise NotImplementedError

    def read_or_job(self, request: AuthenticatedRequest, uploads: list[Upload]) -> Preview | Job:
        """Return how the files are read, or the job that reads large files."""
        raise NotImplementedError

    def read_for_choices(self, uploads: list[Upload]) -> Preview:
        """Return what the choices of a sent preview form refer to, of small files."""
        return {}

    def describe(self, uploads: list[Upload], reading: Preview) -> Preview:
        """Complete the result of :meth:`read_for_choices`, for a preview form that is not valid."""
        raise NotImplementedError

    def preview_form(self, request: AuthenticatedRequest, uploads: list[Upload]) -> forms.Form:
        """Return the form of the second step."""
        raise NotImplementedError

    def choose(
        self, request: AuthenticatedRequest, uploads: list[Upload], form: Any, *, reading: Preview
    ) -> bool:
        """Store the choices of a valid preview form; return whether the page showed the files so."""
        raise NotImplementedError

    def confirm(
        self, request: AuthenticatedRequest, uploads: list[Upload], *, reading: Preview
    ) -> HttpResponse:
        """Import the files or queue their import; raises BadInput where they cannot be imported."""
        raise NotImplementedError

    def reading_context(self, uploads: list[Upload], reading: Preview, form: Any) -> dict[str, Any]:
        """Return the context of the preview that shows how the files are read."""
        raise NotImplementedError

    def own_uploads(self, request: AuthenticatedRequest, batch: uuid.UUID) -> list[Upload]:
        """Return the files of the user's own upload, or 404."""
        uploads = find_batch(request.user, batch, purpose=self.purpose)
        if not uploads:
            raise Http404("no such upload")
        return uploads

    @takes_large_files
    @method_decorator(login_required)
    def upload(self, request: AuthenticatedRequest) -> HttpResponse:
        """Take files; the preview follows, and a script that shows the progress gets its address."""
        form = self.upload_form(request)
        if request.method == "POST" and form.is_valid():
            try:
                uploads = self.save(request, form)
            except BadInput as error:
                form.add_error(self.file_field, str(error))
            else:
                address = reverse(self.preview_url, args=[uploads[0].batch])
                if request.headers.get("Accept") == "application/json":
                    return JsonResponse({"next": address})
                return redirect(address)
        context = {"section": self.section, "form": form, "quotas": list_quotas(request.user)}
        return render(request, self.upload_template, context)

    @method_decorator(login_required)
    @not_found_once_deleted
    def preview(self, request: AuthenticatedRequest, batch: uuid.UUID) -> HttpResponse:
        """Show how the files are read; ``again`` reads with other choices, ``import`` imports."""
        uploads = self.own_uploads(request, batch)
        context = {"section": self.section, **self.file_context(uploads)}
        is_small_form = request.method == "POST" and not is_large(uploads)
        reading = self.read_for_choices(uploads) if is_small_form else self.read_or_job(request, uploads)
        action = request.POST.get("action")
        if isinstance(reading, Job):
            if action == "retry":
                retry(reading)
                return redirect(self.preview_url, batch)
            return render(request, self.preview_template, {**context, "job": reading})
        form = self.preview_form(request, uploads)
        if request.method == "POST" and form.is_valid():
            try:
                is_as_shown = self.choose(request, uploads, form, reading=reading)
                if action == "import" and is_as_shown:
                    return self.confirm(request, uploads, reading=reading)
            except BadInput as error:
                messages.error(request, str(error))
            return redirect(self.preview_url, batch)
        if is_small_form:
            reading = self.describe(uploads, reading)
        context |= {"form": form, **self.reading_context(uploads, reading, form)}
        return render(request, self.preview_template, context)

    @method_decorator(login_required)
    @method_decorator(require_POST)
    def discard(self, request: AuthenticatedRequest, batch: uuid.UUID) -> HttpResponse:
        """Discard the uploaded files."""
        discard_uploads(self.own_uploads(request, batch))
        messages.success(request, self.discarded)
        return redirect(self.home_url)


def encoding_field() -> forms.ChoiceField:
    """The encoding of all files; by default each file's own."""
    return forms.ChoiceField(
        choices=[("", "detected"), *((name, name) for name in CODECS)],
        required=False,
        help_text="Choose one where the characters of the preview are wrong.",
    )


def sheet_field() -> forms.ChoiceField:
    """The sheet of a spreadsheet or the table of a dataset; :func:`offer_sheets` fills it."""
    return forms.ChoiceField(required=False, help_text="One table is read at a time.")


def offer_sheets(form: forms.Form, uploads: Sequence[Upload]) -> None:
    """Offer the sheets of the uploaded spreadsheets and datasets; without a choice there is no such field."""
    labels: dict[str, str] = {}
    if any(is_spreadsheet(Path(upload.name)) or upload.name.lower().endswith(".zip") for upload in uploads):
        with local_copies(uploads) as paths:
            for path in paths:
                try:
                    if is_dataset(path):
                        labels |= {name: name for name in dataset_names(path)}
                    elif is_spreadsheet(path):
                        labels |= sheet_labels(path)
                except BadInput:
                    continue  # the preview explains what is wrong with the file
    if len(labels) < 2:
        del form.fields["sheet"]
        return
    field = form.fields["sheet"]
    assert isinstance(field, forms.ChoiceField)
    field.choices = [("", "the first with cells, or the default"), *labels.items()]


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
