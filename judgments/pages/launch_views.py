"""Launch of a study: checklist, waivers, dry run with simulated participants, opening."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.models import Experiment
from experiments.pages.access import AuthenticatedRequest, get_study, may_edit
from experiments.studies.lifecycle import NotReady
from experiments.studies.readiness import is_green, may_open, open_checked, steps
from experiments.studies.rehearsals import LONGEST_REASON, ask_again, waive
from judgments.simulation.dry_run import MAX_CHOSEN, dry_run_later

OPENABLE = {Experiment.Status.DRAFT, Experiment.Status.PILOT, Experiment.Status.PAUSED}


@login_required
def launch(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The checklist; a study opens when all checks pass or a reason waives the remaining ones.

    Checks with a reason of their own are waived one by one before.
    """
    study = _collecting(request, slug, editing=request.method == "POST")
    checks = steps(study)
    one_by_one = [step for step in checks if step.has_own_reason and not step.is_green]
    is_waived = not one_by_one and request.POST.get("reason", "").strip()
    if request.method == "POST" and (is_green(checks) or is_waived):
        return _open(request, study)
    context = {
        "study": study,
        "page": "launch",
        "steps": checks,
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
        "may_open": may_open(checks) and study.status in OPENABLE,
        "pending": [step for step in checks if not step.is_green],
        "one_by_one": one_by_one,
        "asks_for_reason": request.method == "POST",
        "is_green": is_green(checks),
        "n_waived": sum(bool(step.waived) and not step.is_done for step in checks),
        "version": study.current_version(),
        "longest_reason": LONGEST_REASON,
        "max_simulated": MAX_CHOSEN,
    }
    return render(request, "judgments/launch.html", context)


def _collecting(request: AuthenticatedRequest, slug: str, *, editing: bool) -> Experiment:
    study = get_study(request.user, slug, editing=editing)
    if study.origin != Experiment.Origin.COLLECTED:
        raise Http404("an imported study has no launch checklist")
    return study


def _open(request: AuthenticatedRequest, study: Experiment) -> HttpResponse:
    try:
        open_checked(study, reason=request.POST.get("reason", ""), user=request.user)
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
def waive_check(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Waive an advisory check for a reason that is kept in the history, or withdraw the waiver."""
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
def dry_run(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Queue a run of simulated participants through the study."""
    study = _collecting(request, slug, editing=True)
    number = request.POST.get("participants", "").strip()
    try:
        if number and not number.isdecimal():
            raise BadInput(f"{number!r} is not a number of participants.", remedy="Write digits, as in 20.")
        job = dry_run_later(study, user=request.user, n_participants=int(number) if number else None)
    except BadInput as error:
        messages.error(request, str(error))
        return redirect("study-launch", slug)
    return redirect("job", job.pk)
