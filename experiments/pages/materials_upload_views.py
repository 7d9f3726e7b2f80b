"""Upload of materials: send files, see how they are read, confirm."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.intake import described
from experiments.material_jobs import AT_ONCE, PURPOSE, about_uploads, import_later, import_now, read_uploads
from experiments.materials.checks import check
from experiments.materials.collection import Materials
from experiments.materials.detect import file_columns
from experiments.materials.schema import understand_columns
from experiments.models import Upload
from experiments.pages.materials_forms import MappingForm, PreviewForm, UploadForm, meant_fields
from experiments.uploads import batch_of, discard_uploads, keep_uploads, local_copies

FIRST_ROWS = 10


@login_required
def upload(request: HttpRequest) -> HttpResponse:
    """Files and a name; next comes the preview."""
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        chosen = {name: value for name, value in form.cleaned_data.items() if name != "files"}
        try:
            kept = keep_uploads(request.user, form.cleaned_data["files"], purpose=PURPOSE, chosen=chosen)
        except BadInput as error:
            form.add_error("files", str(error))
        else:
            return redirect("material-preview", kept[0].batch)
    return render(request, "experiments/materials_upload.html", {"section": "materials", "form": form})


def own_batch(request: HttpRequest, batch: uuid.UUID) -> list[Upload]:
    """The upload, if this user sent it."""
    uploads = batch_of(request.user, batch, purpose=PURPOSE)
    if not uploads:
        raise Http404("no such upload")
    return uploads


@login_required
def preview(request: HttpRequest, batch: uuid.UUID) -> HttpResponse:
    """Show what was understood; ``again`` reads with other choices, ``import`` stores."""
    uploads = own_batch(request, batch)
    form = PreviewForm(request.POST or None, initial={"format": "auto", **uploads[0].options})
    if request.method == "POST" and form.is_valid():
        choose(uploads[0], form.cleaned_data, mapping_sent(request))
        if request.POST.get("action") == "import":
            return confirm(request, uploads)
        return redirect("material-preview", batch)
    context = {"section": "materials", "uploads": uploads, "form": form, **understood(uploads)}
    return render(request, "experiments/materials_preview.html", context)


def mapping_sent(request: HttpRequest) -> dict[str, str]:
    """Columns chosen on the page, by our names; an empty choice says that the field is absent."""
    sent = {
        name.removeprefix("map-"): value for name, value in request.POST.items() if name.startswith("map-")
    }
    return sent if any(sent.values()) else {}


def choose(first: Upload, chosen: dict[str, Any], mapping: dict[str, str]) -> None:
    """Keep what was chosen with the upload."""
    is_table = chosen["format"] in ("auto", "table")
    first.options = {**chosen, "mapping": mapping if is_table else {}}
    first.save(update_fields=["options"])


def understood(uploads: list[Upload]) -> dict[str, Any]:
    """How the files are read: first rows, report, columns; or why they cannot be."""
    try:
        materials = read_uploads(uploads)
    except BadInput as error:
        return {"error": str(error), "mapping": mapping_form(columns_of(uploads), uploads[0].options)}
    report = check(materials)
    is_table = materials.format == "table"
    columns = [name for source in materials.sources for name in source.columns]
    return {
        "told": described(materials, report),
        "blocking": report.errors,
        "first_pairs": first_pairs(materials),
        "first_sentences": materials.sentences.head(FIRST_ROWS).to_dict("records"),
        "mapping": MappingForm(columns=unique(columns), understood=dict(materials.mapping or {}))
        if is_table
        else None,
    }


def first_pairs(materials: Materials) -> list[dict[str, Any]]:
    """The first pairs with their texts."""
    texts = materials.sentences.set_index("sentence_id")["text"]
    first = materials.pairs.head(FIRST_ROWS)
    return first.assign(good=first["good_id"].map(texts), bad=first["bad_id"].map(texts)).to_dict("records")


def columns_of(uploads: list[Upload]) -> list[str]:
    """Columns of the files, as far as they can be read at all."""
    columns: list[str] = []
    with local_copies(uploads) as paths:
        for path in paths:
            try:
                columns += file_columns(path, encoding=uploads[0].options.get("encoding") or "")
            except BadInput:
                continue
    return unique(columns)


def unique(names: list[str]) -> list[str]:
    """Names in order, each once."""
    return list(dict.fromkeys(names))


def mapping_form(columns: list[str], chosen: dict[str, Any]) -> MappingForm | None:
    """The mapping as it was chosen or can be guessed, where there are columns to choose from."""
    if not columns:
        return None
    mapping = {ours: theirs for ours, theirs in (chosen.get("mapping") or {}).items() if theirs in columns}
    return MappingForm(
        columns=columns, understood=understand_columns(columns, meant_fields({}), mapping=mapping)
    )


def confirm(request: HttpRequest, uploads: list[Upload]) -> HttpResponse:
    """Store a small set now, a large one by a worker."""
    try:
        about_uploads(uploads)
        materials = read_uploads(uploads)
        if len(materials.sentences) > AT_ONCE:
            return redirect("job", import_later(uploads).pk)
        stored = import_now(uploads, materials)
    except BadInput as error:
        messages.error(request, str(error))
        return redirect("material-preview", uploads[0].batch)
    already = "holds exactly this already; nothing was stored twice"
    messages.success(request, f"{stored.material_set.name} {'is stored' if stored.created else already}.")
    return redirect("material-set", stored.material_set.slug)


@login_required
@require_POST
def discard(request: HttpRequest, batch: uuid.UUID) -> HttpResponse:
    """Let the sent files go."""
    discard_uploads(own_batch(request, batch))
    messages.success(request, "The files are discarded.")
    return redirect("materials")
