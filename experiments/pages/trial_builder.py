"""Practice, catch and anchor trials, built one by one with a preview."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from experiments.lists.extra_trials import CHECK, EXTRAS, INSTRUCTION, answer_text, lines_from_trials
from experiments.materials.markup import COLUMN, INLINE
from experiments.materials.schema import CONTEXT
from experiments.models import Experiment
from experiments.pages.access import get_locked_study, get_study, may_edit
from experiments.pages.editing.conflicts import form_version, is_outdated
from experiments.pages.forms import rearrange, set_remark
from experiments.pages.settings import are_valid, build_forms, next_version, store
from experiments.pages.settings_steps import SettingsStep, step_states
from experiments.tasks.base import Task
from experiments.tasks.registry import shown_task

MOST = 60
TITLES = {"practice": "Practice trials", "catch_trials": "Catch trials", "anchors": "Anchor sentences"}
PURPOSES = {
    "practice": "Shown before the trials, with your comment on the answer.",
    "catch_trials": "Shown among the trials. They show attention and are never analysed.",
    "anchors": "Shown first, so that participants see the whole range before it counts.",
}


class TrialForm(forms.Form):
    """One trial: what the task shows, the right answer, and what is beside them."""

    right = forms.CharField(label="Right sentence", required=False, max_length=1000)
    other = forms.CharField(label="Other sentence", required=False, max_length=3000)
    answer = forms.CharField(label="Right answer", required=False, max_length=40)
    feedback = forms.CharField(label="Your comment on the answer", required=False, max_length=1000)
    context = forms.CharField(
        label="Context above it", required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    instruction = forms.BooleanField(
        label="The sentence says what to answer",
        required=False,
        help_text="As in “Please choose 2”. Without: how good the sentence is decides the right answer.",
    )
    marked = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, task: Task, name: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shows = task.shows
        left_out = {"pair": ["answer"], "set": ["answer", "feedback"], "sentence": ["other"]}[task.shows]
        if name != "catch_trials":
            left_out.append("instruction")
        for unused in left_out:
            del self.fields[unused]
        if task.shows == "sentence":
            self.fields["right"].label = "Sentence"
            hint = task.right_answer
            self.fields["answer"].help_text = f"{hint[:1].upper()}{hint[1:]}."
        if task.shows == "set":
            self.fields["right"].label = "Best sentence"
            self.fields["other"].label = "Other sentences"
            self.fields["other"].widget = forms.Textarea(attrs={"rows": 3})
            self.fields["other"].help_text = "One per line."
        if name != "practice" and "feedback" in self.fields:  # not shown there, and kept as it is
            self.fields["feedback"].widget = forms.HiddenInput()
        for needed in {"right", "other", "answer"} & self.fields.keys():
            set_remark(self.fields[needed], "")

    def clean(self) -> dict[str, Any]:
        """Refuse signs that separate the parts of a stored line."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for name, text in list(cleaned.items()):
            if isinstance(text, str) and ("|" in text or "\t" in text):
                self.add_error(
                    name, "A vertical bar or a tab separates parts of a trial: write another sign."
                )
        return cleaned

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written into it."""
        return not any(self[name].value() for name in ("right", "other", "answer") if name in self.fields)

    @property
    def others(self) -> list[str]:
        """The other sentences, one per line."""
        text = str(self["other"].value() or "") if "other" in self.fields else ""
        return [line.strip() for line in text.splitlines() if line.strip()]

    def row(self) -> dict[str, Any]:
        """The trial as lines are written from it; the right answer is text."""
        data = self.cleaned_data
        row: dict[str, Any] = {}
        if self.shows == "sentence":
            row |= {"text": data["right"], "correct": data["answer"] or None}
        else:
            row |= {"options": [{"text": text} for text in (data["right"], *self.others)], "correct": 0}
        row |= {"feedback": data["feedback"]} if data.get("feedback") else {}
        context = data["context"].replace("\r\n", "\n").strip()
        row |= {CONTEXT: context} if context else {}
        row |= {COLUMN: INLINE} if data["marked"] else {}
        return row | ({CHECK: INSTRUCTION} if data.get("instruction") else {})


def initial_values(row: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """Values of the form of a stored trial; of one for another task the parts that fit."""
    texts = [option.get("text", "") for option in row.get("options", ())]
    right = row.get("correct") or 0
    is_list = bool(texts) and isinstance(right, int) and right < len(texts)
    return {
        "right": texts[right] if is_list else row.get("text", ""),
        "other": "\n".join([*texts[:right], *texts[right + 1 :]]) if is_list else "",
        "answer": answer_text(row.get("correct"), task),
        "feedback": row.get("feedback", ""),
        "context": row.get(CONTEXT, ""),
        "instruction": row.get(CHECK) == INSTRUCTION,
        "marked": row.get(COLUMN) == INLINE,
    }


def trial_forms(values: Sequence[Mapping[str, Any]], *, task: Task, name: str) -> list[TrialForm]:
    """Forms with initial values, numbered in this order."""
    return [
        TrialForm(prefix=f"t{index}", initial=dict(row), task=task, name=name)
        for index, row in enumerate(values)
    ]


def sent_forms(data: Mapping[str, Any], *, task: Task, name: str) -> list[TrialForm]:
    """The forms of a submitted page."""
    count = str(data.get("n", ""))
    n = min(int(count), MOST) if count.isascii() and count.isdigit() else 0
    return [TrialForm(data, prefix=f"t{index}", task=task, name=name) for index in range(n)]


@login_required
def trials(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Show the trials; adding, moving and removing change the page only, *Save* stores."""
    if name not in EXTRAS:
        raise Http404("no such trials")
    if request.method == "POST":
        return _save(request, slug, name)
    study = get_study(request.user, slug)
    task = shown_task(study.task)
    values = [initial_values(row, task) for row in getattr(study, name)] or [{}]
    return _page(
        request, study, name, trial_forms(values, task=task, name=name), version=_version(study, name)
    )


@transaction.atomic
def _save(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Take one step of building, or store the trials unless another editor changed them meanwhile."""
    study = get_locked_study(request.user, slug)
    task = shown_task(study.task)
    forms_sent = sent_forms(request.POST, task=task, name=name)
    version = request.POST.get("version", "")
    step, _, place = request.POST.get("do", "save").partition("-")
    if step != "save":
        values = [{field: form[field].value() for field in form.fields} for form in forms_sent]
        moved = trial_forms(rearrange(values, step, place, most=MOST, blank={}), task=task, name=name)
        return _page(request, study, name, moved, version=version, is_unsaved=True)
    if is_outdated(request.POST, name, getattr(study, name)):
        messages.error(
            request,
            "Another user changed these trials since you opened the page. Yours are below and not saved; "
            "Save again replaces the others, which stay in the history.",
        )
        version = _version(study, name)
        return _page(request, study, name, forms_sent, version=version, is_unsaved=True, status=409)
    problems: list[str] = []
    if all(form.is_valid() for form in forms_sent):
        rows = [form.row() for form in forms_sent if not form.is_blank]
        data = {name: lines_from_trials(rows, task=task)}
        form, parameters = build_forms(study, request.user, data, step=SettingsStep(name, "", {"": name}))
        if are_valid(form, parameters):
            if store(request.user, form, parameters):
                messages.success(request, "Saved.")
            return redirect("study-trials", slug, name)
        problems = [str(problem) for errors in form.errors.values() for problem in errors]
        study.refresh_from_db()
    return _page(request, study, name, forms_sent, version=version, is_unsaved=True, problems=problems)


def _version(study: Experiment, name: str) -> str:
    return form_version(**{name: getattr(study, name)})


def _page(
    request: HttpRequest,
    study: Experiment,
    name: str,
    forms_shown: list[TrialForm],
    *,
    version: str,
    is_unsaved: bool = False,
    problems: Sequence[str] = (),
    status: int = 200,
) -> HttpResponse:
    context = {
        "study": study,
        "page": "settings",
        "states": step_states(study, "checks"),
        "name": name,
        "title": TITLES[name],
        "purpose": PURPOSES[name],
        "trials": forms_shown,
        "problems": problems,
        "is_unsaved": is_unsaved,
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
        "next_version": next_version(study),
        "version": version,
    }
    return render(request, "experiments/trials.html", context, status=status)
