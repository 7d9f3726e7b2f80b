"""The screens that a task puts before its trials: an exercise with lines, and a number of one's own."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from judgments.models import Session
from judgments.screens.session_views import in_session, screen
from judgments.screens.warm_up_forms import LinesForm, ModulusForm
from judgments.sessions.advance import Step, next_step
from judgments.sessions.warm_up import skip_training, take_modulus, take_training


@in_session
def training(request: HttpRequest, session: Session) -> HttpResponse:
    """Take one attempt at the lines, or go on without them."""
    if request.method == "POST" and next_step(session).screen == "training":
        if request.POST.get("skip"):
            skip_training(session)
            return redirect("session", token=session.token)
        form = LinesForm(session, request.POST)
        if not form.is_valid():
            return screen(request, session, Step("training"), form=form, status=422)
        take_training(session, form.typed(), form.estimates(), attempt=request.POST.get("attempt", ""))
    return redirect("session", token=session.token)


@in_session
def modulus(request: HttpRequest, session: Session) -> HttpResponse:
    """Keep the number of one's own."""
    if request.method == "POST" and next_step(session).screen == "modulus":
        form = ModulusForm(session, request.POST)
        if not form.is_valid():
            return screen(request, session, Step("modulus"), form=form, status=422)
        take_modulus(session, *form.cleaned_data["number"])
    return redirect("session", token=session.token)
