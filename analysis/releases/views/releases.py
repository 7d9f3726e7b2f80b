"""Releases: what stands, building the next one, its files."""

import mimetypes

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect

from analysis.errors import BadInput
from analysis.releases.description import FILES
from analysis.releases.forms import ReleaseForm
from analysis.releases.freezing import request_release
from analysis.releases.models import Release
from analysis.releases.options import Options
from analysis.releases.storage import chunks, zip_chunks
from analysis.releases.views.pages import MANIFEST, explained, page, study_page
from analysis.releases.withdrawn import withdrawn_since
from experiments.models import Experiment

HOLDS = {"README.md": "what this release is, in words: read it first", **FILES}


@study_page
def releases(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The list; a form builds the next one."""
    form = ReleaseForm(request.POST or None, experiment=study, initial={"ties": "strict"})
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            options = Options(form.exclude(), data["rule"], data["ties"], data["seed"])
            release = request_release(study, options, title=data["title"], user=request.user)
        except BadInput as error:
            explained(request, form, error)
        else:
            messages.success(request, f"Release {release.number} is being built.")
            return redirect("study-release", study.slug, release.number)
    rows = (
        Release.objects.filter(experiment=study)
        .select_related("job", "plan", "created_by")
        .order_by("-number")
    )
    status = 400 if form.is_bound and form.errors else 200
    return page(request, study, "releases", form=form, releases=rows, status=status)


@study_page
def release(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """One release: what it rests on, its files and checksums."""
    found = find(study, number)
    files = [{**file, "holds": HOLDS.get(file["path"], "")} for file in found.manifest.get("files", [])]
    return page(
        request,
        study,
        "releases",
        template="release",
        release=found,
        files=files,
        manifest=found.manifest,
        withdrawn=withdrawn_since(found),
    )


@study_page
def download(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """The whole release as one ZIP, sent as it is made."""
    return zip_answer(find(study, number, ready=True))


@study_page
def file(request: HttpRequest, study: Experiment, *, number: int, name: str) -> HttpResponseBase:
    """One file of a release."""
    return file_answer(find(study, number, ready=True), name)


def find(study: Experiment, number: int, *, ready: bool = False) -> Release:
    """The study's release of that number, or 404."""
    rows = Release.objects.filter(experiment=study).select_related("job", "plan", "created_by", "experiment")
    return get_object_or_404(rows, number=number, **({"state": Release.State.READY} if ready else {}))


def zip_answer(found: Release) -> StreamingHttpResponse:
    """A ZIP in pieces."""
    folder = f"{found.experiment.slug}-{found.number}"
    answer = StreamingHttpResponse(
        zip_chunks(found.storage_key, names(found), folder=folder), content_type="application/zip"
    )
    answer["Content-Disposition"] = f'attachment; filename="{folder}.zip"'
    return answer


def file_answer(found: Release, name: str) -> StreamingHttpResponse:
    """A file in pieces; only names of the manifest are served."""
    if name not in names(found):
        raise Http404("no such file in this release")
    guessed = mimetypes.guess_type(name)[0] or "text/plain"
    kind = {"text/markdown": "text/plain"}.get(guessed, guessed)
    answer = StreamingHttpResponse(chunks(found.storage_key, name), content_type=f"{kind}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{found.experiment.slug}-{found.number}-{name}"'
    return answer


def names(found: Release) -> list[str]:
    """Every file of the release."""
    return [*(str(file["path"]) for file in found.manifest["files"]), MANIFEST]
