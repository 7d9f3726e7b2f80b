"""What was tried before a study opens, by people of the team and by simulation; and what was waived."""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Q

from analysis.errors import BadInput
from experiments.lifecycle import sha256_of, snapshot
from experiments.models import AuditEntry, Experiment, Job

DRY_RUN = "judgments.dry-run"
WAIVED, ASKED_AGAIN = "check waived", "check asked again"
LONGEST_REASON = 300


@dataclass(frozen=True)
class Rehearsals:
    """Complete test sessions, and how many of them were of the study as it is now."""

    by_people: int
    by_people_now: int
    simulated_now: int
    dry_run: Job | None = None  # the newest


def rehearsals(study: Experiment) -> Rehearsals:
    """Count previews and pilot sessions that went through to the end."""
    now, simulated = Q(version__sha256=sha256_of(snapshot(study))), Q(participant__is_simulated=True)
    done = study.sessions.filter(is_test=True, status="complete")
    return Rehearsals(
        dry_run=Job.objects.filter(kind=DRY_RUN, experiment=study).order_by("-pk").first(),
        **done.aggregate(
            by_people=Count("pk", filter=~simulated),
            by_people_now=Count("pk", filter=~simulated & now),
            simulated_now=Count("pk", filter=simulated & now),
        ),
    )


def waivers(study: Experiment) -> dict[str, str]:
    """Checks that the team does without, with the reason; what was noted last holds."""
    noted = study.audit.filter(action__in=[WAIVED, ASKED_AGAIN]).order_by("at", "pk")
    last = {entry.details.get("check", ""): entry for entry in noted}
    return {key: entry.details.get("reason", "") for key, entry in last.items() if entry.action == WAIVED}


@transaction.atomic
def waive(study: Experiment, check: str, *, reason: str, user) -> None:
    """Do without a check, for a reason; the same again changes nothing."""
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise BadInput(
            "a check is waived for a reason.",
            column="reason",
            remedy=f"Write why, in at most {LONGEST_REASON} characters.",
        )
    Experiment.objects.select_for_update().get(pk=study.pk)
    if waivers(study).get(check) != reason:
        _note(study, WAIVED, user, check=check, reason=reason)


@transaction.atomic
def ask_again(study: Experiment, check: str, *, user) -> None:
    """Take a waiver back."""
    Experiment.objects.select_for_update().get(pk=study.pk)
    if check in waivers(study):
        _note(study, ASKED_AGAIN, user, check=check)


def _note(study: Experiment, action: str, user, **details: str) -> None:
    AuditEntry.objects.create(experiment=study, user=user, action=action, details=details)
