"""Invitations by mail to a study or a lab; only hashes of their links are stored."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from experiments.models.experiment import Experiment
from experiments.models.lab import Lab

PENDING = Q(accepted_at__isnull=True, revoked_at__isnull=True)


class Invitation(models.Model):
    """A role offered to whoever opens the link, until it is accepted, revoked or expired."""

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
        """What the invitation is to."""
        team = self.experiment or self.lab
        assert team is not None  # a constraint of the database
        return team
