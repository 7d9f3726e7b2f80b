"""Models of the observed data: participants, sessions, trials, judgments, signals and payments."""

from judgments.models.judgment import Judgment
from judgments.models.participant import Consent, Flag, Participant, PlatformIdentity, Tombstone
from judgments.models.payment import Payment
from judgments.models.session import Session, SessionEvent
from judgments.models.signal import Signal
from judgments.models.trial import Trial

__all__ = [
    "Consent",
    "Flag",
    "Judgment",
    "Participant",
    "Payment",
    "PlatformIdentity",
    "Session",
    "SessionEvent",
    "Signal",
    "Tombstone",
    "Trial",
]
