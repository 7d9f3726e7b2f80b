"""Every button, message and heading of participants' pages, with a field for the study's own text."""

import hashlib
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation

from experiments.models import Experiment
from experiments.pages.access import get_locked_study, get_study, may_edit
from experiments.pages.editing.conflicts import (
    Edits,
    attribute_conflicts,
    compare,
    form_version,
    keep_refused,
    with_choices,
)
from experiments.pages.forms import set_remark
from experiments.pages.settings import next_version
from experiments.pages.settings_steps import step_states
from experiments.studies.history import record_changes, study_values
from experiments.studies.languages import direction, has_interface, interface_language
from experiments.studies.wording import LONGEST, ParticipantText, participant_texts, text_problem

SHORT = 60  # characters up to which a text has one line in the form


class TextsForm(forms.Form):
    """One field for each text of ours; an empty one keeps ours."""

    def __init__(self, study: Experiment, data: Any = None) -> None:
        self.texts = {_name(text): text for text in participant_texts(study.task)}
        self.stored = dict(study.participant_texts)
        initial = {name: self.stored.get(text.message, "") for name, text in self.texts.items()}
        super().__init__(data, initial=initial)
        with translation.override(interface_language(study.language)):
            for name, text in self.texts.items():
                self.fields[name] = _field(text, language=study.language)

    @property
    def sections(self) -> list[tuple[str, list[forms.BoundField], int]]:
        """Fields by heading, with the number of own texts."""
        headings = dict.fromkeys(text.section for text in self.texts.values())
        fields = {
            heading: [self[name] for name, text in self.texts.items() if text.section == heading]
            for heading in headings
        }
        return [
            (heading, bound, sum(bool(field.value()) for field in bound)) for heading, bound in fields.items()
        ]

    def clean(self) -> dict[str, Any]:
        """Refuse a text that lacks a placeholder of ours, or has one of its own."""
        cleaned = super().clean() or {}
        for name, text in list(cleaned.items()):
            if text and (problem := text_problem(self.texts[name], text)):
                self.add_error(name, problem)
        return cleaned

    def own_texts(self) -> dict[str, str]:
        """Return the study's own texts; those of another task, which the page does not show, are kept."""
        messages = {text.message for text in self.texts.values()}
        hidden = {message: text for message, text in self.stored.items() if message not in messages}
        sent = {
            self.texts[name].message: text.replace("\r\n", "\n")
            for name, text in self.cleaned_data.items()
            if text
        }
        return {**hidden, **sent}


def _name(text: ParticipantText) -> str:
    """The name of a text's field, the same in every release that has the text."""
    return f"text-{hashlib.sha256(text.message.encode()).hexdigest()[:12]}"


def _field(text: ParticipantText, *, language: str) -> forms.CharField:
    translated = translation.gettext(text.message)
    attributes = {"lang": language, "dir": direction(language)}
    if translated != text.message:  # else the label shows it already
        attributes["placeholder"] = translated
    is_short = max(len(translated), len(text.message)) <= SHORT
    widget = (
        forms.TextInput(attrs=attributes) if is_short else forms.Textarea(attrs={**attributes, "rows": 2})
    )
    field = forms.CharField(
        label=text.message,
        required=False,
        max_length=LONGEST,
        widget=widget,
        help_text=_hint(text, translated),
    )
    set_remark(field, "")
    return field


def _hint(text: ParticipantText, translation_of_ours: str) -> str:
    translated = f"Ours: {translation_of_ours}" if translation_of_ours != text.message else ""
    filled_in = f"Filled in: {', '.join(text.placeholders)}." if text.placeholders else ""
    return "  ".join(filter(None, (translated, filled_in)))


@login_required
def texts(request: HttpRequest, slug: str) -> HttpResponse:
    """Show every text; store the study's own unless another user changed them meanwhile."""
    if request.method == "POST":
        return _save(request, slug)
    study = get_study(request.user, slug)
    return _page(request, study, TextsForm(study))


@transaction.atomic
def _save(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_locked_study(request.user, slug)
    current = [TextsForm(study)]
    data = with_choices(request.POST, current)
    form = TextsForm(study, data)
    edits = compare(data, current=current, submitted=[form])
    if edits.is_stale:
        return _conflict_page(request, study, edits)
    if not form.is_valid():
        return _page(request, study, form)
    before = study_values(study)
    study.participant_texts = form.own_texts()
    if record_changes(study, request.user, "texts changed", before=before, after=study_values(study)):
        study.save(update_fields=["participant_texts", "updated_at"])
        messages.success(request, "Saved.")
    else:
        messages.success(request, "Nothing was changed, so nothing was saved.")
    return redirect("study-texts", slug)


def _conflict_page(request: HttpRequest, study: Experiment, edits: Edits) -> HttpResponse:
    conflicts = attribute_conflicts(edits.conflicts, study, request.POST)
    keep_refused(study, request.user, conflicts)
    form = TextsForm(study, edits.data)
    return _page(request, study, form, status=409, edits=edits, conflicts=conflicts)


def _page(
    request: HttpRequest, study: Experiment, form: TextsForm, *, status: int = 200, **conflict: Any
) -> HttpResponse:
    context = {
        "study": study,
        "page": "settings",
        "form": form,
        "states": step_states(study, "texts"),
        "has_interface": has_interface(study.language),
        "n_own": len(study.participant_texts),
        "n_texts": len(form.texts),
        "version": form_version(TextsForm(study)),
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
        "next_version": next_version(study),
        **conflict,
    }
    return render(request, "experiments/texts.html", context, status=status)
