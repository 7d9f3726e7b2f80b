"""A ledger of pay: entries are added, never edited."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from judgments.models.session import Session


class Payment(models.Model):
    """One entry: pay owed, approved, sent or taken back."""

    class Kind(models.TextChoices):
        """What the entry is."""

        REWARD = "reward", "reward"
        BONUS = "bonus", "bonus"
        SCREEN_OUT = "screen_out", "screen-out pay"

    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="payments")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    amount_minor = models.PositiveIntegerField(help_text="Minor units (cents, pence).")
    currency = models.CharField(max_length=3)
    idempotency_key = models.CharField(max_length=100, unique=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(currency__regex=r"^[A-Z]{3}$"), name="payment_currency_iso")
        ]

    def __str__(self) -> str:
        return f"{self.amount_minor} {self.currency} for session {self.session_id}"
