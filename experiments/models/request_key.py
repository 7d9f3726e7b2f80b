"""Idempotency keys of the API: a request that is sent again gets the answer of the first."""

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from experiments.encryption import EncryptedTextField

KEPT = timedelta(hours=24)  # the answer of a key


class RequestKeyQuerySet(models.QuerySet["RequestKey"]):
    """Named questions about keys."""

    def filter_expired(self) -> "RequestKeyQuerySet":
        """Keys whose answers are not kept any longer."""
        return self.filter(created_at__lt=timezone.now() - KEPT)


class RequestKey(models.Model):
    """A key that a user sent with a request, and its answer, encrypted; deleted after a day."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of method, address and body.")
    status = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Of the answer; empty while the first request runs."
    )
    answer = EncryptedTextField(blank=True, default="", help_text="JSON.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = RequestKeyQuerySet.as_manager()

    class Meta:
        constraints = [
            # Race: of two requests with one key at once, one stores it and runs.
            models.UniqueConstraint(fields=["user", "key"], name="request_key_once_per_user"),
        ]
        indexes = [models.Index(fields=["created_at"], name="request_key_created")]

    def __str__(self) -> str:
        return f"request {self.pk} of user {self.user_id}"
