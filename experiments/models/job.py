"""Background jobs (what to do, progress and result), and signs of life of the processes that run them."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class Job(models.Model):
    """A background job. Celery only carries its id; this row holds the state."""

    class State(models.TextChoices):
        """State of a job."""

        QUEUED = "queued", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

        @classmethod
        def final(cls) -> set[str]:
            """States that do not change any more."""
            return {cls.DONE, cls.FAILED}

    kind = models.CharField(max_length=60)
    arguments = models.JSONField(default=dict, blank=True)
    key = models.CharField(
        max_length=120,
        null=True,
        blank=True,
        unique=True,
        help_text="Requests with the same key share one job.",
    )
    experiment = models.ForeignKey(
        "experiments.Experiment", null=True, blank=True, on_delete=models.CASCADE, related_name="jobs"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="jobs"
    )
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveIntegerField(
        default=0, help_text="Number of starts; only the latest start can finish the job."
    )
    io_failures = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="Starts in a row that ended because storage, database or broker did not respond.",
    )
    retry_at = models.DateTimeField(null=True, blank=True, help_text="Not started before this time.")
    progress = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0, help_text="0 = unknown.")
    message = models.CharField(max_length=300, blank=True)
    result = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["state", "heartbeat_at"], name="job_state_heartbeat")]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "done", "failed"]), name="job_state_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}: {self.state}"

    @property
    def is_final(self) -> bool:
        """Whether the state does not change any more."""
        return self.state in self.State.final()

    @property
    def percent(self) -> int | None:
        """Progress in whole percent; None while the total is unknown."""
        return min(100, round(100 * self.progress / self.total)) if self.total else None


class Heartbeat(models.Model):
    """Timestamp of the last work of a process on a host."""

    process = models.CharField(max_length=100, unique=True, help_text="Kind of process and its host.")
    at = models.DateTimeField()

    class Meta:
        ordering = ["process"]

    def __str__(self) -> str:
        return f"{self.process} at {self.at}"
