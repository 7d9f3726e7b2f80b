"""Pages of models scored on this installation: selection, cost estimate, progress, retry."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from analysis.text import plural
from experiments.models import Experiment, Job
from experiments.pages.access import AuthenticatedRequest, may_edit
from experiments.pages.forms import ask, is_sure
from releases.models import Release, ScoreShard, ScoringRun
from releases.scoring.cost import COST, request_cost
from releases.scoring.execution import run_progress
from releases.scoring.forms import ModelRunsForm
from releases.scoring.model_registry import INSTALL, has_models_extra
from releases.scoring.runs import (
    check_may_delete_file,
    delete_file,
    has_stopped,
    may_retry,
    request_model_runs,
    retry_run,
    runs_with_file,
    stored_file,
)
from releases.scoring.shards import run_shards
from releases.views.base import add_form_error, explained_on_top, page, study_page
from releases.views.models.comparisons import list_runs
from releases.views.models.leaderboard import newest_release
from releases.views.models.surprisals import surprisal_context

PROMPTS = ["lp", "yes_no", "forced_choice"]  # measures that the page of prompts proposes
MOST_NAMED = 5  # runs of one file
SHOWN_SPEC = {
    "bos": "beginning-of-sentence token (bos)",
    "eos": "end of sentence scored (eos)",
    "tokens": "tokens",
    "casing": "casing",
    "punctuation": "punctuation",
    "dtype": "precision (dtype)",
    "device": "device",
    "scorer_version": "scorer version",
    "spec_id": "settings id",
}


@study_page
def choose(request: AuthenticatedRequest, study: Experiment) -> HttpResponseBase:
    """Select sentences, models and measures, and enqueue a cost estimate."""
    if not may_edit(request.user, study):
        raise PermissionDenied("Viewers of a study cannot score models.")
    initial = {"methods": PROMPTS} if "prompts" in request.GET else None
    form = ModelRunsForm(request.POST or None, experiment=study, initial=initial)
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            data = form.cleaned_data
            try:
                job = request_cost(
                    study,
                    form.chosen(),
                    methods=data["methods"],
                    release=form.release(),
                    device=data["device"],
                    user=request.user,
                )
            except BadInput as error:
                add_form_error(request, form, error)
            else:
                return redirect("study-scoring-cost", study.slug, job.pk)
    lacks = "" if has_models_extra() else INSTALL
    return page(request, study, "models", template="choose_models", status=status, form=form, install=lacks)


@study_page
def cost(request: HttpRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """Show a cost estimate with a button that starts its runs."""
    job = _estimate(study, pk)
    queue = job.arguments["device"]
    return page(request, study, "models", template="scoring_cost", job=job, cost=job.result, device=queue)


@study_page
@require_POST
def begin(request: AuthenticatedRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """Start the runs of an estimate; a repeated request starts them only once."""
    job = _estimate(study, pk)
    arguments = job.arguments
    try:
        runs = request_model_runs(
            study,
            {row["uri"]: row["measures"] for row in job.result.get("models", [])},
            names_by_uri={row["uri"]: row["name"] for row in job.result.get("models", [])},
            release=_release(study, arguments["release"]),
            device=arguments["device"],
            asked_by=f"estimate {job.pk}",
            user=request.user,
        )
    except BadInput as error:
        explained_on_top(request, error)
        return redirect("study-scoring-cost", study.slug, pk)
    if len(runs) == 1:
        return redirect("study-scoring-run", study.slug, runs[0].pk)
    messages.success(request, f"{plural(len(runs), 'run')} started.")
    return redirect("study-scored-models", study.slug)


@study_page
def run(request: AuthenticatedRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """Show one run: progress, remaining time and failed shards with their reasons."""
    scoring_run = get_object_or_404(list_runs(study).select_related("scorer"), pk=pk)
    release = newest_release(study)
    return page(
        request,
        study,
        "models",
        template="scoring_run",
        board_release=release,
        shown_spec={} if scoring_run.model.startswith("csv:") else SHOWN_SPEC,
        compared=scoring_run.comparisons.exclude(report={}).first(),
        **surprisal_context(study, scoring_run, request.user),
        **_run_context(scoring_run, request),
    )


@study_page
def part(request: AuthenticatedRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """Render the part of a run's page that is refreshed periodically."""
    scoring_run = get_object_or_404(list_runs(study).select_related("scorer"), pk=pk)
    return render(
        request, "releases/_scoring_run.html", {"study": study, **_run_context(scoring_run, request)}
    )


@study_page
@require_POST
def retry(request: AuthenticatedRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """Retry failed shards."""
    scoring_run = get_object_or_404(list_runs(study), pk=pk)
    retry_run(scoring_run, experiment=study, user=request.user)
    return redirect("study-scoring-run", study.slug, pk)


@study_page
@require_POST
def remove_file(request: AuthenticatedRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """Delete the uploaded file of a run after a confirmation; its scores stay."""
    scoring_run = get_object_or_404(list_runs(study), pk=pk)
    back = reverse("study-scoring-run", args=[study.slug, pk])
    check_may_delete_file(request.user, scoring_run)
    upload = stored_file(scoring_run)
    if upload is not None and not is_sure(request):
        names = list(runs_with_file(scoring_run).order_by("name").values_list("name", flat=True))
        n_more = len(names) - MOST_NAMED
        named = ", ".join(names[:MOST_NAMED]) + (f" and {n_more:,} more" if n_more > 0 else "")
        return ask(
            request,
            f"Delete {upload.name}?",
            f"The scores of {named} stay, and so do comparisons with them. What needs the file itself, trying"
            " a run again or computing surprisals with an uploaded model, needs a new upload.",
            yes="Delete the file",
            no="Keep it",
            back=back,
            study=study,
            page="models",
        )
    try:
        delete_file(scoring_run, experiment=study, user=request.user)
    except BadInput as error:
        messages.error(request, f"Not deleted: {error}")
    else:
        messages.success(request, "The file is deleted.")
    return redirect(back)


def _run_context(run: ScoringRun, request: AuthenticatedRequest) -> dict[str, Any]:
    failed = run_shards(run).filter(state=ScoreShard.State.FAILED).order_by().values("error")
    progress, upload = run_progress(run), stored_file(run)
    return {
        "run": run,
        "progress": progress,
        "left": duration_text(progress.seconds_left),
        "failed": failed.annotate(shards=Count("pk"), sentences=Sum("n_sentences")).order_by("-shards"),
        "can_retry": (
            (has_stopped(run) or progress.shards_failed > 0)
            and may_retry(request.user, run)
            and not (run.spec.get("upload") and upload is None)
        ),
        "upload": upload,
        "can_delete_file": may_retry(request.user, run),
        "is_over": run.state in (ScoringRun.State.DONE, ScoringRun.State.FAILED),
    }


def duration_text(seconds: int | None) -> str:
    """Format seconds as an approximate duration, rounded up."""
    if seconds is None:
        return ""
    if seconds < 60:
        return "less than a minute"
    minutes = -(-seconds // 60)
    if minutes < 90:
        return plural(minutes, "minute")
    return f"{minutes / 60:.1f} hours"


def _estimate(study: Experiment, pk: int) -> Job:
    return get_object_or_404(Job, pk=pk, kind=COST, experiment=study)


def _release(study: Experiment, number: int | None) -> Release | None:
    return study.releases.filter(number=number).first() if number else None
