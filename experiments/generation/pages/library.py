"""The library of paradigms: those of the platform by phenomenon, and own and shared ones."""

import secrets
from itertools import groupby
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments import limits
from experiments.generation.paradigms import lint, read_source
from experiments.generation.stored.library import (
    CHECK_SECONDS,
    CHECKED_PAIRS,
    MAX_SEED,
    built_in,
    built_in_paradigm,
    check,
    delete_paradigm,
    languages_with_paradigms,
    may_change,
    owns,
    share,
)
from experiments.generation.stored.word_lists import lexicon_for
from experiments.models import Experiment, Lab, OwnParadigm
from experiments.models.generation import Shared
from experiments.pages.access import AuthenticatedRequest
from experiments.pages.forms import ask, is_sure
from experiments.studies.languages import language_name


def read_seed(request: HttpRequest) -> int:
    """Return the seed of the examples in the address; 0 without one."""
    text = request.GET.get("seed", "") or request.POST.get("examples_seed", "")
    return min(int(text), MAX_SEED) if text.isascii() and text.isdecimal() else 0


def count_check(user: User) -> None:
    """Count a check of a user; raises :class:`BadInput` where there are too many in this minute."""
    try:
        limits.count("paradigm-check", str(user.pk), limit=settings.PARADIGM_CHECKS_PER_MINUTE)
    except limits.LimitReached as error:
        raise BadInput(
            f"more than {settings.PARADIGM_CHECKS_PER_MINUTE} checks in a minute.",
            remedy=f"Wait {error.retry_after_s} s.",
        ) from None


def another_seed() -> int:
    """Return a seed for other examples."""
    return secrets.randbelow(1_000_000) + 1


@login_required
def paradigms(request: AuthenticatedRequest) -> HttpResponse:
    """List the paradigms of the platform by phenomenon, and those that the user has or shares."""
    options = languages_with_paradigms()
    language = request.GET.get("language", "en")
    language = language if language in options else "en"
    rows = built_in(language)
    own_paradigms = OwnParadigm.objects.visible_to(request.user).select_related("owner", "lab", "study")
    context = {
        "section": "materials",
        "language": language,
        "languages": [(tag, language_name(tag)) for tag in options],
        "n_built_in": len(rows),
        "figures_lexicon": ", ".join(sorted({row.figures["lexicon"] for row in rows if row.figures})),
        "groups": [
            (phenomenon.replace("_", " "), list(group))
            for phenomenon, group in groupby(rows, lambda row: row.paradigm.phenomenon)
        ],
        "own": [(row, row.newest) for row in own_paradigms],
        "all_of_language": urlencode([("paradigm", row.address) for row in rows]),
    }
    return render(request, "experiments/paradigms.html", context)


@login_required
def built_in_page(request: AuthenticatedRequest, language: str, uid: str) -> HttpResponse:
    """One paradigm of the platform: definition, figures, examples of a seed, its file."""
    row = built_in_paradigm(language, uid)
    if row is None:
        raise Http404("no such paradigm")
    seed = read_seed(request)
    context: dict[str, Any] = {
        "section": "materials",
        "row": row,
        "paradigm": row.paradigm,
        "seed": seed,
        "another_seed": another_seed(),
        "text": read_source(uid, language=language).decode(),
    }
    try:
        count_check(request.user)
        context["report"] = lint(uid, language=language, n=CHECKED_PAIRS, seed=seed, seconds=CHECK_SECONDS)
    except BadInput as error:
        context["refused"] = str(error)
    return render(request, "experiments/paradigm.html", context)


def get_paradigm(user: User, pk: int, *, editing: bool = False) -> OwnParadigm:
    """Return an own paradigm: 404 for strangers, 403 for viewers who would edit."""
    rows = OwnParadigm.objects.visible_to(user).select_related("owner", "lab", "study")
    row = get_object_or_404(rows, pk=pk)
    if editing and not may_change(user, row):
        raise PermissionDenied("Viewers do not change a paradigm.")
    return row


@login_required
def own_page(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """One own paradigm: what the linter finds, examples of a seed, its text and versions."""
    row = get_paradigm(request.user, pk)
    newest, seed = row.newest, read_seed(request)
    context: dict[str, Any] = {
        "section": "materials",
        "paradigm": row,
        "version": newest,
        "versions": row.versions.select_related("saved_by").defer("text"),
        "text": newest.text,
        "seed": seed,
        "another_seed": another_seed(),
        "may_edit": may_change(request.user, row),
        "owns": owns(request.user, row),
        "share_form": ShareForm(user=request.user, row=row),
    }
    try:
        count_check(request.user)
        context["report"] = check(newest.text, lexicon=lexicon_for(row, row.language), seed=seed)
    except BadInput as error:
        context["refused"] = str(error)
    return render(request, "experiments/paradigm_own.html", context)


@login_required
def version(request: AuthenticatedRequest, pk: int, number: int) -> HttpResponse:
    """The text of an earlier version, to read or to go on from."""
    row = get_paradigm(request.user, pk)
    context = {
        "section": "materials",
        "paradigm": row,
        "version": get_object_or_404(row.versions.select_related("saved_by"), number=number),
        "newest": row.newest,
        "may_edit": may_change(request.user, row),
    }
    return render(request, "experiments/paradigm_version.html", context)


class ShareForm(forms.Form):
    """Sharing of a row: private, with a lab, or with the team of a study."""

    share_with = forms.ChoiceField(label="Shared with", required=False)

    def __init__(self, *args: Any, user: User, row: Shared, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.labs = {f"lab:{lab.slug}": lab for lab in Lab.objects.open_to_studies_by(user)}
        studies = Experiment.objects.editable_by(user).exclude(status=Experiment.Status.CLOSED)
        self.studies = {f"study:{study.slug}": study for study in studies[:200]}
        field = self.fields["share_with"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            ("", "nobody: only you see it"),
            *((key, f"the lab {lab}") for key, lab in self.labs.items()),
            *((key, f"the team of {study}") for key, study in self.studies.items()),
        ]
        if row.lab is not None:
            field.initial = f"lab:{row.lab.slug}"
        elif row.study is not None:
            field.initial = f"study:{row.study.slug}"

    def places(self) -> dict[str, Any]:
        """Return the lab or the study that was chosen."""
        value = self.cleaned_data["share_with"]
        return {"lab": self.labs.get(value), "study": self.studies.get(value)}


def share_row(request: AuthenticatedRequest, row: Shared) -> None:
    """Share a row as the form asks, and say so."""
    form = ShareForm(request.POST, user=request.user, row=row)
    if not form.is_valid():
        messages.error(request, "Not shared: choose a lab or study of yours.")
        return
    share(row, request.user, **form.places())
    messages.success(
        request, f"{row} is shared with {row.shared_with}." if row.shared_with else f"Only you see {row}."
    )


@login_required
@require_POST
def share_paradigm(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Share an own paradigm with a lab or with the team of a study."""
    row = get_paradigm(request.user, pk)
    share_row(request, row)
    return redirect("own-paradigm", pk)


@login_required
@require_POST
def delete(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Delete an own paradigm."""
    row = get_paradigm(request.user, pk)
    if not owns(request.user, row):
        raise PermissionDenied("Only its owner deletes a paradigm.")
    if not is_sure(request):
        return ask(
            request,
            f"Delete {row.uid}?",
            "Its versions are deleted permanently. Sets of pairs that were drawn from it stay.",
            yes="Delete it",
            no="Keep it",
            back=reverse("own-paradigm", args=[row.pk]),
            section="materials",
        )
    delete_paradigm(row, request.user)
    messages.success(request, f"{row.uid} is deleted.")
    return redirect("paradigms")
