"""The current exclusion plan of a study: pages, figures, exports, releases, reports and the API use it.

Commands and the functions that compute reports exclude nothing unless a plan is named; pages and the API
replace an empty choice by the current plan (:func:`chosen_exclusion`).
"""

from typing import Any

from django.db import transaction

from analysis.errors import BadInput
from analysis.exclusions.plan import Plan
from experiments.models import AuditEntry, Experiment
from releases.gold.plans import CURRENT, NONE, as_plan, current_plan_row, find_plan, find_plan_row
from releases.models import ExclusionPlan


def current_exclusion(experiment: Experiment) -> str:
    """The current plan in the syntax of ``--exclude``, with its version; empty where nothing is excluded."""
    row = current_plan_row(experiment)
    return f"{row.name}@{row.version}" if row is not None else ""


def chosen_exclusion(experiment: Experiment, text: str) -> str:
    """What a page or an API request excludes: the current plan unless it names another one or ``none``."""
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
