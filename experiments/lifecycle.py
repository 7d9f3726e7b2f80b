"""A study's life: draft → pilot → open → paused → closed, with its guards.

Opening freezes a version (a JSON snapshot and its SHA-256) with its lists; a later change makes the next
version. Each step may be called twice with one effect.
"""

import hashlib
import json
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from analysis.errors import BadInput
from experiments.languages import worded
from experiments.lists import design_of, make_lists, planned
from experiments.models import (
    AuditEntry,
    Design,
    Experiment,
    ExperimentVersion,
    MaterialSet,
    Membership,
)
from experiments.rounds import rounds_of
from judgments.tasks.registry import get_task, shown_task

FROZEN_FIELDS = (
    "slug",
    "title",
    "task",
    "parameters",
    "language",
    "consent",
    "instructions",
    "questionnaire",
    "practice",
    "anchors",
    "catch_trials",
    "debrief",
    "completion_code",
    "seed",
)
LATER_FIELDS = (  # stored where they differ from their default, so that older versions keep their checksum
    "completion",
    "completion_url",
    "screen_out_code",
    "quiz",
    "quiz_failure",
    "resume_gap_minutes",
    "resume_limit_days",
)
DESIGN_FIELDS = (
    "kind",
    "n_lists",
    "items_per_paradigm",
    "catch_per_list",
    "trials_per_block",
    "constraints",
    "seed",
)
LATER_DESIGN_FIELDS = ("rounds", "filler_ratio", "anchor_order")  # as the study's later ones
Status = Experiment.Status
STEPS = {
    Status.PILOT: {Status.DRAFT},
    Status.OPEN: {Status.DRAFT, Status.PILOT, Status.PAUSED},
    Status.PAUSED: {Status.PILOT, Status.OPEN},
    Status.CLOSED: {Status.PILOT, Status.OPEN, Status.PAUSED},
}


class NotReady(BadInput):
    """The study lacks something it needs to open; ``problems`` lists all of it."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(" ".join(problems))


def problems(experiment: Experiment) -> list[str]:
    """What keeps the study from opening, as sentences; empty when nothing does."""
    found = _not_collecting(experiment)
    if not experiment.consent.strip():
        found.append("It has no consent text.")
    if not experiment.instructions.strip():
        found.append("It has no instructions.")
    if experiment.completion == Experiment.Completion.REDIRECT and not experiment.completion_url:
        found.append("It leads people back to another site, but has no address for it.")
    return [*found, *_without_trials(experiment)]


def _not_collecting(experiment: Experiment) -> list[str]:
    if experiment.origin == Experiment.Origin.IMPORTED:
        return ["Its judgments come from elsewhere: it cannot take participants."]
    return []


def _without_trials(experiment: Experiment) -> list[str]:
    """What keeps its lists from being made."""
    try:
        get_task(experiment.task).settings(experiment.parameters)
        planned(experiment)
    except BadInput as error:
        return [str(error)[:1].upper() + str(error)[1:]]
    return []


def snapshot(experiment: Experiment) -> dict[str, Any]:
    """Everything that decides what a participant sees, as plain JSON values."""
    design, materials = design_of(experiment), experiment.materials
    return {
        **{name: getattr(experiment, name) for name in FROZEN_FIELDS},
        "parameters": worded(
            shown_task(experiment.task), experiment.parameters, language=experiment.language
        ),
        **_changed_from_default(experiment, LATER_FIELDS),
        "design": {
            **{name: getattr(design, name) for name in DESIGN_FIELDS},
            **_changed_from_default(design, LATER_DESIGN_FIELDS),
        },
        "materials": _named(materials) if materials else None,
        **({"fillers": _named(design.filler_materials)} if design.filler_materials else {}),
    }


def _named(materials: MaterialSet) -> dict[str, str]:
    return {"name": materials.name, "language": materials.language, "checksum": materials.checksum}


def _changed_from_default(row: Experiment | Design, names: tuple[str, ...]) -> dict[str, Any]:
    defaults = {name: row._meta.get_field(name).get_default() for name in names}
    return {name: value for name, default in defaults.items() if (value := getattr(row, name)) != default}


def sha256_of(document: dict[str, Any]) -> str:
    """SHA-256 of a JSON document in one canonical form."""
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@transaction.atomic
def freeze(experiment: Experiment, *, is_preview: bool = False) -> ExperimentVersion:
    """Keep the study as it is now, with its lists; the present version when nothing has changed.

    What is kept for a preview has lists of its own and is no version of the study.
    """
    Experiment.objects.select_for_update().get(pk=experiment.pk)
    document = snapshot(experiment)
    kept = experiment.versions.filter(is_preview=is_preview).order_by("-number")
    checksum, current = sha256_of(document), kept.first()
    if current is None or current.sha256 != checksum:
        current = ExperimentVersion.objects.create(
            experiment=experiment,
            number=current.number + 1 if current else 1,
            snapshot=document,
            sha256=checksum,
            is_preview=is_preview,
        )
    make_lists(current)
    return current


def freeze_preview(experiment: Experiment) -> ExperimentVersion:
    """Keep the study as it is now for a preview, in whatever state; texts may still be missing."""
    if found := [*_not_collecting(experiment), *_without_trials(experiment)]:
        raise NotReady(found)
    return freeze(experiment, is_preview=True)


def start_pilot(experiment: Experiment, user: Any = None) -> Experiment:
    """Take participants whose sessions do not count."""
    return _move(experiment, Status.PILOT, user=user)


def open_study(experiment: Experiment, user: Any = None) -> Experiment:
    """Take participants."""
    return _move(experiment, Status.OPEN, user=user)


def pause(experiment: Experiment, user: Any = None) -> Experiment:
    """Take no new participants; those in a session may finish."""
    return _move(experiment, Status.PAUSED, user=user)


def close(experiment: Experiment, user: Any = None) -> Experiment:
    """End the study."""
    return _move(experiment, Status.CLOSED, user=user)


@transaction.atomic
def start_round(experiment: Experiment, number: int, user: Any = None) -> Experiment:
    """Let a round take participants; who is in a session goes on with the lists they have.

    A study that takes participants is frozen again first, so that the round's lists are those of the design
    as it is now.
    """
    _require_editor(experiment, user)
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    n_rounds = len(rounds_of(design_of(locked), locked))
    if not 1 <= number <= n_rounds:
        raise BadInput(f"there is no round {number}.", remedy=f"The design has {n_rounds}.")
    if locked.status in {Status.DRAFT, Status.CLOSED}:
        raise BadInput(
            f"the study is {locked.get_status_display()}.",
            remedy="A round starts while it is open or paused.",
        )
    if locked.current_round != number:
        if locked.status in Status.taking_participants():
            _freeze_if_ready(locked)
        details = {"from": locked.current_round, "to": number}
        locked.current_round = number
        locked.save(update_fields=["current_round", "updated_at"])
        AuditEntry.objects.create(experiment=locked, user=user, action="round", details=details)
    experiment.refresh_from_db()
    return experiment


@transaction.atomic
def _move(experiment: Experiment, status: Experiment.Status, *, user: Any) -> Experiment:
    """One step: permission, guard, freezing, state, audit; nothing when it was taken before."""
    _require_editor(experiment, user)
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    if locked.status != status:
        if locked.status not in STEPS[status]:
            raise BadInput(
                f"the study is {locked.get_status_display()} and cannot become {status.label}.",
                remedy=_possible(locked.status),
            )
        details = {"from": locked.status, "to": str(status)}
        _take(locked, status)
        AuditEntry.objects.create(experiment=locked, user=user, action="status", details=details)
    elif status in Status.taking_participants():
        _freeze_if_ready(locked)
    experiment.refresh_from_db()
    return experiment


def _take(locked: Experiment, status: Experiment.Status) -> None:
    if status in Status.taking_participants():
        _freeze_if_ready(locked)
    now = timezone.now()
    if status == Status.OPEN and locked.opened_at is None:
        locked.opened_at = now
    if status == Status.CLOSED:
        locked.closed_at = now
    locked.status = status
    locked.save(update_fields=["status", "opened_at", "closed_at", "updated_at"])


def _freeze_if_ready(locked: Experiment) -> None:
    if found := problems(locked):
        raise NotReady(found)
    freeze(locked)


def _possible(status: str) -> str:
    """What may come after a state, as a sentence."""
    after = [str(target.label) for target, sources in STEPS.items() if status in sources]
    return f"From here it can become {' or '.join(after)}." if after else "A closed study stays closed."


def _require_editor(experiment: Experiment, user: Any) -> None:
    """Owners, editors and staff act; a command line (no user) is trusted."""
    if user is None or user.is_staff or experiment.owner_id == user.pk:
        return
    editing = Membership.objects.filter(experiment=experiment, user=user, role__in=Membership.Role.editing())
    if not editing.exists():
        raise PermissionDenied
