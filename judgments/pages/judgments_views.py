"""List of a study's judgments, with filters and downloads."""

from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, Item, MinimalPair, Sentence, TrialKind
from experiments.pages.access import AuthenticatedRequest, get_study, may_see_ids
from experiments.pages.forms import paginate
from experiments.tasks.registry import shown_task
from judgments.frames.data_source import shown_data
from judgments.frames.listing import as_rows, counted_judgments, with_sentences
from judgments.frames.mturk_batch import batch_csv
from judgments.models import Judgment

PER_PAGE = 100


class FilterForm(forms.Form):
    """Filters of the list."""

    kind = forms.ChoiceField(choices=[("", "all kinds"), *TrialKind.choices], required=False)
    participant = forms.CharField(max_length=100, required=False)
    item = forms.CharField(max_length=200, required=False, help_text="An item, a pair or a sentence.")


@login_required
def judgments(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Newest first."""
    study = get_study(request.user, slug)
    study.data = shown_data(request)
    form = FilterForm(request.GET)
    filters = {name: value for name, value in form.cleaned_data.items() if value} if form.is_valid() else {}
    page = paginate(request, filter_judgments(study, filters), most=PER_PAGE)
    context = {
        "study": study,
        "page": "judgments",
        "form": form,
        "page_of_judgments": page,
        "rows": with_sentences(study, list(page), as_rows(study, [row.trial_id for row in page])),
        "shows": shown_task(study.task).shows,
        "query": urlencode({**filters, **({"data": study.data} if study.data else {})}),
        "is_filtered": bool(filters),
    }
    return render(request, "judgments/judgments.html", context)


def filter_judgments(study: Experiment, filters: dict[str, str]) -> QuerySet[Judgment]:
    """Judgments of a study that match the filters."""
    rows = counted_judgments(study).select_related("chosen", "trial__item").order_by("-pk")
    if kind := filters.get("kind"):
        rows = rows.filter(trial__kind=kind)
    if participant := filters.get("participant"):
        rows = rows.filter(trial__session__participant__pseudonym=participant)
    if item := filters.get("item"):
        rows = rows.filter(_shows(study, item))
    return rows


def _shows(study: Experiment, name: str) -> Q:
    """Whether a trial shows the item, pair or sentence of that name; a pair's members count for the pair."""
    materials = study.materials_id
    pair = MinimalPair.objects.filter(material_set=materials, key=name).first()
    if pair is not None:
        return Q(trial__pair=pair) | Q(trial__sentence__in=[pair.good_id, pair.bad_id])
    sentences = Sentence.objects.filter(material_set=materials, key=name)
    if sentences.exists():
        return Q(trial__sentence__in=sentences)
    return Q(trial__item__in=Item.objects.filter(material_set=materials, key=name))


@login_required
@require_http_methods(["GET", "POST"])
def mturk_batch(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """The study in the form of MTurk's batch results; sent as a form, with workers' ids, which is logged."""
    with_ids = request.method == "POST"
    study = get_study(request.user, slug, editing=with_ids)
    if with_ids and not may_see_ids(request.user, study):
        raise PermissionDenied("Worker ids are for members of the study.")
    try:
        lines = batch_csv(study, with_ids=with_ids)
    except BadInput as error:
        messages.error(request, str(error)[:1].upper() + str(error)[1:])
        return redirect("study-judgments", slug)
    if with_ids:
        AuditEntry.objects.create(
            experiment=study, user=request.user, action="payment export", details={"ids": "worker ids"}
        )
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    name = "batch_payments" if with_ids else "batch_results"
    response["Content-Disposition"] = f'attachment; filename="{study.slug}_{name}.csv"'
    return response
