"""Completion of a session once every trial has its judgment: its code, and the return link."""

import secrets
from typing import Any

from django.db.models import Exists, OuterRef
from django.utils import timezone

from experiments.models import Experiment
from experiments.studies.completion_url import filled_address
from judgments.models import PlatformIdentity, Session, Trial
from judgments.sessions.protocol import Protocol, load_protocol
from judgments.sessions.removal import OVER_QUOTA, SCREENED_OUT

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # without characters that are easily misread
ENDINGS = (OVER_QUOTA, SCREENED_OUT)  # events that say why a session ended before its trials
COMPLETED_FIELDS = ("status", "screen", "completed_at", "completion_code")


class NotFinished(Exception):
    """A trial has no judgment yet."""


def finish(session: Session) -> Session:
    """Complete the session and assign its code; idempotent."""
    changed = complete(session.pk, load_protocol(session.version))
    if changed is None:
        session.refresh_from_db(fields=COMPLETED_FIELDS)
        if not session.is_final:
            raise NotFinished
        return session
    for name, value in changed.items():
        setattr(session, name, value)
    return session


def complete(session_id: int, protocol: Protocol) -> dict[str, Any] | None:
    """Complete a running session whose every trial is answered; returns the changed columns, or None."""
    changed = {
        "status": Session.Status.COMPLETE.value,
        "screen": "debrief",
        "completed_at": timezone.now(),
        "completion_code": protocol.completion_code or new_code(),
    }
    trials = Trial.objects.filter(session=OuterRef("pk"))
    # Race: one conditional update, so that a session is completed once and gets one code.
    finished = Session.objects.filter(
        Exists(trials),
        ~Exists(trials.filter(judgment__isnull=True)),
        pk=session_id,
        status__in=(Session.Status.ACTIVE, Session.Status.ABANDONED),
    )
    return changed if finished.update(**changed) else None


def new_code() -> str:
    """A completion code of eight characters (39 bits) that can be copied by hand."""
    return "".join(secrets.choice(ALPHABET) for _ in range(8))


def session_outcome(session: Session) -> str:
    """Return the outcome of a session, for the return links of a channel; empty while it has not ended."""
    if session.status == Session.Status.COMPLETE or session.completed_at is not None:
        return "complete"
    if session.status == Session.Status.SCREENED_OUT:
        endings = [event for event in session.events.all() if event.kind in ENDINGS]
        if any(event.kind == OVER_QUOTA for event in endings):
            return "over_quota"
        return "screened_out" if any("question" in event.details for event in endings) else "failed_check"
    if session.status == Session.Status.REFUSED:
        return "refused"
    return "left" if session.status == Session.Status.WITHDRAWN else ""


def shown_code(session: Session) -> str:
    """The code to enter on the platform: the campaign's for this outcome, else the session's own.

    A platform accepts its own codes only, so no other one may stand beside the button that leads back.
    """
    of_campaign = session.campaign.completion_code(session_outcome(session)) if session.campaign else ""
    return of_campaign or session.completion_code


def return_link(session: Session, protocol: Protocol) -> str:
    """The address of the button at the end: of the session's channel, else of the study.

    Empty where the study shows a code only, or before the end. ``{participant}`` is the id that came with the
    participant's link, ``{session}`` that of the submission; else the pseudonym and the session's number.
    """
    outcome, template = session_outcome(session), ""
    if session.campaign is not None:
        template = session.campaign.return_template(outcome)
        if outcome == "failed_check":  # most sites do not tell it from any other way of being screened out
            template = template or session.campaign.return_template("screened_out")
    if not template:
        if protocol.completion != Experiment.Completion.REDIRECT or not session.completion_code:
            return ""
        template = protocol.completion_url
    identity = PlatformIdentity.objects.filter(participant=session.participant_id).first()
    submission = session.external_id
    if identity is not None and session.campaign is not None:
        parameter = str(session.campaign.options.get("submission_parameter", ""))
        submission = submission or identity.parameters.get(parameter, "")
    return filled_address(
        template,
        code=session.completion_code,
        participant=identity.external_id if identity else session.participant.pseudonym,
        session=submission or str(session.pk),
    )
