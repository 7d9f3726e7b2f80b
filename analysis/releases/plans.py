"""Exclusion plans as rows: written as versions, found by name, applied as masks."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from analysis.errors import BadInput, UnknownName
from analysis.exclusions.apply import Excluded
from analysis.exclusions.criteria import CRITERIA
from analysis.exclusions.plan import Plan, parse_plan
from analysis.releases.models import Exclusion, ExclusionPlan
from experiments.models import AuditEntry, Experiment, TrialKind
from experiments.rounds import check_round
from judgments.evidence import evidence_frame
from judgments.frames import judgment_frame
from judgments.models import Judgment


def find_plan(experiment: Experiment, text: str) -> Plan:
    """The plan meant by ``--exclude``: a stored name, ``name@version``, or a comma list of built-in steps."""
    row = find_plan_row(experiment, text)
    return as_plan(row) if row is not None else _built_in(experiment, text)


def find_plan_row(experiment: Experiment, text: str) -> ExclusionPlan | None:
    """The stored plan of that name (newest version, or the one after ``@``), None for built-in steps."""
    name, _, version = text.strip().partition("@")
    versions = ExclusionPlan.objects.filter(experiment=experiment, name=name).order_by("-version")
    if version:
        row = versions.filter(version=int(version)).first() if version.isdecimal() else None
        if row is None:
            raise UnknownName("exclusion plan", text, stored_names(experiment))
        return row
    return versions.first()


def judgments_for(
    experiment: Experiment, plan: Plan, *, narrow: bool = False, round_number: int | None = None
) -> pd.DataFrame:
    """The judgments a plan is applied to: with what the browser noted, where a step reads it.

    ``narrow`` leaves out what neither agreement nor a plan without signals reads; ``round_number`` gives one
    round, as if it were a study of its own.
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
    """The plan a row stores; a row that was changed behind our back is refused by its hash."""
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
    experiment: Experiment, name: str, *, steps: Sequence[dict[str, Any]], user=None
) -> ExclusionPlan:
    """Store a plan, or the next version of it; the same steps again give the version that stands."""
    slug = slugify(name)
    if not slug or slug in CRITERIA:
        remedy = "Give it a name of letters, digits and hyphens that is not a step's."
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
    """Replace the plan's mask by what it removes from today's judgments; gives the number of rows."""
    rows = [*_session_rows(row, excluded), *_trial_rows(row, excluded)]
    with transaction.atomic():
        ExclusionPlan.objects.select_for_update().get(pk=row.pk)
        Exclusion.objects.filter(plan=row).delete()
        Exclusion.objects.bulk_create(rows, batch_size=1000)
    return len(rows)


def has_responses(experiment: Experiment) -> bool:
    """Whether any target was answered."""
    return Judgment.objects.filter(
        trial__session__experiment=experiment, trial__session__is_test=False, trial__kind=TrialKind.TARGET
    ).exists()


def _built_in(experiment: Experiment, text: str) -> Plan:
    try:
        return parse_plan(text)
    except UnknownName:
        known = [*stored_names(experiment), *sorted(CRITERIA)]
        words = [word.strip() for word in text.split(",")]
        unknown = next(word for word in words if word not in CRITERIA)
        raise UnknownName("exclusion plan or step", unknown, known) from None


def _lock(experiment: Experiment, name: str) -> ExclusionPlan | None:
    """The newest version; the study's row is locked so that two editors make two versions."""
    Experiment.objects.select_for_update().get(pk=experiment.pk)
    return ExclusionPlan.objects.filter(experiment=experiment, name=name).order_by("-version").first()


def _create(experiment: Experiment, plan: Plan, *, user) -> ExclusionPlan:
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
        raise BadInput(f"plan {plan.name!r} was changed by someone else.", remedy="Look again.") from error


def _session_rows(row: ExclusionPlan, excluded: Excluded) -> list[Exclusion]:
    """One row per session whose whole unit failed."""
    whole = excluded.mask[~_by_judgment(excluded)].drop_duplicates("session")
    return [
        Exclusion(plan=row, session_id=int(session), step=step[:60], reason=reason[:300])
        for session, step, reason in whole[["session", "step", "reason"]].itertuples(index=False)
    ]


def _trial_rows(row: ExclusionPlan, excluded: Excluded) -> list[Exclusion]:
    single = excluded.mask[_by_judgment(excluded)]
    return [
        Exclusion(plan=row, session_id=int(session), trial_id=int(trial), step=step[:60], reason=reason[:300])
        for session, trial, step, reason in single[["session", "trial", "step", "reason"]].itertuples(
            index=False
        )
    ]


def _by_judgment(excluded: Excluded) -> pd.Series:
    scopes = {step.name: step.scope for step in excluded.plan.steps}
    return excluded.mask["step"].map(scopes).eq("judgment").astype(bool)
