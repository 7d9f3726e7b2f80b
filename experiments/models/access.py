"""Tokens with which programs use the API; only their hashes are stored."""

import hashlib

from django.conf import settings
from django.db import models


class ApiToken(models.Model):
    """One token of a user: what it may do, until when. The token itself is shown once and not stored."""

    class Scope(models.TextChoices):
        """What requests with the token may do, within what its user may do."""

        READ = "read", "read"
        WRITE = "write", "write"
        PEOPLE = "people", "people: answers of single participants"
        MONEY = "money", "money: what a study pays"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=60, default="API token")
    digest = models.CharField(max_length=64, unique=True, editable=False, help_text="SHA-256 of the token.")
    hint = models.CharField(max_length=4, blank=True, help_text="Its last characters.")
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_on = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="token_name_once_per_user")]

    def __str__(self) -> str:
        return f"{self.name} (…{self.hint}) of {self.user}"


def token_digest(key: str) -> str:
    """The hash under which a token is stored. Tokens are random (160 bits), so that no salt is needed."""
    return hashlib.sha256(key.encode()).hexdigest()
