"""Submissions of a recruitment platform: a Prolific submission, an MTurk assignment."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from experiments.models import Campaign
from judgments.models.session import Session


class Submission(models.Model):
    """A person's place in a campaign, as the platform reports it, and our decision; the vault has the id."""

    class Status(models.TextChoices):
        """State on the platform, in the same words for all platforms."""

        ACTIVE = "active", "taking part"
        SUBMITTED = "submitted", "waiting for a decision"
        APPROVED = "approved", "approved"
        REJECTED = "rejected", "rejected"
        RETURNED = "returned", "returned"
        TIMED_OUT = "timed_out", "timed out"
        SCREENED_OUT = "screened_out", "screened out"
        UNKNOWN = "unknown", "unknown"

        @classmethod
        def without_place(cls) -> set[str]:
            """Statuses in which the place is open for another person."""
            return {cls.REJECTED, cls.RETURNED, cls.TIMED_OUT, cls.SCREENED_OUT}

    class Decision(models.TextChoices):
        """Our decision; sent to the platform later, and reversible until then."""

        NONE = "", "none"
        APPROVE = "approve", "approve"
        REJECT = "reject", "reject"
        REQUEST_RETURN = "request_return", "ask to return"

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="submissions", db_index=False
    )
    external_id = models.CharField(max_length=100)
    session = models.OneToOneField(
        Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="submission"
    )
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.UNKNOWN)
    platform_status = models.CharField(max_length=40, blank=True, help_text="In the platform's own word.")
    entered_code = models.CharField(max_length=100, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    decide_by = models.DateTimeField(
        null=True, blank=True, help_text="When the platform approves by itself, at the earliest."
    )
    paid_bonus_minor = models.PositiveIntegerField(
        null=True, blank=True, help_text="Bonuses paid, as the platform reports; empty = not reported."
    )
    mismatches = models.JSONField(
        default=list, blank=True, help_text="Where the platform and our data disagree; see reconcile.py."
    )
    data = models.JSONField(default=dict, blank=True, help_text="Further facts of the platform, without ids.")
    decision = models.CharField(max_length=14, choices=Decision.choices, default=Decision.NONE, blank=True)
    category = models.CharField(max_length=40, blank=True, help_text="Ground of a rejection.")
    message = models.TextField(blank=True, help_text="What the participant reads about the decision.")
    reason = models.CharField(max_length=300, blank=True, help_text="Why it was decided so, for the team.")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(help_text="When the platform last listed it.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "external_id"], name="submission_once_per_campaign"),
            models.CheckConstraint(
                condition=~Q(decision="reject") | (~Q(category="") & ~Q(message="")),
                name="rejection_has_a_ground",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "status"], name="submission_campaign_status")]

    def __str__(self) -> str:
        return f"submission {self.pk} of {self.campaign_id}: {self.status}"
