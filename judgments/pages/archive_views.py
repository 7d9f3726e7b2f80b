"""The archive of studies: a page that says what it does and what keeps a study out, and the way back."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.pages.access import AuthenticatedRequest, get_study
from judgments.study_archive import archive, cautions, obstacles, unarchive


@login_required
def archive_study(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Ask, then archive the study."""
    study = get_study(request.user, slug, editing=True)
    if request.method == "POST":
        try:
            archive(study, by=request.user, is_confirmed="sure" in request.POST)
        except BadInput as error:  # Race: it was opened or taken since the page was shown
            messages.error(request, str(capfirst(str(error))))
            return redirect("study-archive", slug)
        messages.success(request, f"{study.title} is in the archive. Its overview takes it back.")
        return redirect("home")
    context = {
        "study": study,
        "page": "overview",
        "obstacles": list(obstacles(study)),
        "cautions": list(cautions(study)),
    }
    return render(request, "judgments/archive_study.html", context)


@login_required
@require_POST
def unarchive_study(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Take the study back from the archive."""
    study = unarchive(get_study(request.user, slug, editing=True), by=request.user)
    messages.success(request, f"The study is in the list again; it is {study.get_status_display()}.")
    return redirect("study", slug)
