"""Deleting a study, or the answers of everybody who took it: an owner's decision, asked for twice."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from analysis.errors import BadInput
from experiments.models import Experiment, Membership
from experiments.pages.access import get_study, role_in
from experiments.team import OnlyOwners
from judgments.ending import delete_study, erase_all_later, is_untaken
from judgments.models import Participant


class SureForm(forms.Form):
    """The study's short name, typed."""

    name = forms.CharField(max_length=100)

    def __init__(self, *args, study: Experiment, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.slug = study.slug
        self.fields["name"].label = f"Type {study.slug} to go on"
        self.fields["name"].widget.attrs["autocomplete"] = "off"

    def clean_name(self) -> str:
        """Exactly the short name."""
        if self.cleaned_data["name"].strip() != self.slug:
            raise forms.ValidationError(f"That is not {self.slug}. Nothing was deleted.")
        return self.slug


@login_required
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete a study that nobody took; of another that is closed, the answers of everybody."""
    study = get_study(request.user, slug, editing=True)
    if role_in(request.user, study) != Membership.Role.OWNER:
        raise OnlyOwners("Only an owner deletes a study.")
    untaken = is_untaken(study)
    may_go = not study.is_taking_participants if untaken else study.status == Experiment.Status.CLOSED
    form = SureForm(request.POST or None, study=study)
    if request.method == "POST" and may_go and form.is_valid():
        return _gone(request, study) if untaken else _erased(request, study)
    n_people = Participant.objects.filter(experiment=study, erased_at__isnull=True).count()
    context = {"study": study, "page": "overview", "form": form, "is_untaken": untaken, "may_go": may_go}
    return render(request, "judgments/delete_study.html", context | {"n_people": n_people})


def _gone(request: HttpRequest, study: Experiment) -> HttpResponse:
    try:
        delete_study(study, by=request.user)
    except BadInput as error:  # somebody was first
        messages.error(request, str(error))
        return redirect("study-delete", study.slug)
    messages.success(request, f"{study.title} is deleted.")
    return redirect("home")


def _erased(request: HttpRequest, study: Experiment) -> HttpResponse:
    return redirect("job", erase_all_later(study, user=request.user).pk)
