"""Recruitment campaigns of a study: a Prolific study, an MTurk HIT, a class, a link."""

from django.db import models
from django.db.models import Q

from experiments.models.experiment import Experiment


class Campaign(models.Model):
    """Places, reward and state of one recruitment campaign."""

    class State(models.TextChoices):
        """State of the recruitment."""

        DRAFT = "draft", "draft"
        RUNNING = "running", "running"
        PAUSED = "paused", "paused"
        FINISHED = "finished", "finished"

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="campaigns")
    recruiter = models.CharField(max_length=40, default="direct")
    name = models.SlugField(max_length=100)
    external_id = models.CharField(max_length=100, blank=True)
    places = models.PositiveIntegerField(default=0, help_text="0 = no limit.")
    reward_minor = models.PositiveIntegerField(default=0, help_text="Reward in minor units (cents, pence).")
    currency = models.CharField(max_length=3, default="GBP")
    state = models.CharField(max_length=8, choices=State.choices, default=State.DRAFT)
    options = models.JSONField(
        default=dict, blank=True, help_text="Settings of the recruiter: parameters of its link, return links."
    )
    created_at = models.DateTimeField(auto_now_add=True)

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
