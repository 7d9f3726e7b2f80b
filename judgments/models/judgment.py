"""Judgments: one row per answered trial, never changed."""

from django.db import models
from django.db.models import F, Q

from experiments.models import Sentence
from judgments.models.trial import Trial


class Judgment(models.Model):
    """One answer; corrections and exclusions are rows of other tables."""

    class Status(models.TextChoices):
        """Whether there is an answer, and if not, why; exclusions are stored elsewhere."""

        ANSWERED = "answered", "answered"
        MISSING = "missing", "missing"
        SKIPPED = "skipped", "skipped"
        TIMED_OUT = "timed_out", "timed out"

    class InputType(models.TextChoices):
        """Input device of the answer."""

        KEYBOARD = "keyboard", "keyboard"
        MOUSE = "mouse", "mouse"
        TOUCH = "touch", "touch"
        PEN = "pen", "pen"
        FORM = "form", "plain form, no JavaScript"
        IMPORTED = "imported", "imported"
        UNKNOWN = "", "not known"

    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, related_name="judgment")
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.ANSWERED)
    response = models.TextField(blank=True, help_text="The answer as given.")
    value = models.FloatField(null=True, blank=True, help_text="The answer on the scale.")
    chosen = models.ForeignKey(
        Sentence,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Forced choice.",
    )
    scale_low = models.FloatField(null=True, blank=True)
    scale_high = models.FloatField(null=True, blank=True)
    is_correct = models.BooleanField(null=True, blank=True, help_text="Catch and practice trials only.")
    rt_ms = models.PositiveIntegerField(
        null=True, blank=True, help_text="Onset to answer; empty without JavaScript."
    )
    input_type = models.CharField(
        max_length=8, choices=InputType.choices, default=InputType.UNKNOWN, blank=True
    )
    timing = models.JSONField(
        default=dict,
        blank=True,
        help_text="Client clock, focus lost, page hidden, coarse clock and the like.",
    )
    answered_at = models.DateTimeField(null=True, blank=True, help_text="Client clock or the source's.")
    received_at = models.DateTimeField(null=True, blank=True, help_text="Server clock.")

    class Meta:
        ordering = ["trial"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(value__isnull=True) | Q(scale_low__isnull=True) | Q(value__gte=F("scale_low")))
                & (Q(value__isnull=True) | Q(scale_high__isnull=True) | Q(value__lte=F("scale_high"))),
                name="judgment_value_within_scale",
            ),
            models.CheckConstraint(
                condition=~Q(status="answered") | Q(value__isnull=False), name="answered_judgment_has_a_value"
            ),
        ]

    def __str__(self) -> str:
        return f"judgment of trial {self.trial_id}"
