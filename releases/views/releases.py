"""Releases: the list, building the next one, files and downloads."""

import mimetypes
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect

from analysis.errors import BadInput
from experiments.models import Experiment
from experiments.teams.roles import owns
from releases.exports.snippets import release_snippets
from releases.gold.describe import CONTENTS, list_authors, withdrawn_since
from releases.gold.freeze import request_release
from releases.gold.options import Options
from releases.gold.storage import MANIFEST, chunks, zip_chunks
from releases.models import Release
from releases.reports.forms import ReleaseForm
from releases.views.base import add_form_error, page, study_page

JUDGMENTS = "judgments.csv"


@study_page
def releases(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The list; a form builds the next one."""
    form = ReleaseForm(request.POST or None, experiment=study, initial={"ties": "strict"})
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            options = Options(
                form.exclude(), data["rule"], data["ties"], data["seed"], formats=",".join(data["formats"])
            )
            release = request_release(study, options, title=data["title"], user=request.user)
        except BadInput as error:
            add_form_error(request, form, error)
        else:
            messages.success(request, f"Release {release.number} is being built.")
            return redirect("study-release", study.slug, release.number)
    rows = (
        Release.objects.filter(experiment=study)
        .select_related("job", "plan", "created_by")
        .order_by("-number")
    )
    status = 400 if form.is_bound and form.errors else 200
    return page(
        request, study, "releases", form=form, releases=rows, authors=list_authors(study), status=status
    )


@study_page
def release(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """One release: its options, files and checksums."""
    release_row = find(study, number)
    files, folders = _listed_files(release_row)
    return page(
        request,
        study,
        "releases",
        template="release",
        release=release_row,
        files=files,
        folders=folders,
        manifest=release_row.manifest,
        withdrawn=withdrawn_since(release_row),
        publications=list(release_row.publications.select_related("job")),
        may_publish=owns(request.user, study),
        snippets=release_snippets(study, JUDGMENTS) if files else [],
        file=JUDGMENTS,
    )


def _listed_files(release: Release) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The files of a release with their content, in the order of its card, and its folders with theirs."""
    files: list[dict[str, Any]] = []
    folders: dict[str, dict[str, Any]] = {}
    for file in release.manifest.get("files", []):
        folder, slash, _ = str(file["path"]).rpartition("/")
        holds = CONTENTS.get(folder + slash or file["path"], "")
        if slash:
            listed = folders.setdefault(folder, {"name": f"{folder}/", "holds": holds, "files": []})
            listed["files"].append({**file, "holds": ""})
        else:
            files.append({**file, "holds": holds})
    order = {name: number for number, name in enumerate(CONTENTS)}
    files.sort(key=lambda file: order.get(file["path"], len(order)))
    return files, list(folders.values())


@study_page
def download(request: HttpRequest, study: Experiment, *, number: int) -> HttpResponseBase:
    """The whole release as one streamed ZIP."""
    return zip_answer(find(study, number, ready=True))


@study_page
def file(request: HttpRequest, study: Experiment, *, number: int, name: str) -> HttpResponseBase:
    """One file of a release."""
    return file_answer(find(study, number, ready=True), name)


def find(study: Experiment, number: int, *, ready: bool = False) -> Release:
    """The study's release of that number, or 404."""
    rows = Release.objects.filter(experiment=study).select_related("job", "plan", "created_by", "experiment")
    return get_object_or_404(rows, number=number, **({"state": Release.State.READY} if ready else {}))


def zip_answer(release: Release) -> StreamingHttpResponse:
    """A streamed ZIP."""
    folder = f"{release.experiment.slug}-{release.number}"
    response = StreamingHttpResponse(
        zip_chunks(release.storage_key, names(release), folder=folder), content_type="application/zip"
    )
    response["Content-Disposition"] = f'attachment; filename="{folder}.zip"'
    return response


def file_answer(release: Release, name: str) -> StreamingHttpResponse:
    """A streamed file; only files of the manifest are served."""
    if name not in names(release):
        raise Http404("no such file in this release")
    guessed = mimetypes.guess_type(name)[0] or "text/plain"
    kind = {"text/markdown": "text/plain"}.get(guessed, guessed)
    response = StreamingHttpResponse(chunks(release.storage_key, name), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = (
        f'attachment; filename="{release.experiment.slug}-{release.number}-{name.replace("/", "-")}"'
    )
    return response


def names(release: Release) -> list[str]:
    """Every file of the release."""
    return [*(str(file["path"]) for file in release.manifest["files"]), MANIFEST]
