"""Old and new values of every change of a study, kept in its history."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import ForeignKey, Model, Q

from experiments.models import AuditEntry, Design, Experiment
from experiments.studies.languages import default_texts
from experiments.tasks.registry import shown_task

UNRECORDED = {
    "id", "experiment", "owner", "lab", "folder", "created_at", "updated_at", "opened_at", "closed_at",
    "archived_at",
}  # fmt: skip
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
        field.name: _related_name(getattr(row, field.name))
        if isinstance(field, ForeignKey)
        else getattr(row, field.name)
        for field in row._meta.concrete_fields
        if field.name not in UNRECORDED
    }


def _related_name(related: Model | None) -> str:
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


#: What a decision is about, by how its action begins; the first that fits counts, else it is a setting.
SUBJECTS = {
    "money": (
        "pay", "platform call", "campaign", "payments",
        "platform account", "platform token", "platform events",
    ),
    "people": (
        "participant", "flag", "submission", "decision on a submission", "answers deleted",
        "data of a person", "purge date", "platform ids", "personal links", "judgments imported",
        "campaign: demographics",
    ),
    "releases": (
        "release", "publication", "repository", "report", "exclusion plan", "current exclusion plan",
        "preregistered version", "reason of a deviation", "comparison", "scoring", "surprisals",
        "link for reviewers",
    ),
    "team": ("member", "invitation", "moved", "study ", "lab ", "created", "copied"),
}  # fmt: skip
SETTINGS = "settings"


def of_subject(subject: str, subjects: Mapping[str, Sequence[str]] = SUBJECTS) -> Q:
    """Return the condition that an entry is about one of the subjects, or about none for any other name."""
    starts = {name: _starts_with(words) for name, words in subjects.items()}
    if subject not in subjects:
        return ~reduce(or_, starts.values())
    earlier = [condition for name, condition in starts.items() if name == "people" != subject]
    return reduce(and_, (~condition for condition in earlier), starts[subject])


def _starts_with(words: Sequence[str]) -> Q:
    return reduce(or_, (Q(action__startswith=word) for word in words))


def old_and_new(details: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return old and new value of everything that an entry changed, by name.

    >>> old_and_new({"before": "none", "after": "strict"}), old_and_new({"from": "open", "to": "paused"})
    ({'value': ('none', 'strict')}, {'value': ('open', 'paused')})
    """
    for key in ("changes", "values"):
        if isinstance(changes := details.get(key), Mapping):
            return {name: (change.get("old"), change.get("new")) for name, change in changes.items()}
    for old, new in (("before", "after"), ("from", "to")):
        if old in details and new in details:
            return {"value": (details[old], details[new])}
    return {}
