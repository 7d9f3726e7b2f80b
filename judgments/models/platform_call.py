"""The ledger of calls to platforms: a row is committed before each call that changes something there.

Events that a platform's webhook delivered.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from experiments.models import Campaign, PlatformAccount
from judgments.models.payment import Payment
from judgments.models.submission import Submission


class PlatformCall(models.Model):
    """One call that changes something on a platform, from the plan to the platform's answer."""

    class Kind(models.TextChoices):
        """Action of the call."""

        CREATE = "create", "create the draft"
        PUBLISH = "publish", "publish"
        ADD_PLACES = "add_places", "add places"
        PAUSE = "pause", "pause"
        RESUME = "resume", "resume"
        STOP = "stop", "stop"
        CLOSE = "close", "close"
        APPROVE = "approve", "approve"
        REJECT = "reject", "reject"
        REQUEST_RETURN = "request_return", "ask to return"
        PREPARE_BONUSES = "prepare_bonuses", "set up bonuses"
        PAY_BONUSES = "pay_bonuses", "pay bonuses"
        MESSAGE = "message", "send a message"

        @classmethod
        def of_campaign(cls) -> set[str]:
            """Kinds that change the campaign itself; one at a time."""
            return {cls.CREATE, cls.PUBLISH, cls.ADD_PLACES, cls.PAUSE, cls.RESUME, cls.STOP, cls.CLOSE}

        @classmethod
        def repeatable(cls) -> set[str]:
            """Kinds that have one effect however often they are called with one key (see ``Recruiter``)."""
            return {cls.CREATE, cls.PREPARE_BONUSES, cls.CLOSE}

        @classmethod
        def spending(cls) -> set[str]:
            """Kinds that pay participants."""
            return {cls.APPROVE, cls.PAY_BONUSES}

        @classmethod
        def taking_money(cls) -> set[str]:
            """Kinds that pay participants or prepare payments."""
            return {*cls.spending(), cls.PREPARE_BONUSES}

        @classmethod
        def in_turn_with(cls, kind: str) -> set[str]:
            """Kinds that an account sends one after the other with this one; empty = at any time.

            Adapters look something up by its name before they create it (a draft, a participant group, HITs,
            a qualification): two campaigns of one study would both miss it and create it twice.
            """
            creating: set[str] = {cls.CREATE, cls.PUBLISH, cls.ADD_PLACES, cls.CLOSE}
            return next((kinds for kinds in (cls.taking_money(), creating) if kind in kinds), set())

    class State(models.TextChoices):
        """State of the call."""

        PLANNED = "planned", "planned"  # not sent; can be cancelled
        SENT = "sent", "being sent"  # committed before the request leaves; after a crash as good as unknown
        CONFIRMED = "confirmed", "confirmed"
        FAILED = "failed", "refused"  # the platform did nothing
        UNKNOWN = "unknown", "unknown"  # the platform may have acted; never sent again before it is asked
        CANCELLED = "cancelled", "cancelled"

        @classmethod
        def binding(cls) -> set[str]:
            """States in which the money counts as spent."""
            return {cls.PLANNED, cls.SENT, cls.CONFIRMED, cls.UNKNOWN}

        @classmethod
        def open(cls) -> set[str]:
            """States from which the platform may still have, or get, the call."""
            return {cls.PLANNED, cls.SENT, cls.UNKNOWN}

    campaign = models.ForeignKey(
        Campaign, on_delete=models.PROTECT, related_name="platform_calls", db_index=False
    )
    kind = models.CharField(max_length=16, choices=Kind.choices)
    key = models.CharField(
        max_length=64,
        unique=True,
        help_text="The same for the same fact: the idempotency key at the platform.",
    )
    state = models.CharField(max_length=9, choices=State.choices, default=State.PLANNED)
    submission = models.ForeignKey(
        Submission, null=True, blank=True, on_delete=models.PROTECT, related_name="platform_calls"
    )
    payments = models.ManyToManyField(Payment, blank=True, related_name="platform_calls")
    request = models.JSONField(default=dict, blank=True, help_text="Arguments, without ids of persons.")
    response = models.JSONField(
        default=dict, blank=True, help_text="What the platform answered, or what a person settled."
    )
    problem = models.TextField(blank=True, help_text="What went wrong, what is safe, and what to do.")
    amount_minor = models.PositiveBigIntegerField(default=0, help_text="What people get, in minor units.")
    fee_minor = models.PositiveBigIntegerField(default=0)
    currency = models.CharField(max_length=3)
    external_id = models.CharField(max_length=100, blank=True, help_text="What the call created there.")
    n_attempts = models.PositiveIntegerField(default=0)
    needs_second_person = models.BooleanField(default=False)
    planned_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    second_person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(currency__regex=r"^[A-Z]{3}$"), name="platform_call_currency_iso"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["planned", "cancelled"]) | Q(sent_at__isnull=False),
                name="platform_call_sent_before_its_answer",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "state"], name="platform_call_campaign_state")]

    def __str__(self) -> str:
        return f"{self.kind} of campaign {self.campaign_id}: {self.state}"


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
