"""Removal: participants who leave or are screened out, deletion of answers, and pruning of old previews.

A session that ends early frees its place. Deleted answers leave a count (the tombstone), the pseudonym and
the entitlement to pay.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from experiments.models import AuditEntry, Experiment, ExperimentVersion
from judgments.models import (
    Flag,
    Judgment,
    Participant,
    Payment,
    PlatformIdentity,
    Session,
    SessionEvent,
    Signal,
    Tombstone,
    Trial,
)
from judgments.sessions.protocol import load_protocol


@transaction.atomic
def leave(session: Session) -> bool:
    """End a session at the participant's request; False if it had already ended.

    Where the study has a code for a part, a participant with at least one answer gets it.
    """
    # Race: the conditional update ends a session once, whichever request comes first.
    unfinished = Session.objects.filter(pk=session.pk).exclude(status__in=Session.Status.final())
    code = code_for_part(session)
    if not unfinished.update(status=Session.Status.WITHDRAWN, completion_code=code):
        return False
    SessionEvent.objects.create(session=session, kind="left", details={"screen": session.screen})
    session.status, session.completion_code = Session.Status.WITHDRAWN, code
    return True


def code_for_part(session: Session) -> str:
    """The code of a session that would end now; empty without one in the study or without an answer."""
    code = load_protocol(session.version).partial_code
    return code if code and Judgment.objects.filter(trial__session=session).exists() else ""


HANDED_OVER = "handed_over"


def hand_over(session: Session) -> bool:
    """Close the pages of an ended session on a shared computer, where the next person begins."""
    if not session.is_final:
        return False
    _, is_new = SessionEvent.objects.get_or_create(session=session, kind=HANDED_OVER)
    return is_new


def is_handed_over(session: Session) -> bool:
    """Whether the next person has begun on the computer of this session."""
    return session.events.filter(kind=HANDED_OVER).exists()


SCREENED_OUT, OVER_QUOTA = "screened_out", "over_quota"  # kinds of events


@transaction.atomic
def screen_out(session: Session, *, details: dict[str, Any], kind: str = SCREENED_OUT) -> bool:
    """End a session whose participant the study does not admit; False if it had already ended."""
    unfinished = Session.objects.filter(pk=session.pk).exclude(status__in=Session.Status.final())
    if not unfinished.update(status=Session.Status.SCREENED_OUT):
        return False
    SessionEvent.objects.create(session=session, kind=kind, details=details)
    session.status = Session.Status.SCREENED_OUT
    return True


BY_PARTICIPANT = "deleted by the participant"
ATTEMPTS = 4
ON_REQUEST = "deleted on request"
ANSWERS_DELETED = "answers deleted"  # action in the history


def erase(participant: Participant, *, reason: str, by: Any = None, delete_identity: bool = False) -> int:
    """Delete all answers of a participant and return the number of judgments; idempotent.

    The pseudonym, the consent and its withdrawal, and status, code and pay of each session are retained.
    ``delete_identity`` deletes the platform's id as well, after which pay cannot be attributed to a person.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return _erase(participant, reason, by=by, delete_identity=delete_identity)
        except IntegrityError:  # Race: an answer was stored between query and deletion; start again.
            continue
    return _erase(participant, reason, by=by, delete_identity=delete_identity)


@transaction.atomic
def _erase(participant: Participant, reason: str, *, by: Any, delete_identity: bool) -> int:
    locked = Participant.objects.select_for_update().get(pk=participant.pk)
    if delete_identity:
        PlatformIdentity.objects.filter(participant=locked).delete()
    if locked.erased_at is not None:
        participant.erased_at = locked.erased_at
        return 0
    n_judgments = _erase_sessions(locked, reason)
    locked.background, locked.is_native, locked.erased_at = {}, None, timezone.now()
    locked.save(update_fields=["background", "is_native", "erased_at"])
    Flag.objects.filter(participant=locked).delete()
    AuditEntry.objects.create(
        experiment=locked.experiment,
        user=by,
        action=ANSWERS_DELETED,
        details={"participant": locked.pseudonym, "judgments": n_judgments, "reason": reason},
    )
    participant.erased_at = locked.erased_at
    return n_judgments


def _erase_sessions(participant: Participant, reason: str) -> int:
    """Delete trials, judgments, events and signals of all sessions; returns the number of judgments."""
    # Race: the sessions are locked and ended first, so that an answer being sent finds no active session.
    sessions = list(
        Session.objects.select_for_update().filter(participant=participant).values_list("pk", flat=True)
    )
    affected = Session.objects.filter(pk__in=sessions)
    affected.exclude(status=Session.Status.REFUSED).update(status=Session.Status.WITHDRAWN)
    affected.update(user_agent="", device="", attributes={}, lease_expires_at=None)
    judgments = Judgment.objects.filter(trial__session__in=sessions)
    n_judgments, n_counted = judgments.count(), judgments.filter(trial__session__is_test=False).count()
    SessionEvent.objects.filter(session__in=sessions).delete()
    Signal.objects.filter(session__in=sessions).delete()
    Trial.objects.filter(session__in=sessions).delete()
    if n_sessions := affected.filter(is_test=False).exclude(status=Session.Status.REFUSED).count():
        Tombstone.objects.create(
            experiment=participant.experiment, n_sessions=n_sessions, n_judgments=n_counted, reason=reason
        )
    SessionEvent.objects.bulk_create(SessionEvent(session_id=pk, kind="erased") for pk in sessions)
    return n_judgments


MAX_PRUNED = 500  # versions in one call; the next call continues
PREPARING = {Experiment.Status.DRAFT, Experiment.Status.PILOT}  # their checklist counts the newest preview


def prune_previews(*, older_than: datetime | None = None) -> int:
    """Delete preview versions unused for ``PREVIEW_DAYS`` days and return their number.

    Deletes preview versions only, with the test sessions on their lists. The newest preview of a study
    that is not open yet is retained, because the launch checklist requires it.
    """
    limit = older_than or timezone.now() - timedelta(days=settings.PREVIEW_DAYS)
    sessions = Session.objects.filter(version=OuterRef("pk"))
    in_use = Q(is_test=False) | Q(last_seen_at__gte=limit) | Q(started_at__gte=limit)
    newer = ExperimentVersion.objects.filter(
        experiment=OuterRef("experiment"), is_preview=True, number__gt=OuterRef("number")
    )
    old = ExperimentVersion.objects.filter(is_preview=True, created_at__lt=limit)
    old = old.exclude(Exists(sessions.filter(in_use)))
    old = old.exclude(Exists(Payment.objects.filter(session__version=OuterRef("pk"))))
    old = old.filter(Exists(newer) | ~Q(experiment__status__in=PREPARING))
    return sum(_prune(pk) for pk in old.order_by("pk").values_list("pk", flat=True)[:MAX_PRUNED])


@transaction.atomic
def _prune(version_id: int) -> bool:
    """Delete one preview version with its sessions and their participants."""
    # Race: another worker may have deleted the version since the query.
    version = ExperimentVersion.objects.select_for_update().filter(pk=version_id, is_preview=True).first()
    if version is None:
        return False
    sessions = Session.objects.filter(version=version, is_test=True)
    participants = list(sessions.values_list("participant", flat=True))
    sessions.delete()
    remaining = Session.objects.filter(participant=OuterRef("pk"))
    Participant.objects.filter(pk__in=participants).exclude(Exists(remaining)).delete()
    version.delete()
    return True
