"""One recruitment of one study: a Prolific study, an MTurk HIT, a class, a link."""

from django.db import models
from django.db.models import Q

from experiments.models.experiment import Experiment


class Campaign(models.Model):
    """Places, pay and state of one recruitment."""

    class State(models.TextChoices):
        """Where the recruitment stands."""

        DRAFT = "draft", "draft"
        RUNNING = "running", "running"
        PAUSED = "paused", "paused"
        FINISHED = "finished", "finished"

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="campaigns")
    recruiter = models.CharField(max_length=40, default="direct")
    name = models.SlugField(max_length=100)
    external_id = models.CharField(max_length=100, blank=True)
    places = models.PositiveIntegerField(default=0, help_text="0: no limit of its own.")
    reward_minor = models.PositiveIntegerField(default=0, help_text="Reward in minor units (cents, pence).")
    currency = models.CharField(max_length=3, default="GBP")
    state = models.CharField(max_length=8, choices=State.choices, default=State.DRAFT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "name"], name="campaign_name_once_per_study"),
            models.CheckConstraint(condition=Q(currency__regex=r"^[A-Z]{3}$"), name="campaign_currency_iso"),
        ]

    def __str__(self) -> str:
        return f"{self.experiment}: {self.name}"
