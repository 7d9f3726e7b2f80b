"""The page that makes a validation study of a set of pairs: what it takes, its power and cost, one button."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst

from analysis.errors import BadInput
from analysis.power.report import Price
from experiments.generation.pages.pair_sets import get_pair_set
from experiments.generation.stored.validation import (
    JUDGMENTS,
    MOST_JUDGMENTS,
    NEEDED,
    PAIRS,
    PER_SESSION,
    TASK,
    ValidationPlan,
    build_plan,
    create_validation,
)
from experiments.models import Lab, PairSet
from experiments.pages.access import AuthenticatedRequest
from experiments.pages.editing.text_templates import text_templates
from experiments.pages.forms import PriceForm
from experiments.studies.languages import interface_language


class ValidationForm(PriceForm):
    """Participants for each pair, and the cost of each."""

    field_order = ("title", "judgments", "reward", "currency", "fee")

    title = forms.CharField(
        max_length=200, help_text="For you and your team; participants see a neutral title."
    )
    judgments = forms.IntegerField(
        label="People for each pair",
        min_value=2,
        max_value=MOST_JUDGMENTS,
        initial=JUDGMENTS,
        help_text="BLiMP: 20.",
    )
    reward = forms.CharField(
        required=False,
        max_length=12,
        label="Reward per person",
        help_text="For five pairs, for example 0.50.",
    )
    currency = forms.CharField(max_length=3, min_length=3, initial="GBP")


def instructions_in(language: str) -> str:
    """Return the built-in instructions of forced choice in the language of a study, or in English."""
    fitting = [
        template
        for template in text_templates()
        if TASK in template.tasks and "instructions" in template.texts
    ]
    for tag in (interface_language(language), "en"):
        for template in fitting:
            if template.language == tag:
                return template.texts["instructions"]
    return ""


@login_required
def validation(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Requirements of a validation; POST with ``create`` makes the draft, without it computes again."""
    row = get_pair_set(request.user, pk, editing=request.method == "POST")
    initial = {"title": f"Validation of {row.name}"[:200], "judgments": JUDGMENTS, "currency": "GBP"}
    form = ValidationForm(request.POST if request.method == "POST" else initial)
    context: dict[str, Any] = {
        "section": "materials",
        "set": row,
        "form": form,
        "pairs": PAIRS,
        "needed": NEEDED,
        "per_session": PER_SESSION,
    }
    if form.is_valid():
        try:
            plan = _plan(row, form)
            if request.method == "POST" and "create" in request.POST:
                return _create_study(request, row, form, plan)
            context["plan"] = plan
        except BadInput as error:
            form.add_error(None, capfirst(str(error)))
    status = 422 if form.errors and request.method == "POST" else 200
    return render(request, "experiments/pair_set_validation.html", context, status=status)


def _plan(row: PairSet, form: ValidationForm) -> ValidationPlan:
    data = form.cleaned_data
    return build_plan(
        row,
        judgments=data["judgments"],
        price=Price(data["reward_minor"], (data["fee"] or 0) / 100),
        currency=data["currency"],
        instructions=instructions_in(row.language),
    )


def _create_study(
    request: AuthenticatedRequest, row: PairSet, form: ValidationForm, plan: ValidationPlan
) -> HttpResponse:
    lab = row.lab
    if lab is not None and not Lab.objects.open_to_studies_by(request.user).filter(pk=lab.pk).exists():
        lab = None
    study = create_validation(
        row,
        request.user,
        title=form.cleaned_data["title"],
        plan=plan,
        instructions=instructions_in(row.language),
        lab=lab,
    )
    messages.success(
        request, "This is the draft. Add consent and questions, look at the design, then try it out."
    )
    return redirect("study-settings", study.slug)
