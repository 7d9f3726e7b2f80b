"""Events that a platform's webhook delivered."""

from django.db import models

from experiments.models import PlatformAccount


class PlatformEvent(models.Model):
    """One event, stored once however often it is delivered: a hint that something changed."""

    account = models.ForeignKey(
        PlatformAccount, on_delete=models.CASCADE, related_name="events", db_index=False
    )
    event_id = models.CharField(max_length=100, help_text="The same in each delivery of the event.")
    event_type = models.CharField(max_length=100)
    resource_id = models.CharField(max_length=100, help_text="The study or submission that changed.")
    received_at = models.DateTimeField(auto_now_add=True)
    handled_at = models.DateTimeField(null=True, blank=True)
    next_attempt_at = models.DateTimeField(
        null=True, blank=True, help_text="When it is handled again; empty = at once."
    )
    n_attempts = models.PositiveSmallIntegerField(default=0)
    problem = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            # Race: of two deliveries of one event at once, one is stored.
            models.UniqueConstraint(fields=["account", "event_id"], name="platform_event_once"),
        ]
        indexes = [models.Index(fields=["handled_at", "next_attempt_at"], name="platform_event_pending")]

    def __str__(self) -> str:
        return f"{self.event_type} of {self.resource_id}"
