"""Pages on the data of a study: archive, deletion and privacy."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.models import Experiment, Membership
from experiments.pages.access import AuthenticatedRequest, get_study, role_in
from experiments.teams.members import OnlyOwners
from judgments.deletion import delete_study, erase_all_later, is_untaken
from judgments.models import Participant
from judgments.privacy.assessment import assessment_document, record_document
from judgments.privacy.purge import move_purge_date
from judgments.privacy.record import processing_record
from judgments.study_archive import archive, cautions, obstacles, unarchive


class ConfirmForm(forms.Form):
    """The study's short name, typed as confirmation."""

    name = forms.CharField(max_length=100)

    def __init__(self, *args: Any, study: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.slug = study.slug
        self.fields["name"].label = f"Type {study.slug} to confirm"
        self.fields["name"].widget.attrs["autocomplete"] = "off"

    def clean_name(self) -> str:
        """Accept exactly the short name."""
        if self.cleaned_data["name"].strip() != self.slug:
            raise forms.ValidationError(f"That is not {self.slug}. Nothing was deleted.")
        return self.slug


@login_required
def delete(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Delete a study without participants; in a closed study with participants, delete all answers."""
    study = get_study(request.user, slug, editing=True)
    if role_in(request.user, study) != Membership.Role.OWNER:
        raise OnlyOwners("Only owners can delete a study.")
    untaken = is_untaken(study)
    may_delete = not study.is_taking_participants if untaken else study.status == Experiment.Status.CLOSED
    form = ConfirmForm(request.POST or None, study=study)
    if request.method == "POST" and may_delete and form.is_valid():
        return _delete_study(request, study) if untaken else _erase_answers(request, study)
    n_participants = Participant.objects.filter(experiment=study, erased_at__isnull=True).count()
    context = {
        "study": study,
        "page": "overview",
        "form": form,
        "is_untaken": untaken,
        "may_delete": may_delete,
        "n_participants": n_participants,
    }
    return render(request, "judgments/delete_study.html", context)


def _delete_study(request: AuthenticatedRequest, study: Experiment) -> HttpResponse:
    try:
        delete_study(study, by=request.user)
    except BadInput as error:  # Race: the study was opened or taken since the page was shown
        messages.error(request, str(error))
        return redirect("study-delete", study.slug)
    messages.success(request, f"{study.title} is deleted.")
    return redirect("home")


def _erase_answers(request: AuthenticatedRequest, study: Experiment) -> HttpResponse:
    return redirect("job", erase_all_later(study, user=request.user).pk)


@login_required
def archive_study(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Ask, then archive the study."""
    study = get_study(request.user, slug, editing=True)
    if request.method == "POST":
        try:
            archive(study, by=request.user, is_confirmed="sure" in request.POST)
        except BadInput as error:  # Race: it was opened or taken since the page was shown
            messages.error(request, str(capfirst(str(error))))
            return redirect("study-archive", slug)
        messages.success(request, f"{study.title} is in the archive. Its overview takes it back.")
        return redirect("home")
    context = {
        "study": study,
        "page": "overview",
        "obstacles": list(obstacles(study)),
        "cautions": list(cautions(study)),
    }
    return render(request, "judgments/archive_study.html", context)


@login_required
@require_POST
def unarchive_study(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Take the study back from the archive."""
    study = unarchive(get_study(request.user, slug, editing=True), by=request.user)
    messages.success(request, f"The study is in the list again; it is {study.get_status_display()}.")
    return redirect("study", slug)


class PurgeDateForm(forms.Form):
    """The day on which the platform ids of a study are deleted."""

    day = forms.DateField(
        label="Delete platform ids on", widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )


@login_required
def record(request: AuthenticatedRequest) -> HttpResponse:
    """The record of processing activities of this installation."""
    return render(
        request, "judgments/processing_record.html", {"section": "account", "headings": processing_record()}
    )


@login_required
def record_file(request: AuthenticatedRequest) -> HttpResponse:
    """The record with the storage periods as a Markdown file."""
    return _markdown(record_document(), "record-of-processing.md")


@login_required
def assessment_file(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """A data-protection impact assessment of the study, filled from its settings, as a Markdown file."""
    study = get_study(request.user, slug)
    return _markdown(assessment_document(study), f"{study.slug}-data-protection.md")


def _markdown(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@login_required
@require_POST
def change_purge_date(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Choose another day for the deletion of a closed study's platform ids."""
    study = get_study(request.user, slug, editing=True)
    form = PurgeDateForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Give the day as year-month-day, for example 2027-03-31.")
        return redirect("study-participants", slug)
    try:
        move_purge_date(study, form.cleaned_data["day"], by=request.user)
    except BadInput as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Platform ids are deleted on {form.cleaned_data['day']:%Y-%m-%d}.")
    return redirect("study-participants", slug)
