"""Deletion of a study, or of all answers in it; for owners, after confirmation."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render

from analysis.errors import BadInput
from experiments.models import Experiment, Membership
from experiments.pages.access import AuthenticatedRequest, get_study, role_in
from experiments.teams.members import OnlyOwners
from judgments.deletion import delete_study, erase_all_later, is_untaken
from judgments.models import Participant


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
