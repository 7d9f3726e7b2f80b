"""The judgments of a study as they arrive, with filters and downloads."""

from urllib.parse import urlencode

from django import forms
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from experiments.models import Experiment, TrialKind
from experiments.pages.access import get_study
from experiments.pages.paging import page_of
from judgments.models import Judgment
from judgments.observed import as_rows, judgments_of
from judgments.tasks.registry import shown_task
from judgments.told import told_rows

PER_PAGE = 100


class FilterForm(forms.Form):
    """Narrow the judgments."""

    kind = forms.ChoiceField(choices=[("", "all kinds"), *TrialKind.choices], required=False)
    participant = forms.CharField(max_length=100, required=False)


@login_required
def judgments(request: HttpRequest, slug: str) -> HttpResponse:
    """Newest first."""
    study = get_study(request.user, slug)
    form = FilterForm(request.GET)
    chosen = {name: value for name, value in form.cleaned_data.items() if value} if form.is_valid() else {}
    page = page_of(request, narrowed(study, chosen), most=PER_PAGE)
    context = {
        "study": study,
        "page": "judgments",
        "form": form,
        "page_of_judgments": page,
        "rows": told_rows(study, list(page), as_rows(study, page)),
        "shows": shown_task(study.task).shows,
        "keep": urlencode(chosen),
        "is_narrowed": bool(chosen),
    }
    return render(request, "judgments/judgments.html", context)


def narrowed(study: Experiment, chosen: dict[str, str]) -> QuerySet[Judgment]:
    """The judgments asked for."""
    rows = judgments_of(study).order_by("-pk")
    if kind := chosen.get("kind"):
        rows = rows.filter(trial__kind=kind)
    if participant := chosen.get("participant"):
        rows = rows.filter(trial__session__participant__pseudonym=participant)
    return rows
