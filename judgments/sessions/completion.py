"""The way back to where a participant came from, once the server holds every answer."""

from experiments.completion import filled_address
from experiments.models import Experiment
from judgments.models import PlatformIdentity, Session
from judgments.sessions.protocol import Protocol


def way_back(session: Session, protocol: Protocol) -> str:
    """The address of the button at the end; empty where the study gives a code only, or there is none yet.

    ``{participant}`` is what the link called the person, who brought it along; else the pseudonym.
    """
    if protocol.completion != Experiment.Completion.REDIRECT or not session.completion_code:
        return ""
    identity = PlatformIdentity.objects.filter(participant=session.participant_id).first()
    return filled_address(
        protocol.completion_url,
        code=session.completion_code,
        participant=identity.external_id if identity else session.participant.pseudonym,
        session=session.external_id or str(session.pk),
    )
