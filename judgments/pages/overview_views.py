"""Start page, overview and live page of a study."""

from django.contrib.auth.decorators import login_required
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from experiments.models import Experiment, MaterialSet, Membership
from experiments.pages.access import AuthenticatedRequest, get_study, may_edit, role_in
from experiments.pages.studies import buttons
from experiments.studies.readiness import steps
from experiments.tasks.registry import shown_task
from judgments.alerts.evaluation import open_alerts
from judgments.monitoring.live import live_counts
from judgments.monitoring.overview import (
    is_full,
    list_rows,
    places_left,
    study_cards,
    study_numbers,
)

DEMO = "demo"
SHOWN_ALERTS = 10
SHOWN_ENTRIES = 8  # latest entries of the history


def home(request: HttpRequest) -> HttpResponse:
    """Studies as cards for users who are logged in, else a short introduction."""
    if not request.user.is_authenticated:
        demo = Experiment.objects.filter(
            slug=DEMO, status__in=Experiment.Status.taking_participants()
        ).first()
        return render(request, "experiments/start.html", {"demo": demo})
    has_materials = MaterialSet.objects.visible_to(request.user).exists()
    visible = Experiment.objects.visible_to(request.user)
    context = {
        "section": "studies",
        "cards": study_cards(request.user),
        "has_materials": has_materials,
        "alerts": open_alerts(visible)[:SHOWN_ALERTS],
    }
    return render(request, "judgments/home.html", context)


@login_required
def overview(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Progress, lists, next steps and history of a study."""
    study = get_study(request.user, slug)
    is_collected = study.origin == Experiment.Origin.COLLECTED
    may_open_later = is_collected and study.opened_at is None and study.status != Experiment.Status.CLOSED
    numbers = study_numbers(study)
    context = {
        "study": study,
        "page": "overview",
        "task": shown_task(study.task),
        "version": study.current_version(),
        "numbers": numbers,
        "deleted": study.tombstones.aggregate(n_sessions=Sum("n_sessions"), n_judgments=Sum("n_judgments")),
        "lists": list_rows(study) if is_collected else [],
        "is_collected": is_collected,
        "is_full": is_collected and is_full(study, numbers, places_left(study)),
        "may_edit": may_edit(request.user, study),
        "is_owner": role_in(request.user, study) == Membership.Role.OWNER,
        "steps": steps(study) if may_open_later else [],
        "buttons": buttons(study) if may_edit(request.user, study) else [],
        "address": request.build_absolute_uri(f"/take/{study.link_slug}/"),
        "entries": study.audit.select_related("user")[:SHOWN_ENTRIES],
    }
    return render(request, "judgments/overview.html", context)


@login_required
def live(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Counts, lists, drop-out and flags of a running study."""
    study = get_study(request.user, slug)
    return render(request, "judgments/live.html", {"page": "live", **_live_context(study)})


@login_required
@never_cache
def live_part(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The counts alone, fetched by ``js/live.js``."""
    return render(request, "judgments/_live.html", _live_context(get_study(request.user, slug)))


def _live_context(study: Experiment) -> dict[str, object]:
    return {
        "study": study,
        "live": live_counts(study),
        "is_collected": study.origin == Experiment.Origin.COLLECTED,
    }
