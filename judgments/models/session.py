"""Sessions: one participant on one list, from arrival to completion."""

import secrets
from functools import cache

from django.db import models
from django.db.models import Q

from experiments.models import Campaign, Experiment, ExperimentVersion, PresentationList
from judgments.models.participant import Participant


def new_token() -> str:
    """An unguessable session token (192 bits)."""
    return secrets.token_urlsafe(24)


class Session(models.Model):
    """One participant × one list."""

    class Status(models.TextChoices):
        """State of the session."""

        ACTIVE = "active", "in session"
        COMPLETE = "complete", "complete"
        REFUSED = "refused", "consent refused"
        SCREENED_OUT = "screened_out", "screened out"
        ABANDONED = "abandoned", "abandoned"
        WITHDRAWN = "withdrawn", "withdrawn"

        @classmethod
        @cache
        def final(cls) -> frozenset[str]:
            """Statuses in which nothing more is recorded."""
            return frozenset(set(cls.values) - {cls.ACTIVE, cls.ABANDONED})

        @classmethod
        def payable(cls) -> set[str]:
            """Statuses in which pay is due without a researcher's decision."""
            return {cls.COMPLETE}

    experiment = models.ForeignKey(
        Experiment, on_delete=models.CASCADE, related_name="sessions", db_index=False
    )
    version = models.ForeignKey(ExperimentVersion, on_delete=models.PROTECT, related_name="sessions")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="sessions")
    list = models.ForeignKey(
        PresentationList,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="sessions",
        db_index=False,
    )
    campaign = models.ForeignKey(
        Campaign, null=True, blank=True, on_delete=models.SET_NULL, related_name="sessions"
    )
    token = models.CharField(max_length=64, default=new_token)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.ACTIVE)
    screen = models.CharField(max_length=20, default="consent", help_text="Where the participant is now.")
    seed = models.PositiveBigIntegerField(default=0)
    is_test = models.BooleanField(default=False, help_text="A preview or pilot run; never counted.")
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    completion_code = models.CharField(max_length=40, blank=True)
    external_id = models.CharField(
        max_length=100, blank=True, help_text="Submission or assignment id of its source."
    )
    submission_status = models.CharField(
        max_length=20, blank=True, help_text="Decision recorded by the platform."
    )
    work_time_s = models.PositiveIntegerField(
        null=True, blank=True, help_text="Work time the platform reports, in s."
    )
    user_agent = models.CharField(max_length=300, blank=True)
    device = models.CharField(
        max_length=40,
        blank=True,
        help_text="Salted hash of this browser's token: alike within one study only.",
    )
    attributes = models.JSONField(default=dict, blank=True, help_text="Further columns of an imported file.")

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["list", "status", "lease_expires_at"], name="session_list_lease"),
            models.Index(fields=["experiment", "status"], name="session_experiment_status"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["token"], name="session_token_once"),
            # Race: of two requests that start a session for one participant, the second fails.
            models.UniqueConstraint(
                fields=["participant"],
                condition=Q(status="active"),
                name="one_active_session_per_participant",
            ),
            models.UniqueConstraint(
                fields=["experiment", "external_id"],
                condition=~Q(external_id=""),
                name="external_session_once",
            ),
        ]

    def __str__(self) -> str:
        return f"session {self.pk} of {self.participant_id}"

    @property
    def is_final(self) -> bool:
        """Whether nothing more is recorded."""
        return self.status in self.Status.final()


class SessionEvent(models.Model):
    """An event of a session other than an answer."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=40, help_text="reload, blur, conflict, paste, expired, ...")
    trial = models.ForeignKey(
        "judgments.Trial", null=True, blank=True, on_delete=models.CASCADE, related_name="events"
    )
    details = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} in session {self.session_id}"


class Signal(models.Model):
    """One signal on one session with its reason; it does not exclude the session."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="signals")
    name = models.CharField(max_length=40)
    version = models.PositiveIntegerField()
    value = models.FloatField()
    reason = models.CharField(max_length=300)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["session", "name"]
        constraints = [models.UniqueConstraint(fields=["session", "name"], name="signal_once_per_session")]

    def __str__(self) -> str:
        return f"{self.name} on session {self.session_id}"
