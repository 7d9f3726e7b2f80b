"""Pages on personal data: the record of processing activities, and when platform ids are deleted."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.pages.access import AuthenticatedRequest, get_study
from judgments.privacy.purge import move_purge_date
from judgments.privacy.record import processing_record


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
