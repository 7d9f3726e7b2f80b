"""A participant stops and leaves, or is not who the study is for; the list slot is free again."""

from typing import Any

from django.db import transaction

from judgments.models import Session, SessionEvent


@transaction.atomic
def leave(session: Session) -> bool:
    """End an unfinished session at the participant's wish; False when it had ended already."""
    open_ones = Session.objects.filter(pk=session.pk).exclude(status__in=Session.Status.final())
    if not open_ones.update(status=Session.Status.WITHDRAWN):
        return False
    SessionEvent.objects.create(session=session, kind="left", details={"screen": session.screen})
    session.status = Session.Status.WITHDRAWN
    return True


@transaction.atomic
def screen_out(session: Session, *, details: dict[str, Any]) -> bool:
    """End an unfinished session kindly, because the study does not fit; False when it had ended already."""
    open_ones = Session.objects.filter(pk=session.pk).exclude(status__in=Session.Status.final())
    if not open_ones.update(status=Session.Status.SCREENED_OUT):
        return False
    SessionEvent.objects.create(session=session, kind="screened_out", details=details)
    session.status = Session.Status.SCREENED_OUT
    return True
