"""Manual flags on participants, set and lifted, each with an audit entry."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment
from judgments.models import Flag, Participant

LONGEST_REASON = 300
BATCH = 500


@transaction.atomic
def raise_flag(participant: Participant, reason: str, *, by: User) -> Flag:
    """Flag a participant; an active flag with the same reason is returned instead of a second one."""
    reason = _check_reason(reason)
    # Race: the lock makes a second click wait, so that it finds the flag of the first
    Participant.objects.select_for_update().get(pk=participant.pk)
    active = participant.flags.filter(reason=reason, lifted_at__isnull=True).first()
    if active is not None:
        return active
    flag = Flag.objects.create(participant=participant, reason=reason, raised_by=by)
    _note(flag, "participant flagged", by)
    return flag


@transaction.atomic
def raise_flags(study: Experiment, participants: QuerySet[Participant], reason: str, *, by: User) -> int:
    """Flag those of the participants without an active flag of this reason; return their number."""
    reason = _check_reason(reason)
    of_study = Participant.objects.filter(pk__in=participants.values("pk"), experiment=study)
    # Race: a second click waits for the locks and finds the flags of the first
    locked = list(of_study.order_by("pk").select_for_update())
    flagged = Flag.objects.filter(participant__experiment=study, reason=reason, lifted_at__isnull=True)
    already = set(flagged.values_list("participant_id", flat=True))
    new = [
        Flag(participant=participant, reason=reason, raised_by=by)
        for participant in locked
        if participant.pk not in already
    ]
    Flag.objects.bulk_create(new, batch_size=BATCH)
    _note_all(study, new, "participant flagged", by)
    return len(new)


@transaction.atomic
def lift_flags(study: Experiment, participants: QuerySet[Participant], *, by: User) -> int:
    """Lift every active flag of the participants; return the number of participants that had one."""
    flags = Flag.objects.filter(participant__in=participants.values("pk"), participant__experiment=study)
    # Race: a second click waits for the locks and finds no active flag
    active = list(
        flags.filter(lifted_at__isnull=True)
        .select_related("participant")
        .order_by("pk")
        .select_for_update(of=("self",))
    )
    for flag in active:
        flag.lifted_at, flag.lifted_by = timezone.now(), by
    Flag.objects.bulk_update(active, ["lifted_at", "lifted_by"], batch_size=BATCH)
    _note_all(study, active, "flag lifted", by)
    return len({flag.participant_id for flag in active})


@transaction.atomic
def lift_flag(flag: Flag, *, by: User) -> None:
    """Lift a flag; lifting it twice changes nothing."""
    # Race: of two requests only the first matches a row and writes the audit entry
    lifted = Flag.objects.filter(pk=flag.pk, lifted_at__isnull=True).update(
        lifted_at=timezone.now(), lifted_by=by
    )
    if lifted:
        _note(flag, "flag lifted", by)


def _check_reason(reason: str) -> str:
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise BadInput(
            "a flag needs a reason.",
            column="reason",
            remedy=f"Write why, in at most {LONGEST_REASON} characters.",
        )
    return reason


def _note(flag: Flag, action: str, by: User) -> None:
    _note_all(flag.participant.experiment, [flag], action, by)


def _note_all(study: Experiment, flags: list[Flag], action: str, by: User) -> None:
    """Add one entry of the history for each flag."""
    entries = (
        AuditEntry(
            experiment=study,
            user=by,
            action=action,
            details={"participant": flag.participant.pseudonym, "reason": flag.reason},
        )
        for flag in flags
    )
    AuditEntry.objects.bulk_create(entries, batch_size=BATCH)
