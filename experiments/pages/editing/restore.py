"""Restore the settings that an entry of the history replaced; undo of the last change."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment
from experiments.models.lab import check_pay
from experiments.pages.access import AuthenticatedRequest, get_locked_study
from experiments.pages.settings_steps import STEPS
from experiments.studies.history import old_and_new, record_changes, study_values
from experiments.studies.languages import default_texts
from experiments.studies.lifecycle import answer_problems
from experiments.tasks.registry import get_task, shown_task

RESTORED = "settings restored"
RESTORABLE = ("settings changed", "texts changed", RESTORED)
# Materials have a name only in the history; the address is part of links that were sent.
FIELDS = {name for step in STEPS.values() for name in step.fields} - {"materials", "public_slug"}
OF_TASK, OF_TEXT = "task ", "text “"
UNDO_TIME = timedelta(hours=2)


def restorable_values(study: Experiment, entry: AuditEntry) -> dict[str, Any]:
    """Old values of an entry that the study can take; empty where it has none, or is closed."""
    if entry.action not in RESTORABLE or study.status == Experiment.Status.CLOSED:
        return {}
    parameters = {parameter.name for parameter in shown_task(study.task).parameters}
    return {
        name: old
        for name, (old, _) in old_and_new(entry.details).items()
        if name in FIELDS or name.removeprefix(OF_TASK) in parameters or name.startswith(OF_TEXT)
    }


def last_change(study: Experiment, user: User | AnonymousUser) -> AuditEntry | None:
    """The study's newest change of settings, if this user made it lately and it can be undone."""
    entry = study.audit.filter(action__in=RESTORABLE).order_by("-at", "-pk").first()
    if entry is None or entry.user_id != user.pk or timezone.now() - entry.at > UNDO_TIME:
        return None
    present = study_values(study)
    is_present = all(present.get(name) == new for name, (_, new) in old_and_new(entry.details).items())
    return entry if is_present and restorable_values(study, entry) else None


@login_required
@require_POST
@transaction.atomic
def restore(request: AuthenticatedRequest, slug: str, entry_id: int) -> HttpResponse:
    """Give settings the values that they had before an entry; the present ones stay in the history."""
    study = get_locked_study(request.user, slug)
    entry = get_object_or_404(study.audit, pk=entry_id)
    values = restorable_values(study, entry)
    if not values:
        raise Http404("nothing to restore")
    before = study_values(study)
    try:
        put_values(study, values)
    except BadInput as error:
        messages.error(request, f"Nothing was restored: {error}")
        return redirect(_next_page(request), slug)
    after = study_values(study)
    if record_changes(study, request.user, RESTORED, before=before, after=after, entry=entry.pk):
        study.save()
        messages.success(request, f"Restored: {', '.join(name.replace('_', ' ') for name in values)}.")
    else:
        messages.info(request, "The study has these values already.")
    return redirect(_next_page(request), slug)


def _next_page(request: HttpRequest) -> str:
    return "study-settings" if request.POST.get("from") == "settings" else "study-history"


def put_values(study: Experiment, values: Mapping[str, Any]) -> None:
    """Set recorded values on a study, unsaved; raises BadInput where they do not fit its present state."""
    defaults = default_texts(shown_task(study.task), study.language)
    parameters, own_texts = dict(study.parameters), dict(study.participant_texts)
    for name, value in values.items():
        if name in FIELDS:
            setattr(study, name, value)
        elif name.startswith(OF_TASK):
            _put(
                parameters,
                name.removeprefix(OF_TASK),
                None if value == defaults.get(name.removeprefix(OF_TASK)) else value,
            )
        else:
            _put(own_texts, name.removeprefix(OF_TEXT).removesuffix("”"), value)
    get_task(study.task).settings(parameters)
    study.parameters, study.participant_texts = parameters, own_texts
    if reasons := answer_problems(study):
        raise BadInput(reasons[0], remedy="Restore or correct the other setting first.")
    if {"reward_minor", "currency"} & values.keys() and study.reward_minor:
        check_pay(study.lab, study.reward_minor, study.currency)


def _put(values: dict[str, Any], name: str, value: Any) -> None:
    """Set a value; None removes it."""
    if value is None:
        values.pop(name, None)
    else:
        values[name] = value
