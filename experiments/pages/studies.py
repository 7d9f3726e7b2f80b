"""A new study: from nothing, or as a copy.

Pilot, open, pause, close: one button each.
"""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.models import Experiment, MaterialSet
from experiments.pages.access import AuthenticatedRequest, get_study
from experiments.pages.forms import NewStudyForm, set_remark
from experiments.studies.creation import copy_study, create_study
from experiments.studies.lifecycle import NotReady, close, open_study, pause, start_pilot
from experiments.studies.study_list import LONGEST_FOLDER, folder_name, move_to_folder


@login_required
def create(request: AuthenticatedRequest) -> HttpResponse:
    """A new study: four questions, then its settings."""
    form = NewStudyForm(request.POST or None, user=request.user, initial=_of_materials(request))
    if request.method == "POST" and form.is_valid():
        study = create_study(request.user, **form.cleaned_data)
        return redirect("study-settings", study.slug)
    return render(request, "experiments/study_create.html", {"section": "studies", "form": form})


def _of_materials(request: AuthenticatedRequest) -> dict[str, Any]:
    """The set and the lab named in the address, as choices to begin with, and the set's language."""
    slug = request.GET.get("materials", "")
    materials = MaterialSet.objects.visible_to(request.user).filter(slug=slug).first() if slug else None
    lab = {"lab": request.GET["lab"]} if "lab" in request.GET else {}
    return lab | ({"materials": materials, "language": materials.language} if materials else {})


@login_required
@require_POST
def copy(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Copy the study into a draft, for every member who may read it."""
    with_materials = request.POST.get("materials") != "no"
    study = copy_study(get_study(request.user, slug), request.user, with_materials=with_materials)
    messages.success(
        request,
        "This is the copy. It has no participants, no codes and its own address; everything can be changed.",
    )
    return redirect("study-settings", study.slug)


class FolderForm(forms.Form):
    """The folder of a study on the start page."""

    folder = forms.CharField(max_length=LONGEST_FOLDER, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_remark(self.fields["folder"], "empty: in none")
        self.fields["folder"].widget.attrs |= {"list": "folders", "autocomplete": "off"}

    def clean_folder(self) -> str:
        """The name as it is stored."""
        try:
            return folder_name(self.cleaned_data["folder"])
        except BadInput as error:
            raise forms.ValidationError(f"{error.message} {error.remedy}") from None


@login_required
@require_POST
def folder(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Move the study into a folder, or out of its folder."""
    study = get_study(request.user, slug, editing=True)
    form = FolderForm(request.POST)
    if not form.is_valid():
        messages.error(request, str(form.errors["folder"][0]))
    elif move_to_folder(study, form.cleaned_data["folder"], by=request.user):
        place = f"the folder {study.folder}" if study.folder else "no folder"
        messages.success(request, f"The study is in {place} now.")
    return redirect("study", slug)


STEPS = {"pilot": start_pilot, "open": open_study, "pause": pause, "close": close}
SAID = {"pilot": "The pilot has begun. Its sessions are kept apart and never counted."}


@login_required
@require_POST
def move(request: AuthenticatedRequest, slug: str, step: str) -> HttpResponse:
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
    has_no_steps = study.origin == Experiment.Origin.IMPORTED or study.archived_at is not None
    return [] if has_no_steps else words.get(study.status, [])
