"""Old and new values of every change of a study, kept in its history."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import ForeignKey, Model

from experiments.models import AuditEntry, Design, Experiment
from experiments.studies.languages import default_texts
from experiments.tasks.registry import shown_task

UNRECORDED = {"id", "experiment", "owner", "lab", "created_at", "updated_at", "opened_at", "closed_at"}
Values = dict[str, Any]


def study_values(study: Experiment) -> Values:
    """Return every setting by name, parameters of the task as ``task <name>``, own texts one by one."""
    values = _row_values(study)
    task, stored = shown_task(study.task), values.pop("parameters")
    defaults = {parameter.name: parameter.default for parameter in task.parameters}
    parameters = {**defaults, **default_texts(task, study.language), **stored}
    own_texts = values.pop("participant_texts")
    return {
        **values,
        **{f"task {name}": value for name, value in parameters.items()},
        **{f"text “{message}”": text for message, text in own_texts.items()},
    }


def design_values(design: Design) -> Values:
    """Return every setting of a design by name."""
    return _row_values(design)


def _row_values(row: Model) -> Values:
    return {
        field.name: _name_of(getattr(row, field.name))
        if isinstance(field, ForeignKey)
        else getattr(row, field.name)
        for field in row._meta.concrete_fields
        if field.name not in UNRECORDED
    }


def _name_of(related: Model | None) -> str:
    return str(related) if related else ""


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return old and new value of what differs.

    >>> differences({"title": "A", "seed": 1}, {"title": "B", "seed": 1})
    {'title': {'old': 'A', 'new': 'B'}}
    """
    names = [*before, *(name for name in after if name not in before)]
    return {
        name: {"old": before.get(name), "new": after.get(name)}
        for name in names
        if before.get(name) != after.get(name)
    }


def record_changes(
    study: Experiment,
    user: User | AnonymousUser | None,
    action: str,
    *,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    **details: Any,
) -> bool:
    """Add an entry with old and new values; nothing, and False, where the values are the same."""
    changes = differences(before, after)
    if not changes:
        return False
    AuditEntry.objects.create(
        experiment=study,
        user=user if isinstance(user, User) else None,
        action=action,
        details={**details, "fields": ", ".join(sorted(changes)), "changes": changes},
    )
    return True
