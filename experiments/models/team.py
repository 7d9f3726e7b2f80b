"""Memberships of studies, the history of changes, and the preferences of users."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from experiments.models.experiment import Experiment
from experiments.models.lab import Lab


class Membership(models.Model):
    """A user's role in a study."""

    class Role(models.TextChoices):
        """Role of a member."""

        OWNER = "owner", "owner"
        EDITOR = "editor", "editor"
        VIEWER = "viewer", "viewer"

        @classmethod
        def editing(cls) -> set[str]:
            """Roles that may change the study."""
            return {cls.OWNER, cls.EDITOR}

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=6, choices=Role.choices, default=Role.VIEWER)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["experiment", "id"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "user"], name="member_once_per_study"),
            models.CheckConstraint(
                condition=Q(role__in=["owner", "editor", "viewer"]), name="member_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.role} of {self.experiment}"


class AppendOnly(TypeError):
    """A change of what is only ever added to."""


DELETED_TEXT = "(deleted)"
#: Details with what a member wrote about a participant, or to one.
FREE_TEXTS = ("reason", "message", "note")


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    """Entries to read and add."""

    def delete_texts(self) -> None:
        """Delete what members wrote about a participant who is forgotten; action, user and time stay."""
        rows = list(self.only("details"))
        for row in rows:
            row.details |= {name: DELETED_TEXT for name in FREE_TEXTS if row.details.get(name)}
        # A plain query set: ``bulk_update`` of this one ends in its ``update``, which refuses.
        plain: models.QuerySet[AuditEntry] = models.QuerySet(self.model, using=self.db)
        plain.bulk_update(rows, ["details"], batch_size=500)

    def update(self, **values: Any) -> int:
        """Refuse: entries never change."""
        raise AppendOnly("entries of the history never change")

    def delete(self) -> tuple[int, dict[str, int]]:
        """Refuse: entries stay as long as their study."""
        raise AppendOnly("entries of the history are never deleted")

    def bulk_update(self, *args: Any, **options: Any) -> int:
        """Refuse: entries never change."""
        raise AppendOnly("entries of the history never change")


class AuditEntry(models.Model):
    """One action on a study, a lab or an account, with its user and time; append-only."""

    experiment = models.ForeignKey(
        Experiment, null=True, blank=True, on_delete=models.CASCADE, related_name="audit"
    )
    lab = models.ForeignKey(Lab, null=True, blank=True, on_delete=models.SET_NULL, related_name="audit")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="audit",
        help_text="The account that changed; its entries are deleted with it.",
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(max_length=60)
    details = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-id"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.action}"

    def save(self, *args: Any, **options: Any) -> None:
        """Add the entry; refuse to change one."""
        if self.pk is not None and not self._state.adding:
            raise AppendOnly("entries of the history never change")
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> tuple[int, dict[str, int]]:
        """Refuse: entries stay as long as their study."""
        raise AppendOnly("entries of the history are never deleted")


class Preferences(models.Model):
    """A user's preferences for the researchers' pages."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="preferences"
    )
    time_zone = models.CharField(
        max_length=64, blank=True, help_text="IANA name, such as Europe/Berlin; empty = as the browser says."
    )

    class Meta:
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"{self.user}: {self.time_zone or 'time zone of the browser'}"
