"""The launch checklist: look, waive for a reason, try with simulated participants, open once all is green."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.lifecycle import NotReady, open_study
from experiments.models import Experiment
from experiments.pages.access import audit, get_study, may_edit
from experiments.readiness import Step, is_green, may_open, steps
from experiments.rehearsals import LONGEST_REASON, ask_again, waive
from judgments.dry_run import dry_run_later

BEFORE = {Experiment.Status.DRAFT, Experiment.Status.PILOT, Experiment.Status.PAUSED}


@login_required
def launch(request: HttpRequest, slug: str) -> HttpResponse:
    """Every line with its reason; opening takes a list that is green, or one reason that waives the rest."""
    study = _collecting(request, slug, editing=request.method == "POST")
    found = steps(study)
    if request.method == "POST" and (is_green(found) or request.POST.get("reason", "").strip()):
        return _open(request, study, found)
    context = {
        "study": study,
        "page": "launch",
        "steps": found,
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
        "may_open": may_open(found) and study.status in BEFORE,
        "undone": [step for step in found if not step.is_green],
        "asks_again": request.method == "POST",
        "is_green": is_green(found),
        "version": study.current_version(),
        "longest_reason": LONGEST_REASON,
    }
    return render(request, "judgments/launch.html", context)


def _collecting(request: HttpRequest, slug: str, *, editing: bool) -> Experiment:
    study = get_study(request.user, slug, editing=editing)
    if study.origin != Experiment.Origin.COLLECTED:
        raise Http404("nobody takes an imported study")
    return study


def _open(request: HttpRequest, study: Experiment, found: list[Step]) -> HttpResponse:
    undone = [step for step in found if not step.is_green and not step.is_blocking]
    try:
        with transaction.atomic():
            was_open = study.status == Experiment.Status.OPEN
            if undone and not was_open:
                for step in undone:
                    waive(study, step.key, reason=request.POST["reason"], user=request.user)
                audit(request.user, study, "opened with checks undone", checks=[one.label for one in undone])
            open_study(study, request.user)
    except NotReady as missing:
        for problem in missing.problems:
            messages.error(request, problem)
        return redirect("study-launch", study.slug)
    except BadInput as error:
        messages.error(request, str(error))
        return redirect("study-launch", study.slug)
    messages.success(request, "The study is now open.")
    return redirect("study", study.slug)


@login_required
@require_POST
def do_without(request: HttpRequest, slug: str) -> HttpResponse:
    """Waive one advisory line, for a reason that stays in the trail; or ask for it again."""
    study = _collecting(request, slug, editing=True)
    key = request.POST.get("check", "")
    if key not in {step.key for step in steps(study) if not step.is_blocking}:
        raise Http404("no such check")
    try:
        if "again" in request.POST:
            ask_again(study, key, user=request.user)
        else:
            waive(study, key, reason=request.POST.get("reason", ""), user=request.user)
    except BadInput as error:
        messages.error(request, str(error))
    return redirect("study-launch", slug)


@login_required
@require_POST
def dry_run(request: HttpRequest, slug: str) -> HttpResponse:
    """Let a worker send simulated participants through the study."""
    study = _collecting(request, slug, editing=True)
    return redirect("job", dry_run_later(study, user=request.user).pk)
