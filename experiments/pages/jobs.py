"""Pages of jobs: state, progress and result."""

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache

from experiments.models import Job
from experiments.models.lab import in_team
from experiments.operation import demo_job
from experiments.pages.access import role_in
from experiments.pages.forms import paginate

PER_PAGE = 50


def visible_jobs(user: User | AnonymousUser) -> QuerySet[Job]:
    """Return jobs that the user started, and those of the user's studies; all for staff."""
    jobs = Job.objects.select_related("experiment", "created_by")
    if user.is_staff:
        return jobs
    return jobs.filter(Q(created_by=user) | in_team(user, "experiment")).distinct()


@login_required
def jobs(request: HttpRequest) -> HttpResponse:
    """List jobs, newest first."""
    page = paginate(request, visible_jobs(request.user), most=PER_PAGE)
    return render(request, "experiments/jobs.html", {"section": "jobs", "page_of_jobs": page})


@login_required
def job(request: HttpRequest, job_id: int) -> HttpResponse:
    """One job with its result."""
    row = get_object_or_404(visible_jobs(request.user), pk=job_id)
    context = {
        "section": "jobs",
        "job": row,
        "facts": [(name.replace("_", " "), value) for name, value in row.result.items() if is_plain(value)],
        # Who started a job and has left its study does not see the study's pages.
        "study": row.experiment if row.experiment and role_in(request.user, row.experiment) else None,
    }
    return render(request, "experiments/job.html", context)


@login_required
def part(request: HttpRequest, job_id: int) -> HttpResponse:
    """State and progress only, for ``js/job.js``."""
    row = get_object_or_404(visible_jobs(request.user), pk=job_id)
    return render(request, "experiments/_job.html", {"job": row})


@never_cache
def demo_progress(request: HttpRequest) -> HttpResponse:
    """State and progress of the demo, for ``js/job.js``; public, as the start page is."""
    row = demo_job.find().first()
    if row is None:
        raise Http404
    return render(request, "experiments/_demo_job.html", {"demo_job": row})


def is_plain(value: object) -> bool:
    """Whether a value of a result fits a list of facts."""
    return isinstance(value, str | int | float) and value != ""
