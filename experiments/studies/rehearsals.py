"""Trial runs of a study before it opens, by the team and simulated, and waived checks."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, Job
from experiments.studies.lifecycle import document_sha256, snapshot

DRY_RUN = "judgments.dry-run"
WAIVED, ASKED_AGAIN = "check waived", "check asked again"
LONGEST_REASON = 300


@dataclass(frozen=True)
class Rehearsals:
    """Complete test sessions, and how many of them used the present version of the study."""

    by_people: int
    by_people_now: int
    simulated_now: int
    dry_run: Job | None = None  # the newest


def rehearsals(study: Experiment) -> Rehearsals:
    """Count complete preview and pilot sessions."""
    now, simulated = Q(version__sha256=document_sha256(snapshot(study))), Q(participant__is_simulated=True)
    complete = study.sessions.filter(is_test=True, status="complete")
    return Rehearsals(
        dry_run=Job.objects.filter(kind=DRY_RUN, experiment=study).order_by("-pk").first(),
        **complete.aggregate(
            by_people=Count("pk", filter=~simulated),
            by_people_now=Count("pk", filter=~simulated & now),
            simulated_now=Count("pk", filter=simulated & now),
        ),
    )


def waivers(study: Experiment) -> dict[str, str]:
    """Return waived checks with their reasons; the last entry of a check counts."""
    entries = study.audit.filter(action__in=[WAIVED, ASKED_AGAIN]).order_by("at", "pk")
    last = {entry.details.get("check", ""): entry for entry in entries}
    return {key: entry.details.get("reason", "") for key, entry in last.items() if entry.action == WAIVED}


@transaction.atomic
def waive(study: Experiment, check: str, *, reason: str, user: User) -> None:
    """Waive a check for a reason; the same again changes nothing."""
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise BadInput(
            "a waived check needs a reason.",
            column="reason",
            remedy=f"Write why, in at most {LONGEST_REASON} characters.",
        )
    Experiment.objects.select_for_update().get(pk=study.pk)
    if waivers(study).get(check) != reason:
        _note(study, WAIVED, user, check=check, reason=reason)


@transaction.atomic
def ask_again(study: Experiment, check: str, *, user: User) -> None:
    """Withdraw a waiver."""
    Experiment.objects.select_for_update().get(pk=study.pk)
    if check in waivers(study):
        _note(study, ASKED_AGAIN, user, check=check)


def _note(study: Experiment, action: str, user: User, **details: str) -> None:
    AuditEntry.objects.create(experiment=study, user=user, action=action, details=details)
