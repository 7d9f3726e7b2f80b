"""A researcher flags a participant by hand, and lifts the flag again; each leaves a trace."""

from django.db import transaction
from django.utils import timezone

from analysis.errors import BadInput
from experiments.models import AuditEntry
from judgments.models import Flag, Participant

LONGEST_REASON = 300


@transaction.atomic
def raise_flag(participant: Participant, reason: str, *, by) -> Flag:
    """Flag a participant; the same reason again while it stands is the same flag."""
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise BadInput(
            "a flag needs a reason.",
            column="reason",
            remedy=f"Write why, in at most {LONGEST_REASON} characters.",
        )
    Participant.objects.select_for_update().get(pk=participant.pk)
    standing = participant.flags.filter(reason=reason, lifted_at__isnull=True).first()
    if standing is not None:
        return standing
    flag = Flag.objects.create(participant=participant, reason=reason, raised_by=by)
    _note(flag, "participant flagged", by)
    return flag


@transaction.atomic
def lift_flag(flag: Flag, *, by) -> None:
    """Lift a flag; lifting it twice changes nothing."""
    lifted = Flag.objects.filter(pk=flag.pk, lifted_at__isnull=True).update(
        lifted_at=timezone.now(), lifted_by=by
    )
    if lifted:
        _note(flag, "flag lifted", by)


def _note(flag: Flag, action: str, by) -> None:
    details = {"participant": flag.participant.pseudonym, "reason": flag.reason}
    AuditEntry.objects.create(experiment=flag.participant.experiment, user=by, action=action, details=details)
