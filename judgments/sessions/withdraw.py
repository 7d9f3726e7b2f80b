"""A participant stops and leaves; the list slot is free again."""

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
