"""A new study: from nothing, or as a copy."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from experiments.pages.access import get_study
from experiments.pages.forms import NewStudyForm
from experiments.studies import copy_study, create_study


@login_required
def create(request: HttpRequest) -> HttpResponse:
    """A new study: four questions, then its settings."""
    form = NewStudyForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        study = create_study(request.user, **form.cleaned_data)
        return redirect("study-settings", study.slug)
    return render(request, "experiments/study_create.html", {"section": "studies", "form": form})


@login_required
@require_POST
def copy(request: HttpRequest, slug: str) -> HttpResponse:
    """Another draft of the same kind, for whoever may read this study."""
    study = copy_study(get_study(request.user, slug), request.user)
    messages.success(
        request,
        "This is the copy. It has no people, no codes and its own address; everything can be changed.",
    )
    return redirect("study-settings", study.slug)
