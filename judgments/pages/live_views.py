"""A study as it runs: the page, and the part of it that renews itself."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from experiments.models import Experiment
from experiments.pages.access import get_study
from judgments.live import live as look_at


@login_required
def live(request: HttpRequest, slug: str) -> HttpResponse:
    """Numbers, lists, where people leave, what was flagged."""
    study = get_study(request.user, slug)
    return render(request, "judgments/live.html", {"study": study, "page": "live", **_numbers(study)})


@login_required
@never_cache
def part(request: HttpRequest, slug: str) -> HttpResponse:
    """The numbers only, for ``js/live.js``."""
    study = get_study(request.user, slug)
    return render(request, "judgments/_live.html", {"study": study, **_numbers(study)})


def _numbers(study: Experiment) -> dict[str, object]:
    return {
        "live": look_at(study),
        "is_collected": study.origin == Experiment.Origin.COLLECTED,
    }
