"""Answers are deleted at the person's wish; a count stays, and so does the right to pay."""

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from experiments.models import AuditEntry
from judgments.models import (
    Flag,
    Judgment,
    Participant,
    PlatformIdentity,
    Session,
    SessionEvent,
    Signal,
    Tombstone,
    Trial,
)

BY_PARTICIPANT = "deleted by the participant"
ATTEMPTS = 4
ON_REQUEST = "deleted on request"


def erase(participant: Participant, *, reason: str, by: Any = None, forget: bool = False) -> int:
    """Delete what a person answered; gives the number of judgments. Done twice, it has one effect.

    What stays: the pseudonym, consent and its withdrawal, state, code and pay of each session. ``forget``
    deletes the platform's id as well, after which nobody can tell whose pay it was.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return _erase(participant, reason, by=by, forget=forget)
        except IntegrityError:  # an answer came in between our look and our deletion: look again
            continue
    return _erase(participant, reason, by=by, forget=forget)


@transaction.atomic
def _erase(participant: Participant, reason: str, *, by: Any, forget: bool) -> int:
    held = Participant.objects.select_for_update().get(pk=participant.pk)
    if forget:
        PlatformIdentity.objects.filter(participant=held).delete()
    if held.erased_at is not None:
        participant.erased_at = held.erased_at
        return 0
    n_judgments = _erase_sessions(held, reason)
    held.background, held.is_native, held.erased_at = {}, None, timezone.now()
    held.save(update_fields=["background", "is_native", "erased_at"])
    Flag.objects.filter(participant=held).delete()
    AuditEntry.objects.create(
        experiment=held.experiment,
        user=by,
        action="answers deleted",
        details={"participant": held.pseudonym, "judgments": n_judgments, "reason": reason},
    )
    participant.erased_at = held.erased_at
    return n_judgments


def _erase_sessions(held: Participant, reason: str) -> int:
    """End the sessions first, so that an answer on its way finds no open session."""
    sessions = list(Session.objects.select_for_update().filter(participant=held).values_list("pk", flat=True))
    mine = Session.objects.filter(pk__in=sessions)
    mine.exclude(status=Session.Status.REFUSED).update(status=Session.Status.WITHDRAWN)
    mine.update(user_agent="", device="", attributes={}, lease_expires_at=None)
    judgments = Judgment.objects.filter(trial__session__in=sessions)
    n_judgments, n_counted = judgments.count(), judgments.filter(trial__session__is_test=False).count()
    SessionEvent.objects.filter(session__in=sessions).delete()
    Signal.objects.filter(session__in=sessions).delete()
    Trial.objects.filter(session__in=sessions).delete()
    if n_sessions := mine.filter(is_test=False).exclude(status=Session.Status.REFUSED).count():
        Tombstone.objects.create(
            experiment=held.experiment, n_sessions=n_sessions, n_judgments=n_counted, reason=reason
        )
    SessionEvent.objects.bulk_create(SessionEvent(session_id=pk, kind="erased") for pk in sessions)
    return n_judgments
