"""Models scored here: choose them, see the cost, start, watch, try failed shards again."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from analysis.releases.model_places import INSTALL, has_models_extra
from analysis.releases.models import Release, ScoreShard, ScoringRun
from analysis.releases.run_progress import progress_of
from analysis.releases.scoring import has_stopped, request_model_runs, retry_run
from analysis.releases.scoring_cost import COST, request_cost
from analysis.releases.scoring_forms import ModelRunsForm
from analysis.releases.shards import mine
from analysis.releases.views.leaderboard import newest_release
from analysis.releases.views.models import runs_of
from analysis.releases.views.pages import explained, explained_on_top, page, study_page
from experiments.models import Experiment, Job
from experiments.pages.access import may_edit

SHOWN_SPEC = {
    "bos": "begins with a mark (bos)",
    "eos": "the end is scored (eos)",
    "tokens": "tokens",
    "casing": "casing",
    "punctuation": "punctuation",
    "dtype": "precision (dtype)",
    "device": "device",
    "scorer_version": "scorer's version",
    "spec_id": "id of these choices",
}


@study_page
def choose(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Which sentences, which models, which measures; then the estimate of a worker."""
    if not may_edit(request.user, study):
        raise PermissionDenied("Viewers of a study score no models.")
    form = ModelRunsForm(request.POST or None, experiment=study)
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
                explained(request, form, error)
            else:
                return redirect("study-scoring-cost", study.slug, job.pk)
    lacks = "" if has_models_extra() else INSTALL
    return page(request, study, "models", template="choose_models", status=status, form=form, install=lacks)


@study_page
def cost(request: HttpRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """The estimate, and a button that starts what it tells of."""
    job = _estimate(study, pk)
    queue = job.arguments["device"]
    return page(request, study, "models", template="scoring_cost", job=job, cost=job.result, device=queue)


@study_page
@require_POST
def begin(request: HttpRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """Start the runs that an estimate told of; pressed twice, they are started once."""
    job = _estimate(study, pk)
    asked = job.arguments
    try:
        runs = request_model_runs(
            study,
            {row["uri"]: row["measures"] for row in job.result.get("models", [])},
            release=_release(study, asked["release"]),
            device=asked["device"],
            asked_by=f"estimate {job.pk}",
            user=request.user,
        )
    except BadInput as error:
        explained_on_top(request, error)
        return redirect("study-scoring-cost", study.slug, pk)
    if len(runs) == 1:
        return redirect("study-scoring-run", study.slug, runs[0].pk)
    messages.success(request, f"{len(runs)} runs have started.")
    return redirect("study-models", study.slug)


@study_page
def run(request: HttpRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """One run: progress with the time left, failed shards with their reasons, and where to go next."""
    found = get_object_or_404(runs_of(study).select_related("scorer"), pk=pk)
    release = newest_release(study)
    return page(
        request,
        study,
        "models",
        template="scoring_run",
        board_release=release,
        shown_spec={} if found.model.startswith("csv:") else SHOWN_SPEC,
        compared=found.comparisons.exclude(report={}).first(),
        **_seen(found),
    )


@study_page
def part(request: HttpRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """What of the run's page renews itself."""
    found = get_object_or_404(runs_of(study).select_related("scorer"), pk=pk)
    return render(request, "releases/_scoring_run.html", {"study": study, **_seen(found)})


@study_page
@require_POST
def retry(request: HttpRequest, study: Experiment, *, pk: int) -> HttpResponseBase:
    """Try failed shards again."""
    found = get_object_or_404(runs_of(study), pk=pk)
    retry_run(found, experiment=study, user=request.user)
    return redirect("study-scoring-run", study.slug, pk)


def _seen(run: ScoringRun) -> dict[str, Any]:
    failed = mine(run).filter(state=ScoreShard.State.FAILED).order_by().values("error")
    progress = progress_of(run)
    return {
        "run": run,
        "progress": progress,
        "left": words_of_time(progress.seconds_left),
        "failed": failed.annotate(shards=Count("pk"), sentences=Sum("n_sentences")).order_by("-shards"),
        "can_retry": has_stopped(run) or progress.shards_failed > 0,
        "is_over": run.state in (ScoringRun.State.DONE, ScoringRun.State.FAILED),
    }


def words_of_time(seconds: int | None) -> str:
    """Seconds as a person says them: rounded up, never falsely exact."""
    if seconds is None:
        return ""
    if seconds < 60:
        return "less than a minute"
    minutes = -(-seconds // 60)
    if minutes < 90:
        return f"{minutes} minute{'s' if minutes > 1 else ''}"
    return f"{minutes / 60:.1f} hours"


def _estimate(study: Experiment, pk: int) -> Job:
    return get_object_or_404(Job, pk=pk, kind=COST, experiment=study)


def _release(study: Experiment, number: int | None) -> Release | None:
    return study.releases.filter(number=number).first() if number else None
