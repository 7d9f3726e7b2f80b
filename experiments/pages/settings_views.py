"""What a study asks: task, texts, questions, practice and catch trials."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from experiments.lifecycle import sha256_of, snapshot
from experiments.models import Experiment
from experiments.pages.access import audit, get_study, may_edit
from experiments.pages.forms import task_choices
from experiments.pages.settings_forms import ParametersForm, SettingsForm
from judgments.tasks.registry import get_task, shown_task, task_names


@login_required
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the settings; store them when all of them can be used."""
    study = get_study(request.user, slug, editing=request.method == "POST")
    form = SettingsForm(request.POST or None, instance=study, user=request.user)
    parameters = ParametersForm(
        shown_task(study.task), study.parameters, request.POST or None, language=study.language
    )
    if request.method == "POST" and all([form.is_valid(), parameters.is_valid()]):
        store(request.user, form, parameters)
        messages.success(request, "Saved.")
        return redirect("study-settings", slug)
    if request.method == "POST":
        study.refresh_from_db()
        messages.error(request, "Nothing is saved yet: something below needs another look.")
    return render(request, "experiments/settings.html", settings_context(request, study, form, parameters))


def settings_context(request, study: Experiment, form: SettingsForm, parameters: ParametersForm) -> dict:
    """What the settings page shows."""
    return {
        "study": study,
        "page": "settings",
        "form": form,
        "parameters": parameters,
        "task": shown_task(study.task),
        "tasks": task_choices(),
        "is_draft": study.status in Experiment.Status.editable(),
        "may_edit": may_edit(request.user, study) and study.status != Experiment.Status.CLOSED,
        "sections": sections(form),
        "next_version": next_version(study),
    }


def sections(form: SettingsForm) -> list[tuple[str, list]]:
    """Fields under their headings."""
    headings = {
        "Study": "title description materials language",
        "Texts": "consent instructions debrief",
        "Questions about the person": "questionnaire",
        "Questions about the instructions": "quiz quiz_failure",
        "Practice, catch trials and anchors": "practice catch_trials anchors",
        "How many": "target_judgments max_participants lease_minutes resume_gap_minutes resume_limit_days",
        "The end": "completion completion_code completion_url screen_out_code reward_minor currency",
    }
    return [(heading, [form[name] for name in names.split()]) for heading, names in headings.items()]


@transaction.atomic
def store(user, form: SettingsForm, parameters: ParametersForm) -> Experiment:
    """Save both forms and note what changed."""
    study = form.save(commit=False)
    study.parameters = parameters.parameters()
    study.save()
    if changed := sorted({*form.changed_data, *(f"task {name}" for name in parameters.changed_data)}):
        audit(user, study, "settings changed", fields=", ".join(changed))
    return study


def next_version(study: Experiment) -> int | None:
    """Number of the version that the changes since the last one would make; None when nothing changed."""
    version = study.current_version()
    if version is None or sha256_of(snapshot(study)) == version.sha256:
        return None
    return version.number + 1


@login_required
@require_POST
def change_task(request: HttpRequest, slug: str) -> HttpResponse:
    """Another task, in draft only; parameters that both tasks have are kept."""
    study, name = get_study(request.user, slug, editing=True), request.POST.get("task", "")
    if study.status not in Experiment.Status.editable():
        messages.error(
            request, "The task of a study that has been opened stays. Make a new study for another task."
        )
    elif name not in task_names():
        messages.error(request, f"There is no task {name!r}.")
    elif name != study.task:
        known = {parameter.name for parameter in get_task(name).parameters} - {"question"}
        study.parameters = {key: value for key, value in study.parameters.items() if key in known}
        study.task = name
        study.save(update_fields=["task", "parameters", "updated_at"])
        audit(request.user, study, "task changed", task=name)
        messages.success(
            request, "The task is changed. Look at its parameters, and at catch and practice trials."
        )
    return redirect("study-settings", slug)
