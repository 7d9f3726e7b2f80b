"""Webhooks of a study: addresses that get its events, and the log of what was delivered."""

import uuid

from django.conf import settings
from django.db import models

from experiments.encryption import EncryptedTextField
from experiments.models.experiment import Experiment
from experiments.models.job import Job


class WebhookSecretField(EncryptedTextField):
    """A secret that signs deliveries, encrypted with a key of its own."""

    purpose = b"webhooks"


class Webhook(models.Model):
    """An address of a researcher's own program, and the events that it gets."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="webhooks")
    address = models.CharField(max_length=500)
    events = models.JSONField(default=list, help_text="Types of events; see experiments/webhooks/events.py.")
    secret = WebhookSecretField(help_text="Signs deliveries.")
    earlier_secret = WebhookSecretField(blank=True, help_text="Signs, too, until earlier_until.")
    earlier_until = models.DateTimeField(null=True, blank=True)
    is_enabled = models.BooleanField(default=True)
    n_failed = models.PositiveIntegerField(default=0, help_text="Deliveries in a row that failed for good.")
    disabled_reason = models.CharField(
        max_length=300, blank=True, help_text="Why it was disabled by itself; empty where a person did."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["experiment", "id"]

    def __str__(self) -> str:
        return f"webhook {self.pk} of {self.experiment_id}"


class WebhookDelivery(models.Model):
    """One event for one webhook, the body as it is sent, and every attempt with its response."""

    class State(models.TextChoices):
        """Progress of the delivery."""

        WAITING = "waiting", "waiting"
        DELIVERED = "delivered", "delivered"
        FAILED = "failed", "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event_id = models.UUIDField(default=uuid.uuid4, editable=False, help_text="The same in each attempt.")
    event = models.CharField(max_length=40)
    body = models.TextField()
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    attempts = models.JSONField(
        default=list, blank=True, help_text="Time, status, milliseconds and response of each, newest last."
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["webhook", "-id"]
        verbose_name_plural = "webhook deliveries"
        constraints = [models.UniqueConstraint(fields=["webhook", "event_id"], name="event_once_per_webhook")]

    def __str__(self) -> str:
        return f"{self.event} to webhook {self.webhook_id}: {self.state}"
