"""Lifecycle of a study: draft → pilot → open → paused → closed.

Opening freezes a version (a JSON snapshot and its SHA-256) with its lists; a later change makes the next
version. Each transition may be called twice with one effect.
"""

import hashlib
import json
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from analysis.errors import BadInput
from experiments.lists.build import current_lists, get_design, make_lists
from experiments.lists.extra_trials import EXTRAS, checked_answers
from experiments.lists.rounds import list_rounds
from experiments.models import (
    AuditEntry,
    Design,
    Experiment,
    ExperimentVersion,
    MaterialSet,
)
from experiments.studies.languages import with_default_texts
from experiments.studies.signals import study_closed
from experiments.tasks.registry import get_task, shown_task
from experiments.teams.roles import may_edit
from experiments.webhooks.events import emit

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
    "public_title",
    "participant_texts",
    "completion",
    "completion_url",
    "screen_out_code",
    "partial_code",
    "lab_mode",
    "quiz",
    "quiz_failure",
    "resume_gap_minutes",
    "resume_limit_days",
    "practice_expected",
    "practice_other",
    "consent_statements",
    "contact",
    "closing_questions",
    "closing_comment",
    "context_display",
    "context_ms",
    "context_label",
    "deadline_ms",
    "deadline_bar",
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
LATER_DESIGN_FIELDS = ("rounds", "filler_ratio", "anchor_order", "left_out")  # as the study's later ones
Status = Experiment.Status
STEPS = {
    Status.PILOT: {Status.DRAFT},
    Status.OPEN: {Status.DRAFT, Status.PILOT, Status.PAUSED},
    Status.PAUSED: {Status.PILOT, Status.OPEN},
    Status.CLOSED: {Status.PILOT, Status.OPEN, Status.PAUSED},
}


class NotReady(BadInput):
    """The study cannot open; ``problems`` lists every reason."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(" ".join(problems))


def problems(experiment: Experiment) -> list[str]:
    """Return the reasons that keep the study from opening, as sentences."""
    reasons = _not_collecting(experiment)
    if not experiment.consent.strip():
        reasons.append("It has no consent text.")
    if not experiment.instructions.strip():
        reasons.append("It has no instructions.")
    if experiment.completion == Experiment.Completion.REDIRECT and not experiment.completion_url:
        reasons.append("It returns participants to another site, but has no return link.")
    return [*reasons, *_list_problems(experiment)]


def _not_collecting(experiment: Experiment) -> list[str]:
    if experiment.origin == Experiment.Origin.IMPORTED:
        return ["Its judgments were imported: it cannot take participants."]
    return []


def _list_problems(experiment: Experiment) -> list[str]:
    """Reasons that keep its lists from being built."""
    try:
        get_task(experiment.task).settings(experiment.parameters)
        current_lists(experiment)
    except BadInput as error:
        return [str(error)[:1].upper() + str(error)[1:]]
    return answer_problems(experiment)


def answer_problems(experiment: Experiment) -> list[str]:
    """Return for each kind of trials the first right answer that is impossible, as after another task."""
    task, reasons = get_task(experiment.task), []
    for name, kind in EXTRAS.items():
        rows = getattr(experiment, name)
        try:
            checked_answers(rows, task=task, settings=experiment.parameters, kind=kind)
        except BadInput as error:
            reasons.append(str(error)[:1].upper() + str(error)[1:])
    return reasons


def snapshot(experiment: Experiment) -> dict[str, Any]:
    """Return everything that decides what a participant sees, as plain JSON values."""
    design, materials = get_design(experiment), experiment.materials
    return {
        **{name: getattr(experiment, name) for name in FROZEN_FIELDS},
        "parameters": with_default_texts(
            shown_task(experiment.task), experiment.parameters, language=experiment.language
        ),
        **_changed_from_default(experiment, LATER_FIELDS),
        "design": {
            **{name: getattr(design, name) for name in DESIGN_FIELDS},
            **_changed_from_default(design, LATER_DESIGN_FIELDS),
            # Versions frozen before this field have the list's order, which is not the default.
            **({"order": design.order} if design.order != Design.Order.LIST else {}),
        },
        "materials": _identity(materials) if materials else None,
        **({"fillers": _identity(design.filler_materials)} if design.filler_materials else {}),
    }


def _identity(materials: MaterialSet) -> dict[str, str]:
    return {"name": materials.name, "language": materials.language, "checksum": materials.checksum}


def _changed_from_default(row: Experiment | Design, names: tuple[str, ...]) -> dict[str, Any]:
    fields = {field.name: field for field in row._meta.fields}
    defaults = {name: fields[name].get_default() for name in names}
    return {name: value for name, default in defaults.items() if (value := getattr(row, name)) != default}


def document_sha256(document: dict[str, Any]) -> str:
    """Return the SHA-256 of a JSON document in a canonical form."""
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@transaction.atomic
def freeze(experiment: Experiment, *, is_preview: bool = False) -> ExperimentVersion:
    """Store the present state of the study as a version with its lists; the current one when nothing changed.

    A preview has its own lists and is not a version of the study.
    """
    # Two requests that freeze at once would make two versions of one number.
    Experiment.objects.select_for_update().get(pk=experiment.pk)
    document = snapshot(experiment)
    versions = experiment.versions.filter(is_preview=is_preview).order_by("-number")
    checksum, current = document_sha256(document), versions.first()
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
    """Freeze the study for a preview, in any status; texts may still be missing."""
    if reasons := [*_not_collecting(experiment), *_list_problems(experiment)]:
        raise NotReady(reasons)
    return freeze(experiment, is_preview=True)


def start_pilot(experiment: Experiment, user: Any = None) -> Experiment:
    """Admit participants whose sessions do not count."""
    return _move(experiment, Status.PILOT, user=user)


def open_study(experiment: Experiment, user: Any = None) -> Experiment:
    """Admit participants."""
    return _move(experiment, Status.OPEN, user=user)


def pause(experiment: Experiment, user: Any = None) -> Experiment:
    """Admit no new participants; sessions in progress may finish."""
    return _move(experiment, Status.PAUSED, user=user)


def close(experiment: Experiment, user: Any = None) -> Experiment:
    """End the study."""
    return _move(experiment, Status.CLOSED, user=user)


@transaction.atomic
def start_round(experiment: Experiment, number: int, user: Any = None) -> Experiment:
    """Admit participants to a round; sessions in progress keep their lists.

    A study that admits participants is frozen again first, so that the round's lists are those of the present
    design.
    """
    _require_editor(experiment, user)
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    n_rounds = len(list_rounds(get_design(locked), locked))
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
    """Change the status: permission, guard, freezing, status, audit; no effect when repeated."""
    _require_editor(experiment, user)
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    if locked.archived_at is not None:
        raise BadInput("the study is in the archive.", remedy="Take it back from the archive first.")
    if locked.status != status:
        if locked.status not in STEPS[status]:
            raise BadInput(
                f"the study is {locked.get_status_display()} and cannot become {status.label}.",
                remedy=_next_statuses(locked.status),
            )
        details = {"from": locked.status, "to": str(status)}
        _set_status(locked, status)
        AuditEntry.objects.create(experiment=locked, user=user, action="status", details=details)
        emit(locked, "study.status_changed", details)
    elif status in Status.taking_participants():
        _freeze_if_ready(locked)
    experiment.refresh_from_db()
    return experiment


def _set_status(locked: Experiment, status: Experiment.Status) -> None:
    if status in Status.taking_participants():
        _freeze_if_ready(locked)
    now = timezone.now()
    if status == Status.OPEN and locked.opened_at is None:
        locked.opened_at = now
    if status == Status.CLOSED:
        locked.closed_at = now
    locked.status = status
    locked.save(update_fields=["status", "opened_at", "closed_at", "updated_at"])
    if status == Status.CLOSED:
        study_closed.send(Experiment, study=locked)


def _freeze_if_ready(locked: Experiment) -> None:
    if reasons := problems(locked):
        raise NotReady(reasons)
    freeze(locked)


def _next_statuses(status: str) -> str:
    """Name the statuses that may follow, as a sentence."""
    after = [str(target.label) for target, sources in STEPS.items() if status in sources]
    return f"From here it can become {' or '.join(after)}." if after else "A closed study stays closed."


def _require_editor(experiment: Experiment, user: Any) -> None:
    """Owners, editors and staff may change a study; a command line (no user) is trusted."""
    if user is not None and not may_edit(user, experiment):
        raise PermissionDenied
