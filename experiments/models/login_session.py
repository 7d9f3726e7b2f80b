"""Login sessions of researchers."""

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models


class LoginSession(AbstractBaseSession):
    """A cookie session and whose it is, without an address; :mod:`experiments.login_sessions` writes it."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="login_sessions"
    )
    browser = models.CharField(max_length=60, blank=True, help_text="Browser and system, without versions.")
    began_at = models.DateTimeField(null=True)
    used_on = models.DateField(null=True)

    class Meta:
        ordering = ["-used_on", "-began_at"]

    @classmethod
    def get_session_store_class(cls) -> type:
        """Return the class that reads and writes sessions."""
        from experiments.login_sessions import SessionStore  # which imports this model

        return SessionStore
