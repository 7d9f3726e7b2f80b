"""API tokens, login sessions, review links and invitations."""

import hashlib
from importlib import import_module

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Q

from experiments.models.experiment import Experiment
from experiments.models.lab import Lab

PENDING = Q(accepted_at__isnull=True, revoked_at__isnull=True)


class ApiToken(models.Model):
    """One token of a user: what it may do, until when. The token itself is shown once and not stored."""

    class Scope(models.TextChoices):
        """Permissions of a token, within those of its user."""

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


class LoginSession(AbstractBaseSession):
    """A cookie session and whose it is, without an address; :mod:`experiments.accounts.login_sessions` writes
    it."""

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
        store: type = import_module(settings.SESSION_ENGINE).SessionStore  # imports this model
        return store


class ReviewLink(models.Model):
    """One link: what it shows, until when, and how often it was opened."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="review_links")
    label = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True, editable=False, help_text="SHA-256 of the token.")
    with_materials = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    n_uses = models.PositiveIntegerField(default=0, help_text="How often its first page was opened.")
    last_used_on = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.label} (link for reviewers of {self.experiment})"


class Invitation(models.Model):
    """A role offered by a link, until it is accepted, revoked or expired."""

    experiment = models.ForeignKey(
        Experiment, null=True, blank=True, on_delete=models.CASCADE, related_name="invitations"
    )
    lab = models.ForeignKey(Lab, null=True, blank=True, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(help_text="In lower case.")
    role = models.CharField(max_length=7)
    digest = models.CharField(max_length=64, unique=True, editable=False, help_text="SHA-256 of the secret.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    sent_at = models.DateTimeField(help_text="When its newest link was made.")
    n_sent = models.PositiveSmallIntegerField(
        default=1, help_text="Links made so far; only the last one works."
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(experiment__isnull=True) ^ Q(lab__isnull=True), name="invitation_of_study_or_lab"
            ),
            models.UniqueConstraint(
                fields=["experiment", "email"], condition=PENDING, name="one_pending_invitation_per_study"
            ),
            models.UniqueConstraint(
                fields=["lab", "email"], condition=PENDING, name="one_pending_invitation_per_lab"
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk} to {self.team}"

    @property
    def team(self) -> Experiment | Lab:
        """Study or lab of the invitation."""
        team = self.experiment or self.lab
        assert team is not None  # a constraint of the database
        return team
