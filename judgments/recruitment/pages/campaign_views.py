"""Campaigns of a study: the list, and the page of one with its state, counts, limits and actions."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Min, Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from analysis.power.money import format_money
from analysis.text import plural
from experiments.models import AuditEntry, Campaign, Experiment, Job
from experiments.pages.access import AuthenticatedRequest, get_study, may_edit
from judgments.models import Alert as RaisedAlert
from judgments.models import PlatformCall, Session, Submission
from judgments.recruitment import campaigns, decisions, ledger
from judgments.recruitment.alerts.evaluation import open_alerts
from judgments.recruitment.credentials import usable_accounts
from judgments.recruitment.demographics import DEMOGRAPHICS
from judgments.recruitment.pages.campaign_access import (
    action,
    campaign_context,
    get_campaign,
    mode_note,
    platform_campaigns,
    report,
)
from judgments.recruitment.pages.setup_views import AmountField, first_open_step
from judgments.recruitment.reconcile import RECONCILE, reconcile_later
from judgments.recruitment.recruiter import platform_label

Status, CallState = Submission.Status, PlatformCall.State
SOON = timedelta(hours=48)  # before the platform approves by itself
STALE = timedelta(hours=1)  # since the platform's list was read
NEARLY = 0.9  # of the budget
LAST_ENTRIES = 20
MOST_CALLS = 20


@dataclass(frozen=True)
class Alert:
    """Something that a person should look at, with one next step."""

    title: str
    text: str
    address: str = ""
    link: str = ""
    is_bad: bool = False


class TopUpForm(forms.Form):
    """More places."""

    n = forms.IntegerField(min_value=1, max_value=100_000, label="Places to add")
    places = forms.IntegerField(required=False, widget=forms.HiddenInput)  # those on the page


class LimitsForm(forms.Form):
    """The limits of a campaign, which may change at any time."""

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = {
            "total_limit": f"Budget in {currency}, with fees",
            "daily_limit": f"Most paid within 24 hours in {currency}",
            "payment_limit": f"Most for one payment in {currency}",
            "two_people_above": f"Payments above this sum in {currency} need a second person",
        }
        for name, label in labels.items():
            self.fields[name] = AmountField(currency=currency, required=False, label=label)


@login_required
def campaign_list(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The study's campaigns with their counts."""
    study = get_study(request.user, slug)
    if study.origin != Experiment.Origin.COLLECTED:
        raise Http404("an imported study has no recruitment")
    rows = [
        {
            "campaign": campaign,
            "platform": platform_label(campaign.recruiter),
            "mode": mode_note(campaign.account),
            "address": _address(campaign),
        }
        for campaign in platform_campaigns(study).annotate(
            n_taken=Count("submissions", filter=~Q(submissions__status__in=Status.without_place())),
            n_waiting=Count(
                "submissions", filter=Q(submissions__status=Status.SUBMITTED, submissions__decision="")
            ),
        )
        if campaign.account is not None
    ]
    context = {
        "study": study,
        "page": "campaigns",
        "rows": rows,
        "n_accounts": usable_accounts(study).count(),
        "alerts": open_alerts(Experiment.objects.filter(pk=study.pk)),
        "may_edit": may_edit(request.user, study),
    }
    return render(request, "judgments/recruitment/campaigns.html", context)


def _address(campaign: Campaign) -> str:
    slug = campaign.experiment.slug
    if campaign.state == Campaign.State.DRAFT:
        return reverse("study-campaign-step", args=[slug, campaign.pk, first_open_step(campaign)])
    return reverse("study-campaign", args=[slug, campaign.pk])


@login_required
def campaign(request: AuthenticatedRequest, slug: str, campaign_id: int) -> HttpResponse:
    """A campaign with its counts and what needs a person; a draft leads to its form."""
    study = get_study(request.user, slug)
    return _page(request, study, get_campaign(study, campaign_id))


def _page(
    request: AuthenticatedRequest,
    study: Experiment,
    stored: Campaign,
    *,
    limits: LimitsForm | None = None,
    status: int = 200,
) -> HttpResponse:
    if stored.state == Campaign.State.DRAFT:
        return redirect(_address(stored))
    counts = count_submissions(stored)
    spent = ledger.spent(stored)
    context = campaign_context(
        study,
        stored,
        tab="overview",
        tiles=[(name, label, counts.get(name, 0)) for name, label in Status.choices],
        n_taken=sum(n for name, n in counts.items() if name not in Status.without_place()),
        n_in_session=Session.objects.filter(
            campaign=stored, status=Session.Status.ACTIVE, is_test=False
        ).count(),
        n_waiting=Submission.objects.filter(
            campaign=stored, status=Status.SUBMITTED, decision=Submission.Decision.NONE
        ).count(),
        spent=format_money(spent, stored.currency),
        alerts=campaign_alerts(stored),
        # The deadline is among the alerts above, which are computed for this page.
        raised=open_alerts(Experiment.objects.filter(pk=study.pk))
        .filter(Q(campaign=stored) | Q(campaign=None))
        .exclude(kind=RaisedAlert.Kind.DEADLINE),
        fairness=decisions.fairness(stored),
        calls=PlatformCall.objects.filter(campaign=stored, kind__in=PlatformCall.Kind.of_campaign())
        .select_related("planned_by")
        .order_by("-pk")[:MOST_CALLS],
        matters=campaigns.open_matters(stored) if stored.state == Campaign.State.FINISHED else [],
        top_up=TopUpForm(initial={"places": stored.places}),
        limits=limits or LimitsForm(initial=_limit_values(stored), currency=stored.currency),
        job=current_job(stored),
        demographics=stored.platform_data.get(DEMOGRAPHICS),
        entries=AuditEntry.objects.filter(
            experiment=study, action__startswith="campaign", details__campaign=stored.name
        ).select_related("user")[:LAST_ENTRIES],
        may_edit=may_edit(request.user, study),
    )
    return render(request, "judgments/recruitment/campaign.html", context, status=status)


def count_submissions(campaign: Campaign) -> dict[str, int]:
    """Submissions by status."""
    rows = Submission.objects.filter(campaign=campaign).order_by()
    return dict(rows.values_list("status").annotate(n=Count("pk")))


def current_job(campaign: Campaign) -> Job | None:
    """The campaign's newest job, if it is not over or failed."""
    jobs = Job.objects.filter(
        experiment=campaign.experiment_id,
        kind__in=[RECONCILE, decisions.SEND],
        arguments__campaign=campaign.pk,
    )
    newest = jobs.order_by("-pk").first()
    return newest if newest is not None and newest.state != Job.State.DONE else None


def _limit_values(campaign: Campaign) -> dict[str, str]:
    return {
        name: format_money(minor, campaign.currency).split()[0] if minor is not None else ""
        for name, minor in (
            ("total_limit", campaign.total_limit_minor),
            ("daily_limit", campaign.daily_limit_minor),
            ("payment_limit", campaign.payment_limit_minor),
            ("two_people_above", campaign.two_people_above_minor),
        )
    }


def campaign_alerts(campaign: Campaign) -> list[Alert]:
    """Return the open alerts, the most urgent first."""
    return [alert for find in ALERTS for alert in find(campaign)]


def _unknown_alert(campaign: Campaign) -> list[Alert]:
    n = PlatformCall.objects.filter(campaign=campaign, state__in=[CallState.UNKNOWN, CallState.SENT]).count()
    if not n:
        return []
    label = platform_label(campaign.recruiter)
    return [
        Alert(
            f"{plural(n, 'call')} without an answer",
            f"{label} may have acted or not, so nothing is sent again. Ask {label} what it has.",
            f"{reverse('study-payments', args=[campaign.experiment.slug])}?state=unknown",
            "See what is unknown",
            is_bad=True,
        )
    ]


def _deadline_alert(campaign: Campaign) -> list[Alert]:
    now = timezone.now()
    rows = Submission.objects.filter(
        campaign=campaign,
        status=Status.SUBMITTED,
        decision=Submission.Decision.NONE,
        decide_by__lte=now + SOON,
    )
    facts = rows.aggregate(n=Count("pk"), first=Min("decide_by"))
    if not facts["n"]:
        return []
    hours = max(0, round((facts["first"] - now) / timedelta(hours=1)))
    return [
        Alert(
            f"{plural(facts['n'], 'submission')} approved automatically, the first in {hours} h",
            f"{platform_label(campaign.recruiter)} approves and pays submissions without a decision.",
            _submissions_address(campaign, "show=undecided"),
            "Decide now",
        )
    ]


def _second_person_alert(campaign: Campaign) -> list[Alert]:
    n = decisions.waiting_for_second_person(campaign).count()
    if not n:
        return []
    return [
        Alert(
            f"{plural(n, 'payment waits', 'payments wait')} for a second person",
            "They are above the campaign’s limit for one person. Another editor confirms them.",
            reverse("study-payments", args=[campaign.experiment.slug]),
            "Payments",
        )
    ]


def _mismatch_alert(campaign: Campaign) -> list[Alert]:
    n = Submission.objects.filter(campaign=campaign).exclude(mismatches=[]).count()
    if not n:
        return []
    label = platform_label(campaign.recruiter)
    return [
        Alert(
            f"{plural(n, 'submission differs', 'submissions differ')} between {label} and your data",
            "Both facts stand beside each other with one next step.",
            _submissions_address(campaign, "show=mismatch"),
            "Show them",
        )
    ]


def _failed_alert(campaign: Campaign) -> list[Alert]:
    failed = PlatformCall.objects.filter(campaign=campaign, state=CallState.FAILED)
    n = failed.exclude(kind__in=PlatformCall.Kind.of_campaign()).count()
    if not n:
        return []
    return [
        Alert(
            f"{plural(n, 'call')} refused by {platform_label(campaign.recruiter)}",
            "Nothing happened there. Each row says why and what to do.",
            f"{reverse('study-payments', args=[campaign.experiment.slug])}?state=failed",
            "Show them",
        )
    ]


def _budget_alert(campaign: Campaign) -> list[Alert]:
    limit, spent = campaign.total_limit_minor, ledger.spent(campaign)
    if not limit or spent < NEARLY * limit:
        return []
    shown = format_money(spent, campaign.currency)
    return [
        Alert(
            f"{shown} of {format_money(limit, campaign.currency)} spent",
            "Payments beyond the budget are not sent and wait.",
        )
    ]


def _stale_alert(campaign: Campaign) -> list[Alert]:
    if campaign.state == Campaign.State.CLOSED:
        return []
    read_at = campaign.reconciled_at
    if read_at is not None and read_at > timezone.now() - STALE:
        return []
    label = platform_label(campaign.recruiter)
    when = f"was read last at {read_at:%Y-%m-%d %H:%M} UTC" if read_at else "was not read yet"
    return [Alert(f"The list of submissions {when}", f"Read it from {label} before you decide.")]


ALERTS: tuple[Callable[[Campaign], list[Alert]], ...] = (
    _unknown_alert,
    _deadline_alert,
    _second_person_alert,
    _failed_alert,
    _mismatch_alert,
    _budget_alert,
    _stale_alert,
)


def _submissions_address(campaign: Campaign, query: str) -> str:
    address = reverse("study-submissions", args=[campaign.experiment.slug, campaign.pk])
    return f"{address}?{query}"


def _to_page(study: Experiment, *, campaign_id: int) -> HttpResponse:
    return redirect("study-campaign", study.slug, campaign_id)


@action(_to_page)
def act(request: AuthenticatedRequest, study: Experiment, *, campaign_id: int) -> None:
    """Pause, resume, stop or close a campaign, by the button that was pressed."""
    stored = get_campaign(study, campaign_id)
    label, chosen = platform_label(stored.recruiter), request.POST.get("action", "")
    if chosen == "close":
        call = campaigns.close(stored, by=request.user)
        report(request, call, done="The campaign is closed: everybody is decided and paid.")
        return
    effects = {
        "pause": (
            campaigns.pause,
            f"{label} admits no more participants for now; begun sessions may finish.",
        ),
        "resume": (campaigns.resume, f"{label} admits participants again."),
        "stop": (
            campaigns.stop,
            f"{label} admits no more participants. Submissions can still be decided and paid.",
        ),
    }
    if chosen not in effects:
        raise Http404("no such action")
    send, done = effects[chosen]
    report(request, send(stored, by=request.user), done=done)


@action(_to_page)
def add_places(request: AuthenticatedRequest, study: Experiment, *, campaign_id: int) -> None:
    """Add places to a published campaign."""
    stored = get_campaign(study, campaign_id)
    form = TopUpForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Write how many places to add, such as 20.")
        return
    n = form.cleaned_data["n"]
    call = campaigns.top_up(stored, n, by=request.user, places=form.cleaned_data["places"])
    report(request, call, done=f"{plural(n, 'place')} added, {stored.places} in all.")


@login_required
def change_limits(request: AuthenticatedRequest, slug: str, campaign_id: int) -> HttpResponse:
    """Store other limits."""
    study = get_study(request.user, slug, editing=True)
    stored = get_campaign(study, campaign_id)
    if request.method != "POST":
        return redirect("study-campaign", slug, campaign_id)
    form = LimitsForm(request.POST, currency=stored.currency)
    if not form.is_valid():
        return _page(request, study, stored, limits=form, status=422)
    limits = {f"{name}_minor": minor for name, minor in form.cleaned_data.items()}
    campaigns.change_draft(stored, by=request.user, **limits)
    messages.success(request, "The limits are saved.")
    return redirect("study-campaign", slug, campaign_id)


@action(_to_page)
def read_platform(
    request: AuthenticatedRequest, study: Experiment, *, campaign_id: int
) -> HttpResponse | None:
    """Queue a reconciliation with the platform's list; back to the page from which it was asked for."""
    stored = get_campaign(study, campaign_id)
    reconcile_later(stored, by=request.user)
    messages.success(request, f"Submissions are being read from {platform_label(stored.recruiter)}.")
    if request.POST.get("back") == "submissions":
        return redirect("study-submissions", study.slug, campaign_id)
    return None
