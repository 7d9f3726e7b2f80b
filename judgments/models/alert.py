"""Alerts about recruitment: conditions of a study that need a person, and the mail about them."""

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q

from experiments.models import Campaign, Experiment, PlatformAccount

MOST_HOURS = 24 * 90


class Alert(models.Model):
    """One condition of a study, from the moment it was noticed until it ended."""

    class Kind(models.TextChoices):
        """Subject of the condition."""

        FULL = "full", "study full"
        IDLE = "idle", "no arrivals"
        DROP_OUT = "drop_out", "drop-out"
        BALANCE = "balance", "balance low"
        DEADLINE = "deadline", "automatic approval is near"
        WEBHOOK = "webhook", "events do not arrive"
        PLUGIN = "plugin", "a plugin failed"

    experiment = models.ForeignKey(
        Experiment, on_delete=models.CASCADE, related_name="alerts", db_index=False
    )
    campaign = models.ForeignKey(
        Campaign, null=True, blank=True, on_delete=models.CASCADE, related_name="alerts"
    )
    kind = models.CharField(max_length=8, choices=Kind.choices)
    key = models.CharField(max_length=60, help_text="The same for the same condition of a study.")
    title = models.CharField(max_length=200)
    text = models.TextField(help_text="What happened, what is safe, what to do.")
    address = models.CharField(max_length=300, help_text="Path of the page where something can be done.")
    link = models.CharField(max_length=60, help_text="Text of the link.")
    raised_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)
    dismissed_at = models.DateTimeField(null=True, blank=True)
    dismissed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-raised_at", "-id"]
        constraints = [
            # Race: of two workers that notice a condition, one stores it, and with it the mail.
            models.UniqueConstraint(
                fields=["experiment", "key"],
                condition=Q(resolved_at__isnull=True),
                name="alert_open_once_per_condition",
            ),
        ]
        indexes = [models.Index(fields=["experiment", "resolved_at"], name="alert_study_open")]

    def __str__(self) -> str:
        return f"{self.experiment}: {self.title}"


class AlertMail(models.Model):
    """The mail about one alert to one member; stored with the alert, and sent until it succeeds."""

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="mails", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    sent_at = models.DateTimeField(null=True, blank=True)
    next_attempt_at = models.DateTimeField(
        null=True, blank=True, help_text="When it is sent, or tried again; empty = at once."
    )
    n_attempts = models.PositiveIntegerField(default=0)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["alert", "user"], name="alert_mail_once_per_member")]
        indexes = [models.Index(fields=["sent_at", "next_attempt_at"], name="alert_mail_pending")]

    def __str__(self) -> str:
        return f"mail about alert {self.alert_id} to {self.user_id}"


class AlertSettings(models.Model):
    """From when on a study's conditions are worth an alert; 0 = never."""

    experiment = models.OneToOneField(Experiment, on_delete=models.CASCADE, related_name="alert_settings")
    full = models.BooleanField(default=True)
    idle_hours = models.PositiveIntegerField(default=24, validators=[MaxValueValidator(MOST_HOURS)])
    drop_out_percent = models.PositiveIntegerField(default=30, validators=[MaxValueValidator(100)])
    balance_places = models.PositiveIntegerField(default=10, validators=[MaxValueValidator(100_000)])
    deadline_hours = models.PositiveIntegerField(default=48, validators=[MaxValueValidator(MOST_HOURS)])
    webhook = models.BooleanField(default=True)

    class Meta:
        verbose_name_plural = "alert settings"

    def __str__(self) -> str:
        return f"alerts of {self.experiment}"


class AlertPreferences(models.Model):
    """Whether and when a person gets mail about alerts, in hours of the person's time zone."""

    class Mail(models.TextChoices):
        """Frequency of mail."""

        AT_ONCE = "at_once", "at once, outside the quiet hours"
        DAILY = "daily", "once a day, all together"
        NEVER = "never", "never"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="alert_preferences"
    )
    mail = models.CharField(max_length=7, choices=Mail.choices, default=Mail.AT_ONCE)
    quiet_from = models.PositiveSmallIntegerField(default=21, validators=[MaxValueValidator(23)])
    quiet_until = models.PositiveSmallIntegerField(default=7, validators=[MaxValueValidator(23)])
    digest_hour = models.PositiveSmallIntegerField(default=8, validators=[MaxValueValidator(23)])
    time_zone = models.CharField(
        max_length=64, blank=True, help_text="Of the browser when this was saved; the account's comes first."
    )
    without = models.ManyToManyField(
        Experiment, blank=True, related_name="+", help_text="Studies about which no mail is sent."
    )

    class Meta:
        verbose_name_plural = "alert preferences"

    def __str__(self) -> str:
        return f"{self.user}: {self.mail}"


class WebhookState(models.Model):
    """Deliveries of events that were refused for an account since its last valid event."""

    account = models.OneToOneField(PlatformAccount, on_delete=models.CASCADE, related_name="webhook_state")
    n_refused = models.PositiveIntegerField(default=0)
    refused_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=100, blank=True)

    def __str__(self) -> str:
        return f"{self.n_refused} refused deliveries for {self.account}"
