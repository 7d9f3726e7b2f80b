"""Views of the screens before the trials: line training and the participant's own modulus."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from judgments.models import Session
from judgments.screens.forms import LinesForm, ModulusForm
from judgments.screens.session_views import in_session, render_step
from judgments.sessions.navigation import Step, next_step
from judgments.sessions.pretrial import record_modulus, record_training, skip_training


@in_session
def training(request: HttpRequest, session: Session) -> HttpResponse:
    """Store one attempt at the line training, or skip it."""
    if request.method == "POST" and next_step(session).screen == "training":
        if request.POST.get("skip"):
            skip_training(session)
            return redirect("session", token=session.token)
        form = LinesForm(session, request.POST)
        if not form.is_valid():
            return render_step(request, session, Step("training"), form=form, status=422)
        record_training(session, form.typed(), form.estimates(), attempt=request.POST.get("attempt", ""))
    return redirect("session", token=session.token)


@in_session
def modulus(request: HttpRequest, session: Session) -> HttpResponse:
    """Store the participant's modulus."""
    if request.method == "POST" and next_step(session).screen == "modulus":
        form = ModulusForm(session, request.POST)
        if not form.is_valid():
            return render_step(request, session, Step("modulus"), form=form, status=422)
        record_modulus(session, *form.cleaned_data["number"])
    return redirect("session", token=session.token)
