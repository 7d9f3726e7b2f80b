"""Login sessions in the database, with whose they are: to list them, and to end them everywhere.

``SESSION_ENGINE`` names this module. The columns follow from the session's own values, so there is no second
record that could differ from what is in force.
"""

import re
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.dateparse import parse_date, parse_datetime

BROWSER, BEGAN_AT, USED_ON = "browser", "began_at", "used_on"  # keys in the session
#: The first that matches: Edge and Opera also say Chrome, Chrome also says Safari.
BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
SYSTEMS = {
    "iPhone|iPad": "iOS",
    "Android": "Android",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


class SessionStore(db.SessionStore):
    """Django's sessions in the database, with the columns of :class:`experiments.models.LoginSession`."""

    @classmethod
    def get_model_class(cls) -> Any:
        """Return the model, which can be imported only after the apps are ready."""
        from experiments.models import LoginSession

        return LoginSession

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        """Return the row of a session."""
        row: Any = super().create_model_instance(data)
        if user_id := data.get(SESSION_KEY):
            row.user_id = int(user_id)
            row.browser = data.get(BROWSER, "")
            row.began_at = parse_datetime(data.get(BEGAN_AT, ""))
            row.used_on = parse_date(data.get(USED_ON, ""))
        return row


def browser_name(user_agent: str) -> str:
    """Browser and system, without versions, which could identify a user."""
    browser = next((name for mark, name in BROWSERS.items() if mark in user_agent), "A program")
    system = next((name for marks, name in SYSTEMS.items() if re.search(marks, user_agent)), "")
    return f"{browser} on {system}" if system else browser


def describe(session: Any, user_agent: str) -> None:
    """Store in a new login session when it began and in which browser."""
    session[BEGAN_AT] = timezone.now().isoformat(timespec="seconds")
    session[BROWSER] = browser_name(user_agent)
    session[USED_ON] = timezone.now().date().isoformat()


def note_use(session: Any) -> None:
    """Store that a login is in use: one write a day, which also renews the session."""
    today = timezone.now().date().isoformat()
    if session.get(SESSION_KEY) and session.get(USED_ON) != today:
        session[USED_ON] = today


def live_sessions(user: User) -> "QuerySet[Any]":
    """The login sessions of a user that have not expired."""
    rows: QuerySet[Any] = SessionStore.get_model_class().objects.filter(user=user)
    return rows.filter(expire_date__gt=timezone.now())


def public_id(row: Any) -> str:
    """Names a session on pages; its key, which is the cookie, never leaves the database."""
    return salted_hmac("login-session", row.session_key, algorithm="sha256").hexdigest()[:24]


def end_sessions(user: User, *, keep: str | None = None) -> int:
    """Log a user out everywhere, but in the session of this key; the number of sessions ended."""
    rows = live_sessions(user).exclude(session_key=keep or "")
    return rows.delete()[0]
