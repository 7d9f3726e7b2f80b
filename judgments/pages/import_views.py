"""Import of judgments: send a file, see what would come in, confirm."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.materials.schema import understand_columns
from experiments.models import Upload
from experiments.uploads import batch_of, discard_uploads, keep_uploads, local_copies
from judgments.import_jobs import PURPOSE, import_later, prepare_upload
from judgments.pages.import_forms import MAPPED, MappingForm, PreviewForm, UploadForm
from judgments.sources.table import table_rows
from judgments.sources.table_fields import TABLE_FIELDS

FIRST_ROWS = 12
SHOWN = (
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


@login_required
def upload(request: HttpRequest) -> HttpResponse:
    """A file and a study; next comes the preview."""
    start = {"experiment": request.GET.get("study", "")}
    form = UploadForm(request.POST or None, request.FILES or None, user=request.user, initial=start)
    if request.method == "POST" and form.is_valid():
        try:
            kept = keep_uploads(
                request.user, [form.cleaned_data["file"]], purpose=PURPOSE, chosen=form.chosen()
            )
        except BadInput as error:
            form.add_error("file", str(error))
        else:
            return redirect("judgment-preview", kept[0].batch)
    return render(request, "judgments/import_upload.html", {"section": "studies", "form": form})


def own_upload(request: HttpRequest, batch: uuid.UUID) -> Upload:
    """The upload, if this user sent it."""
    uploads = batch_of(request.user, batch, purpose=PURPOSE)
    if not uploads:
        raise Http404("no such upload")
    return uploads[0]


@login_required
def preview(request: HttpRequest, batch: uuid.UUID) -> HttpResponse:
    """Show what would come in; ``again`` reads with other choices, ``import`` hands over to a worker."""
    kept = own_upload(request, batch)
    form = PreviewForm(request.POST or None, user=request.user, initial=kept.options)
    if request.method == "POST" and form.is_valid():
        is_mapped = form.cleaned_data["format"] in MAPPED
        kept.options = {**form.chosen(), "mapping": mapping_sent(request) if is_mapped else {}}
        kept.save(update_fields=["options"])
        if request.POST.get("action") == "import":
            return redirect("job", import_later(kept).pk)
        return redirect("judgment-preview", batch)
    context = {"section": "studies", "upload": kept, "form": form, **understood(kept)}
    return render(request, "judgments/import_preview.html", context)


def mapping_sent(request: HttpRequest) -> dict[str, str]:
    """Columns chosen on the page, by our names; an empty choice says that the file lacks it."""
    sent = {name.removeprefix("map-"): cell for name, cell in request.POST.items() if name.startswith("map-")}
    known = {name: cell for name, cell in sent.items() if name in TABLE_FIELDS}
    return known if any(known.values()) else {}


def understood(kept: Upload) -> dict[str, Any]:
    """How the file is read: counts, first rows, columns; or why it cannot be."""
    try:
        prepared = prepare_upload(kept)
    except BadInput as error:
        return {"error": str(error), "mapping": mapping_form(kept, {})}
    told = prepared.describe()
    rows = prepared.read.judgments.head(FIRST_ROWS)
    columns = [name for name in SHOWN if rows[name].astype(str).ne("").any()]
    return {
        "told": told,
        "columns": columns,
        "rows": rows[columns].astype(object).where(rows[columns].notna(), "").values.tolist(),
        "mapping": mapping_form(kept, told["columns"]),
    }


def mapping_form(kept: Upload, columns_understood: dict[str, str]) -> MappingForm | None:
    """The mapping as chosen or guessed, where the format has one and the file can be read at all."""
    if kept.options["format"] != "table":
        return None
    try:
        with local_copies([kept]) as (path,):
            columns = list(table_rows(path, encoding=kept.options.get("encoding") or "").frame.columns)
    except BadInput:
        return None
    chosen = {
        ours: theirs for ours, theirs in (kept.options.get("mapping") or {}).items() if theirs in columns
    }
    guessed = columns_understood or understand_columns(columns, TABLE_FIELDS, mapping=chosen)
    return MappingForm(columns=columns, understood=guessed)


@login_required
@require_POST
def discard(request: HttpRequest, batch: uuid.UUID) -> HttpResponse:
    """Let the sent file go."""
    discard_uploads([own_upload(request, batch)])
    messages.success(request, "The file is discarded.")
    return redirect("home")
