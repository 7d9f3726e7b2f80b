"""Long work: what runs, how far it is, and what came of it."""

from django.contrib.auth.decorators import login_required
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from experiments.models import Job
from experiments.pages.paging import page_of

PER_PAGE = 50


def visible_jobs(user) -> QuerySet[Job]:
    """Jobs the user asked for, and those of the user's studies; staff see all."""
    jobs = Job.objects.select_related("experiment", "created_by")
    if user.is_staff:
        return jobs
    return jobs.filter(Q(created_by=user) | Q(experiment__memberships__user=user)).distinct()


@login_required
def jobs(request: HttpRequest) -> HttpResponse:
    """Newest first."""
    page = page_of(request, visible_jobs(request.user), most=PER_PAGE)
    return render(request, "experiments/jobs.html", {"section": "jobs", "page_of_jobs": page})


@login_required
def job(request: HttpRequest, job_id: int) -> HttpResponse:
    """One job with its result."""
    found = get_object_or_404(visible_jobs(request.user), pk=job_id)
    facts = [(name.replace("_", " "), value) for name, value in found.result.items() if is_plain(value)]
    return render(request, "experiments/job.html", {"section": "jobs", "job": found, "facts": facts})


@login_required
def part(request: HttpRequest, job_id: int) -> HttpResponse:
    """State and progress only, for ``js/job.js``."""
    found = get_object_or_404(visible_jobs(request.user), pk=job_id)
    return render(request, "experiments/_job.html", {"job": found})


def is_plain(value: object) -> bool:
    """Whether a value of a result can stand in a list of facts."""
    return isinstance(value, str | int | float) and value != ""
