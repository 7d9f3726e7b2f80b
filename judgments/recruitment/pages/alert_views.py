"""Alerts of a study with their thresholds, and a person's own mail about them."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from experiments.models import Experiment
from experiments.pages.access import AuthenticatedRequest, audit, get_study, may_edit
from experiments.pages.forms import set_remark
from experiments.studies.history import differences
from judgments.models import Alert, AlertPreferences, AlertSettings
from judgments.recruitment.alerts import evaluation, mail

SHOWN_EARLIER = 30
HOURS = [(hour, f"{hour:02d}:00") for hour in range(24)]


class SettingsForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic at run time
    """From when on a condition is worth an alert."""

    class Meta:
        model = AlertSettings
        fields = ("full", "idle_hours", "drop_out_percent", "balance_places", "deadline_hours", "webhook")
        labels = {
            "full": "The study, or a campaign, is full",
            "idle_hours": "Nobody arrived for so many hours while the study is open",
            "drop_out_percent": "More than so many percent of the last 50 people left before the end",
            "balance_places": "The platform’s account does not cover so many more places",
            "deadline_hours": "Hours before the platform approves undecided submissions by itself",
            "webhook": "Events of a platform are refused, or do not arrive",
        }
        help_texts = {name: "0 turns this alert off." for name in fields if name not in {"full", "webhook"}}


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic at run time
    """Whether and when mail about alerts is sent."""

    class Meta:
        model = AlertPreferences
        fields = ("mail", "quiet_from", "quiet_until", "digest_hour", "without")
        labels = {
            "mail": "Mail",
            "quiet_from": "No mail from",
            "quiet_until": "until",
            "digest_hour": "Once a day at",
            "without": "No mail about",
        }
        help_texts = {
            "quiet_until": "Mail waits until then, unless the alert has ended. Twice the same hour: no quiet"
            " hours.",
            "without": "Alerts of these studies are shown on the pages only.",
        }
        widgets = {
            "mail": forms.RadioSelect,
            "quiet_from": forms.Select(choices=HOURS),
            "quiet_until": forms.Select(choices=HOURS),
            "digest_hour": forms.Select(choices=HOURS),
            "without": forms.CheckboxSelectMultiple,
        }

    def __init__(self, *args: Any, studies: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        without = self.fields["without"]
        assert isinstance(without, forms.ModelMultipleChoiceField)
        without.queryset = studies
        set_remark(without, "")


@login_required
def alerts(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Open and earlier alerts of a study; POST stores the thresholds."""
    study = get_study(request.user, slug, editing=request.method == "POST")
    if study.origin != Experiment.Origin.COLLECTED:
        raise Http404("an imported study has no recruitment")
    form = SettingsForm(request.POST or None, instance=evaluation.alert_settings(study))
    if request.method == "POST" and form.is_valid():
        store_alert_settings(study, form.cleaned_data, by=request.user)
        messages.success(request, "Saved. Alerts follow within five minutes.")
        return redirect("study-alerts", slug)
    past = Alert.objects.filter(
        Q(resolved_at__isnull=False) | Q(dismissed_at__isnull=False), experiment=study
    )
    context = {
        "study": study,
        "page": "campaigns",
        "alerts": evaluation.open_alerts(Experiment.objects.filter(pk=study.pk)),
        "past": past.select_related("dismissed_by")[:SHOWN_EARLIER],
        "form": form,
        "without_address": mail.without_address(study),
        "may_edit": may_edit(request.user, study),
    }
    return render(request, "judgments/recruitment/alerts.html", context, status=422 if form.errors else 200)


def store_alert_settings(study: Experiment, settings: Mapping[str, Any], *, by: User) -> AlertSettings:
    """Store other limits of alerts, with their history."""
    earlier = evaluation.alert_settings(study)
    before = {name: getattr(earlier, name) for name in settings}
    stored, _ = AlertSettings.objects.update_or_create(experiment=study, defaults=dict(settings))
    audit(by, study, "alert limits", **settings, values=differences(before, settings))
    return stored


@login_required
@require_POST
def dismiss(request: AuthenticatedRequest, slug: str, alert_id: int) -> HttpResponse:
    """Hide an alert for the whole team until its condition has ended."""
    study = get_study(request.user, slug, editing=True)
    alert = get_object_or_404(Alert, pk=alert_id, experiment=study)
    if evaluation.dismiss(alert, by=request.user):
        messages.success(request, "Dismissed: it comes back only after it has ended.")
    return redirect("study-alerts", slug)


@login_required
def preferences(request: AuthenticatedRequest) -> HttpResponse:
    """A person's own mail about alerts."""
    stored = mail.mail_preferences(request.user)
    studies = Experiment.objects.filter(
        memberships__user=request.user, origin=Experiment.Origin.COLLECTED
    ).order_by("title", "pk")
    form = PreferencesForm(request.POST or None, instance=stored, studies=studies)
    zone = timezone.get_current_timezone_name()
    if request.method == "POST" and form.is_valid():
        form.instance.time_zone = zone
        form.save()
        messages.success(request, "Saved.")
        return redirect("account-alerts")
    context = {"section": "account", "form": form, "zone": zone}
    return render(
        request, "judgments/recruitment/alert_preferences.html", context, status=422 if form.errors else 200
    )
