"""Loading one session by its token."""

from experiments.studies.lifecycle import FROZEN_FIELDS
from judgments.models import Session
from judgments.sessions.compiled_queries import Compiled

# The texts come from the protocol; what else is deferred is loaded when it is used.
_session_by_token = Compiled(
    lambda token: (
        Session.objects.select_related("experiment", "version")
        .defer("version__snapshot", *(f"experiment__{name}" for name in FROZEN_FIELDS))
        .filter(token=token)
    )
)
# Without the study, whose many columns take as long to read as the session itself.
_ended_session = Compiled(
    lambda token: Session.objects.select_related("version").defer("version__snapshot").filter(token=token)
)


def session_by_token(token: str) -> Session | None:
    """The session of a token with its study and version."""
    session: Session | None = _session_by_token.first(token)
    return session


def ended_session(token: str) -> Session | None:
    """The session of a token with its version, for the page after the last answer."""
    session: Session | None = _ended_session.first(token)
    return session
