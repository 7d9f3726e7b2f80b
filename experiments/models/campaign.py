"""Recruitment campaigns of a study (a Prolific study, MTurk HITs, a panel, a link) and platform accounts."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from experiments.models.experiment import Experiment


class Mode(models.TextChoices):
    """Whether a campaign spends money."""

    TEST = "test", "test"
    LIVE = "live", "live"


class PlatformAccount(models.Model):
    """Access to a recruitment platform or a repository, encrypted; used by the studies it is attached to."""

    platform = models.CharField(max_length=40, help_text="prolific or mturk.")  # or a repository
    label = models.CharField(max_length=100)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="platform_accounts"
    )
    experiments = models.ManyToManyField(Experiment, blank=True, related_name="platform_accounts")
    mode = models.CharField(max_length=4, choices=Mode.choices, default=Mode.TEST)
    secrets = models.BinaryField(help_text="Encrypted JSON; see judgments/recruitment/credentials.py.")
    hint = models.CharField(max_length=4, blank=True, help_text="Last characters of the token.")
    options = models.JSONField(
        default=dict, blank=True, help_text="What is not secret: the workspace, the project, the currency."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    checked_at = models.DateTimeField(
        null=True, blank=True, help_text="When the platform last accepted the token."
    )

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.label} (…{self.hint})"


class Campaign(models.Model):
    """Places, reward and state of one recruitment campaign."""

    class State(models.TextChoices):
        """State of the recruitment."""

        DRAFT = "draft", "draft"
        RUNNING = "running", "running"
        PAUSED = "paused", "paused"
        FINISHED = "finished", "finished"  # takes no more participants; submissions may wait for a decision
        CLOSED = "closed", "closed"  # every submission is decided and every payment confirmed

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="campaigns")
    recruiter = models.CharField(max_length=40, default="direct")
    account = models.ForeignKey(
        PlatformAccount, null=True, blank=True, on_delete=models.PROTECT, related_name="campaigns"
    )
    mode = models.CharField(
        max_length=4, choices=Mode.choices, default=Mode.TEST, help_text="Of a platform with an account."
    )
    name = models.SlugField(max_length=100)
    external_id = models.CharField(max_length=100, blank=True)
    places = models.PositiveIntegerField(default=0, help_text="0 = no limit.")
    reward_minor = models.PositiveIntegerField(default=0, help_text="Reward in minor units (cents, pence).")
    currency = models.CharField(max_length=3, default="GBP")
    estimated_minutes = models.PositiveIntegerField(null=True, blank=True)
    maximum_minutes = models.PositiveIntegerField(
        null=True, blank=True, help_text="After which the platform takes the place back; empty = its default."
    )
    total_limit_minor = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Budget with fees, in minor units; empty = none."
    )
    daily_limit_minor = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Most that is sent within 24 hours, with fees; empty = no limit."
    )
    payment_limit_minor = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Most for one payment to one participant; empty = that of the lab."
    )
    two_people_above_minor = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Payments above this sum need a second person; empty = none does."
    )
    state = models.CharField(max_length=8, choices=State.choices, default=State.DRAFT)
    options = models.JSONField(
        default=dict,
        blank=True,
        help_text="Settings: parameters of the link, return links, title, description, filters, codes.",
    )
    platform_data = models.JSONField(
        default=dict, blank=True, help_text="What the platform returned: ids of HITs, groups, subscriptions."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True)
    reconciled_at = models.DateTimeField(
        null=True, blank=True, help_text="When the platform's list of submissions was last read."
    )

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "name"], name="campaign_name_once_per_study"),
            models.CheckConstraint(condition=Q(currency__regex=r"^[A-Z]{3}$"), name="campaign_currency_iso"),
        ]

    def __str__(self) -> str:
        return f"{self.experiment}: {self.name}"

    def return_template(self, outcome: str) -> str:
        """The return link for an outcome, with placeholders; empty if its participants are sent nowhere."""
        return str(self.options.get("returns", {}).get(outcome, ""))

    def completion_code(self, outcome: str) -> str:
        """The platform's code for an outcome; empty if the campaign has no codes of its own."""
        codes = self.options.get("codes") or {}
        if outcome == "failed_check" and codes.get("screened_out", {}).get("reward_minor"):
            outcome = "screened_out"  # a campaign that pays for being screened out has one code for both
        return str(codes.get(outcome, {}).get("code", ""))
