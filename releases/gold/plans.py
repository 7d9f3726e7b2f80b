"""Exclusion plans: stored as versions, found by name, applied as masks, and the current one of a study."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from analysis.errors import BadInput, UnknownName
from analysis.exclusions.apply import Excluded
from analysis.exclusions.criteria import CRITERIA
from analysis.exclusions.plan import Plan, parse_plan
from experiments.lists.rounds import check_round
from experiments.models import AuditEntry, Experiment, TrialKind
from judgments.frames.build import judgment_frame
from judgments.frames.measurements import evidence_frame
from judgments.models import Judgment
from releases.models import Exclusion, ExclusionPlan

CURRENT, NONE = "current", "none"  # choices that are no names of plans


def find_plan(experiment: Experiment, text: str) -> Plan:
    """Parse ``--exclude``: a stored name, ``name@version``, ``current``, or a list of built-in steps."""
    row = find_plan_row(experiment, text)
    return as_plan(row) if row is not None else _built_in(experiment, text)


def find_plan_row(experiment: Experiment, text: str) -> ExclusionPlan | None:
    """The stored plan of that name (newest version, or the version after ``@``), None for built-in steps.

    ``current`` is the study's current plan, and refused if it has none.
    """
    name, _, version = text.strip().partition("@")
    if (name, version) == (CURRENT, ""):
        row = current_plan_row(experiment)
        if row is None:
            raise BadInput(
                "the study has no current exclusion plan.",
                column="exclude",
                remedy="Choose one on the page Exclusions, or name a plan or steps here.",
            )
        return row
    versions = ExclusionPlan.objects.filter(experiment=experiment, name=name).order_by("-version")
    if version:
        row = versions.filter(version=int(version)).first() if version.isdecimal() else None
        if row is None:
            raise UnknownName("exclusion plan", text, stored_names(experiment))
        return row
    return versions.first()


def current_plan_row(experiment: Experiment) -> ExclusionPlan | None:
    """The study's current plan; None where nothing is excluded."""
    rows = ExclusionPlan.objects.filter(experiment=experiment, is_current=True)
    return rows.select_related("author").first()


def judgments_for(
    experiment: Experiment, plan: Plan, *, narrow: bool = False, round_number: int | None = None
) -> pd.DataFrame:
    """The judgments a plan is applied to, with browser measurements if one of its steps reads them.

    ``narrow`` leaves out columns that neither agreement nor a plan without signals reads; ``round_number``
    restricts to one round, as if it were a study of its own.
    """
    if round_number is not None:
        check_round(experiment, round_number)
    judgments = evidence_frame(experiment) if plan.has_signals else judgment_frame(experiment, narrow=narrow)
    if round_number is None:
        return judgments
    return judgments[judgments["round"] == round_number].reset_index(drop=True)


def stored_names(experiment: Experiment) -> list[str]:
    """Names of the study's plans."""
    names = (
        ExclusionPlan.objects.filter(experiment=experiment).order_by("name").values_list("name", flat=True)
    )
    return list(dict.fromkeys(names))


def as_plan(row: ExclusionPlan) -> Plan:
    """The plan of a row; refused if the stored hash does not match its steps."""
    return Plan.from_dict(
        {
            "name": row.name,
            "version": row.version,
            "author": str(row.author) if row.author else "",
            "created_at": f"{row.created_at:%Y-%m-%dT%H:%M:%SZ}",
            "locked_before_first_response": row.locked_before_first_response,
            "steps": row.steps,
            "sha256": row.sha256,
        }
    )


@transaction.atomic
def write_plan(
    experiment: Experiment, name: str, *, steps: Sequence[dict[str, Any]], user: Any = None
) -> ExclusionPlan:
    """Store a plan or its next version; identical steps return the current version."""
    slug = slugify(name)
    if not slug or slug in CRITERIA or slug in (CURRENT, NONE):
        remedy = "Use letters, digits and hyphens, and not the name of a step, 'current' or 'none'."
        raise BadInput(f"{name!r} cannot name a plan.", column="name", remedy=remedy)
    if not steps:
        raise BadInput("a plan needs at least one step.", column="steps", remedy="Choose what excludes.")
    newest = _lock(experiment, slug)
    version = newest.version + 1 if newest else 1
    plan = Plan.from_dict({"name": slug, "version": version, "steps": list(steps)})
    if newest is not None and newest.sha256 == plan.sha256:
        return newest
    row = _create(experiment, plan, user=user)
    details = {"plan": slug, "version": version, "sha256": plan.sha256}
    AuditEntry.objects.create(
        experiment=experiment, user=user, action="exclusion plan written", details=details
    )
    return row


def write_mask(row: ExclusionPlan, excluded: Excluded) -> int:
    """Replace the plan's mask by what it removes from the current judgments; returns the number of rows."""
    rows = [*_session_rows(row, excluded), *_trial_rows(row, excluded)]
    with transaction.atomic():
        ExclusionPlan.objects.select_for_update().get(pk=row.pk)
        Exclusion.objects.filter(plan=row).delete()
        Exclusion.objects.bulk_create(rows, batch_size=1000)
    return len(rows)


def has_responses(experiment: Experiment) -> bool:
    """Whether any target trial has been answered."""
    return Judgment.objects.filter(
        trial__session__experiment=experiment, trial__session__is_test=False, trial__kind=TrialKind.TARGET
    ).exists()


def _built_in(experiment: Experiment, text: str) -> Plan:
    try:
        return parse_plan(text)
    except UnknownName:
        options = [*stored_names(experiment), *sorted(CRITERIA)]
        steps = [step.strip() for step in text.split(",")]
        unknown = next(step for step in steps if step not in CRITERIA)
        raise UnknownName("exclusion plan or step", unknown, options) from None


def _lock(experiment: Experiment, name: str) -> ExclusionPlan | None:
    """The newest version, with the study's row locked."""
    # Race: two editors who save at once make two versions, one after the other.
    Experiment.objects.select_for_update().get(pk=experiment.pk)
    return ExclusionPlan.objects.filter(experiment=experiment, name=name).order_by("-version").first()


def _create(experiment: Experiment, plan: Plan, *, user: Any) -> ExclusionPlan:
    try:
        with transaction.atomic():
            return ExclusionPlan.objects.create(
                experiment=experiment,
                name=plan.name,
                version=plan.version,
                steps=[step.as_dict() for step in plan.steps],
                sha256=plan.sha256,
                author=user,
                locked_before_first_response=not has_responses(experiment),
            )
    except IntegrityError as error:
        raise BadInput(f"plan {plan.name!r} was changed by another user.", remedy="Reload it.") from error


def _session_rows(row: ExclusionPlan, excluded: Excluded) -> list[Exclusion]:
    """One row per session of which everything is excluded."""
    sessions = excluded.mask[~_by_judgment(excluded)].drop_duplicates("session")
    return [
        Exclusion(plan=row, session_id=int(session), step=step[:60], reason=reason[:300])
        for session, step, reason in sessions[["session", "step", "reason"]].itertuples(index=False)
    ]


def _trial_rows(row: ExclusionPlan, excluded: Excluded) -> list[Exclusion]:
    trials = excluded.mask[_by_judgment(excluded)]
    return [
        Exclusion(plan=row, session_id=int(session), trial_id=int(trial), step=step[:60], reason=reason[:300])
        for session, trial, step, reason in trials[["session", "trial", "step", "reason"]].itertuples(
            index=False
        )
    ]


def _by_judgment(excluded: Excluded) -> pd.Series:
    scopes = {step.name: step.scope for step in excluded.plan.steps}
    return excluded.mask["step"].map(scopes).eq("judgment").astype(bool)


def current_exclusion(experiment: Experiment) -> str:
    """The current plan in the syntax of ``--exclude``, with its version; empty where nothing is excluded."""
    row = current_plan_row(experiment)
    return f"{row.name}@{row.version}" if row is not None else ""


def chosen_exclusion(experiment: Experiment, text: str) -> str:
    """Exclusions of a page or an API request: the current plan unless it names another one or ``none``."""
    choice = text.strip()
    if choice in ("", CURRENT):
        return current_exclusion(experiment)
    return "" if choice == NONE else choice


def current_plan(experiment: Experiment) -> Plan:
    """The current plan; one without steps where none was chosen."""
    row = current_plan_row(experiment)
    return as_plan(row) if row is not None else Plan(NONE)


@transaction.atomic
def set_current_plan(experiment: Experiment, text: str, *, user: Any = None) -> ExclusionPlan | None:
    """Make a stored plan (``name`` or ``name@version``) the current one; ``none``: nothing is excluded."""
    # Race: the lock on the study serializes two editors, so that only one plan is current.
    Experiment.objects.select_for_update().get(pk=experiment.pk)
    before, row = current_plan_row(experiment), None
    if text != NONE:
        row = find_plan_row(experiment, text)
        if row is None:
            find_plan(experiment, text)  # an unknown name is refused with the existing names
            raise BadInput(
                f"{text!r} is not a stored plan.", column="plan", remedy="Save these steps as a plan first."
            )
    if row == before:
        return row
    ExclusionPlan.objects.filter(experiment=experiment, is_current=True).update(is_current=False)
    if row is not None:
        row.is_current = True
        row.save(update_fields=["is_current"])
    details = {"before": str(before or NONE), "after": str(row or NONE)}
    AuditEntry.objects.create(
        experiment=experiment, user=user, action="current exclusion plan changed", details=details
    )
    return row
