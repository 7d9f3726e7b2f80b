"""Studies that are selected on the start page: moved, archived or taken back together."""

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from analysis.text import plural
from experiments.models import Experiment
from experiments.pages.access import AuthenticatedRequest
from experiments.pages.studies import FolderForm
from experiments.studies.study_list import move_to_folder
from judgments.study_archive import archive, cautions, obstacles, unarchive

MOST_SELECTED = 100  # of one request; a page of the list has fewer


@login_required
@require_POST
def change_selected(request: AuthenticatedRequest) -> HttpResponse:
    """Apply the action of the button that was pressed to the selected studies, each by its own permission."""
    slugs = list(dict.fromkeys(request.POST.getlist("study")))
    if not 0 < len(slugs) <= MOST_SELECTED:
        messages.error(request, f"Select between 1 and {MOST_SELECTED} studies; these were {len(slugs)}.")
        return redirect(_list_address(request))
    studies, action = _editable(request, slugs), request.POST.get("action", "")
    if action == "move":
        _move(request, studies)
    elif action == "archive" and "sure" not in request.POST:
        return _ask(request, studies)
    elif action == "archive":
        _archive(request, studies)
    elif action == "unarchive":
        with transaction.atomic():
            for study in studies:
                unarchive(study, by=request.user)
        messages.success(request, f"Back in the list: {_titles(studies)}.")
    else:
        messages.error(request, "No action was chosen. Press one of the buttons.")
    return redirect(_list_address(request))


def _editable(request: AuthenticatedRequest, slugs: Sequence[str]) -> list[Experiment]:
    """These studies in their order; 404 where one is not the user's to see, 403 where not to change."""
    visible = Experiment.objects.visible_to(request.user).filter(slug__in=slugs)
    if visible.count() < len(slugs):
        raise Http404("no such study")
    rows = Experiment.objects.editable_by(request.user).filter(slug__in=slugs)
    editable = {study.slug: study for study in rows}
    if len(editable) < len(slugs):
        raise PermissionDenied("Viewers of a study cannot change it.")
    return [editable[slug] for slug in slugs]


def _ask(request: AuthenticatedRequest, studies: Sequence[Experiment]) -> HttpResponse:
    """Say which of the studies can be archived, what may have been forgotten, and what keeps others out."""
    reasons = {study: list(obstacles(study)) for study in studies if study.archived_at is None}
    context = {
        "section": "studies",
        "ready": [(study, list(cautions(study))) for study, found in reasons.items() if not found],
        "held": [(study, found) for study, found in reasons.items() if found],
        "n_archived": len(studies) - len(reasons),
        "back": _list_address(request),
    }
    return render(request, "judgments/archive_selected.html", context)


def _archive(request: AuthenticatedRequest, studies: Sequence[Experiment]) -> None:
    """Archive each study that can be; name the others. Race: one may have been opened since the question."""
    archived: list[Experiment] = []
    for study in studies:
        try:
            archived.append(archive(study, by=request.user, is_confirmed=True))
        except BadInput as error:
            messages.error(request, f"{study.title}: {error}")
    if archived:
        messages.success(request, f"In the archive: {_titles(archived)}. Their overviews take them back.")


def _move(request: AuthenticatedRequest, studies: Sequence[Experiment]) -> None:
    form = FolderForm(request.POST)
    if not form.is_valid():
        messages.error(request, str(form.errors["folder"][0]))
        return
    folder = form.cleaned_data["folder"]
    with transaction.atomic():
        moved = [study for study in studies if move_to_folder(study, folder, by=request.user)]
    place = f"in the folder {folder}" if folder else "in no folder"
    already = len(studies) - len(moved)
    also = f" ({already} of them before, too)" if already and moved else ""
    messages.success(request, str(capfirst(f"{plural(len(studies), 'study', 'studies')} {place} now{also}.")))


def _titles(studies: Sequence[Experiment]) -> str:
    return ", ".join(study.title for study in studies)


def _list_address(request: AuthenticatedRequest) -> str:
    """The list with its filters and page, which the form sends in its address."""
    query = request.GET.urlencode()[:1000]
    return reverse("home") + (f"?{query}" if query else "")
