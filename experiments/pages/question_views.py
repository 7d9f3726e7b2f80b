"""Questions about the person, built one by one."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from analysis.errors import BadInput
from experiments.models import Experiment
from experiments.pages.access import audit, get_study, may_edit
from experiments.pages.question_forms import MOST, QuestionForm, forms_of, numbered, sent_forms, typed
from experiments.pages.settings_views import next_version
from experiments.questions import checked_questions

BLANK = {"type": "text"}


@login_required
def questions(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the questions; add, move and take away on the page, store only by *Save*."""
    study = get_study(request.user, slug, editing=request.method == "POST")
    if request.method != "POST":
        return _page(request, study, forms_of(study.questionnaire) or numbered([BLANK]))
    found = sent_forms(request.POST)
    step, _, place = request.POST.get("do", "save").partition("-")
    if step != "save":
        return _page(request, study, _rearranged(found, step, place), is_unsaved=True)
    if all(one.is_valid() for one in found):
        try:
            store(request.user, study, [one.row() for one in found if not one.is_blank])
        except BadInput as error:
            messages.error(request, f"Nothing is saved yet: {error}")
        else:
            messages.success(request, "Saved.")
            return redirect("study-questions", slug)
    else:
        messages.error(request, "Nothing is saved yet: something below needs another look.")
    return _page(request, study, found, is_unsaved=True)


def _rearranged(found: list[QuestionForm], step: str, place: str) -> list[QuestionForm]:
    """The same questions with one more, one less, or in another order; nothing that is not there moves."""
    rows = [typed(one) for one in found]
    at = int(place) if place.isascii() and place.isdigit() else len(rows)
    if step == "add" and len(rows) < MOST:
        rows.append(dict(BLANK))
    elif step == "remove" and at < len(rows):
        del rows[at]
    elif step == "up" and 0 < at < len(rows):
        rows[at - 1], rows[at] = rows[at], rows[at - 1]
    elif step == "down" and at + 1 < len(rows):
        rows[at + 1], rows[at] = rows[at], rows[at + 1]
    return numbered(rows)


@transaction.atomic
def store(user: Any, study: Experiment, rows: list[dict[str, Any]]) -> None:
    """Save the questions and note it; the same again changes nothing."""
    asked = checked_questions(rows)
    if asked == study.questionnaire:
        return
    study.questionnaire = asked
    study.save(update_fields=["questionnaire", "updated_at"])
    audit(user, study, "settings changed", fields="questionnaire")


def _page(
    request: HttpRequest, study: Experiment, found: list[QuestionForm], *, is_unsaved: bool = False
) -> HttpResponse:
    context = {
        "study": study,
        "page": "settings",
        "questions": found,
        "is_unsaved": is_unsaved,
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
        "next_version": next_version(study),
    }
    return render(request, "experiments/questions.html", context)
