"""Surprisals of tokens and words on the page of a scoring run: request, progress and files."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from config.http.body_limit import takes_large_files
from experiments.models import Experiment
from experiments.pages.access import AuthenticatedRequest
from releases.exports.snippets import surprisal_snippets
from releases.gold.storage import chunks
from releases.models import ScoringRun
from releases.scoring.forms import SurprisalsForm
from releases.scoring.runs import may_retry
from releases.scoring.surprisals import (
    CSV,
    StoredSurprisals,
    find_surprisals,
    list_tables,
    refusal,
    request_surprisals,
)
from releases.views.base import explained_on_top, study_page
from releases.views.models.comparisons import list_runs

MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}


@takes_large_files
@study_page
@require_POST
def tabulate(request: AuthenticatedRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """Start a table; a repeated request starts it only once."""
    scoring_run = get_object_or_404(list_runs(study), pk=pk)
    form = SurprisalsForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, "; ".join(map(str, form.errors["regions"])))
        return redirect("study-scoring-run", study.slug, pk)
    try:
        table = request_surprisals(scoring_run, study, file=form.cleaned_data["regions"], user=request.user)
    except BadInput as error:
        explained_on_top(request, error)
        return redirect("study-scoring-run", study.slug, pk)
    if table.is_ready:
        messages.info(request, "This table exists already: run and regions have not changed.")
    return redirect(f"{reverse('study-scoring-run', args=[study.slug, pk])}#surprisals")


@study_page
def part(request: HttpRequest, study: Experiment, *, pk: int, number: int) -> HttpResponseBase:
    """Render the progress of a table, which is refreshed periodically."""
    table = _table(study, pk, number)
    return render(request, "experiments/_job.html", {"job": table.job, "part_url": request.path})


@study_page
def file(request: HttpRequest, study: Experiment, *, pk: int, number: int, name: str) -> HttpResponseBase:
    """One file of a table, streamed."""
    table = _table(study, pk, number)
    if not table.is_ready or name not in {stored["path"] for stored in table.files}:
        raise Http404("no such file of surprisals")
    response = StreamingHttpResponse(
        chunks(table.storage_key, name), content_type=MEDIA_TYPES[name.rpartition(".")[2]]
    )
    run = get_object_or_404(list_runs(study), pk=pk)
    response["Content-Disposition"] = f'attachment; filename="{file_name(study, run, name)}"'
    return response


def surprisal_context(study: Experiment, run: ScoringRun, user: User) -> dict[str, Any]:
    """Return the tables of a finished run, the newest one's preview and programs, and the form."""
    if run.state != ScoringRun.State.DONE:
        return {}
    tables = list_tables(run)
    newest = next((table for table in tables if table.is_ready), None)
    name = file_name(study, run, CSV)
    return {
        "refusal": refusal(run),
        "tables": tables,
        "newest": newest,
        "file": name,
        "snippets": surprisal_snippets(name, has_regions=newest.counts["regions"] > 0) if newest else [],
        "form": SurprisalsForm() if may_retry(user, run) else None,
    }


def file_name(study: Experiment, run: ScoringRun, name: str) -> str:
    """Return the name of a download; runs of one name differ by their number."""
    return f"{study.slug}-{slugify(run.name) or 'model'}-{run.pk}-{name}"


def _table(study: Experiment, pk: int, number: int) -> StoredSurprisals:
    run = get_object_or_404(list_runs(study), pk=pk)
    table = find_surprisals(run, number)
    if table is None:
        raise Http404("no such surprisals")
    return table
