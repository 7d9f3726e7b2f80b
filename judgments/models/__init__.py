"""Models of the observed data: participants, sessions, trials, judgments, signals, payments, submissions."""

from judgments.models.alert import Alert, AlertMail, AlertPreferences, AlertSettings, WebhookState
from judgments.models.judgment import Judgment
from judgments.models.participant import Consent, Flag, Participant, PlatformIdentity, Tombstone
from judgments.models.payment import Payment
from judgments.models.platform_call import PlatformCall, PlatformEvent
from judgments.models.session import Session, SessionEvent, Signal
from judgments.models.submission import Submission
from judgments.models.trial import Trial

__all__ = [
    "Alert",
    "AlertMail",
    "AlertPreferences",
    "AlertSettings",
    "Consent",
    "Flag",
    "Judgment",
    "Participant",
    "Payment",
    "PlatformCall",
    "PlatformEvent",
    "PlatformIdentity",
    "Session",
    "SessionEvent",
    "Signal",
    "Submission",
    "Tombstone",
    "Trial",
    "WebhookState",
]
