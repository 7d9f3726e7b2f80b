"""Ledger of payments: entries are added, never edited."""

from collections.abc import Iterable

from django.conf import settings
from django.db import models
from django.db.models import Q

from judgments.models.session import Session


class Payment(models.Model):
    """One entry: pay, a bonus, a decision not to pay, or the reversal of an entry."""

    class Kind(models.TextChoices):
        """Kind of entry."""

        REWARD = "reward", "reward"
        BONUS = "bonus", "bonus"
        SCREEN_OUT = "screen_out", "screen-out pay"
        NOT_PAID = "not_paid", "not paid"
        REVERSAL = "reversal", "taken back"

        @classmethod
        def deciding(cls) -> set[str]:
            """Kinds that settle the pay of a session."""
            return {cls.REWARD, cls.SCREEN_OUT, cls.NOT_PAID}

    #: States of a session's pay with their labels.
    STATES = (("undecided", "undecided"), ("approved", "approved"), ("not_paid", "not paid"))

    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="payments")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    amount_minor = models.PositiveIntegerField(help_text="Minor units (cents, pence).")
    currency = models.CharField(max_length=3)
    reason = models.CharField(max_length=300, blank=True)
    reverses = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="reversal"
    )
    idempotency_key = models.CharField(max_length=100, unique=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(currency__regex=r"^[A-Z]{3}$"), name="payment_currency_iso"),
            models.CheckConstraint(
                condition=~Q(kind="not_paid") | (Q(amount_minor=0) & ~Q(reason="")),
                name="not_paid_has_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(kind="reversal", reverses__isnull=False)
                | (~Q(kind="reversal") & Q(reverses__isnull=True)),
                name="reversal_names_its_entry",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount_minor} {self.currency} for session {self.session_id}"

    @classmethod
    def pay_state(cls, entries: "Iterable[Payment]") -> str:
        """State of pay (undecided, approved or not_paid) of a session's ``entries`` with their reversals."""
        for entry in entries:
            if entry.kind in cls.Kind.deciding() and not hasattr(entry, "reversal"):
                return "not_paid" if entry.kind == cls.Kind.NOT_PAID else "approved"
        return "undecided"
