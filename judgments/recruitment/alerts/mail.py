"""Mail about open alerts: to each member at once or once a day, outside the quiet hours, until it is sent.

A row is claimed before its mail leaves, so that of two workers one sends it. A worker that is killed while
the mail server answers leaves a claim that expires, and the mail is sent again: then twice is better
than never.
"""

from collections import defaultdict
from datetime import UTC, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from experiments.models import Experiment, Membership, Preferences
from judgments.models import AlertMail, AlertPreferences

log = structlog.get_logger(__name__)
FIRST_PAUSE = timedelta(minutes=5)
LONGEST_PAUSE = timedelta(hours=6)
CLAIM = timedelta(minutes=10)  # longer than a mail server may take to answer
MOST_IN_MAIL = 100
NO_ADDRESS = "The account has no address."
Mail = AlertPreferences.Mail


def mail_preferences(user: User) -> AlertPreferences:
    """Return a user's mail preferences, or the defaults."""
    return AlertPreferences.objects.filter(user=user).first() or AlertPreferences(user=user)


def mail_time_zone(user: User, preferences: AlertPreferences) -> tzinfo:
    """The time zone of the account, else that of the browser in which mail was set, else the server's."""
    chosen = Preferences.objects.filter(user=user).values_list("time_zone", flat=True).first()
    return ZoneInfo(chosen or preferences.time_zone or settings.TIME_ZONE)


def is_quiet(preferences: AlertPreferences, local: datetime) -> bool:
    """Whether the local time is within the quiet hours, which may pass midnight; none if both are equal."""
    start, end = preferences.quiet_from, preferences.quiet_until
    if start <= end:
        return start <= local.hour < end
    return local.hour >= start or local.hour < end


def last_digest(preferences: AlertPreferences, local: datetime) -> datetime:
    """The latest moment at which a digest was due, in UTC."""
    today = datetime.combine(local.date(), time(preferences.digest_hour), local.tzinfo)
    if today > local:
        today = datetime.combine(
            local.date() - timedelta(days=1), time(preferences.digest_hour), local.tzinfo
        )
    return today.astimezone(UTC)


def deliver(*, now: datetime | None = None) -> int:
    """Send the mail that is due; returns the number of messages that the mail server took."""
    now = now or timezone.now()
    by_user: dict[int, list[AlertMail]] = defaultdict(list)
    _note_missing_addresses()
    for row in _due(now).select_related("alert__experiment", "user").order_by("alert__raised_at", "pk"):
        by_user[row.user_id].append(row)
    return sum(_deliver(rows, now=now) for rows in by_user.values())


def without_address(study: Experiment) -> QuerySet[User]:
    """Members whom no mail reaches, because their accounts have no address."""
    return User.objects.filter(memberships__experiment=study, is_active=True, email="").order_by("username")


def _note_missing_addresses() -> None:
    """Store with waiting mail that its person has no address; it is sent once there is one."""
    waiting = AlertMail.objects.filter(sent_at__isnull=True, alert__resolved_at__isnull=True)
    waiting.filter(user__email="").exclude(problem=NO_ADDRESS).update(problem=NO_ADDRESS)


def _due(now: datetime) -> QuerySet[AlertMail]:
    """Mail current alerts to current members."""
    members = Membership.objects.filter(experiment=OuterRef("alert__experiment"), user=OuterRef("user"))
    return AlertMail.objects.filter(
        Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=now),
        Exists(members),
        sent_at__isnull=True,
        alert__resolved_at__isnull=True,
        alert__dismissed_at__isnull=True,
        user__is_active=True,
    ).exclude(user__email="")


def _deliver(rows: list[AlertMail], *, now: datetime) -> bool:
    """Send one person's due mail as one message."""
    user = rows[0].user
    preferences = mail_preferences(user)
    local = now.astimezone(mail_time_zone(user, preferences))
    if preferences.mail == Mail.NEVER:
        return False
    if preferences.mail == Mail.AT_ONCE and is_quiet(preferences, local):
        return False
    if preferences.mail == Mail.DAILY:
        moment = last_digest(preferences, local)
        rows = [row for row in rows if row.alert.raised_at <= moment]
    if preferences.pk:
        without = set(preferences.without.values_list("pk", flat=True))
        rows = [row for row in rows if row.alert.experiment_id not in without]
    claimed = [row for row in rows[:MOST_IN_MAIL] if _claim(row, now=now)]
    return _send(user, claimed, now=now) if claimed else False


def _claim(row: AlertMail, *, now: datetime) -> bool:
    # Race: the attempt is part of the condition, so of two workers one changes the row.
    own = AlertMail.objects.filter(pk=row.pk, sent_at__isnull=True, n_attempts=row.n_attempts)
    is_claimed = own.update(n_attempts=F("n_attempts") + 1, next_attempt_at=now + CLAIM)
    row.n_attempts += is_claimed
    return bool(is_claimed)


def _send(user: User, rows: list[AlertMail], *, now: datetime) -> bool:
    own = AlertMail.objects.filter(pk__in=[row.pk for row in rows])
    try:
        message_to(user, rows).send()
    except Exception as error:  # backends raise types of their own; whatever it is, the mail waits
        pause = min(FIRST_PAUSE * 2 ** min(max(row.n_attempts for row in rows) - 1, 10), LONGEST_PAUSE)
        own.update(problem=f"{type(error).__name__}: {error}"[:300], next_attempt_at=now + pause)
        log.warning("alert mail not sent", user=user.pk, kind=type(error).__name__)
        return False
    own.update(sent_at=now, problem="")
    return True


def message_to(user: User, rows: list[AlertMail]) -> EmailMessage:
    """One message about one or more alerts, with a link to each."""
    alerts = [row.alert for row in rows]
    subject = (
        f"{alerts[0].experiment.title}: {alerts[0].title}"
        if len(alerts) == 1
        else f"{len(alerts)} alerts about your studies"
    )
    text = render_to_string(
        "judgments/recruitment/alert_mail.txt",
        {"alerts": alerts, "site": settings.SITE_ADDRESS},
    )
    return EmailMessage(
        " ".join(subject.split())[:200],  # a title with a line break is no header
        text,
        to=[user.email],
        headers={"Auto-Submitted": "auto-generated"},
    )
