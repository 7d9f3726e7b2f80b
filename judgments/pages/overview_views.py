"""Start page, overview and live page of a study."""

from collections.abc import Sequence
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import QuerySet, Sum
from django.forms import BaseForm, Select
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from experiments.models import Experiment, Job, Lab, MaterialSet, Membership
from experiments.operation.demo_job import find_unfinished
from experiments.pages.access import AuthenticatedRequest, get_study, may_edit, role_in
from experiments.pages.forms import paginate, set_remark
from experiments.pages.studies import FolderForm, buttons
from experiments.studies.readiness import steps
from experiments.studies.study_list import ALL, ARCHIVED, NONE, StudyFilter, list_folders
from experiments.tasks.registry import shown_task
from judgments.monitoring.live import live_counts
from judgments.monitoring.overview import (
    by_activity,
    is_full,
    list_rows,
    places_left,
    study_cards,
    study_numbers,
)
from judgments.recruitment.alerts.evaluation import open_alerts

DEMO = "demo"
PER_PAGE = 24  # studies on the start page
SHOWN_ALERTS = 10
SHOWN_ENTRIES = 8  # latest entries of the history


def home(request: HttpRequest) -> HttpResponse:
    """Studies as cards for users who are logged in, else a short introduction."""
    if not request.user.is_authenticated:
        demo = Experiment.objects.filter(
            slug=DEMO, status__in=Experiment.Status.taking_participants()
        ).first()
        return render(request, "experiments/start.html", {"demo": demo, "demo_job": find_unfinished()})
    visible = Experiment.objects.visible_to(request.user)
    form, studies = _filter_studies(request, visible)
    page = paginate(request, by_activity(studies).select_related("lab"), most=PER_PAGE)
    filters = {name: value for name, value in form.cleaned_data.items() if value}
    context = {
        "section": "studies",
        "demo_job": _demo_job(request.user),
        "form": form,
        "keep": urlencode(filters),
        "is_filtered": bool(filters),
        "page_of_studies": page,
        "cards": study_cards(list(page)),
        **_selection(request.user, list(page)),
        "folders": list_folders(visible),
        "address_of_list": urlencode({**filters, "page": page.number} if page.number > 1 else filters),
        "alerts": open_alerts(visible.filter(archived_at__isnull=True))[:SHOWN_ALERTS],
        **({} if page else _nothing_shown(request, visible, filters)),
    }
    return render(request, "judgments/home.html", context)


def _demo_job(user: User) -> Job | None:
    """The demo's job for its owner, until it is done."""
    job = find_unfinished()
    return job if job is not None and job.created_by_id == user.pk else None


def _selection(user: User, studies: Sequence[Experiment]) -> dict[str, object]:
    """Which studies of the page the user may change, and with which actions."""
    of_page = Experiment.objects.filter(pk__in=[study.pk for study in studies])
    editable = dict(of_page.editable_by(user).values_list("pk", "archived_at"))
    return {
        "editable": editable,
        "has_listed": None in editable.values(),
        "has_archived": any(editable.values()),
        "folder_form": FolderForm(auto_id="selected-%s"),
    }


def _filter_studies(
    request: HttpRequest, visible: QuerySet[Experiment]
) -> tuple[BaseForm, QuerySet[Experiment]]:
    """The form of the filters, and the studies that they leave."""
    filters = StudyFilter(request.GET, queryset=visible)
    form, labs = filters.form, Lab.objects.filter(studies__in=visible.values("pk")).distinct()
    del form.fields["task"]  # of the API: the page has the search
    choices = {
        "lab": [(lab.slug, lab.name) for lab in labs],
        "folder": [(name, name) for name in list_folders(visible)],
    }
    for name, names in choices.items():
        if names:
            options = [("", "all"), *names, (NONE, "none")]
            form.fields[name].widget = Select(choices=options)
        else:
            del form.fields[name]
    for field in form.fields.values():  # the API's descriptions are longer than the cards below
        field.help_text = ""
        set_remark(field, "")
    return form, filters.qs


def _nothing_shown(
    request: HttpRequest, visible: QuerySet[Experiment], filters: dict[str, str]
) -> dict[str, object]:
    """Return the text of an empty list: no studies, no match, or a match among archived ones."""
    archived = StudyFilter({**filters, "status": ARCHIVED}, queryset=visible).qs
    return {
        "has_materials": MaterialSet.objects.visible_to(request.user).exists(),
        "has_studies": visible.exists(),
        "n_archived": 0 if filters.get("status") in {ARCHIVED, ALL} else archived.count(),
        "archived_query": urlencode({**filters, "status": ARCHIVED}),
    }


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
        "folder_form": FolderForm(initial={"folder": study.folder}),
        "folders": list_folders(Experiment.objects.visible_to(request.user)),
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
