"""Removal of secrets and personal ids from lines of the log, and of alarms that anybody could raise."""

import logging
import re
from typing import Any

from structlog.typing import EventDict, WrappedLogger

MASK = "[removed]"
#: Tokens of sessions and links of password resets in addresses; values of parameters that name a person or
#: prove something; and tokens in headers. What the group ``keep`` matches stays.
SECRETS = re.compile(
    r"(?P<keep>"
    r"/api/v1/sessions/|/s/(?!worker\.js)|/password/reset/key/|/confirm-email/|/invitations/|/shared/"
    r"|/take/[\w-]+/prolific/"
    r"|(?i:[?&](?:participant|signature|token|key|code|state|password|PROLIFIC_PID|SESSION_ID|workerId|assignmentId"
    r"|participantId|email)=)"
    r"|\b(?:Token|Bearer)\s+(?=[\w.~+/-]{16})"
    r")[^\s/?&'\"<>,)\]]+"
)


def redact(text: str) -> str:
    """Return the text without secrets.

    >>> redact("Not Found: /s/4fT0x/questions/?participant=mia@example.org")
    'Not Found: /s/[removed]/questions/?participant=[removed]'
    """
    return SECRETS.sub(rf"\g<keep>{MASK}", text)


def redact_line(logger: WrappedLogger, name: str, event: EventDict | str) -> Any:
    """Processor of structlog for rendered lines."""
    return redact(event) if isinstance(event, str) else event


class AsWarning(logging.Filter):
    """Turns errors that anybody can cause into warnings of one line, because errors raise alarms."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record, and let it pass."""
        record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
        record.exc_info = record.exc_text = None
        return True
