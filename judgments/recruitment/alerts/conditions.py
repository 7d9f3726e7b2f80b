"""Conditions of a study that need a person: each rule reads the database and returns those that hold now.

The text of a condition says what happened, what is safe and what to do. Rules change nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Min, Q
from django.urls import reverse

from analysis.power.money import format_money
from analysis.text import plural
from experiments.models import AuditEntry, Campaign, Experiment, PlatformAccount
from experiments.webhooks.delivery import disabled_webhooks
from experiments.webhooks.endpoints import address_host
from judgments.models import (
    Alert,
    AlertSettings,
    PlatformEvent,
    Session,
    SessionEvent,
    Submission,
    WebhookState,
)
from judgments.monitoring.overview import (
    counted_sessions,
    is_live,
    places_left,
    takes_nobody_else,
    target_sessions,
)
from judgments.recruitment.prolific.webhooks import MAX_ATTEMPTS
from judgments.recruitment.recruiter import get_recruiter, platform_label
from judgments.sessions.places import in_round
from judgments.sessions.recording import PLUGIN_FAILURE

Kind = Alert.Kind
Status = Submission.Status
LEFT = {Session.Status.ABANDONED, Session.Status.WITHDRAWN}
N_RECENT = 50  # sessions in which drop-out is counted, so that the alert ends when it gets better
FEWEST_SESSIONS = 10
#: After a submission, until its event counts as missing: the platform repeats deliveries within minutes.
EVENT_GRACE = timedelta(minutes=30)
EVENT_PERIOD = timedelta(hours=24)
FEWEST_UNANNOUNCED = 3
FEWEST_REFUSED = 3


@dataclass(frozen=True)
class Condition:
    """Something that holds now and needs a person, with one next step."""

    kind: Alert.Kind
    key: str
    title: str
    text: str
    address: str
    link: str
    campaign: Campaign | None = None


@dataclass(frozen=True)
class Subject:
    """A study as the rules see it."""

    study: Experiment
    limits: AlertSettings
    now: datetime

    @property
    def is_open(self) -> bool:
        """Whether it collects answers that count."""
        return self.study.status == Experiment.Status.OPEN

    def campaigns(self, *states: str) -> list[Campaign]:
        """The campaigns on platforms in these states."""
        campaigns = Campaign.objects.filter(experiment=self.study, account__isnull=False, state__in=states)
        return list(campaigns.select_related("account", "experiment").order_by("pk"))

    def page(self, name: str, *arguments: Any) -> str:
        """The path of a page of the study."""
        return reverse(name, args=[self.study.slug, *arguments])


Rule = Callable[[Subject], Iterator[Condition]]


def full(subject: Subject) -> Iterator[Condition]:
    """The study, or a campaign that runs, has no place left."""
    if not subject.limits.full:
        return
    if subject.is_open and _is_full(subject):
        yield Condition(
            Kind.FULL,
            "full",
            "The study is full",
            "It has all the participants that its target or its limit asks for. New visitors are thanked and"
            " sent back; every answer is stored, and who is taking part may finish. Close the study, or raise"
            " the target to go on.",
            subject.page("study-live"),
            "See the study",
        )
    for campaign in subject.campaigns(Campaign.State.RUNNING):
        rows = Submission.objects.filter(campaign=campaign)
        n_taken = rows.exclude(status__in=Status.without_place()).count()
        if campaign.places and n_taken >= campaign.places:
            yield Condition(
                Kind.FULL,
                f"full:{campaign.pk}",
                f"Campaign {campaign.name} is full: {n_taken:,} of {campaign.places:,} places are taken",
                f"{_label(campaign)} admits no more participants. Submissions are stored. Decide about the"
                " submissions; then add places, or stop the campaign.",
                subject.page("study-campaign", campaign.pk),
                "Open the campaign",
                campaign,
            )


def _is_full(subject: Subject) -> bool:
    study = subject.study
    sessions = counted_sessions(study).filter(in_round(study))
    n_taken = sessions.filter(Q(status=Session.Status.COMPLETE) | is_live(subject.now)).count()
    target, places = target_sessions(study), places_left(study)
    return takes_nobody_else(study, n_taken=n_taken, target=target, places=places)


def idle(subject: Subject) -> Iterator[Condition]:
    """No arrival for hours while the study is open and has places."""
    hours = subject.limits.idle_hours
    if not hours or not subject.is_open or _is_full(subject):
        return
    since = _open_since(subject)
    if since is None or since > subject.now - timedelta(hours=hours):
        return
    elapsed = round((subject.now - since) / timedelta(hours=1))
    yield Condition(
        Kind.IDLE,
        "idle",
        f"Nobody has arrived for {plural(elapsed, 'hour')}",
        "The study is open and has places. Nothing is lost. Follow the link yourself, look whether the"
        " campaign runs and whom its filters admit, or pause the study until you recruit again.",
        subject.page("study-channels"),
        "See the links",
    )


def _open_since(subject: Subject) -> datetime | None:
    """Time of the last arrival, or since which participants can arrive if that is later."""
    study = subject.study
    openings = AuditEntry.objects.filter(
        experiment=study, action="status", details__to=Experiment.Status.OPEN
    )
    moments = [
        study.opened_at,
        openings.aggregate(last=Max("at"))["last"],
        Session.objects.filter(experiment=study).aggregate(last=Max("started_at"))["last"],
    ]
    return max((moment for moment in moments if moment is not None), default=None)


def drop_out(subject: Subject) -> Iterator[Condition]:
    """Among the latest arrivals, more than the limit left before the end."""
    limit = subject.limits.drop_out_percent
    if not limit or not subject.is_open:
        return
    ended = counted_sessions(subject.study).exclude(status=Session.Status.SCREENED_OUT)
    ended = ended.exclude(is_live(subject.now)).order_by("-pk")
    # An active session whose lease is over was left, too; the hourly sweep only writes it down.
    statuses = list(ended.values_list("status", flat=True)[:N_RECENT])
    n_left = sum(status in LEFT or status == Session.Status.ACTIVE for status in statuses)
    if len(statuses) < FEWEST_SESSIONS or 100 * n_left <= limit * len(statuses):
        return
    yield Condition(
        Kind.DROP_OUT,
        "drop_out",
        f"{100 * n_left / len(statuses):.0f} % of the last {len(statuses)} people left before the end",
        f"Your limit is {limit} %. The answers of those who left are stored, and their places are free"
        " again. See at which trial they leave, and take part once yourself on a phone; pause the study if"
        " something is wrong.",
        subject.page("study-live"),
        "See where they leave",
    )


def balance(subject: Subject) -> Iterator[Condition]:
    """The platform's account does not cover the next places; asks the platform."""
    n = subject.limits.balance_places
    states = (Campaign.State.RUNNING, Campaign.State.PAUSED)
    accounts: set[int | None] = set()
    for campaign in subject.campaigns(*states) if n else []:
        if campaign.account_id in accounts:
            continue
        recruiter = get_recruiter(campaign)
        money, cost = recruiter.balance(), recruiter.cost(campaign, places=n)
        accounts.add(campaign.account_id)
        if money is None or money.currency != cost.currency or money.amount_minor >= cost.total_minor:
            continue
        assert campaign.account is not None
        yield Condition(
            Kind.BALANCE,
            f"balance:{campaign.account_id}",
            f"{format_money(money.amount_minor, money.currency)} left on {_label(campaign)}",
            f"The account {campaign.account.label} does not cover {plural(n, 'more place')} at"
            f" {format_money(cost.total_minor, cost.currency)} with fees. Nothing is lost: payments that it"
            f" does not cover are not sent and wait. Add money on {_label(campaign)}'s own site.",
            subject.page("study-campaign", campaign.pk),
            "Open the campaign",
            campaign,
        )


def deadline(subject: Subject) -> Iterator[Condition]:
    """Submissions that the platform soon approves by itself, because no decision reached it."""
    hours = subject.limits.deadline_hours
    states = (Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED)
    for campaign in subject.campaigns(*states) if hours else []:
        rows = Submission.objects.filter(
            campaign=campaign,
            status=Status.SUBMITTED,
            decide_by__lte=subject.now + timedelta(hours=hours),
        )
        facts = rows.aggregate(
            n=Count("pk"), n_decided=Count("pk", filter=~Q(decision="")), first=Min("decide_by")
        )
        if not facts["n"]:
            continue
        unsent = f" {facts['n_decided']} of them are decided and not sent." if facts["n_decided"] else ""
        is_all_decided = facts["n"] == facts["n_decided"]
        yield Condition(
            Kind.DEADLINE,
            f"deadline:{campaign.pk}",
            f"{plural(facts['n'], 'submission')} of campaign {campaign.name} approved automatically soon",
            f"From {facts['first']:%Y-%m-%d %H:%M} UTC on, {_label(campaign)} approves and pays what no"
            f" decision has reached.{unsent} The answers stay as they are, and you can leave them out of the"
            " analysis either way. Decide and send before then, or let them be approved.",
            subject.page("study-submissions-send", campaign.pk)
            if is_all_decided
            else f"{subject.page('study-submissions', campaign.pk)}?show=undecided",
            "Send decisions" if is_all_decided else "Decide now",
            campaign,
        )


def webhook(subject: Subject) -> Iterator[Condition]:
    """Events of a platform are refused or do not arrive, or a webhook of the study was disabled."""
    if not subject.limits.webhook:
        return
    for row in disabled_webhooks().filter(experiment=subject.study):
        yield Condition(
            Kind.WEBHOOK,
            f"delivery:{row.pk}",
            f"The webhook to {address_host(row)} was disabled",
            f"{row.disabled_reason} Nothing is lost here, but its events since then were not sent. See the"
            " responses in its log, mend the receiver, enable the webhook and send again what it missed.",
            subject.page("study-webhook", row.pk),
            "See the deliveries",
        )
    states = (Campaign.State.RUNNING, Campaign.State.PAUSED, Campaign.State.FINISHED)
    accounts = {row.account for row in subject.campaigns(*states) if row.account is not None}
    for account in sorted(accounts, key=lambda row: row.pk):
        if not account.options.get("subscriptions"):
            continue
        if fault := _event_fault(account, subject.now):
            yield Condition(
                Kind.WEBHOOK,
                f"webhook:{account.pk}",
                f"Events of {account.label} do not work",
                f"{fault} Nothing is lost: the list of submissions is read every five minutes without"
                " events. Turn the events off and on again under Accounts, and see that the platform"
                " reaches this server by https.",
                subject.page("study-accounts"),
                "See the accounts",
            )


def _event_fault(account: PlatformAccount, now: datetime) -> str:
    """Return the webhook problem of an account, or ''."""
    events = PlatformEvent.objects.filter(account=account)
    last = events.aggregate(last=Max("received_at"))["last"]
    state = WebhookState.objects.filter(account=account).first()
    if state and state.refused_at and state.n_refused >= FEWEST_REFUSED:
        is_recent = state.refused_at > now - EVENT_PERIOD
        if is_recent and (last is None or last < state.refused_at):
            n = plural(state.n_refused, "delivery was", "deliveries were")
            return f"{n} refused, the last one because: {state.reason}"
    stuck = events.filter(
        handled_at__isnull=True, n_attempts__gte=MAX_ATTEMPTS, received_at__gt=now - EVENT_PERIOD
    )
    if n_stuck := stuck.count():
        return f"{plural(n_stuck, 'event')} could not be handled: {stuck.latest('pk').problem}"
    since = _subscribed_at(account)
    start = max(moment for moment in (now - EVENT_PERIOD, last, since) if moment is not None)
    unannounced = Submission.objects.filter(
        campaign__account=account, submitted_at__gt=start, submitted_at__lt=now - EVENT_GRACE
    )
    if (n_new := unannounced.count()) >= FEWEST_UNANNOUNCED:
        return f"{plural(n_new, 'submission')} came in, and no event announced any of them."
    return ""


def _subscribed_at(account: PlatformAccount) -> datetime | None:
    text = account.options.get("subscribed_at")
    return datetime.fromisoformat(text) if text else None


def plugin(subject: Subject) -> Iterator[Condition]:
    """The plugin of the study's task failed during sessions of the last day."""
    events = SessionEvent.objects.filter(
        session__experiment=subject.study, kind=PLUGIN_FAILURE, at__gt=subject.now - EVENT_PERIOD
    )
    last = events.order_by("-pk").first()
    if last is None:
        return
    n_unparsed = events.filter(trial__isnull=False).count()
    kept = (
        f" {plural(n_unparsed, 'answer')} could not be read: they are kept as sent, and the download of all"
        " judgments has them with the status missing."
        if n_unparsed
        else ""
    )
    yield Condition(
        Kind.PLUGIN,
        "plugin",
        "The plugin of the task failed",
        f"{last.details.get('reason', '')}{kept} What people answered is kept, and they keep their place."
        " Pause the study until the package is mended and the processes are restarted.",
        subject.page("study-live"),
        "See the sessions",
    )


def _label(campaign: Campaign) -> str:
    return platform_label(campaign.recruiter)


#: Rules that read our own database only, and those that ask a platform.
LOCAL_RULES: dict[Alert.Kind, Rule] = {
    Kind.FULL: full,
    Kind.IDLE: idle,
    Kind.DROP_OUT: drop_out,
    Kind.DEADLINE: deadline,
    Kind.WEBHOOK: webhook,
    Kind.PLUGIN: plugin,
}
REMOTE_RULES: dict[Alert.Kind, Rule] = {Kind.BALANCE: balance}
