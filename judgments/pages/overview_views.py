"""A study at a glance: how it goes, what to do next, who did what."""

from django.contrib.auth.decorators import login_required
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from experiments.models import Experiment, Membership
from experiments.pages.access import get_study, may_edit, role_in
from experiments.pages.state_views import buttons
from experiments.readiness import steps
from judgments.monitor import facts, is_full, list_rows, places_left
from judgments.tasks.registry import shown_task

SHOWN_ENTRIES = 8


@login_required
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """Numbers, lists, next steps and the trail."""
    study = get_study(request.user, slug)
    collected = study.origin == Experiment.Origin.COLLECTED
    comes_to_open = collected and study.opened_at is None and study.status != Experiment.Status.CLOSED
    numbers = facts(study)
    context = {
        "study": study,
        "page": "overview",
        "task": shown_task(study.task),
        "version": study.current_version(),
        "facts": numbers,
        "deleted": study.tombstones.aggregate(n_sessions=Sum("n_sessions"), n_judgments=Sum("n_judgments")),
        "lists": list_rows(study) if collected else [],
        "is_collected": collected,
        "is_full": collected and is_full(study, numbers, places_left(study)),
        "may_edit": may_edit(request.user, study),
        "is_owner": role_in(request.user, study) == Membership.Role.OWNER,
        "steps": steps(study) if comes_to_open else [],
        "buttons": buttons(study) if may_edit(request.user, study) else [],
        "address": request.build_absolute_uri(f"/take/{study.slug}/"),
        "entries": study.audit.select_related("user")[:SHOWN_ENTRIES],
    }
    return render(request, "judgments/overview.html", context)
