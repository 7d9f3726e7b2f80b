"""Questions about the person, built one by one.

One form per question about the person: a questionnaire is built without knowing how lines are written.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from analysis.errors import BadInput
from experiments.models import Experiment
from experiments.pages.access import get_locked_study, get_study, may_edit
from experiments.pages.editing.conflicts import (
    TAKE,
    Conflict,
    Edits,
    attribute_conflicts,
    form_version,
    is_outdated,
    keep_refused,
)
from experiments.pages.forms import rearrange, set_remark
from experiments.pages.settings import next_version
from experiments.pages.settings_steps import step_states
from experiments.studies.history import record_changes
from experiments.studies.questionnaire import checked_questions, lines_from_questions

KINDS = [
    ("text", "a line of text"),
    ("number", "a whole number"),
    ("yes_no", "yes or no"),
    ("choice", "one of these answers"),
    ("multi_choice", "any of these answers"),
]
LISTS = ("choices", "native", "screen_out")
MOST = 60


def _lines(label: str, help_text: str) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text)


class QuestionForm(forms.Form):
    """A question, its kind of answer, and the consequence of an answer."""

    name = forms.CharField(required=False, max_length=60, widget=forms.HiddenInput)
    label = forms.CharField(label="Question", required=False, max_length=500)
    type = forms.ChoiceField(label="Answered by", choices=KINDS)
    choices = _lines("Answers to choose from", "One per line, for one or any of these answers.")
    required = forms.BooleanField(
        label="Has to be answered",
        required=False,
        help_text="Otherwise participants may skip it, or prefer not to say.",
    )
    is_native = forms.BooleanField(
        label="Tells whether the study's language is the person's native one",
        required=False,
        help_text="Excludes participants only through an exclusion plan.",
    )
    native = _lines("Answers that count as native", "One per line, as written above. Empty: yes.")
    screen_out = _lines(
        "Answers that end the session kindly",
        "One per line, as written above; yes or no where it is answered by yes or no. Empty: none.",
    )
    help = forms.CharField(label="Hint under the question", required=False, max_length=500)
    min = forms.IntegerField(label="Smallest number", required=False)
    max = forms.IntegerField(label="Largest number", required=False)
    publish = forms.BooleanField(
        label="Releases may hold the answers",
        required=False,
        help_text="Otherwise they stay with the study's team.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("label", "choices"):
            set_remark(self.fields[name], "")  # an empty question is left out, so none of them is required

    @property
    def first_fields(self) -> list[forms.BoundField]:
        """Fields of every question."""
        return [self[name] for name in ("label", "type", "choices", "required")]

    @property
    def further_fields(self) -> list[forms.BoundField]:
        """Fields of some questions."""
        return [self[name] for name in ("is_native", *LISTS[1:], "help", "min", "max", "publish")]

    @property
    def has_further(self) -> bool:
        """Whether any of the further fields says something, or is wrong."""
        return any(field.value() or field.errors for field in self.further_fields)

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written into it."""
        return not any(self[name].value() for name in ("label", *LISTS, "help"))

    def clean(self) -> dict[str, Any]:
        """Refuse what cannot be asked."""
        super().clean()
        if not self.errors and not self.is_blank:
            try:
                checked_questions([self.row()])
            except BadInput as error:
                raise ValidationError(str(error).replace("question 1", "This question", 1)) from None
        return self.cleaned_data

    def row(self) -> dict[str, Any]:
        """Return the question as it is stored: only what was filled in."""
        data = self.cleaned_data
        row = {name: data[name] for name in ("name", "label", "type", "help") if data[name]}
        row |= {name: data[name] for name in ("min", "max") if data[name] is not None}
        row |= {name: True for name in ("required", "publish") if data[name]}
        lists = {name: [line.strip() for line in data[name].splitlines() if line.strip()] for name in LISTS}
        if data["type"] not in ("choice", "multi_choice"):
            lists["choices"] = []
        if data["is_native"]:
            row["role"] = "native_language"
        else:
            lists["native"] = []
        return row | {name: values for name, values in lists.items() if values}


def build_forms(rows: Sequence[Mapping[str, Any]]) -> list[QuestionForm]:
    """Return forms of stored questions."""
    return number_forms([_initial(row) for row in rows])


def number_forms(initials: Sequence[Mapping[str, Any]]) -> list[QuestionForm]:
    """Return forms with initial values, numbered in this order."""
    return [QuestionForm(prefix=f"q{index}", initial=dict(row)) for index, row in enumerate(initials)]


def sent_forms(data: Mapping[str, Any]) -> list[QuestionForm]:
    """Return the forms of a submitted page."""
    count = str(data.get("n", ""))
    n = min(int(count), MOST) if count.isascii() and count.isdigit() else 0
    return [QuestionForm(data, prefix=f"q{index}") for index in range(n)]


def submitted_values(form: QuestionForm) -> dict[str, Any]:
    """Return the values of a submitted form, valid or not."""
    return {name: form[name].value() for name in form.fields}


def _initial(row: Mapping[str, Any]) -> dict[str, Any]:
    lists = {name: "\n".join(str(value) for value in row.get(name, ())) for name in LISTS}
    kind = str(row.get("type", "text")).replace("-", "_")
    return {**row, **lists, "type": kind, "is_native": row.get("role") == "native_language"}


BLANK = {"type": "text"}


FIELD = "questionnaire"


@login_required
def questions(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the questions; adding, moving and removing change the page only, *Save* stores."""
    if request.method == "POST":
        return _save(request, slug)
    study = get_study(request.user, slug)
    return _page(
        request, study, build_forms(study.questionnaire) or number_forms([BLANK]), version=_version(study)
    )


@transaction.atomic
def _save(request: HttpRequest, slug: str) -> HttpResponse:
    """Take one step of building, or store the questions unless another editor changed them meanwhile."""
    study = get_locked_study(request.user, slug)
    forms_sent = sent_forms(request.POST)
    # Until the questions are saved, the page keeps the version that its editor opened.
    version = request.POST.get("version", "")
    step, _, place = request.POST.get("do", "save").partition("-")
    if step != "save":
        return _page(
            request, study, _rearrange_forms(forms_sent, step, place), is_unsaved=True, version=version
        )
    if is_outdated(request.POST, FIELD, study.questionnaire):
        rows = [form.row() for form in forms_sent if form.is_valid() and not form.is_blank]
        if rows != study.questionnaire:
            return _conflict_page(request, study, forms_sent, rows)
    if request.POST.get(f"{TAKE}{FIELD}") == "theirs":
        return redirect("study-questions", slug)
    if all(form.is_valid() for form in forms_sent):
        try:
            is_changed = store(request.user, study, [form.row() for form in forms_sent if not form.is_blank])
        except BadInput as error:
            messages.error(request, f"Nothing was saved: {error}")
        else:
            messages.success(
                request, "Saved." if is_changed else "Nothing was changed, so nothing was saved."
            )
            return redirect("study-questions", slug)
    else:
        messages.error(request, "Nothing was saved: see the errors below.")
    return _page(request, study, forms_sent, is_unsaved=True, version=version)


def _conflict_page(
    request: HttpRequest, study: Experiment, forms_sent: list[QuestionForm], rows: list[dict[str, Any]]
) -> HttpResponse:
    """Show both questionnaires as lines; this editor's questions stay in the form."""
    conflict = Conflict(
        FIELD,
        "Questions about the person",
        lines_from_questions(rows),
        lines_from_questions(study.questionnaire),
    )
    conflicts = attribute_conflicts([conflict], study, request.POST)
    keep_refused(study, request.user, conflicts)
    return _page(
        request,
        study,
        forms_sent,
        is_unsaved=True,
        version=_version(study),
        status=409,
        conflicts=conflicts,
        edits=Edits(request.POST, conflicts),
    )


def _version(study: Experiment) -> str:
    return form_version(**{FIELD: study.questionnaire})


def _rearrange_forms(forms_sent: list[QuestionForm], step: str, place: str) -> list[QuestionForm]:
    """Return the forms with a question added, removed or moved; an unknown place changes nothing."""
    rows = [submitted_values(form) for form in forms_sent]
    return number_forms(rearrange(rows, step, place, most=MOST, blank=BLANK))


@transaction.atomic
def store(user: Any, study: Experiment, rows: list[dict[str, Any]]) -> bool:
    """Store the questions with old and new ones in the history; the same again changes nothing."""
    before, questionnaire = {FIELD: study.questionnaire}, checked_questions(rows)
    if not record_changes(study, user, "settings changed", before=before, after={FIELD: questionnaire}):
        return False
    study.questionnaire = questionnaire
    study.save(update_fields=["questionnaire", "updated_at"])
    return True


def _page(
    request: HttpRequest,
    study: Experiment,
    question_forms: list[QuestionForm],
    *,
    version: str,
    is_unsaved: bool = False,
    status: int = 200,
    **conflict: Any,
) -> HttpResponse:
    context = {
        "study": study,
        "page": "settings",
        "states": step_states(study, "questions"),
        "questions": question_forms,
        "is_unsaved": is_unsaved,
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
        "next_version": next_version(study),
        "version": version,
        **conflict,
    }
    return render(request, "experiments/questions.html", context, status=status)
