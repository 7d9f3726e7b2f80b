"""Settings of a study: facts, texts, questions, practice and catch trials, and the task's parameters."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from analysis.errors import BadInput
from experiments.lists.extra_trials import EXTRAS, checked_answers, lines_from_trials, trials_from_lines
from experiments.models import Experiment, MaterialSet
from experiments.models.lab import check_pay
from experiments.pages.access import get_locked_study, get_study, may_edit
from experiments.pages.editing.conflicts import (
    Edits,
    attribute_conflicts,
    canonical,
    compare,
    form_version,
    is_outdated,
    keep_refused,
    with_choices,
)
from experiments.pages.editing.restore import last_change
from experiments.pages.editing.text_templates import FILL, REPLACE, menus, read_filling
from experiments.pages.forms import language_field, set_remark, task_choices
from experiments.pages.settings_steps import STEPS, SettingsStep, first_step, step_after, step_states
from experiments.studies.completion_url import checked_address
from experiments.studies.creation import is_taken_address, neutral_title, new_public_slug
from experiments.studies.history import record_changes, study_values
from experiments.studies.languages import default_texts, practice_comments
from experiments.studies.lifecycle import document_sha256, snapshot
from experiments.studies.questionnaire import (
    lines_from_questions,
    lines_from_statements,
    optional_questions,
    questions_from_lines,
    statements_from_lines,
)
from experiments.studies.quiz import lines_from_quiz, quiz_from_lines
from experiments.tasks.base import Parameter, Task
from experiments.tasks.registry import get_task, shown_task, task_names

Parsed = TypeVar("Parsed")
FROZEN_WITH_OPENING = ("materials",)
NEEDED_TO_OPEN = ("materials", "consent", "instructions")
PRACTICE_COMMENTS = ("practice_expected", "practice_other")
MARKDOWN_HELP = "Markdown: ## heading, - list, **bold**, [text](https://…), mail addresses."
QUESTION_HELP = (
    "One per line: Question? | text, number, yes-no, choice: a; b; c or several: a; b; c | required, native, "
    "screen_out: a. Answers exclude participants only through an exclusion plan; screen_out answers end it."
)
CLOSING_HELP = (
    "One per line as above; shown beside the completion code, always optional. The answers are in the "
    "participants' CSV."
)
QUIZ_HELP = (
    "One per line, asked after the instructions, two attempts: "
    "Question? | right answer | wrong; wrong | feedback when it is wrong"
)
PAIR_HELP = "One per line: right sentence | other sentence"
SET_HELP = "One per line: best sentence | other | other"
SENTENCE_HELP = "One per line: sentence | {right_answer}"


def lines_field(label: str, rows: int = 5) -> forms.CharField:
    """Return a field for one entry per line."""
    widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})
    return forms.CharField(label=label, required=False, strip=False, widget=widget)


class SettingsForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    """All settings of a study except its task and its design; with a step, those of its page only."""

    language = language_field()
    consent_statements = lines_field("Statements to tick", 4)
    questionnaire = lines_field("Questions about the person")
    closing_questions = lines_field("Questions at the end", 3)
    quiz = lines_field("Questions about the instructions", 4)
    practice = lines_field("Practice trials", 4)
    catch_trials = lines_field("Catch trials")
    anchors = lines_field("Anchor sentences", 4)

    class Meta:
        model = Experiment
        fields = [
            "title",
            "description",
            "materials",
            "context_display",
            "context_ms",
            "context_label",
            "deadline_ms",
            "deadline_bar",
            "language",
            "public_title",  # after the language, which decides the neutral one
            "public_slug",
            "consent",
            "consent_statements",
            "contact",
            "instructions",
            "debrief",
            "questionnaire",
            "quiz",
            "quiz_failure",
            "practice",
            "practice_expected",
            "practice_other",
            "catch_trials",
            "anchors",
            "lease_minutes",
            "resume_gap_minutes",
            "resume_limit_days",
            "closing_questions",
            "closing_comment",
            "completion",
            "completion_code",
            "completion_url",
            "screen_out_code",
            "partial_code",
            "lab_mode",
            "reward_minor",
            "currency",
        ]
        labels = {
            "context_display": "Contexts of sentences",
            "context_ms": "Show a context before the sentence for (ms)",
            "context_label": "Label contexts as “Context”",
            "deadline_ms": "Time for each answer, ms",
            "deadline_bar": "Show the time that is left as a bar",
            "public_title": "Title for participants",
            "public_slug": "Address for participants",
            "consent": "Consent text",
            "contact": "Contact for participants",
            "debrief": "Debrief",
            "practice_expected": "Comment on expected practice answers",
            "practice_other": "Comment on other practice answers",
            "lease_minutes": "Release an idle participant's place after (minutes)",
            "quiz_failure": "After two failed attempts",
            "resume_gap_minutes": "Show the instructions again after an absence of (minutes)",
            "resume_limit_days": "A session expires after an absence of (days)",
            "closing_comment": "Ask for a free comment at the end",
            "completion": "At the end participants get",
            "completion_url": "Return link (for example to Prolific)",
            "screen_out_code": "Code for screened-out participants",
            "partial_code": "Code for participants who stop early",
            "lab_mode": "Lab mode: several people on one computer",
            "reward_minor": "Pay for a complete session, in cents or pence",
        }
        help_texts = {
            "title": "For you and your team.",
            "context_display": "The column context of the materials. Language models read it before the "
            "sentence in any case.",
            "context_ms": "Empty = until they press a key or the button. Without scripts they always do.",
            "context_label": "In the study’s language; your own wording under Buttons and messages.",
            "deadline_ms": "Empty = no limit. An answer that is not given in time is stored as timed out, "
            "without a value, and the next trial begins. The plain form, without scripts, has no limit.",
            "public_title": "On every page for participants and in the tab of their browser: it should not "
            "tell the hypothesis.",
            "public_slug": "What follows /take/ in their link: letters, digits, hyphens. The study's own "
            "short name keeps answering, too.",
            "consent": f"Shown first. Nothing about a participant is stored before consent. {MARKDOWN_HELP}",
            "contact": "A mail address or an https page, at the foot of every page for participants.",
            "instructions": f"Shown before the first trial, and again on demand. {MARKDOWN_HELP}",
            "debrief": f"Shown at the end, with the completion code. {MARKDOWN_HELP}",
            "lease_minutes": "",
            "completion_url": "An https address; {code}, {participant} and {session} are filled in.",
            "partial_code": "Shown after at least one answer. Empty = no code.",
            "lab_mode": "The link starts afresh for each person, shows nothing of the one before, and asks "
            "for an optional label.",
            "reward_minor": "Suggested when you approve pay. Nothing is paid automatically.",
            "currency": "Three letters, such as GBP, EUR or USD.",
        }
        widgets = {
            "description": forms.Textarea(attrs={"rows": 2}),
            "consent": forms.Textarea(attrs={"rows": 12}),
            "instructions": forms.Textarea(attrs={"rows": 10}),
            "debrief": forms.Textarea(attrs={"rows": 6}),
            "practice_expected": forms.Textarea(attrs={"rows": 2}),
            "practice_other": forms.Textarea(attrs={"rows": 2}),
        }

    def __init__(
        self, *args: Any, user: User | AnonymousUser, step: SettingsStep | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.task = shown_task(self.instance.task)
        visible = MaterialSet.objects.visible_to(user).values("pk")
        materials = self.fields["materials"]
        assert isinstance(materials, forms.ModelChoiceField)
        materials.queryset = MaterialSet.objects.filter(Q(pk__in=visible) | Q(pk=self.instance.materials_id))
        for name in FROZEN_WITH_OPENING:
            self.fields[name].disabled = self.instance.status not in Experiment.Status.editable()
        if self.instance.public_slug:  # links that were sent out must keep working
            self.fields["public_slug"].disabled = self.instance.status not in Experiment.Status.editable()
        self.initial["consent_statements"] = lines_from_statements(self.instance.consent_statements)
        self.initial["questionnaire"] = lines_from_questions(self.instance.questionnaire)
        self.initial["closing_questions"] = lines_from_questions(self.instance.closing_questions)
        self.initial["quiz"] = lines_from_quiz(self.instance.quiz)
        for name in EXTRAS:
            self.initial[name] = lines_from_trials(getattr(self.instance, name), task=self.task)
        for name in NEEDED_TO_OPEN:
            set_remark(self.fields[name], "needed to open")
        self._explain()
        if self.instance.context_display != Experiment.ContextDisplay.UNKNOWN:
            display = self.fields["context_display"]
            assert isinstance(display, forms.ChoiceField)
            display.choices = Experiment.ContextDisplay.choices[:-1]
        if step is not None:
            self.fields = {name: field for name, field in self.fields.items() if name in step.fields}

    def _explain(self) -> None:
        """Set the help texts on the line syntax of this task."""
        rating = SENTENCE_HELP.format(right_answer=self.task.right_answer)
        line = {"pair": PAIR_HELP, "set": SET_HELP}.get(self.task.shows, rating)
        afterwards = "" if self.task.shows == "set" else " | your comment on the answer (optional)"
        self.fields["catch_trials"].help_text = f"{line}. They show attention and are never analysed."
        self.fields["practice"].help_text = f"{line}{afterwards}."
        self.fields[
            "anchors"
        ].help_text = "One per line. Shown first, so that participants see the whole range before it counts."
        defaults = practice_comments(self.instance.language)
        for name, comment in zip(PRACTICE_COMMENTS, defaults, strict=True):
            self.fields[name].help_text = f"Empty = {comment}"
        self.fields[
            "consent_statements"
        ].help_text = "One per line; | optional after it where it may stay unticked."
        self.fields["questionnaire"].help_text = QUESTION_HELP
        self.fields["closing_questions"].help_text = CLOSING_HELP
        self.fields["quiz"].help_text = QUIZ_HELP

    def clean(self) -> dict[str, Any]:
        """Keep the stored text where a browser changed its line ends or outer spaces only."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for name, value in cleaned.items():
            stored = getattr(self.instance, name)
            if isinstance(value, str) and isinstance(stored, str):
                cleaned[name] = stored if canonical(value) == canonical(stored) else unix_lines(value)
        if {"reward_minor", "currency"} & {*self.changed_data} and cleaned.get("reward_minor"):
            try:
                check_pay(self.instance.lab, cleaned["reward_minor"], cleaned.get("currency", ""))
            except BadInput as error:
                self.add_error("reward_minor", f"{error.message} {error.remedy}")
        return cleaned

    def check_answers(self, parameters: Mapping[str, Any]) -> bool:
        """Whether every right answer can be given on the scale; the others are errors of their fields, or of
        the page where it has no such field.
        """
        for name, kind in EXTRAS.items():
            rows = self.cleaned_data.get(name, getattr(self.instance, name))
            try:
                checked_answers(rows, task=self.task, settings=parameters, kind=kind)
            except BadInput as error:
                place = "" if name in self.fields else f" Change it first under “{STEPS['checks'].label}”."
                self.add_error(name if not place else None, f"{_sentence(error)}{place}")
        return not self.errors

    def clean_public_title(self) -> str:
        """Keep a neutral title where the field is emptied; studies older than it may go without."""
        title, stored = self.cleaned_data["public_title"], self.instance.public_title
        language = self.cleaned_data.get("language", self.instance.language)
        is_neutral = stored and title in {"", neutral_title(self.instance.language)}
        return neutral_title(language) if is_neutral else title

    def clean_public_slug(self) -> str | None:
        """Refuse an address that another study has; an emptied one is replaced by a new one."""
        stored, slug = self.instance.public_slug, str(self.cleaned_data["public_slug"] or "")
        if not slug:
            return new_public_slug() if stored else None
        slug = slug.lower()
        if is_taken_address(slug, except_study=self.instance):
            raise ValidationError("Another study has this address.")
        return slug

    def clean_consent_statements(self) -> list[dict[str, Any]]:
        """Parse the statements."""
        return _read(statements_from_lines, self.cleaned_data["consent_statements"])

    def clean_questionnaire(self) -> list[dict[str, Any]]:
        """Parse the questions."""
        return _read(
            questions_from_lines, self.cleaned_data["questionnaire"], existing=self.instance.questionnaire
        )

    def clean_closing_questions(self) -> list[dict[str, Any]]:
        """Parse the questions at the end, none of which can be required."""
        lines, stored = self.cleaned_data["closing_questions"], self.instance.closing_questions
        questions = _read(questions_from_lines, lines, existing=stored)
        return optional_questions(questions)

    def clean_quiz(self) -> list[dict[str, Any]]:
        """Parse the questions about the instructions."""
        return _read(quiz_from_lines, self.cleaned_data["quiz"], existing=self.instance.quiz)

    def clean_completion_url(self) -> str:
        """Refuse a return link that is not an https address."""
        template = self.cleaned_data["completion_url"]
        return _read(checked_address, template) if template.strip() else ""

    def _trials(self, name: str) -> list[dict[str, Any]]:
        stored = getattr(self.instance, name)
        return _read(
            trials_from_lines, self.cleaned_data[name], task=self.task, kind=EXTRAS[name], stored=stored
        )

    def clean_practice(self) -> list[dict[str, Any]]:
        """Parse the practice trials."""
        return self._trials("practice")

    def clean_anchors(self) -> list[dict[str, Any]]:
        """Parse the anchors."""
        return self._trials("anchors")

    def clean_catch_trials(self) -> list[dict[str, Any]]:
        """Parse the catch trials."""
        return self._trials("catch_trials")


def unix_lines(text: str) -> str:
    """Return a text with the line ends that are stored; browsers send carriage returns."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read(reader: Callable[..., Parsed], text: str, **options: Any) -> Parsed:
    """Parse a field's text; an error is shown at the field."""
    try:
        return reader(text, **options)
    except BadInput as error:
        raise ValidationError(_sentence(error)) from None


def _sentence(error: BadInput) -> str:
    return str(error)[:1].upper() + str(error)[1:]


class ParametersForm(forms.Form):
    """The parameters of one task, each by the kind of its default; no fields on pages of other settings."""

    def __init__(
        self,
        task: Task,
        stored: Mapping[str, Any],
        data: Any = None,
        *,
        language: str = "en",
        is_shown: bool = True,
    ) -> None:
        parameters = task.parameters if is_shown else ()
        self.stored, self.default_texts = dict(stored), default_texts(task, language)
        self.defaults = {parameter.name: parameter.default for parameter in parameters}
        self.shown = {**self.defaults, **self.default_texts, **stored}  # what the page shows
        initial = {name: _as_text(self.shown[name]) for name in self.defaults}
        super().__init__(data, initial=initial, prefix="task")
        self.task = task
        for parameter in parameters:
            self.fields[parameter.name] = _field_for(parameter)
            self.fields[parameter.name].label = parameter.label
            self.fields[parameter.name].help_text = parameter.meaning
            set_remark(self.fields[parameter.name], "")

    def clean(self) -> dict[str, Any]:
        """Validate the parameters as the task does."""
        super().clean()
        if self.fields and not self.errors:
            try:
                self.task.settings(self.parameters())
            except BadInput as error:
                raise ValidationError(_sentence(error)) from None
        return self.cleaned_data

    def parameters(self) -> dict[str, Any]:
        """Return what to store: lists as lists, unchanged default texts left out; the same as stored where
        nothing was changed.
        """
        sent = {
            name: [line.strip() for line in value.splitlines() if line.strip()]
            if isinstance(self.defaults[name], list | tuple)
            else value
            for name, value in self.cleaned_data.items()
        }
        if all(canonical(value) == canonical(self.shown[name]) for name, value in sent.items()):
            return self.stored
        return {
            name: value for name, value in sent.items() if value != self.default_texts.get(name, object())
        }


def _as_text(value: Any) -> Any:
    return "\n".join(str(entry) for entry in value) if isinstance(value, list | tuple) else value


def _field_for(parameter: Parameter) -> forms.Field:
    if parameter.choices:
        return forms.ChoiceField(choices=parameter.choices)
    default = parameter.default
    if isinstance(default, bool):
        return forms.BooleanField(required=False)
    if isinstance(default, int):
        return forms.IntegerField()
    if isinstance(default, float):
        return forms.FloatField()
    if isinstance(default, list | tuple):
        return forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4}))
    return forms.CharField(required=False, max_length=1000)


def build_forms(
    study: Experiment, user: User | AnonymousUser, data: Any = None, *, step: SettingsStep | None = None
) -> tuple[SettingsForm, ParametersForm]:
    """Return the two forms of a page of the settings; without a step, of all settings."""
    is_shown = step is None or step.has_parameters
    parameters = ParametersForm(
        shown_task(study.task), study.parameters, data, language=study.language, is_shown=is_shown
    )
    return SettingsForm(data, instance=study, user=user, step=step), parameters


@login_required
def settings(request: HttpRequest, slug: str, step: str = "") -> HttpResponse:
    """Show one step of the settings; store what was sent unless another editor changed it meanwhile."""
    if request.method == "POST":
        is_template = FILL in request.POST or REPLACE in request.POST
        return fill_in_template(request, slug) if is_template else save_settings(request, slug)
    study = get_study(request.user, slug)
    chosen_step = STEPS[step] if step else first_step(study)
    context = settings_context(
        request, study, *build_forms(study, request.user, step=chosen_step), step=chosen_step
    )
    return render(request, "experiments/settings.html", context)


def fill_in_template(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form as sent with the chosen template in it, unsaved; asks first where a field has text."""
    study, data = get_study(request.user, slug, editing=True), request.POST.copy()
    filling = read_filling(data, task=study.task)
    if filling is not None and not filling.is_asking:
        for name, text in filling.texts.items():
            data[name] = text
    step, stored = STEPS.get(data.get("step", "")), Experiment.objects.get(pk=study.pk)
    form, parameters = build_forms(stored, request.user, data, step=step)
    context = settings_context(request, study, form, parameters, step=step)
    labels = [str(form[name].label) for name in filling.texts if name in form.fields] if filling else []
    context |= {"filling": filling, "filled": labels, "version": data.get("version", "")}
    return render(request, "experiments/settings.html", context)


@transaction.atomic
def save_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Store the settings; a page with status 409 where that would overwrite another editor's change.

    A form without the name of a step, such as one sent by a script, has all settings.
    """
    study, step = get_locked_study(request.user, slug), STEPS.get(request.POST.get("step", ""))
    current = build_forms(Experiment.objects.get(pk=study.pk), request.user, step=step)
    data = with_choices(request.POST, current)
    edits = compare(data, current=current, submitted=build_forms(study, request.user, data, step=step))
    is_other_task = is_outdated(data, "task", study.task)
    if edits.is_stale or is_other_task:
        return conflict_page(request, study, edits, step=step, is_other_task=is_other_task)
    form, parameters = build_forms(study, request.user, data, step=step)
    if are_valid(form, parameters):
        is_changed = store(request.user, form, parameters)
        if is_changed:
            messages.success(request, "Saved.")
        elif "onward" not in request.POST:
            messages.info(request, "Nothing was changed, so nothing was saved.")
        # A name of a URL: the request only says which of two steps.
        return redirect(_next_page(request, step), slug)  # nosemgrep: request-to-redirect
    study.refresh_from_db()
    context = settings_context(request, study, form, parameters, step=step)
    return render(request, "experiments/settings.html", context)


def are_valid(form: SettingsForm, parameters: ParametersForm) -> bool:
    """Whether both forms can be stored; right answers are checked where they or the scale were sent."""
    if not all([form.is_valid(), parameters.is_valid()]):
        return False
    has_answers = bool(parameters.fields or EXTRAS.keys() & form.fields.keys())
    return form.check_answers(parameters.parameters()) if has_answers else True


def _next_page(request: HttpRequest, step: SettingsStep | None) -> str:
    """The name of the page after saving: the same step, or the following one by the second button."""
    following = step_after(step) if step and "onward" in request.POST else None
    next_step = following or step
    return f"study-settings-{next_step.name}" if next_step else "study-settings"


def conflict_page(
    request: HttpRequest, study: Experiment, edits: Edits, *, step: SettingsStep | None, is_other_task: bool
) -> HttpResponse:
    """Show both texts of every field that two editors changed; this editor's texts stay in the form."""
    conflicts = attribute_conflicts(edits.conflicts, study, request.POST)
    keep_refused(study, request.user, conflicts)
    form, parameters = build_forms(study, request.user, edits.data, step=step)
    context = settings_context(request, study, form, parameters, step=step)
    context |= {
        "edits": edits,
        "conflicts": conflicts,
        "new_task": shown_task(study.task).label if is_other_task else "",
    }
    return render(request, "experiments/settings.html", context, status=409)


def settings_version(study: Experiment, user: User | AnonymousUser, *, step: SettingsStep | None) -> str:
    """Return the version of the settings as they are stored; validation may have changed the instance."""
    stored = Experiment.objects.get(pk=study.pk)
    task = {"task": stored.task} if step is None or step.depends_on_task else {}
    return form_version(*build_forms(stored, user, step=step), **task)


def settings_context(
    request: HttpRequest,
    study: Experiment,
    form: SettingsForm,
    parameters: ParametersForm,
    *,
    step: SettingsStep | None,
) -> dict[str, Any]:
    """Return the context of a page of the settings."""
    editable = may_edit(request.user, study) and study.status != Experiment.Status.CLOSED
    return {
        "study": study,
        "page": "settings",
        "step": step,
        "following": step_after(step) if step else None,
        "states": step_states(study, step.name if step else ""),
        "form": form,
        "parameters": parameters,
        "task": shown_task(study.task),
        "tasks": task_choices(),
        "is_draft": study.status in Experiment.Status.editable(),
        "may_edit": editable,
        "sections": sections(form),
        "menus": menus(study.task, study.language, request.POST),
        "next_version": next_version(study),
        "undo": last_change(study, request.user) if editable else None,
        "version": settings_version(study, request.user, step=step),
    }


def sections(form: SettingsForm) -> list[tuple[str, list[forms.BoundField]]]:
    """Return the fields of a form by heading."""
    headings = [
        (heading, names.split()) for step in STEPS.values() for heading, names in step.sections.items()
    ]
    return [
        (heading, [form[name] for name in names]) for heading, names in headings if names[0] in form.fields
    ]


@transaction.atomic
def store(user: User | AnonymousUser, form: SettingsForm, parameters: ParametersForm) -> bool:
    """Store both forms with old and new values in the history; False where nothing was changed."""
    before = study_values(Experiment.objects.get(pk=form.instance.pk))
    study: Experiment = form.save(commit=False)
    study.parameters = parameters.parameters()
    if not record_changes(study, user, "settings changed", before=before, after=study_values(study)):
        return False
    study.save()
    return True


def next_version(study: Experiment) -> int | None:
    """Return the number of the version that unsaved changes would make; None without changes."""
    version = study.current_version()
    if version is None or document_sha256(snapshot(study)) == version.sha256:
        return None
    return version.number + 1


@login_required
def task_step(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the step of the task, or change the task."""
    return change_task(request, slug) if request.method == "POST" else settings(request, slug, "task")


@transaction.atomic
def change_task(request: HttpRequest, slug: str) -> HttpResponse:
    """Change the task, in draft only; parameters that both tasks share are kept."""
    study, name = get_locked_study(request.user, slug), request.POST.get("task", "")
    if study.status not in Experiment.Status.editable():
        messages.error(
            request, "The task of a study that was opened cannot change. Create a new study for another task."
        )
    elif name not in task_names():
        messages.error(request, f"There is no task {name!r}.")
    elif is_outdated(request.POST, "task", study.task) and name != study.task:
        step = STEPS["task"]
        context = settings_context(request, study, *build_forms(study, request.user, step=step), step=step)
        context["new_task"] = shown_task(study.task).label
        return render(request, "experiments/settings.html", context, status=409)
    elif name != study.task:
        before = study_values(study)
        shared = {parameter.name for parameter in get_task(name).parameters} - {"question"}
        study.parameters = {key: value for key, value in study.parameters.items() if key in shared}
        study.task = name
        study.save(update_fields=["task", "parameters", "updated_at"])
        record_changes(study, request.user, "task changed", before=before, after=study_values(study))
        messages.success(
            request, "The task is changed. Check its parameters, and the catch and practice trials."
        )
    return redirect("study-settings-task", slug)
