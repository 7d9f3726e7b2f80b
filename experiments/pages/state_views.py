"""Pilot, open, pause, close: one button each."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.lifecycle import NotReady, close, open_study, pause, start_pilot
from experiments.models import Experiment
from experiments.pages.access import get_study

STEPS = {"pilot": start_pilot, "open": open_study, "pause": pause, "close": close}
SAID = {"pilot": "The pilot has begun. Its sessions are kept apart and never counted."}


@login_required
@require_POST
def move(request: HttpRequest, slug: str, step: str) -> HttpResponse:
    """Take one step of the study's life, or say what is missing."""
    study = get_study(request.user, slug, editing=True)
    if step not in STEPS:
        raise Http404
    if step == "close" and "sure" not in request.POST:
        return render(request, "experiments/close.html", {"study": study, "page": "overview"})
    try:
        STEPS[step](study, request.user)
    except NotReady as missing:
        for problem in missing.problems:
            messages.error(request, problem)
    except BadInput as error:
        messages.error(request, str(error))
    else:
        messages.success(request, SAID.get(step) or f"The study is now {study.get_status_display()}.")
    return redirect("study", slug)


def buttons(study: Experiment) -> list[tuple[str, str, str]]:
    """Steps that may come next: name, words, importance."""
    words = {
        "draft": [("pilot", "Start a pilot", ""), ("open", "Open", "primary")],
        "pilot": [("pause", "Pause", ""), ("close", "Close", "danger"), ("open", "Open", "primary")],
        "open": [("pause", "Pause", ""), ("close", "Close", "danger")],
        "paused": [("close", "Close", "danger"), ("open", "Open again", "primary")],
    }
    if study.status == Experiment.Status.PAUSED and study.opened_at is None:  # a pilot's pause
        words["paused"][-1] = ("open", "Open", "primary")
    return [] if study.origin == Experiment.Origin.IMPORTED else words.get(study.status, [])
